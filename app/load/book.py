"""What the clients of one table were told, and what they were promised.

A client hears a step for each entry of the table's log while it is connected, and an ack for each of its commands. The steps
of all clients together are the log, but for what nobody heard; the archive tells the finished games once more. Whatever these
three disagree on is a difference (`check_log`, `check_archive`).
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
At = tuple[int, int]
Key = tuple[int, int, int | None, str]

ACTS = ("call_made", "card_played", "redeal_claimed")
"""Events that end a turn."""

REMEMBERED = 40
"""For so many entries at least a command is answered as the first time."""


@dataclass
class Asked:
    """A command that a client sent. `is_move`: legal and in turn as the client saw it, not an echo of an earlier one."""

    cid: str
    seat: int
    action: Json
    turn: int | None
    game: int
    deal: int
    spoken: int
    is_move: bool
    sent: float = field(default_factory=time.monotonic)
    at: At | None = None
    refused: str | None = None

    @property
    def key(self) -> Key:
        """What it asks, whatever its name: of all commands of one key one may be stored."""
        return (self.game, self.seat, self.turn, str(_plain(self.action)))

    @property
    def is_of_the_game(self) -> bool:
        """Whether it moves the game on; what does not may change nothing at the table, and then it has no moment."""
        return self.action["kind"] not in ("next", "return")

    @property
    def said(self) -> str:
        """What it does in the game, as the archive has it: a call or a card."""
        match self.action["kind"]:
            case "bid":
                return str({"value": self.action["value"], "trump": self.action["trump"]})
            case "play":
                return str(self.action["card"])
            case kind:
                return str(kind)

    def __str__(self) -> str:
        return f"{self.cid} (seat {self.seat}, turn {self.turn}, {_plain(self.action)})"


@dataclass(frozen=True)
class Told:
    """An entry of the log as all may know it."""

    game: int
    deal: int
    turn: int
    read: tuple[int, ...]
    events: tuple[Json, ...]

    def acts(self) -> Iterator[Json]:
        """What somebody did in turn."""
        return (event for event in self.events if event["kind"] in ACTS)

    def has(self, kind: str, seat: int) -> bool:
        return any(event["kind"] == kind and event["seat"] == seat for event in self.events)


@dataclass(frozen=True)
class Stood:
    """How the table stood after an entry: its turn, and the seats that the stand-in plays for."""

    turn: int
    away: frozenset[int]


class Book:
    """One table."""

    def __init__(self, table: str, seats: Iterable[int]) -> None:
        self.table = table
        self.people = frozenset(seats)
        self.steps: dict[At, Told] = {}
        self.stood: dict[At, Stood] = {}
        self.asked: dict[str, Asked] = {}
        self.hands: dict[tuple[int, int, int], frozenset[str]] = {}
        self.were_away: set[tuple[int, int]] = set()
        self.won: dict[int, Json] = {}
        self.latencies: list[float] = []
        self.refusals: Counter[str] = Counter()
        self.answers = 0
        self.gap = 0.0
        self.gap_ended = 0.0
        self._running_since: float | None = None
        self._differences: dict[str, None] = {}

    @property
    def differences(self) -> list[str]:
        return list(self._differences)

    def differ(self, what: str) -> None:
        """Note something that is not as it must be."""
        self._differences[f"table {self.table}: {what}"] = None

    def ask(self, asked: Asked) -> Asked:
        """A command is about to be sent."""
        self.asked[asked.cid] = asked
        return asked

    def acknowledged(self, cid: str, at: At) -> None:
        """A command is said to be stored."""
        asked = self.asked[cid]
        self.answers += 1
        if asked.at is None:
            self.latencies.append(time.monotonic() - asked.sent)
        elif asked.at != at and asked.is_of_the_game:
            self.differ(f"{asked} was acknowledged at {asked.at} and again at {at}")
        if asked.refused is not None:
            self.differ(f"{asked} was refused ({asked.refused}) and then acknowledged at {at}")
        asked.at = asked.at or at

    def refuse(self, cid: str, why: str) -> None:
        """A command was refused."""
        self.refusals[why] += 1
        if why in ("busy", "newer_release"):  # no answer yet
            return
        asked = self.asked[cid]
        if asked.at is None:
            asked.refused = why
        # Long after, a command is no longer known by its name; then it is only not done again.
        elif asked.is_of_the_game and max(self.steps, default=asked.at)[1] - asked.at[1] < REMEMBERED:
            self.differ(f"{asked} was acknowledged at {asked.at} and then refused: {why}")

    def tell(self, at: At, told: Told, is_running: bool) -> None:
        """A client heard a step; all must hear the same."""
        known = self.steps.get(at)
        if known is None:
            self.steps[at] = told
            self._news(is_running)
        elif known != told:
            self.differ(f"two clients were told different things at {at}: {known} and {told}")
        for event in told.events:
            if event["kind"] == "seat_away":
                self.were_away.add((told.game, event["seat"]))
            elif event["kind"] == "game_won":
                self.won[told.game] = event

    def stand(self, at: At, game: int, stood: Stood) -> None:
        """A client was told how the table stands."""
        self.stood[at] = stood
        self.were_away |= {(game, seat) for seat in stood.away}

    def hold(self, game: int, deal: int, seat: int, hand: Iterable[str]) -> None:
        """A client was dealt a hand."""
        self.hands[game, deal, seat] = frozenset(hand)

    def excuse(self) -> None:
        """What is silent until now is so because clients want it."""
        if self._running_since is not None:
            self._running_since = time.monotonic()

    @property
    def silent_for(self) -> float:
        """For how many seconds nothing was heard in a running game."""
        return 0.0 if self._running_since is None else time.monotonic() - self._running_since

    def _news(self, is_running: bool) -> None:
        if self.silent_for > self.gap:
            self.gap, self.gap_ended = self.silent_for, time.monotonic()
        self._running_since = time.monotonic() if is_running else None

    @property
    def unheard(self) -> int:
        """Entries between the first and the last that no client heard."""
        numbers = [seq for _, seq in self.steps]
        return max(numbers) - min(numbers) + 1 - len(numbers) if numbers else 0


def _plain(action: Json) -> Json:
    """The action without what it may leave out."""
    return {name: value for name, value in action.items() if not (name == "belote" and value is False)}
