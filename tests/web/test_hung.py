"""What goes on while a store hangs: who watches is told soon, tables do without Postgres, and a process can be ended."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from httpx2 import AsyncClient
from redis.asyncio import Redis

from app.game.refusal import Refused, Why
from app.tables.tasks import end
from app.web.probe import Probe
from tests.hung import processes_of_postgres, processes_of_valkey, stopped
from tests.people import PATIENCE, Json, Site, people, person, started
from tests.receiver import eventually
from tests.serving import serving


async def ready(http: AsyncClient) -> tuple[int, Json]:
    answer = await http.get("/health/ready")
    return answer.status_code, answer.json()["stores"]


async def answered_before(http: AsyncClient, other: str) -> tuple[int, Json]:
    """What `/health/ready` says, and says while another question still waits for the store."""
    waiting = asyncio.create_task(http.get(other))
    await asyncio.sleep(0)
    answer = await ready(http)
    assert not waiting.done()
    await end(waiting)
    return answer


async def is_back(http: AsyncClient) -> None:
    async def is_ready() -> bool:
        return await ready(http) == (200, {"redis": True, "postgres": True})

    await eventually(is_ready)


async def test_while_postgres_hangs_tables_play_and_the_process_is_ready(site: Site, database_url: str) -> None:
    async with people(site.url, "Nina", "Paul", "Rosa", "Omar") as four:
        await four[0].get("/games")
        with stopped(await processes_of_postgres(database_url)):
            assert await answered_before(four[0].http, "/api/v1/games") == (200, {"redis": True, "postgres": False})
            table = await started(four)
            async with four[0].at(table) as nina, four[1].at(table) as paul, person(site.url, "Zoe") as zoe:
                await nina.until_state(lambda line: line.view is not None and line.view["phase"] == "bidding")
                await paul.until_state(lambda line: line.view is not None and line.view["phase"] == "bidding")
                speaker = (nina, paul)[nina.view["turn"]] if nina.view["turn"] < 2 else None  # type: ignore[index]
                if speaker is not None:
                    assert (await speaker.ask({"kind": "pass"}))["type"] == "ack"
                assert (await zoe.get("/me"))["name"] == "Zoe"
        await is_back(four[0].http)
        await four[0].get("/games")


async def test_while_valkey_hangs_the_process_is_not_ready_and_says_so(site: Site, redis: Redis) -> None:
    async with person(site.url, "Nina") as nina:
        with stopped(await processes_of_valkey(redis)):
            assert await answered_before(nina.http, "/api/v1/me") == (503, {"redis": False, "postgres": True})
            assert (await nina.http.get("/health/live")).status_code == 200
        await is_back(nina.http)
        assert (await nina.get("/me"))["name"] == "Nina"


async def test_a_process_ends_while_both_hang_and_another_starts_while_postgres_does(
    redis: Redis, redis_url: str, database_url: str, tmp_path: Path
) -> None:
    environment = {"REDIS_URL": redis_url, "DATABASE_URL": database_url}
    with serving(tmp_path, **environment) as coinche:
        async with AsyncClient(base_url=coinche.url) as http:
            assert (await http.get("/api/v1/games")).status_code == 200
        with stopped(await processes_of_postgres(database_url)):
            with stopped(await processes_of_valkey(redis)):
                said = await asyncio.to_thread(coinche.stop, signal.SIGINT)
            assert coinche.process.returncode == 0, said
            assert "Traceback" not in said
            with serving(tmp_path, **environment) as other:
                async with AsyncClient(base_url=other.url, timeout=PATIENCE) as http:
                    assert await ready(http) == (200, {"redis": True, "postgres": False})


# --- the probe -----------------------------------------------------------------------------------------------------------


@pytest.fixture
async def hanging() -> AsyncIterator[tuple[Probe[int], list[asyncio.Event]]]:
    """A probe of a store that answers 7 when its event is set, and one event for each time it is asked."""
    asked: list[asyncio.Event] = []

    async def ask() -> int:
        asked.append(asyncio.Event())
        await asked[-1].wait()
        return 7

    yield Probe(ask, 0.01), asked
    for event in asked:
        event.set()


async def test_of_a_store_that_hangs_one_question_is_asked_however_many_probe(hanging: Any) -> None:
    probe, asked = hanging
    answers = await asyncio.gather(*(probe() for _ in range(50)), return_exceptions=True)
    assert all(isinstance(one, Refused) and one.why is Why.BUSY for one in answers)
    assert len(asked) == 1
    asked[0].set()
    assert await probe() == 7
    with pytest.raises(Refused):
        await probe()
    assert len(asked) == 2


async def test_what_asking_raises_is_raised_and_the_next_asks_anew() -> None:
    asked: list[int] = []

    async def ask() -> int:
        asked.append(7)
        if len(asked) == 1:
            raise Refused(Why.BUSY)
        return 7

    probe = Probe(ask)
    with pytest.raises(Refused):
        await probe()
    assert await probe() == 7
