"""One process's copy of a live table: kept up from the log, and asked what each viewer is sent."""

from collections.abc import Callable
from dataclasses import dataclass, field

from app.game.seats import Seat
from app.game.view import Seen, View, Viewer, redact, view
from app.tables.ports import At, Entry, Stored
from app.tables.table import (
    GameStarted,
    Happened,
    HostChanged,
    ReadyChanged,
    SeatAway,
    SeatBack,
    SeatLeft,
    SeatTaken,
    SheetRead,
    Table,
    TableEvent,
    TimeGivenBack,
    evolve_all,
    people_wait,
)

SeenEvent = Seen | TableEvent


@dataclass(frozen=True, slots=True)
class Step:
    """What a viewer is sent for one entry: what happened, as it may be seen, and the whole view after it."""

    at: At
    turn: int
    deadline: int | None
    read: frozenset[Seat]
    events: tuple[SeenEvent, ...]
    view: View | None


Watcher = Callable[["Mirror", Entry], None]


@dataclass
class Mirror:
    """The table after entry `seq`, and who wants to hear of the next one."""

    epoch: int
    table: Table
    seq: int
    due: int | None
    watchers: list[Watcher] = field(default_factory=list)

    @staticmethod
    def of(stored: Stored) -> "Mirror":
        """The table that a log tells."""
        mirror = Mirror(stored.epoch, stored.frame, stored.seq - len(stored.entries), stored.due)
        for entry in stored.entries:
            mirror.apply(entry)
        return mirror

    @property
    def at(self) -> At:
        return (self.epoch, self.seq)

    @property
    def deadline(self) -> int | None:
        """When somebody's time is up, where people see a time running."""
        return self.due if people_wait(self.table) else None

    def apply(self, entry: Entry) -> None:
        """Take up the next entry and tell the watchers. One that is known already changes nothing."""
        if entry.seq <= self.seq:
            return
        if entry.seq != self.seq + 1:
            raise ValueError(f"entry {entry.seq} after {self.seq}: the log has a gap")
        self.table = evolve_all(self.table, entry.events)
        self.seq = entry.seq
        self.due = entry.due
        for watcher in tuple(self.watchers):
            watcher(self, entry)

    def step(self, entry: Entry, viewer: Viewer) -> Step:
        """What this viewer is sent for the entry that was applied last."""
        return self._step(tuple(_seen(event, viewer) for event in entry.events), viewer)

    def now(self, viewer: Viewer) -> Step:
        """All that this viewer may know at this moment, as if nothing had happened before."""
        return self._step((), viewer)

    def _step(self, events: tuple[SeenEvent, ...], viewer: Viewer) -> Step:
        game = self.table.game
        seen = None if game is None else view(game, viewer)
        return Step(self.at, self.table.turn, self.deadline, self.table.read, events, seen)


def _seen(event: Happened, viewer: Viewer) -> SeenEvent:
    """Who sits where and who has read a sheet is for all; what happens in the game goes through the game's own door."""
    match event:
        case (
            SeatTaken()
            | SeatLeft()
            | HostChanged()
            | ReadyChanged()
            | GameStarted()
            | SeatAway()
            | SeatBack()
            | SheetRead()
            | TimeGivenBack()
        ):
            return event
        case _:
            return redact(event, viewer)
