"""Somebody else's server that is told things: what it was sent, and how it answers."""

import asyncio
import base64
import hmac
import json
import ssl
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

PATIENCE = 60  # seconds after which something hangs; never a measure of speed

CHUNK = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"

FLOODS = {
    "endless": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", CHUNK),
    "interim": (b"", b"HTTP/1.1 103 \r\n\r\n" * 1000),
    "heavy interim": (b"", b"HTTP/1.1 103 Early Hints\r\n" + b"Link: </a>\r\n" * 100 + b"\r\n"),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X-More: and more\r\n" * 1000),
    "header": (b"HTTP/1.1 200 OK\r\nX-More: ", b"x" * 10_000),
    "status": (b"HTTP/1.1 200 O", b"K" * 10_000),
    "noise": (b"", b"\x00\xff" * 5_000),
}
"""Answers without end: how they begin, and what follows for ever."""

Answer = int | str
"""A status; `close`: none; `hang`: none as long as the other waits; `drip`: a byte at a time; a flood; or where to go."""


@dataclass(frozen=True)
class Got:
    """A request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def told(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.body)
        return told

    def is_signed(self, secret: str) -> bool:
        """Whether it was signed with this secret, by the letter of the scheme."""
        key = base64.b64decode(secret[len("whsec_") :])
        signed = b".".join([self.id.encode(), self.headers["webhook-timestamp"].encode(), self.body])
        return self.headers["webhook-signature"] == "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()


@dataclass
class Receiver:
    """Answers with what stands first in `answers`, then with `usual`."""

    port: int = 0
    usual: Answer = 204
    answers: deque[Answer] = field(default_factory=deque)
    got: list[Got] = field(default_factory=list)
    sent: int = 0
    """Bytes of endless answers that were taken."""
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def until(self, wanted: Callable[[list[Got]], object]) -> list[Got]:
        """All that was got, when it is as wanted."""
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: wanted(self.got))
        return self.got

    async def have(self, number: int) -> list[Got]:
        return await self.until(lambda got: len(got) >= number)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await self._answer(reader, writer)
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        got = Got(head[0].split()[1], headers, await reader.readexactly(int(headers.get("content-length", 0))))
        answer = self.answers.popleft() if self.answers else self.usual
        async with self._news:
            self.got.append(got)
            self._news.notify_all()
        if answer == "hang":
            await reader.read()
        elif answer == "drip":
            writer.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while True:
                writer.write(b"x")
                await writer.drain()
                self.sent += 1
                await asyncio.sleep(0.01)
        elif answer in FLOODS:
            first, rest = FLOODS[answer]
            writer.write(first)
            while True:
                writer.write(rest)
                await writer.drain()
                self.sent += len(rest)
        elif isinstance(answer, int):
            writer.write(f"HTTP/1.1 {answer} Said\r\nContent-Length: 0\r\nSet-Cookie: who=you; Path=/\r\n\r\n".encode())
            await writer.drain()
        elif answer != "close":
            writer.write(f"HTTP/1.1 307 Elsewhere\r\nLocation: {answer}\r\nContent-Length: 0\r\n\r\n".encode())
            await writer.drain()


@asynccontextmanager
async def receiving(usual: Answer = 204, tls: ssl.SSLContext | None = None, port: int = 0) -> AsyncIterator[Receiver]:
    """A server on a port of this machine, a free one if none is named."""
    one = Receiver(usual=usual)
    server = await asyncio.start_server(one.serve, "127.0.0.1", port, ssl=tls)
    one.port = server.sockets[0].getsockname()[1]
    async with server:
        yield one


async def eventually(wanted: Callable[[], Awaitable[object]]) -> None:
    """Ask until it is so."""
    async with asyncio.timeout(PATIENCE):
        while not await wanted():  # noqa: ASYNC110 -- it is another process's doing
            await asyncio.sleep(0.02)
