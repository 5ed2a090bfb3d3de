"""One connection that asks without end, does not ask at all, or does not read, costs little and is not kept."""

import asyncio
import json
import logging
import socket as sockets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import pytest
import structlog

from app.web import connections
from app.web.connections import MOST_HEAD, Lines, Requests
from tests.people import PATIENCE, Person, Site, open_table, people, person, running_site

HANDSHAKE = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}==\r\nSec-WebSocket-Version: 13\r\n".format(
    key="A" * 22
)
TEXT, PING = 1, 9
MUCH = 20_000_000
"""More than the system itself keeps of what nobody reads."""


def head(line: str, *more: str) -> bytes:
    return "".join(f"{one}\r\n" for one in (line, "Host: localhost", *more)).encode()


def frame(opcode: int, payload: bytes, masked: bool = True) -> bytes:
    """A short frame as a client sends it; the mask is all zeros."""
    assert len(payload) < 126
    return bytes([0x80 | opcode, (0x80 if masked else 0) | len(payload)]) + (bytes(4) if masked else b"") + payload


@asynccontextmanager
async def wire(url: str, buffer: int | None = None) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection of which nothing is read but what is asked for."""
    host, port = url.removeprefix("http://").split(":")
    raw = sockets.socket()
    if buffer is not None:
        raw.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, buffer)
    raw.setblocking(False)
    await asyncio.get_running_loop().sock_connect(raw, (host, int(port)))
    reader, writer = await asyncio.open_connection(sock=raw, limit=2**10 if buffer else 2**16)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def answer(reader: asyncio.StreamReader) -> bytes:
    """All that comes until the server closes."""
    async with asyncio.timeout(PATIENCE):
        return await reader.read()


async def pour(writer: asyncio.StreamWriter, block: bytes, most: int) -> int:
    """Send a block again and again until the server has had enough of it; how many bytes that were."""
    sent = 0
    with suppress(ConnectionError):
        async with asyncio.timeout(PATIENCE):
            while sent < most:
                writer.write(block)
                await writer.drain()
                sent += len(block)
    return sent


CHUNKED = head("POST /api/v1/me HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked") + b"\r\n"
ENDLESS = {
    "a first line": (b"GET /", b"x" * 1000),
    "a header": (head("GET / HTTP/1.1") + b"X: ", b"x" * 1000),
    "headers": (head("GET / HTTP/1.1"), b"a: b\r\n" * 100),
    "headers of a handshake": (head("GET /ws HTTP/1.1") + HANDSHAKE.encode(), b"a: b\r\n" * 100),
    "trailers": (CHUNKED + b"0\r\n", b"a: b\r\n" * 100),
    "empty lines": (b"", b"\r\n" * 500),
}


@pytest.mark.parametrize("what", ENDLESS)
async def test_what_has_no_end_is_not_listened_to(site: Site, what: str) -> None:
    begin, block = ENDLESS[what]
    async with wire(site.url) as (reader, writer):
        writer.write(begin)
        assert await pour(writer, block, MUCH) < MUCH
        with suppress(ConnectionError):
            assert b" 200 " not in await answer(reader)


async def test_a_head_that_is_long_but_ends_is_answered(site: Site) -> None:
    async with wire(site.url) as (reader, writer):
        writer.write(head("GET /health/live HTTP/1.1", "X: " + "x" * (MOST_HEAD // 2), "Connection: close") + b"\r\n")
        assert (await answer(reader)).startswith(b"HTTP/1.1 200 ")


LONG_HEADS = {
    "a first line": head(f"GET /health/live?{'x' * 40_000} HTTP/1.1"),
    "one header": head("GET /health/live HTTP/1.1", "X: " + "x" * 40_000),
    "many headers": head("GET /health/live HTTP/1.1", *("a: b" for _ in range(7_000))),
    "a handshake": head("GET /ws?v=1 HTTP/1.1", "X: " + "x" * 40_000) + HANDSHAKE.encode(),
}


@pytest.mark.parametrize("what", LONG_HEADS)
async def test_a_head_that_is_too_long_is_refused_also_in_one_piece_with_its_end(site: Site, what: str) -> None:
    async with wire(site.url) as (reader, writer):
        writer.write(LONG_HEADS[what] + b"\r\n")
        assert (await answer(reader)).startswith(b"HTTP/1.1 400 ")


async def test_requests_one_after_the_other_are_not_taken_for_one(site: Site) -> None:
    async with wire(site.url) as (reader, writer):
        one = head("GET /health/live HTTP/1.1", "X: " + "x" * (MOST_HEAD // 2)) + b"\r\n"
        body = json.dumps({"name": "Nina"}).encode()
        two = (
            head("POST /api/v1/me HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(body)}") + b"\r\n" + body
        )
        for request in (one, two, one, two):
            writer.write(request)
            async with asyncio.timeout(PATIENCE):
                heard = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in heard.lower().split(b"\r\n") if line.startswith(b"content-length: "))
                await reader.readexactly(int(length.partition(b": ")[2]))
            assert heard.startswith(b"HTTP/1.1 200 ")


UNFINISHED = {
    "nothing": b"",
    "half a head": head("GET / HTTP/1.1"),
    "half a body": head("POST /api/v1/me HTTP/1.1", "Content-Type: application/json", "Content-Length: 20") + b"\r\n{",
    "half a second request": head("GET /health/live HTTP/1.1") + b"\r\n" + head("GET / HTTP/1.1"),
}


@pytest.mark.parametrize("what", UNFINISHED)
async def test_a_request_that_does_not_arrive_is_given_up(site: Site, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.1)
    async with wire(site.url) as (reader, writer):
        writer.write(UNFINISHED[what])
        with suppress(ConnectionError):
            await answer(reader)


async def test_a_request_that_has_arrived_may_be_answered_as_long_as_it_takes(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.1)
    async with person(site.url, "Nina") as nina, AsyncExitStack() as stack:
        table = await open_table(nina)
        line = await stack.enter_async_context(nina.at(table))
        accept = {"Accept": "application/x-ndjson"}
        stream = await stack.enter_async_context(nina.http.stream("GET", f"/api/v1/tables/{table}/events", headers=accept))
        lines = stream.aiter_lines()
        await anext(lines)
        await asyncio.sleep(0.3)
        await nina.post(f"/tables/{table}/ready")
        await line.until(lambda frame: frame["type"] == "step")
        while json.loads(await anext(lines))["type"] != "step":
            pass


STRANGE = {
    "many headers": (head("GET /ws?v=1 HTTP/1.1", *(f"X{number}: 1" for number in range(200))), b" 431 "),
    "a long header": (head("GET /ws?v=1 HTTP/1.1", "X: " + "x" * 9_000), b" 431 "),
    "a long address": (head(f"GET /ws?v=1&x={'x' * 9_000} HTTP/1.1"), b" 414 "),
    "another method": (head("POST /ws?v=1 HTTP/1.1"), b""),
    "another version": (head("GET /ws?v=1 HTTP/1.1", "Sec-WebSocket-Version: 8"), b" 400 "),
}


@pytest.mark.parametrize("what", STRANGE)
async def test_a_strange_handshake_is_not_left_open(site: Site, what: str) -> None:
    begin, status = STRANGE[what]
    async with wire(site.url) as (reader, writer):
        writer.write(begin + HANDSHAKE.encode() + b"\r\n")
        assert status in (await answer(reader))[:20]


async def shake_hands(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, cookie: str = "") -> None:
    writer.write(head("GET /ws?v=1 HTTP/1.1", f"Cookie: {cookie}") + HANDSHAKE.encode() + b"\r\n")
    async with asyncio.timeout(PATIENCE):
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")


async def test_pings_of_one_who_does_not_read_are_not_answered(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, pinged = 0, Lines.handle_ping

    def handle_ping(self: Lines) -> None:
        nonlocal waiting
        pinged(self)
        waiting = max(waiting, self.transport.get_write_buffer_size())

    monkeypatch.setattr(Lines, "handle_ping", handle_ping)
    async with wire(site.url, buffer=2048) as (reader, writer):
        await shake_hands(reader, writer)
        assert await pour(writer, frame(PING, b"x" * 125) * 1000, MUCH) >= MUCH
        assert 0 < waiting < 1_000_000


async def test_pings_of_one_who_reads_are_answered(site: Site) -> None:
    async with wire(site.url) as (reader, writer):
        await shake_hands(reader, writer)
        writer.write(frame(PING, b"there?"))
        async with asyncio.timeout(PATIENCE):
            await reader.readuntil(b"\x8a\x06there?")


BROKEN = {
    "no text": frame(TEXT, b"\xff"),
    "unmasked": frame(TEXT, b"{}", masked=False),
    "of no kind": frame(3, b""),
    "too long": bytes([0x81, 0xFF]) + (2**40).to_bytes(8) + bytes(4),
    "fragmented": frame(PING, b"")[:1].replace(b"\x89", b"\x09") + b"\x80" + bytes(4),
}


@pytest.mark.parametrize("what", BROKEN)
async def test_a_broken_frame_is_no_fault_of_ours(site: Site, what: str, caplog: pytest.LogCaptureFixture) -> None:
    async with person(site.url, "Nina") as nina:
        join = json.dumps({"type": "join", "table": await open_table(nina)}).encode()
        with structlog.testing.capture_logs() as logs:
            async with wire(site.url) as (reader, writer):
                await shake_hands(reader, writer, nina.cookie)
                writer.write(frame(TEXT, join) + BROKEN[what])
                await answer(reader)
            async with asyncio.timeout(PATIENCE):
                while site.parts.hub.clients:  # noqa: ASYNC110 -- the server ends a moment later
                    await asyncio.sleep(0.01)
    assert logs == []
    assert not [one for one in caplog.records if one.levelno >= logging.WARNING]


async def follow_by_socket(nina: Person, table: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await shake_hands(reader, writer, nina.cookie)
    writer.write(frame(TEXT, json.dumps({"type": "join", "table": table}).encode()))


async def follow_by_stream(nina: Person, table: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    accept = "Accept: application/x-ndjson"
    writer.write(head(f"GET /api/v1/tables/{table}/events HTTP/1.1", f"Cookie: {nina.cookie}", accept) + b"\r\n")


@pytest.mark.parametrize(("follow", "kind"), [(follow_by_socket, Lines), (follow_by_stream, Requests)])
async def test_who_does_not_read_is_gone_in_the_end(
    redis_url: str, database_url: str, monkeypatch: pytest.MonkeyPatch, follow: Callable[..., Any], kind: type[Any]
) -> None:
    monkeypatch.setattr(connections, "UNREAD_SECONDS", 0.5)
    lost, real = asyncio.Event(), kind.connection_lost

    def connection_lost(self: Any, exc: Exception | None) -> None:
        real(self, exc)
        if isinstance(exc, TimeoutError):
            lost.set()

    async with running_site(redis_url, database_url) as site, people(site.url, "Nina") as (nina,):
        monkeypatch.setattr(kind, "connection_lost", connection_lost)
        table = await open_table(nina)
        async with wire(site.url, buffer=2048) as (reader, writer):
            await follow(nina, table, reader, writer)
            async with asyncio.timeout(PATIENCE):
                while not any(one.is_welcome for one in site.parts.hub.clients):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                [client] = site.parts.hub.clients
                while not client.outbox.full.is_set():
                    client.outbox.put(json.dumps({"type": "chat", "at": 1, "text": "x" * 30_000}))
                    await asyncio.sleep(0)
                await lost.wait()
