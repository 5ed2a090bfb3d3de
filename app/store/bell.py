"""Who is told that something has happened at a table (port `Bell`)."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import structlog
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Unconnected

from app.game.refusal import Refused, Why
from app.store.broken import read_or_pass
from app.store.keys import HERE, VOID, WORK, Keys
from app.store.server import AWAY, Cluster, Store
from app.tables.ports import Rang
from app.tables.tasks import heed
from app.tables.tokens import Voided
from app.wire.log import read_said

_ADDED = re.compile(r"(\d+) (\d+)")
"""What is rung for an entry: its number, and the store's time."""

_log = structlog.get_logger()


class RedisBell:
    """Pub/sub as a hint (port `Bell`). What it loses, the reader finds in the log.

    Whoever listens owns the connection: it alone connects, reads and hangs up, and after any fault it begins anew with all
    channels. The client's own `PubSub` reconnects for whoever writes as well, and then two tasks tear at one connection.
    """

    CONTROL = "coinche:bell"
    ECHO_SECONDS = 1.0
    SILENT_WAITS = 4
    PAUSE_SECONDS = 0.2
    """So long lies at least between two calls."""

    def __init__(self, redis: Store) -> None:
        self._redis = redis
        self._channels: dict[str, None] = dict.fromkeys((self.CONTROL, VOID))
        self._connection: Any = None
        self._called = 0.0

    async def prepare(self) -> None:
        """Begin to be told, so that what happens before somebody listens waits for him."""
        await self._call()

    async def close(self) -> None:
        await self._hang_up()

    async def _call(self) -> None:
        """Connect to the server, or to one of a cluster, and ask for all channels: what rings at one node is heard at all."""
        self._called = time.monotonic()
        client = self._redis.one() if isinstance(self._redis, Cluster) else self._redis
        pool: Any = client.connection_pool
        settings = {"protocol": 2, "retry": Retry(NoBackoff(), 0), "health_check_interval": 0}
        self._connection = pool.connection_class(**pool.connection_kwargs | settings)
        try:
            await self._connection.connect()
            await self._connection.send_command("SUBSCRIBE", *self._channels, check_health=False)
        except BaseException:
            await self._hang_up()
            raise

    async def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(*AWAY, OSError):
                await connection.disconnect(nowait=True)

    async def follow(self, table: str) -> None:
        self._channels[Keys(table).channel] = None
        await self._ask("SUBSCRIBE", Keys(table).channel)

    async def unfollow(self, table: str) -> None:
        self._channels.pop(Keys(table).channel, None)
        await self._ask("UNSUBSCRIBE", Keys(table).channel)

    async def _ask(self, command: str, channel: str) -> None:
        """Raises `Refused` while there is no connection: the listener will ask for all channels when there is one again."""
        connection = self._connection
        if connection is None or not connection.is_connected:
            raise Refused(Why.BUSY)
        try:
            await connection.send_command(command, channel, check_health=False)
        except Exception as error:  # whatever it is, the listener meets it too
            raise Refused(Why.BUSY) from error

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
        self._channels[WORK] = None
        with suppress(Refused):  # then it is asked for with the others
            await self._ask("SUBSCRIBE", WORK)
        async for channel, table in self._messages():
            if channel == WORK and table:
                yield table

    async def _messages(self) -> AsyncIterator[tuple[str, str]]:
        """Channel and data of each message, the data empty where a channel begins to be heard; the echo is left out."""
        asked, silent, is_known = time.monotonic(), 0, False
        while True:
            heed()
            try:
                if self._connection is None:
                    await asyncio.sleep(max(0.0, self._called + self.PAUSE_SECONDS - time.monotonic()))
                    await self._call()
                    silent = 0
                if time.monotonic() - asked > self.ECHO_SECONDS:
                    asked = time.monotonic()
                    await self._redis.publish(self.CONTROL, "echo")
                message = await self._connection.read_response(timeout=self.ECHO_SECONDS, disconnect_on_error=False)
                # Waits are counted and not the time, which also goes by while this process is kept from listening.
                silent = silent + 1 if message is None else 0
                if silent == self.SILENT_WAITS:
                    raise Unconnected("it does not hear itself")
            except Exception as error:
                if not isinstance(error, (*AWAY, OSError)) and not is_known:
                    is_known = True
                    _log.exception("listening to the store has failed, and is begun anew")
                await self._hang_up()
                continue
            if message is None:
                continue
            kind, channel, data = message
            if channel != self.CONTROL and kind != "unsubscribe":
                yield str(channel), str(data) if kind == "message" else ""
