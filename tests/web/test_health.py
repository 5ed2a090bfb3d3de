"""What operators and their machines are told: /health/live, /health/ready, /metrics."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from httpx2 import AsyncClient
from prometheus_client.parser import text_string_to_metric_families
from redis.asyncio import Redis

from app import metrics
from app.embedded import running
from tests.people import MONITORING, PATIENCE, Site, person, running_site, started


@pytest.fixture
async def http(site: Site) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(base_url=site.url, timeout=PATIENCE, headers=MONITORING) as client:
        yield client


async def numbers(http: AsyncClient) -> dict[str, float]:
    """Each sample by its name with its labels."""
    answer = await http.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    return read(answer.text)


def read(text: str) -> dict[str, float]:
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {
        one.name + "".join(f",{label}={value}" for label, value in sorted(one.labels.items())): one.value for one in samples
    }


# --- /health ---------------------------------------------------------------------------------------------------------


async def test_ready_says_what_the_store_promises(http: AsyncClient) -> None:
    answer = await http.get("/health/ready")
    assert answer.status_code == 200
    body = answer.json()
    assert body["stores"] == {"redis": True, "postgres": True}
    told = body["redis"]
    assert told.pop("version")
    assert told.pop("name") in ("valkey", "redis")
    assert told == {
        "cluster": False,
        "appendonly": "yes",
        "appendfsync": "always",
        "maxmemory_policy": "noeviction",
        "wait": 0,
    }
    assert "warnings" not in body


async def test_ready_warns_of_a_store_that_throws_games_out(http: AsyncClient, redis: Redis) -> None:
    await redis.config_set("maxmemory-policy", "allkeys-lru")
    try:
        answer = await http.get("/health/ready")
        assert answer.status_code == 200
        assert answer.json()["warnings"] == ["maxmemory-policy is not noeviction: games may be thrown out to make room"]
    finally:
        await redis.config_set("maxmemory-policy", "noeviction")


async def test_without_its_store_it_lives_and_is_not_ready(tmp_path: Path, database_url: str) -> None:
    with ExitStack() as stack:
        store = stack.enter_context(running(tmp_path, None, database_url)).redis_url
        async with (
            running_site(store, database_url) as site,
            AsyncClient(base_url=site.url, timeout=PATIENCE, headers=MONITORING) as http,
        ):
            assert (await http.get("/health/ready")).status_code == 200
            stack.close()
            answer = await http.get("/health/ready")
            assert answer.status_code == 503
            assert answer.json() == {"status": "not ready", "stores": {"redis": False, "postgres": True}}
            assert (await http.get("/health/live")).status_code == 200
            assert "coinche_redis_info" not in (await http.get("/metrics")).text


# --- for the operator only ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer guess"}, {"Authorization": "Basic x"}], ids=str)
async def test_who_is_not_the_operator_learns_that_it_serves_and_nothing_more(site: Site, headers: dict[str, str]) -> None:
    """The reasons that are counted there tell what a player's hand holds, and versions what may be attacked."""
    async with person(site.url, "Nina") as nina:
        ready = await nina.http.get("/health/ready", headers=headers)
        assert ready.json() == {"status": "ready", "stores": {"redis": True, "postgres": True}}
        refused = await nina.http.get("/metrics", headers=headers)
    assert refused.status_code == 401
    assert refused.json()["why"] == ("bad_token" if "Bearer guess" in headers.values() else "not_signed_in")
    assert "coinche_" not in refused.text


async def test_where_no_token_is_set_nobody_reads_the_numbers(redis_url: str, database_url: str) -> None:
    async with (
        running_site(redis_url, database_url, metrics_token=None) as unmeasured,
        AsyncClient(base_url=unmeasured.url, timeout=PATIENCE, headers=MONITORING) as http,
    ):
        assert (await http.get("/metrics")).json()["why"] == "not_found"
        assert set((await http.get("/health/ready")).json()) == {"status", "stores"}


# --- /metrics --------------------------------------------------------------------------------------------------------


async def test_what_happens_is_counted(site: Site, http: AsyncClient) -> None:
    before = await numbers(http)

    def more(after: dict[str, float], name: str) -> float:
        return after.get(name, 0) - before.get(name, 0)

    names = ("Hortense", "Barnabé", "Eulalie", "Casimir")
    async with (
        person(site.url, names[0]) as nina,
        person(site.url, names[1]) as paul,
        person(site.url, names[2]) as rosa,
        person(site.url, names[3]) as omar,
    ):
        table = await started([nina, paul, rosa, omar])
        async with nina.at(table) as line, paul.socket() as lost:
            await line.until_state(lambda one: one.view is not None and one.view["phase"] == "bidding")
            refused = await line.ask({"kind": "pass"}, turn=-1)
            assert refused["why"] == "stale_turn"
            await nina.post("/tables", {"preset": "none"}, status=422)
            await lost.send({"type": "join", "table": "00-nothere"})
            assert await lost.closed() == 4404
            now = await numbers(http)
            assert more(now, "coinche_rooms") == 1
            assert more(now, "coinche_connections") >= 1
        assert more(now, "coinche_appends_total,result=appended") >= 9
        assert more(now, "coinche_append_seconds_count") >= 9
        assert more(now, "coinche_duties_total") >= 2
        assert more(now, "coinche_refusals_total,why=stale_turn") == 1
        assert more(now, "coinche_refusals_total,why=unknown_preset") == 1
        assert more(now, "coinche_closes_total,code=4404") == 1
        async with asyncio.timeout(PATIENCE):
            while more(now, "coinche_connections") or more(now, "coinche_rooms"):
                now = await numbers(http)
        text = (await http.get("/metrics")).text
        for secret in (table, *names, *(one.id for one in (nina, paul, rosa, omar))):
            assert secret not in text


async def test_the_store_and_what_waits_for_the_archive_are_told(http: AsyncClient, redis: Redis) -> None:
    name = next(key for key in await numbers(http) if key.startswith("coinche_redis_info"))
    for word in (",appendfsync=always", ",appendonly=yes", ",cluster=false", ",maxmemory_policy=noeviction", ",wait=0"):
        assert word in name
    assert (await numbers(http))["coinche_archive_waiting,shard=0b"] == 0
    assert [value for name, value in (await numbers(http)).items() if name.startswith("coinche_build_info")] == [1]


def test_the_numbers_of_several_processes_are_summed(tmp_path: Path) -> None:
    program = (
        "from app import metrics; metrics.say_what_runs(); metrics.duties.inc(2); metrics.connections.inc(3);"
        "metrics.refusals.labels('busy').inc(); import sys; sys.stdout.write(metrics.page([]).decode())"
    )
    environment = dict(os.environ) | {metrics.FOLDER: str(tmp_path)}
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    summed = read(done.stdout)
    assert summed["coinche_duties_total"] == 4
    assert summed["coinche_refusals_total,why=busy"] == 2
    assert [value for name, value in summed.items() if name.startswith("coinche_build_info")] == [1]
