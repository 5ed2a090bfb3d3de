"""How often may one ask? Token buckets: so many at once, and so many more a second. And how much may one have open? Quotas."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from math import ceil
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Policy:
    """A kind of question, and how often one asker may put it."""

    name: str
    rate: float
    burst: int

    @property
    def window(self) -> int:
        """Seconds after which an empty bucket is full."""
        return ceil(self.burst / self.rate)


GENERAL = Policy("general", 20, 60)
OPENING = Policy("open", 1 / 3, 10)
"""Opening a table."""

GUESTS = Policy("guests", 1, 20)
"""Making guests, by address."""

LOOKUPS = Policy("lookups", 5, 100)
"""Asking for tables and games that are not there, by address: who guesses ids finds few."""

HANDSHAKES = Policy("handshakes", 20, 300)
"""Opening sockets, by address: a whole club behind one must be back at once after a roll-out."""

HOOKS = Policy("hooks", 1 / 10, 10)
"""Making hooks and pinging them: each has this server ask another."""

REFEREE = Policy("referee", 1_000, 20_000)
"""Questions for the referee, each of a list counted."""

TALK = Policy("talk", 1 / 2, 5)
"""Saying something, by person and table."""

BODIES = Policy("bodies", 256, 16 * 1024)
"""Kilobytes of long bodies, charged before they are looked at."""


@dataclass(frozen=True, slots=True)
class Quota:
    """How many of something one may have open, in all processes together."""

    name: str
    most: int


SOCKETS_OF_ADDRESS = Quota("sockets", 1_000)
"""Wide: a club of eighty behind one address, with several tabs each, twice over while those of a dead process still count."""

SOCKETS_OF_PERSON = Quota("sockets", 20)

EXPORTS_OF_STRANGERS = Quota("exports", 2)
EXPORTS = Quota("exports", 4)
"""Exports that go on, by person or token; those of strangers by address."""


GAMES_OF_PERSON = Quota("games", 20)
"""Running games at which one person sits."""

GAMES_OF_ADDRESS = Quota("games", 400)
"""Running games that were begun from one address: a whole club is behind some."""

LOOKED_AT = 10
"""So many of what is held are looked at when there is no room, those first that were looked at longest ago."""


@dataclass(frozen=True, slots=True)
class Wish:
    """To take so much from a bucket if it is there; only to look whether it is; or to take what is not there, as a debt."""

    policy: Policy
    who: str
    cost: int = 1
    how: Literal["take", "look", "charge"] = "take"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether it may be asked now, how much may be asked at once after it, and seconds: until all may, and until this may."""

    policy: Policy
    allowed: bool
    left: int
    full: int
    wait: int


class Limits(Protocol):
    """The buckets and what is open, shared by all processes."""

    are_lifted: bool
    """Whether nothing is limited at all."""

    async def ask(self, *wishes: Wish) -> Sequence[Verdict]:
        """What becomes of each wish, in their order; nothing of those where nothing is limited."""

    def hold(self, quota: Quota, who: str) -> AbstractAsyncContextManager[None]:
        """One more of these is open until the context ends. Entering it raises `Refused` if that is one too many."""

    async def run(self) -> None:
        """Keeps what is open counted until cancelled; what a process leaves behind that dies is soon not counted any more."""

    async def count_game(self, quota: Quota, who: str, table: str) -> Sequence[str]:
        """Counts a table that somebody holds. Where there is no room it is not counted, and some that are held are returned."""

    async def forget_games(self, quota: Quota, who: str, tables: Sequence[str]) -> None:
        """Counts these no longer."""
