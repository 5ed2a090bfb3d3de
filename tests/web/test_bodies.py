"""How long a body may be, by who asks: it is refused before it is read, charged by its length, and read where nobody waits."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
from httpx2 import AsyncClient
from redis.asyncio import Redis

from app.tables.limits import BODIES
from app.web import referee
from app.web.bodies import KIB, MOST_OF_OTHERS, MOST_OF_STRANGERS, REFEREE, SMALL, STEP
from app.web.gate import NEEDS
from tests.people import PATIENCE, Site, person, running_site
from tests.web.test_connections import answer, head, wire
from tests.web.test_limits import HERE, clock, drain, too_fast

MUCH = 32 * KIB * KIB
JSON = "Content-Type: application/json"
LINES = {"Content-Type": "application/x-ndjson"}
WITH_BODY = sorted(key for key in NEEDS if key.startswith(("POST", "PATCH", "DELETE")))


@pytest.fixture
async def limited(redis_url: str, database_url: str) -> AsyncIterator[Site]:
    """A coinche that limits how often one may ask."""
    async with running_site(redis_url, database_url, limits=True) as one:
        yield one


def most(key: str) -> int:
    return MOST_OF_STRANGERS if key == REFEREE else SMALL


@pytest.mark.parametrize("key", WITH_BODY)
async def test_a_body_that_says_it_is_too_long_is_not_read(site: Site, key: str) -> None:
    method, _, path = key.partition(" ")
    async with wire(site.url) as (reader, writer):
        writer.write(head(f"{method} {path} HTTP/1.1", JSON, f"Content-Length: {most(key) + 1}") + b"\r\n")
        async with asyncio.timeout(PATIENCE):  # not a byte of it was sent
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("key", ["POST /api/v1/me", REFEREE])
async def test_a_body_that_does_not_say_how_long_it_is_is_read_as_far_as_it_may_be(site: Site, key: str) -> None:
    path = key.partition(" ")[2]
    piece = b"[1.5," + b"1.5," * (STEP // 4 - 3) + b"1.5,\n\n"
    async with wire(site.url) as (reader, writer):
        writer.write(head(f"POST {path} HTTP/1.1", JSON, "Transfer-Encoding: chunked") + b"\r\n")
        told = asyncio.create_task(reader.readuntil(b"\r\n\r\n"))
        sent = 0
        async with asyncio.timeout(PATIENCE):
            while not told.done() and sent < MUCH:
                writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                await writer.drain()
                sent += len(piece)
                await asyncio.sleep(0.001)
            assert (await told).startswith(b"HTTP/1.1 413 ")
    assert sent < MUCH


async def test_the_referee_takes_more_from_one_who_is_known(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    line = json.dumps({"id": "x" * 1000}).encode() + b"\n"
    body = line * (MOST_OF_STRANGERS // len(line) + 1)
    async with person(site.url, "Nina") as nina, person(site.url) as stranger:
        refused = await stranger.http.post("/api/v1/referee", content=body, headers=LINES)
        assert (refused.status_code, refused.json()["why"]) == (413, "too_large")
        told = await nina.http.post("/api/v1/referee", content=body, headers=LINES)
        assert (told.status_code, len(told.text.splitlines())) == (200, len(body) // len(line))
        for content in (b'"' + b"x" * MOST_OF_STRANGERS + b'"', b"x" * (MOST_OF_OTHERS + 1)):  # in one piece nobody may more
            for kind in ("application/json", *LINES.values()):
                refused = await nina.http.post("/api/v1/referee", content=content, headers={"Content-Type": kind})
                assert (refused.status_code, refused.json()["why"]) == (413, "too_large")


@pytest.mark.parametrize("kind", ["application/json", "application/x-ndjson"])
async def test_lists_are_read_and_judged_in_a_thread_of_their_own(
    site: Site, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    threads: list[tuple[str, str]] = []
    here = threading.current_thread().name

    def seen(name: str) -> Any:
        real = getattr(referee, name)

        def asked(*given: Any) -> Any:
            threads.append((name, threading.current_thread().name))
            return real(*given)

        return asked

    for name in ("read_json", "answer"):
        monkeypatch.setattr(referee, name, seen(name))
    async with person(site.url) as stranger:
        body = b"[" + b"1.5," * 900 + b"1.5]" if kind == "application/json" else b"1.5\n" * 901
        told = await stranger.http.post("/api/v1/referee", content=body, headers={"Content-Type": kind})
        assert told.status_code == 200
    assert {name for name, _ in threads} == {"read_json", "answer"}
    assert {thread for _, thread in threads} == {"referee_0"} != {here}


async def test_a_long_body_is_charged_by_its_length_before_it_is_looked_at(
    limited: Site, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_read(*_: Any) -> Any:
        raise AssertionError("it was read")

    bucket = f"limit:bodies:{HERE}"
    async with person(limited.url) as stranger, AsyncClient(base_url=limited.url, timeout=PATIENCE) as http:
        assert (await stranger.http.post("/api/v1/referee", content=b"[" + b" " * (SMALL - 2) + b"]")).status_code == 415
        assert not await redis.exists(bucket)

        monkeypatch.setattr(referee, "read_json", not_read)
        await drain(redis, BODIES, HERE)
        long = b" " * (SMALL + 1)
        too_fast(
            await stranger.http.post("/api/v1/referee", content=long, headers={"Content-Type": "application/json"}), BODIES
        )

        async def pieces() -> AsyncIterator[bytes]:
            yield long

        too_fast(await http.post("/api/v1/referee", content=pieces(), headers={"Content-Type": "application/json"}), BODIES)
        monkeypatch.undo()
        await redis.delete(bucket)
        whole = b"[1.5" + b",1.5" * ((MOST_OF_STRANGERS - 8) // 4) + b"]"
        for _ in range(2):
            refused = await http.post("/api/v1/referee", content=whole, headers={"Content-Type": "application/json"})
            assert (refused.status_code, refused.json()["why"]) == (413, "too_large")  # more than 1000 questions
        left = (float(await redis.get(bucket) or 0) - await clock(redis)) / 1000 * BODIES.rate
        assert left > len(whole) // KIB  # KB that are owed still, of twice as many


async def test_who_goes_before_the_body_has_come_is_no_fault_of_ours(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    async with wire(site.url) as (_, writer):
        writer.write(head("POST /api/v1/referee HTTP/1.1", JSON, "Content-Length: 1000") + b"\r\n[")
        await writer.drain()
    async with wire(site.url) as (reader, writer):
        writer.write(head("GET /health/live HTTP/1.1", "Connection: close") + b"\r\n")
        with suppress(ConnectionError):
            assert b" 200 " in await answer(reader)
    assert not caplog.records
