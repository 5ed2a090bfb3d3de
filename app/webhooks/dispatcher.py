"""Makes deliveries of notices, and sends them. Any number of dispatchers may work side by side."""

import asyncio
import hashlib
from collections.abc import Sequence

import structlog

from app import metrics
from app.game.refusal import Refused
from app.tables.deliveries import WAITS, ClaimedDelivery, Delivery, DeliveryQueue, StoredNotice, settlement_of
from app.tables.notices import event_type_of, key_of
from app.tables.tasks import heed
from app.webhooks.sender import SECONDS, Sender
from app.wire.hooks import body_of

LOOK_SECONDS = 0.5
AWAY_SECONDS = 2.0
"""How long it waits before it asks a store again that did not answer."""

LEASE_MS = int(SECONDS * 1000) + 10_000
"""How long an attempt may take before another dispatcher may make it again."""

AT_ONCE = 100
"""So many attempts are under way at once in one process, each for another hook."""

_log = structlog.get_logger()


class Dispatcher:
    """Sends hooks what happens. Nothing waits for it: what it cannot do it does later."""

    def __init__(self, queue: DeliveryQueue, sender: Sender, base: str = "", waits: Sequence[float] = WAITS) -> None:
        self._queue = queue
        self._sender = sender
        self._base = base
        self._waits = waits
        self._under_way: set[asyncio.Task[None]] = set()
        self._work = asyncio.Event()

    async def run(self) -> None:
        """Works until cancelled. Deliveries that are under way then are tried again when their lease has run out."""
        async with asyncio.TaskGroup() as group:
            while True:
                heed()
                self._work.clear()
                try:
                    await self._claim(group)
                    await self._enqueue()
                except Refused:
                    await asyncio.sleep(AWAY_SECONDS)
                except Exception:
                    _log.exception("notices cannot be made deliveries of")
                    await asyncio.sleep(AWAY_SECONDS)
                else:
                    await self._wait()

    async def _wait(self) -> None:
        """Waits until it is time to look, or a hook that has been sent something may have more waiting."""
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                await self._work.wait()
        except TimeoutError:
            return

    async def _enqueue(self) -> None:
        """Makes deliveries of some notices. A notice that fails stays, and stops no other."""
        failure: Exception | None = None
        for stored in await self._queue.notices():
            try:
                deliveries = [self._delivery(hook, stored) for hook in await self._queue.subscribers(stored.notice)]
                metrics.hook_deliveries.labels("dropped").inc(await self._queue.enqueue(deliveries, stored.at))
                await self._queue.acknowledge(stored)
            except Refused:
                raise
            except Exception as error:
                failure = error
            else:
                self._work.set()
        if failure is not None:
            raise failure

    def _delivery(self, hook: str, stored: StoredNotice) -> Delivery:
        """Returns the delivery for this hook; its id is the same whichever dispatcher makes it."""
        name = "msg_" + hashlib.sha256(f"{hook} {key_of(stored.notice)}".encode()).hexdigest()[:24]
        body = body_of(name, stored.notice, stored.at, self._base)
        return Delivery(hook, name, event_type_of(stored.notice).value, body)

    async def _claim(self, group: asyncio.TaskGroup) -> None:
        free = AT_ONCE - len(self._under_way)
        for claimed in await self._queue.claim(LEASE_MS, free) if free else ():
            task = group.create_task(self._send(claimed))
            self._under_way.add(task)
            task.add_done_callback(self._sent)

    def _sent(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        self._work.set()

    async def _send(self, claimed: ClaimedDelivery) -> None:
        try:
            status, result = await self._sender.send(claimed)
            settlement = settlement_of(claimed, status, result, self._waits)
            await self._queue.settle(claimed, settlement)
            metrics.hook_deliveries.labels(settlement.outcome.value).inc()
        except Refused:
            pass  # the store is away; the lease runs out, and the delivery is tried again
        except Exception:
            _log.exception("a delivery failed by a fault of ours", hook=claimed.delivery.hook, delivery=claimed.delivery.id)
