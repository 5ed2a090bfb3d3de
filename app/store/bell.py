"""Who is told that something has happened at a table (port `Bell`)."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from redis.asyncio.client import PubSub

from app.game.refusal import Refused, Why
from app.store.broken import read_or_pass
from app.store.keys import HERE, VOID, WORK, Keys
from app.store.server import AWAY, Cluster, Store, reply
from app.tables.ports import Rang
from app.tables.tasks import heed
from app.tables.tokens import Voided
from app.wire.log import read_said

_ADDED = re.compile(r"(\d+) (\d+)")
"""What is rung for an entry: its number, and the store's time."""


class RedisBell:
    """Pub/sub as a hint (port `Bell`). What it loses, the reader finds in the log."""

    CONTROL = "coinche:bell"
    ECHO_SECONDS = 1.0
    SILENT_WAITS = 4

    def __init__(self, redis: Store) -> None:
        self._redis = redis
        self._heard = {self.CONTROL, VOID}
        self._pubsub = self._line()

    def _line(self) -> PubSub:
        """A line to the server, or to one of a cluster: what rings at one node is heard at all."""
        at = self._redis.one() if isinstance(self._redis, Cluster) else self._redis
        return at.pubsub()

    async def prepare(self) -> None:
        """Subscribe to something, for one cannot listen to nothing."""
        await self._pubsub.subscribe(*self._heard)

    async def close(self) -> None:
        await self._hang_up(self._pubsub)

    async def _hang_up(self, pubsub: PubSub) -> None:
        await pubsub.aclose()  # type: ignore[no-untyped-call]
        if isinstance(self._redis, Cluster):
            pool: Any = pubsub.connection_pool
            await pool.aclose()

    async def follow(self, table: str) -> None:
        self._heard.add(Keys(table).channel)
        await self._change(lambda line: line.subscribe(Keys(table).channel))

    async def unfollow(self, table: str) -> None:
        self._heard.discard(Keys(table).channel)
        await self._change(lambda line: line.unsubscribe(Keys(table).channel))

    async def _change(self, change: Callable[[PubSub], Awaitable[Any]]) -> None:
        """Raises `Refused` while the line is down: the listener alone calls again, or both would tear at one connection."""
        pubsub = self._pubsub
        line: Any = pubsub.connection
        if line is None or not line.is_connected:
            raise Refused(Why.BUSY)
        try:
            await reply(change(pubsub))
        except AttributeError:  # the listener has dropped the line at this very moment; there is nothing to write to
            raise Refused(Why.BUSY) from None
        if pubsub is not self._pubsub:  # it has changed lines meanwhile
            await self._change(change)

    async def rings(self) -> AsyncIterator[Rang | Voided]:
        """Each ring, and one when a bell begins to be heard: what was written until then rang for nobody here."""
        async for channel, data in self._messages():
            if channel == VOID:
                if data:
                    person, _, token = data.partition(" ")
                    yield Voided(person, token or None)
                continue
            table = channel.rpartition("ch:")[2]
            said = read_or_pass(read_said, data, channel) if data.startswith("{") else None
            added = _ADDED.fullmatch(data)
            yield Rang(table, data == HERE, said, (int(added[1]), int(added[2])) if added else None)

    async def work(self) -> AsyncIterator[str]:
        self._heard.add(WORK)
        await self._pubsub.subscribe(WORK)
        async for channel, table in self._messages():
            if channel == WORK and table:
                yield table

    async def _messages(self) -> AsyncIterator[tuple[str, str]]:
        """Channel and data of each message, the data empty where a channel begins to be heard; the echo is left out.

        A subscription that no longer hears itself is made anew. Waits are counted and not the time, which also goes by while
        this process is kept from listening.
        """
        asked, silent = time.monotonic(), 0
        while True:
            heed()
            try:
                if time.monotonic() - asked > self.ECHO_SECONDS:
                    asked = time.monotonic()
                    await self._redis.publish(self.CONTROL, "echo")
                message = await self._pubsub.get_message(timeout=self.ECHO_SECONDS)
                silent = silent + 1 if message is None else 0
                if silent == self.SILENT_WAITS:
                    silent = 0
                    await self._call_anew()
            except (*AWAY, OSError):
                await asyncio.sleep(0.2)
                await self._call_elsewhere()
                continue
            if message is None:
                continue
            if message["channel"] != self.CONTROL and message["type"] != "unsubscribe":
                yield str(message["channel"]), str(message["data"]) if message["type"] == "message" else ""

    async def _call_anew(self) -> None:
        if isinstance(self._redis, Cluster):
            await self._call_elsewhere()
        else:
            connection: Any = self._pubsub.connection
            await connection.disconnect()

    async def _call_elsewhere(self) -> None:
        """In a cluster any node will do, and the one that was called may be gone for good."""
        if not isinstance(self._redis, Cluster):
            return
        new, old = self._line(), self._pubsub
        try:
            await new.subscribe(*self._heard)
        except (*AWAY, OSError):
            await self._hang_up(new)
            return
        self._pubsub = new
        await self._hang_up(old)
