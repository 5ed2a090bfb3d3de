"""The post of the hooks: notices become mail, and mail is carried until it has arrived or is given up."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from app.tables.notices import Notice

SECRET = "whsec_"
"""What a signing secret begins with; the rest is its bytes in base64, as Standard Webhooks have it."""

WAITS = (5, 15, 45, 135, 405, 1_215, 3_645, 10_800, 14_400, 14_400, 14_400, 14_400, 14_400)
"""Seconds before mail is tried again, each time; a day in all. After the last of them it is dead."""

LONGEST_REST = 60
"""A hook that fails is left alone, all its mail: as long as the mail that failed, but no longer than so many seconds."""

JITTER = 0.25
"""Waits are longer or shorter by up to this part, so that what failed together does not come together again."""


@dataclass(frozen=True, slots=True)
class Stamped:
    """A notice as it waits: its place, and when it was written, in ms by the store's clock."""

    shard: str
    id: str
    at: int
    notice: Notice


@dataclass(frozen=True, slots=True)
class Letter:
    """What one hook is to be sent; `body` is JSON. `id` is the same for all attempts and unlike all others."""

    hook: str
    id: str
    event: str
    body: str


@dataclass(frozen=True, slots=True)
class Mail:
    """A letter on its way: to where, signed with what, and how often it has been tried in vain."""

    letter: Letter
    url: str
    secret: str = field(repr=False)
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Dead:
    """A letter that was given up, when, in ms, and what came of the last attempt."""

    letter: Letter
    at: int
    result: str


class Fate(StrEnum):
    """What becomes of mail after an attempt."""

    DELIVERED = "delivered"
    FAILED = "failed"
    DEAD = "dead"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an attempt: a status or a word; the wait before the next, and the hook's rest, in ms."""

    fate: Fate
    result: str
    wait: int = 0
    rest: int = 0


def outcome(mail: Mail, status: int | None, result: str, waits: Sequence[float] = WAITS) -> Outcome:
    """What becomes of mail that was answered with this status, or not at all."""
    if status is not None and 200 <= status < 300:
        return Outcome(Fate.DELIVERED, result)
    if status == 410:
        return Outcome(Fate.GONE, result)
    wait = waits[min(mail.tries, len(waits) - 1)] * random.uniform(1 - JITTER, 1 + JITTER)
    rest = int(min(wait, LONGEST_REST) * 1000)
    if mail.tries >= len(waits):
        return Outcome(Fate.DEAD, result, rest=rest)
    return Outcome(Fate.FAILED, result, int(wait * 1000), rest)


class Postbox(Protocol):
    """Where notices and mail lie, so that whoever dies with some leaves it to others. All of it may raise `Refused`."""

    async def notices(self) -> Sequence[Stamped]:
        """Some of what there is to tell; it stays until it is `told`."""

    async def hearing(self, notice: Notice) -> Sequence[str]:
        """The hooks that may hear of it."""

    async def post(self, letters: Sequence[Letter], at: int) -> None:
        """Put letters into the post: each once, and none to a hook that is off or was not there `at` that time."""

    async def told(self, stamped: Stamped) -> None:
        """All letters of this notice are in the post."""

    async def claim(self, lease: int, most: int) -> Sequence[Mail]:
        """Mail whose time has come, one for a hook. Others may take it after `lease` ms unless it is settled."""

    async def settle(self, mail: Mail, outcome: Outcome) -> None:
        """What came of an attempt."""

    async def dead(self) -> Sequence[Dead]:
        """What was given up, oldest first."""

    async def redeliver(self, letter: Letter) -> bool:
        """Put a dead letter into the post again; whether there still is a hook to send it to."""
