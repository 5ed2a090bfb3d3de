"""A load balancer that can be told to treat connections badly: any backend that listens, no stickiness."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from random import Random

CONNECT_SECONDS = 2


@dataclass(eq=False)
class Connection:
    """One client, and the backend it was given. Frozen, it is open on both sides and carries nothing: half of it is gone."""

    client: asyncio.StreamWriter
    backend: asyncio.StreamWriter
    frozen: asyncio.Event = field(default_factory=asyncio.Event)
    delay: float = 0.0

    def drop(self) -> None:
        """Both sides see it broken off."""
        self.client.transport.abort()
        self.backend.transport.abort()


class Proxy:
    """Listens on one port; `backends` are the ports that new connections may go to. Deaf, it takes them and carries nothing."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice
        self.backends: list[int] = []
        self.connections: set[Connection] = set()
        self.port = 0
        self.is_deaf = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Proxy"]:
        """Serve until the context ends."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for connection in tuple(self.connections):
                connection.drop()
            await asyncio.sleep(0)

    def some(self, share: float) -> list[Connection]:
        """This share of the connections, but one at least if there are any."""
        there = sorted(self.connections, key=id)
        return self._dice.sample(there, min(len(there), max(1, round(share * len(there)))))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened = await self._open(self._dice.sample(self.backends, len(self.backends)))
        if opened is None:
            writer.transport.abort()
            return
        connection = Connection(writer, opened[1])
        self.connections.add(connection)
        if self.is_deaf:
            connection.frozen.set()
        try:
            with suppress(OSError):
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._carry(connection, reader, opened[1]))
                    group.create_task(self._carry(connection, opened[0], writer))
        except* OSError:
            pass
        finally:
            self.connections.discard(connection)
            connection.drop()

    async def _open(self, ports: Iterable[int]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        for port in ports:
            with suppress(OSError):
                async with asyncio.timeout(CONNECT_SECONDS):
                    return await asyncio.open_connection("127.0.0.1", port)
        return None

    async def _carry(self, connection: Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one direction until its end; then the whole connection ends, which is all that our protocol knows."""
        while data := await reader.read(65536):
            if connection.delay:
                await asyncio.sleep(connection.delay)
            if connection.frozen.is_set():
                continue  # it is swallowed, and nobody is told
            writer.write(data)
            await writer.drain()
        if connection.frozen.is_set():
            return
        raise ConnectionResetError
