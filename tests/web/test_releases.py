"""A roll-out with a new form of log entries: the release before and today's serve one table, and the game goes to its end."""

import asyncio
import json
import signal
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

from redis.asyncio import Redis

from app.game.refusal import Refused
from app.store.keys import Keys
from app.wire.log import FORMAT
from tests.chaos.proxy import Proxy
from tests.party import PATIENCE, Party, party
from tests.releases.form import BEFORE
from tests.serving import Serving, serving

Json = dict[str, Any]


def port(coinche: Serving) -> int:
    return int(coinche.url.rpartition(":")[2])


async def log(redis: Redis, table: str) -> dict[int, Json]:
    """What is stored, by its number."""
    rows: Any = await redis.xrange(Keys(table).log)
    return {int(name.partition(b"-")[0]): json.loads(fields[b"entry"]) for name, fields in rows}


def acted(entries: dict[int, Json]) -> set[int]:
    """The forms in which the people's actions of the newest game stand there."""
    found: set[int] = set()
    for entry in entries.values():
        if any(event["kind"] == "game_started" for event in entry["events"]):
            found = set()
        if entry["command"]["kind"] == "in_game":
            found.add(entry["v"])
    return found


async def until_both_have_acted(redis: Redis, table: str) -> dict[int, Json]:
    async with asyncio.timeout(PATIENCE):
        while acted(entries := await log(redis, table)) != {BEFORE, FORMAT}:  # noqa: ASYNC110 -- it happens in other processes
            await asyncio.sleep(0.01)
    return entries


async def archived(four: Party) -> list[Json]:
    """The games that were played, once the archive has them all."""
    guest, found = four.guests[0], list[Json]()
    async with asyncio.timeout(PATIENCE):
        while len(found) < four.games:
            try:
                found.append(await guest.ask("GET", f"/games/{four.table}/{len(found) + 1}"))
            except Refused:  # not yet
                await asyncio.sleep(0.1)
    return found


async def test_two_releases_serve_one_game_and_it_goes_to_its_end(
    tmp_path: Path, redis: Redis, redis_url: str, database_url: str
) -> None:
    urls = {"REDIS_URL": redis_url, "DATABASE_URL": database_url}
    proxy = Proxy(Random(1))
    with ExitStack() as stack:
        before = stack.enter_context(serving(tmp_path, module="tests.releases.before", **urls))
        today = stack.enter_context(serving(tmp_path, module="tests.releases.today", COINCHE_WORK="false", **urls))
        async with proxy.running():
            proxy.backends = [port(before)]
            async with party(f"http://127.0.0.1:{proxy.port}") as four:
                await four.more(8)
                assert {entry["v"] for entry in (await log(redis, four.table)).values()} == {BEFORE}

                proxy.backends = [port(today)]
                four.lines[2].drop()
                entries = await until_both_have_acted(redis, four.table)
                proxy.backends = [port(before), port(today)]
                worker = serving(tmp_path, "worker", module="tests.releases.today", **urls)
                await asyncio.to_thread(stack.enter_context, worker)
                await four.more()

                proxy.backends = [port(today)]
                last_words = await asyncio.to_thread(before.stop, signal.SIGTERM)
                assert before.process.returncode == 0
                assert "guests are still here" not in last_words
                await four.more()
                four.end()
                await four.ended()
                games = await archived(four)
        assert four.refused == []
    forms = [entry["v"] for _, entry in sorted(entries.items())]
    assert forms == sorted(forms)  # nothing of the release before stands behind what it could not read
    assert sorted(entries) == list(range(min(entries), max(entries) + 1))
    acks = {seq: entries[seq] for _, seq in four.acks if seq in entries}
    assert {entry["v"] for entry in acks.values()} == {BEFORE, FORMAT}
    assert len(set(four.acks)) == len(four.acks)
    assert all(game["deals"] for game in games)
