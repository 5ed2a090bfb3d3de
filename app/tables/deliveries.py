"""Deliveries of webhooks: notices become deliveries, which are tried until one succeeds or they are given up."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from app.tables.notices import Notice

SECRET = "whsec_"
"""What a signing secret begins with; the rest is its bytes in base64, as Standard Webhooks have it."""

WAITS = (5, 15, 45, 135, 405, 1_215, 3_645, 10_800, 14_400, 14_400, 14_400, 14_400, 14_400)
"""Seconds before each further attempt; a day in all. After the last of them a delivery is dead."""

LONGEST_REST = 60
"""After a failure a hook gets no other delivery either: as long as the failed one waits, but at most so many seconds."""

JITTER = 0.25
"""Waits are longer or shorter by up to this part, so that what failed together does not come together again."""


@dataclass(frozen=True, slots=True)
class StoredNotice:
    """A notice as it is stored: its place, and when it was written, in ms by the store's clock."""

    shard: str
    id: str
    at: int
    notice: Notice


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one hook is to be sent; `body` is JSON. `id` is the same for all attempts and unlike all others."""

    hook: str
    id: str
    event: str
    body: str


@dataclass(frozen=True, slots=True)
class ClaimedDelivery:
    """A delivery that this process may try now: its URL, the secret that signs it, and how many attempts have failed."""

    delivery: Delivery
    url: str
    secret: str = field(repr=False)
    tries: int = 0


@dataclass(frozen=True, slots=True)
class DeadDelivery:
    """A delivery that was given up, when, in ms, and the result of the last attempt."""

    delivery: Delivery
    at: int
    result: str


class Outcome(StrEnum):
    """What becomes of a delivery after an attempt."""

    DELIVERED = "delivered"
    FAILED = "failed"
    DEAD = "dead"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Settlement:
    """The outcome of an attempt and its result, a status or a word; the wait before the next, and the hook's rest, in ms."""

    outcome: Outcome
    result: str
    wait: int = 0
    rest: int = 0


def settlement_of(claimed: ClaimedDelivery, status: int | None, result: str, waits: Sequence[float] = WAITS) -> Settlement:
    """Decides what becomes of a delivery that was answered with this status, or not at all."""
    if status is not None and 200 <= status < 300:
        return Settlement(Outcome.DELIVERED, result)
    if status == 410:
        return Settlement(Outcome.GONE, result)
    wait = waits[min(claimed.tries, len(waits) - 1)] * random.uniform(1 - JITTER, 1 + JITTER)
    rest = int(min(wait, LONGEST_REST) * 1000)
    if claimed.tries >= len(waits):
        return Settlement(Outcome.DEAD, result, rest=rest)
    return Settlement(Outcome.FAILED, result, int(wait * 1000), rest)


class DeliveryQueue(Protocol):
    """Stores notices and deliveries, so that a process that dies leaves them to others. All methods may raise `Refused`."""

    async def notices(self) -> Sequence[StoredNotice]:
        """Returns some of the stored notices; each stays until it is acknowledged."""

    async def subscribers(self, notice: Notice) -> Sequence[str]:
        """Returns the ids of the hooks that are to be sent this notice."""

    async def enqueue(self, deliveries: Sequence[Delivery], at: int) -> int:
        """Adds deliveries: each once, and none for a hook that is off or was not there `at` that time.

        Returns how many were dropped because too many wait.
        """

    async def acknowledge(self, stored: StoredNotice) -> None:
        """Removes a notice of which all deliveries are in the queue."""

    async def claim(self, lease: int, most: int) -> Sequence[ClaimedDelivery]:
        """Returns deliveries that are due, one for a hook. Others may claim them after `lease` ms unless they are settled."""

    async def settle(self, claimed: ClaimedDelivery, settlement: Settlement) -> None:
        """Stores what an attempt came to."""

    async def dead(self) -> Sequence[DeadDelivery]:
        """Returns the deliveries that were given up, oldest first."""

    async def redeliver(self, delivery: Delivery) -> bool:
        """Puts a dead delivery into the queue again; returns whether there still is a hook to send it to."""
