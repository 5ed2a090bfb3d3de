"""One process's copy of a live table: kept up from the log, and asked what each viewer is sent."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from app.game.seats import Seat
from app.game.state import Game
from app.game.view import Seen, View, Viewer, public_view, redact, seen_by
from app.tables.duty import people_wait
from app.tables.ports import At, Entry, Last, Stored, Tail
from app.tables.table import (
    GameAbandoned,
    GameStarted,
    Happened,
    HostAskedToMove,
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
)

SeenEvent = Seen | TableEvent

REMEMBERED = 32
"""How many steps are told again to somebody who comes back; who has missed more takes the table as it is."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a viewer is sent for one entry: what happened, as it may be seen, and the whole view after it."""

    at: At
    turn: int
    deadline: int | None
    read: frozenset[Seat]
    events: tuple[SeenEvent, ...]
    view: View | None


End = Literal["newer_release", "no_such_table"]
"""Why a table cannot be followed: only a newer release can read on, or the store has forgotten it."""


class Watcher(Protocol):
    """Somebody who wants to hear what becomes of a table."""

    def on_entry(self, mirror: "Mirror", entry: Entry) -> None:
        """The next entry has just been applied."""

    def on_anew(self, mirror: "Mirror") -> None:
        """The table has been read anew: what was known of it may not have happened."""

    def on_end(self, mirror: "Mirror", why: "End") -> None:
        """This process can follow the table no further."""


@dataclass
class Mirror:
    """The table after entry `seq`, and who wants to hear of the next one."""

    epoch: int
    table: Table
    seq: int
    due: int | None
    last: Entry | None = None
    watchers: list[Watcher] = field(default_factory=list)
    past: deque[tuple[Table, Entry]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    """The last entries, each with the table after it."""
    _public: tuple[Game, View] | None = None
    turned: int = 0
    """When the present turn began, in ms."""
    acted: dict[str, int] = field(default_factory=dict)
    """When each person last did something here, as far as the log still tells, in ms."""
    hosted: int = 0
    """When the host became host, in ms."""

    @staticmethod
    def of(stored: Stored) -> "Mirror":
        """The table that a log tells."""
        mirror = Mirror(stored.epoch, stored.frame, stored.seq - len(stored.entries), stored.due)
        for entry in stored.entries:
            mirror.apply(entry)
        return mirror

    def start_anew(self, stored: Stored) -> None:
        """Be the table that a log tells now, whatever it told before."""
        now = Mirror.of(stored)
        self.epoch, self.table, self.seq, self.due = now.epoch, now.table, now.seq, now.due
        self.last, self.past = now.last, now.past
        self.turned, self.acted, self.hosted = now.turned, now.acted, now.hosted
        for watcher in tuple(self.watchers):
            watcher.on_anew(self)

    @property
    def at(self) -> At:
        return (self.epoch, self.seq)

    @property
    def end(self) -> Last:
        """What the log has to end with, if nothing was added to it or lost."""
        return Last(self.epoch, 0 if self.last is None else self.last.at)

    def is_ahead_of(self, tail: Tail) -> bool:
        """Whether the log, asked from this mirror's last entry on, has lost something that it once held."""
        epoch, seq = tail.at
        if epoch != self.epoch:
            return epoch < self.epoch
        return seq < self.seq or (self.last is not None and tail.base <= self.seq and not self._has_last(tail))

    def is_followed_by(self, tail: Tail) -> bool:
        """Whether what is missing here is all there."""
        if tail.at[0] != self.epoch:
            return False
        return self._has_last(tail) if self.last is not None else not tail.entries or tail.entries[0].seq == self.seq + 1

    def _has_last(self, tail: Tail) -> bool:
        first, last = next(iter(tail.entries), None), self.last
        if first is None or last is None:
            return False
        return (first.seq, first.at, first.command) == (last.seq, last.at, last.command)

    def has(self, seq: int, at: int) -> bool:
        """Whether the entry of this number, stored at this time, has been taken up here."""
        return any((entry.seq, entry.at) == (seq, at) for _, entry in self.past)

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
        before, self.table = self.table, evolve_all(self.table, entry.events)
        if self.table.turn != before.turn:
            self.turned = entry.at
        if self.table.host != before.host:
            self.hosted = entry.at
        if entry.by is not None:
            self.acted[entry.by] = entry.at
        self.seq = entry.seq
        self.due = entry.due
        self.last = entry
        self.past.append((self.table, entry))
        for watcher in tuple(self.watchers):
            watcher.on_entry(self, entry)

    def step(self, entry: Entry, viewer: Viewer) -> Step:
        """What this viewer is sent for the entry that was applied last."""
        return self._step(tuple(_seen(event, viewer) for event in entry.events), viewer)

    def steps(self, after: At, until: At, viewer: Callable[[Table], Viewer]) -> list[Step] | None:
        """What somebody was sent, or would have been, between two moments; None where that is not remembered."""
        if after[0] != self.epoch or until[0] != self.epoch or after[1] > until[1]:
            return None
        missed = [(table, entry) for table, entry in self.past if after[1] < entry.seq <= until[1]]
        if len(missed) != until[1] - after[1]:
            return None
        return [Mirror(self.epoch, table, entry.seq, entry.due).step(entry, viewer(table)) for table, entry in missed]

    def now(self, viewer: Viewer) -> Step:
        """All that this viewer may know at this moment, as if nothing had happened before."""
        return self._step((), viewer)

    def _public_view(self, game: Game) -> View:
        """The public view after the last entry, built once for all who are told of it."""
        if self._public is None or self._public[0] is not game:
            self._public = (game, public_view(game))
        return self._public[1]

    def view(self, viewer: Viewer) -> View | None:
        """The game as this viewer may see it now; None before the first."""
        game = self.table.game
        return None if game is None else seen_by(game, self._public_view(game), viewer)

    def _step(self, events: tuple[SeenEvent, ...], viewer: Viewer) -> Step:
        return Step(self.at, self.table.turn, self.deadline, self.table.read, events, self.view(viewer))


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
            | HostAskedToMove()
            | GameAbandoned()
        ):
            return event
        case _:
            return redact(event, viewer)
