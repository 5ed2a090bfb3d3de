"""Hooks: other people's servers that are sent events. Whose they are, and what they subscribe to."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from app.game.refusal import Refused, Why
from app.game.rules import preset_of
from app.game.seats import SEATS, Seat
from app.tables.history import Told
from app.tables.notices import EventType, GameFinished, SeatHolder
from app.tables.table import Occupant, Person

MOST_HOOKS = 10
"""So many hooks one person may have."""

LONGEST_URL = 1_000


class HookScope(StrEnum):
    """Whose events a hook is sent: the owner's and those of his bots, or those of all listed tables as well."""

    MINE = "mine"
    ALL = "all"


def covers_everybody(event: EventType, scope: HookScope) -> bool:
    """Returns whether a hook of this scope is sent this event of everybody's listed tables.

    Only the operator's are: if any guest's could be, each table would make as many deliveries as there are such hooks.
    """
    return scope is HookScope.ALL and event in (EventType.TABLE_OPENED, EventType.GAME_FINISHED)


@dataclass(frozen=True, slots=True)
class Attempt:
    """The last attempt at a delivery: when, in ms, of which event, and the result: a status, or a word."""

    at: int
    event: str
    result: str


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook, without its secret. `failures`: so many in a row; `is_off`: its server has said that it is gone.

    `dropped`: so many deliveries were dropped since it was made, because too many waited.
    """

    id: str
    url: str
    events: tuple[EventType, ...]
    scope: HookScope
    created: int
    is_off: bool = False
    failures: int = 0
    dropped: int = 0
    last: Attempt | None = None


class Hooks(Protocol):
    """Hooks by their owner. Whoever is not the owner learns nothing, not even that there is such a hook."""

    async def add(self, owner: str, url: str, events: Sequence[EventType], scope: HookScope) -> tuple[Hook, str] | None:
        """Makes a hook. Returns it and its secret, or None if the owner has as many as one may have."""

    async def of(self, owner: str) -> Sequence[Hook]:
        """Returns the owner's hooks, oldest first."""

    async def remove(self, owner: str, hook: str) -> bool:
        """Removes a hook. Returns whether the owner had it. Nothing is sent to it any more."""

    async def ping(self, owner: str, hook: str) -> None:
        """Queues a ping for it. Raises `Refused` if the owner has no such hook, if it is off, or if too much waits."""

    async def waiting(self) -> dict[str, int]:
        """Returns how many deliveries wait to be made (`waiting`), and how many were given up (`dead`)."""


class UrlChecker(Protocol):
    """Decides where deliveries may go."""

    async def check(self, url: str) -> str:
        """Returns the URL as it will be used. Raises `Refused` if nothing may be sent there, whatever the reason."""


def events_of(names: Sequence[str]) -> tuple[EventType, ...]:
    """Returns the event types of these names, each once. Raises `Refused`."""
    if not names or not set(names) <= set(EventType):
        raise Refused(Why.WRONG_VALUE, "events")
    return tuple(event for event in EventType if event in names)


def finished(archived: Told) -> GameFinished:
    """Returns the notice of a game that the archive has."""
    game = archived.game
    return GameFinished(
        table=archived.table,
        number=archived.number,
        game=game.id,
        listed=archived.listed,
        preset=preset_of(game.rules),
        started=archived.started,
        finished=archived.finished,
        totals=game.totals,
        winner=archived.winner,
        ended=archived.ended.value,
        seats=tuple(_seat_holder(seat, occupant) for seat, occupant in zip(SEATS, archived.occupants, strict=True)),
    )


def _seat_holder(seat: Seat, occupant: Occupant) -> SeatHolder:
    if isinstance(occupant, Person):
        return SeatHolder(seat, "person", occupant.id, occupant.name)
    return SeatHolder(seat, "house", occupant.player, occupant.name)
