"""Hooks: other people's servers that are told what happens. Whose are they, and what do they hear?"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from app.game.refusal import Refused, Why
from app.game.rules import preset_of
from app.game.seats import SEATS, Seat
from app.tables.history import Told
from app.tables.notices import GameFinished, Heard, Sitting
from app.tables.table import Occupant, Person

MOST_HOOKS = 10
"""So many hooks one person may have."""

LONGEST_URL = 1_000


class Reach(StrEnum):
    """Whose games a hook hears of: the owner's and those of his bots, or those at listed tables as well."""

    MINE = "mine"
    ALL = "all"


def hears_everybody(heard: Heard, scope: Reach) -> bool:
    """Whether such a hook hears of everybody's listed tables: of new ones always, of their games if it was made for that."""
    return heard is Heard.TABLE_OPENED or (heard is Heard.GAME_FINISHED and scope is Reach.ALL)


@dataclass(frozen=True, slots=True)
class Attempt:
    """The last delivery that was tried: when, in ms, of what, and what came of it: a status, or a word."""

    at: int
    event: str
    result: str


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook, without its secret. `failures`: so many in a row; `is_off`: its server has said that it is gone."""

    id: str
    url: str
    events: tuple[Heard, ...]
    scope: Reach
    created: int
    is_off: bool = False
    failures: int = 0
    last: Attempt | None = None


class Hooks(Protocol):
    """Hooks by their owner. Whoever is not the owner learns nothing, not even that there is such a hook."""

    async def add(self, owner: str, url: str, events: Sequence[Heard], scope: Reach) -> tuple[Hook, str] | None:
        """A new hook and its secret, or None if the owner has as many as one may have."""

    async def of(self, owner: str) -> Sequence[Hook]:
        """The owner's hooks, oldest first."""

    async def remove(self, owner: str, hook: str) -> bool:
        """Whether the owner had this hook. Nothing is sent to it any more."""

    async def ping(self, owner: str, hook: str) -> None:
        """Put a ping into its post. Raises `Refused` if the owner has no such hook, or if it is off."""

    async def waiting(self) -> dict[str, int]:
        """How many deliveries wait to be made (`waiting`), and how many were given up (`dead`)."""


class Doorman(Protocol):
    """Knows where the server's own post may go."""

    async def check(self, url: str) -> str:
        """The address as it will be used. Raises `Refused` if nothing may be sent there, whatever the reason."""


def events_of(names: Sequence[str]) -> tuple[Heard, ...]:
    """The events by their names, each once. Raises `Refused`."""
    if not names or not set(names) <= set(Heard):
        raise Refused(Why.WRONG_VALUE, "events")
    return tuple(one for one in Heard if one in names)


def finished(told: Told) -> GameFinished:
    """What there is to tell of a game that the archive has."""
    game = told.game
    return GameFinished(
        table=told.table,
        number=told.number,
        game=game.id,
        listed=told.listed,
        preset=preset_of(game.rules),
        started=told.started,
        finished=told.finished,
        totals=game.totals,
        winner=told.winner,
        seats=tuple(_sitting(seat, one) for seat, one in zip(SEATS, told.occupants, strict=True)),
    )


def _sitting(seat: Seat, one: Occupant) -> Sitting:
    if isinstance(one, Person):
        return Sitting(seat, "person", one.id, one.name)
    return Sitting(seat, "house", one.player, one.name)
