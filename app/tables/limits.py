"""How often may one ask? Token buckets: so many at once, and so many more a second."""

from collections.abc import Sequence
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

BODIES = Policy("bodies", 256, 16 * 1024)
"""Kilobytes of long bodies, charged before they are looked at."""


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
    """The buckets, shared by all processes."""

    async def ask(self, *wishes: Wish) -> Sequence[Verdict]:
        """What becomes of each wish, in their order; nothing of those where nothing is limited."""
