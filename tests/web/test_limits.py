"""How often one may ask: whose bucket is taken from, what the headers tell, and that who is refused has changed nothing."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any, Literal

import pytest
from httpx2 import AsyncClient, Response
from redis.asyncio import Redis
from starlette.requests import HTTPConnection
from websockets.exceptions import InvalidStatus

from app.game.refusal import Refused, Why
from app.store import limits as stored_limits
from app.store.limits import LEASE_MS, RedisLimits
from app.tables.limits import (
    GENERAL,
    GUESTS,
    HANDSHAKES,
    LOOKUPS,
    OPENING,
    REFEREE,
    SOCKETS_OF_ADDRESS,
    SOCKETS_OF_PERSON,
    TALK,
    Policy,
    Quota,
    Verdict,
    Wish,
)
from app.web import socket
from app.web.visit import visit_of
from tests.cluster import nodes
from tests.people import PATIENCE, Person, Site, elsewhere, open_table, person, program, running_site

SLOW = Policy("slow", 1e-6, 3)
"""Three at once, and the next in eleven days."""

HERE = "a:127.0.0.1"
LONG_MS = 10_000_000


@pytest.fixture
async def limited(redis_url: str, database_url: str) -> AsyncIterator[Site]:
    """A coinche that limits how often one may ask."""
    async with running_site(redis_url, database_url, limits=True) as one:
        yield one


async def clock(redis: Redis) -> int:
    """The store's, in ms."""
    seconds, micros = await redis.time()
    return int(seconds) * 1000 + int(micros) // 1000


async def drain(redis: Redis, policy: Policy, who: str) -> int:
    """Take all there is, and what will be there for hours; returns when all is there again, in ms."""
    full = await clock(redis) + LONG_MS
    await redis.set(f"limit:{policy.name}:{who}", full)
    return full


async def ask(bucket: RedisLimits, who: str, cost: int = 1, how: Literal["take", "look", "charge"] = "take") -> Verdict:
    [verdict] = await bucket.ask(Wish(SLOW, who, cost, how))
    return verdict


def too_fast(answer: Response, policy: Policy) -> int:
    """The answer says so, and says when to ask again."""
    assert answer.status_code == 429
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["why"] == "too_fast"
    assert f'"{policy.name}";q={policy.burst};w={policy.window}' in answer.headers["ratelimit-policy"].split(", ")
    assert re.search(rf'"{policy.name}";r=0;t=\d+', answer.headers["ratelimit"])
    return int(answer.headers["retry-after"])


# --- a bucket --------------------------------------------------------------------------------------------------------


async def test_a_bucket_gives_what_is_in_it_and_no_more(redis: Redis) -> None:
    bucket = RedisLimits(redis)
    taken = [await ask(bucket, "x") for _ in range(5)]
    assert [(one.allowed, one.left) for one in taken] == [(True, 2), (True, 1), (True, 0), (False, 0), (False, 0)]
    last = taken[-1]
    assert last.wait == pytest.approx(1e6, abs=60)
    assert last.full == pytest.approx(3e6, abs=60)
    other = await ask(bucket, "y")
    assert other.left == 2


async def test_a_bucket_fills_again_by_the_clock_of_the_store(redis: Redis) -> None:
    bucket = RedisLimits(redis)
    for _ in range(4):
        await ask(bucket, "x")
    key = "limit:slow:x"
    full = float(await redis.get(key) or 0)
    assert await redis.pttl(key) == pytest.approx(full - await clock(redis), abs=60_000)  # a full one need not be kept
    await redis.set(key, f"{full - 1.5e9:.3f}")  # as if so many ms had gone by
    taken = [await ask(bucket, "x") for _ in range(2)]
    assert [one.allowed for one in taken] == [True, False]


async def test_who_asks_for_too_much_at_once_takes_nothing(redis: Redis) -> None:
    bucket = RedisLimits(redis)
    asked = [await ask(bucket, "x", cost) for cost in (2, 2, 1)]
    assert [(one.allowed, one.left) for one in asked] == [(True, 1), (False, 1), (True, 0)]


async def test_looking_takes_nothing_and_a_debt_is_never_greater_than_a_bucket(redis: Redis) -> None:
    bucket = RedisLimits(redis)
    assert [one.left for one in [await ask(bucket, "x", how="look") for _ in range(5)]] == [3] * 5
    for _ in range(20):
        await ask(bucket, "x", how="charge")
    seen = await ask(bucket, "x", how="look")
    assert (seen.allowed, seen.left) == (False, 0)
    assert seen.full == pytest.approx(6e6, abs=60)


async def test_two_processes_share_a_bucket(redis: Redis, redis_url: str) -> None:
    async with Redis.from_url(redis_url) as other:
        both = RedisLimits(redis), RedisLimits(other)
        taken = [await ask(both[number % 2], "x") for number in range(4)]
    assert [one.allowed for one in taken] == [True, True, True, False]


# --- what is open ----------------------------------------------------------------------------------------------------

FEW = Quota("few", 2)


async def is_open(limits: RedisLimits, stack: AsyncExitStack, quota: Quota = FEW) -> bool:
    try:
        await stack.enter_async_context(limits.hold(quota, "x"))
    except Refused as refused:
        return refused.why is not Why.TOO_FAST
    return True


async def test_two_processes_share_what_one_may_have_open(redis: Redis, redis_url: str) -> None:
    async with Redis.from_url(redis_url) as other, AsyncExitStack() as held:
        here, there = RedisLimits(redis), RedisLimits(other)
        async with AsyncExitStack() as first:
            assert [await is_open(here, first), await is_open(there, held), await is_open(here, held)] == [True, True, False]
        assert [await is_open(there, held), await is_open(here, held)] == [True, False]
    assert await redis.keys("*") == []


async def test_what_a_dead_process_had_open_is_soon_not_counted_and_what_lives_is(redis: Redis, redis_url: str) -> None:
    key = "open:few:x"
    async with Redis.from_url(redis_url) as other, AsyncExitStack() as dead, AsyncExitStack() as held:
        gone, here = RedisLimits(other), RedisLimits(redis)
        assert await is_open(gone, dead)
        assert await is_open(here, held)
        assert 0 < await redis.pttl(key) <= LEASE_MS
        now = await clock(redis)
        assert await redis.zcount(key, f"({now}", now + LEASE_MS) == 2
        for ms in (LEASE_MS - 10_000, 60_000):  # as if so much time had gone by, and this one said meanwhile that it lives
            for lease in await redis.zrange(key, 0, -1):
                assert isinstance(lease, bytes)
                await redis.zincrby(key, -ms, lease)
            await here.renew()
        assert [await is_open(here, held), await is_open(here, held)] == [True, False]


async def test_where_the_clock_was_set_back_nothing_counts_for_longer(redis: Redis) -> None:
    async with AsyncExitStack() as held:
        await redis.zadd("open:few:x", {"a": await clock(redis) + LONG_MS, "b": await clock(redis) + LONG_MS})
        assert await is_open(RedisLimits(redis), held)


async def test_what_is_open_is_said_again_and_again(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_limits, "RENEW_SECONDS", 0.01)
    limits = RedisLimits(redis)
    async with AsyncExitStack() as held:
        assert await is_open(limits, held)
        await redis.delete("open:few:x")  # a store that has come back without it
        running = asyncio.create_task(limits.run())
        async with asyncio.timeout(PATIENCE):
            while not await redis.exists("open:few:x"):
                pass
        running.cancel()


# --- whose -----------------------------------------------------------------------------------------------------------


async def status(who: Person, path: str = "/rules") -> int:
    return (await who.http.get(f"/api/v1{path}")).status_code


async def test_each_token_each_person_and_each_address_has_its_own(limited: Site, redis: Redis) -> None:
    async with person(limited.url) as stranger, person(limited.url, "Nina") as nina:
        made = [await nina.post("/me/tokens", {"name": "x", "scopes": ["read"]}, 201) for _ in range(2)]
        async with program(limited.url, made[0]["secret"]) as robot, program(limited.url, made[1]["secret"]) as other:
            four = (stranger, nina, robot, other)
            assert [await status(who) for who in four] == [200] * 4
            await drain(redis, GENERAL, f"t:{made[0]['id']}")
            assert [await status(who) for who in four] == [200, 200, 429, 200]
            await drain(redis, GENERAL, f"p:{nina.id}")
            assert [await status(who) for who in four] == [200, 429, 429, 200]
            await drain(redis, GENERAL, HERE)
            assert [await status(who) for who in four] == [429, 429, 429, 200]
    async with program(limited.url, "coinche_x") as forger:
        assert await status(forger) == 429  # who guesses tokens is limited by address


async def test_two_sites_on_one_store_share_what_is_taken(
    limited: Site, redis: Redis, redis_url: str, database_url: str
) -> None:
    async with (
        running_site(redis_url, database_url, limits=True) as second,
        person(limited.url, "Nina") as nina,
        elsewhere(nina, second.url) as there,
    ):
        assert await status(there, "/me") == 200
        await drain(redis, GENERAL, f"p:{nina.id}")
        assert await status(there, "/me") == await status(nina, "/me") == 429


@pytest.mark.parametrize(
    ("host", "who"),
    [
        ("192.0.2.7", "a:192.0.2.7"),
        ("::ffff:192.0.2.7", "a:192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "a:2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "a:2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "a:2001:db8:1:3::/64"),
        ("fe80::1%eth0", "a:fe80::/64"),
        ("a socket", "a:a socket"),
    ],
)
def test_an_address_is_a_household(host: str, who: str) -> None:
    assert visit_of(HTTPConnection({"type": "http", "headers": [], "client": (host, 1)})).who == who
    assert visit_of(HTTPConnection({"type": "http", "headers": [], "client": None})).who == "a:"


@pytest.mark.parametrize("proxies", [(), ("127.0.0.1/32",)])
async def test_an_address_is_that_of_the_asker_where_a_proxy_is_believed(
    redis: Redis, redis_url: str, database_url: str, proxies: tuple[str, ...]
) -> None:
    await drain(redis, GENERAL, "a:2001:db8:1:2::/64")
    async with (
        running_site(redis_url, database_url, limits=True, proxies=proxies) as site,
        AsyncClient(base_url=site.url, timeout=PATIENCE) as http,
    ):
        for address, drained in (("2001:db8:1:2::9", True), ("2001:db8:1:3::9", False)):
            answer = await http.get("/api/v1/rules", headers={"X-Forwarded-For": address})
            assert answer.status_code == (429 if drained and proxies else 200)


# --- what is told ----------------------------------------------------------------------------------------------------


async def test_each_answer_of_the_api_tells_its_limits(limited: Site) -> None:
    async with person(limited.url, "Nina") as nina:
        for path, code in (("/rules", 200), ("/me", 200), ("/nothing", 404)):
            answer = await nina.http.get(f"/api/v1{path}")
            assert answer.status_code == code
            assert answer.headers["ratelimit-policy"] == '"general";q=60;w=3'
            told = re.fullmatch(r'"general";r=(\d+);t=(\d)', answer.headers["ratelimit"])
            assert told is not None
            assert int(told[1]) < 60
            assert 1 <= int(told[2]) <= 3
            assert "retry-after" not in answer.headers
        opened = await nina.http.post("/api/v1/tables", json={})
        assert opened.headers["ratelimit-policy"] == '"general";q=60;w=3, "open";q=10;w=30'
        assert re.fullmatch(r'"general";r=\d+;t=\d, "open";r=9;t=[123]', opened.headers["ratelimit"])
        looked = await nina.http.get(opened.headers["location"])
        assert re.fullmatch(r'"general";r=\d+;t=\d, "lookups";r=100;t=0', looked.headers["ratelimit"])
        for path in ("/", "/health/live"):
            assert "ratelimit" not in (await nina.http.get(path)).headers


async def test_it_is_told_when_to_ask_again(limited: Site, redis: Redis) -> None:
    await drain(redis, GENERAL, HERE)  # which counts as the greatest debt there is: all of it, and as much again
    async with person(limited.url) as stranger:
        assert too_fast(await stranger.http.get("/api/v1/rules"), GENERAL) == ceil((GENERAL.burst + 1) / GENERAL.rate)


async def test_where_nothing_is_limited_nothing_is_told(url: str) -> None:
    async with person(url, "Nina") as nina:
        assert not [name for name in (await nina.http.get("/api/v1/rules")).headers if name.startswith("ratelimit")]


# --- what is limited -------------------------------------------------------------------------------------------------


async def test_who_is_refused_has_changed_nothing(limited: Site, redis: Redis) -> None:
    async with person(limited.url, "Nina") as nina, person(limited.url, "Paul") as paul:
        table = await open_table(nina)
        await drain(redis, OPENING, f"p:{nina.id}")
        too_fast(await nina.http.post("/api/v1/tables", json={}), OPENING)
        assert [one["id"] for one in (await nina.get("/tables"))["tables"]] == [table]
        await open_table(paul)
        await drain(redis, GENERAL, f"p:{nina.id}")
        too_fast(await nina.http.post("/api/v1/me", json={"name": "Ninon"}), GENERAL)
        too_fast(await nina.http.post("/api/v1/me/tokens", json={"name": "x", "scopes": ["read"]}), GENERAL)
        too_fast(await nina.http.post(f"/api/v1/tables/{table}/start"), GENERAL)
        await redis.delete(f"limit:general:p:{nina.id}")
        assert await nina.get("/me/tokens") == {"tokens": []}
        assert (await nina.get("/me"))["name"] == "Nina"
        assert (await nina.get(f"/tables/{table}"))["status"] == "open"


async def test_guests_are_made_by_address_and_may_go_on(limited: Site, redis: Redis) -> None:
    async with person(limited.url, "Nina") as nina, person(limited.url) as stranger:
        await drain(redis, GUESTS, HERE)
        answer = await stranger.http.post("/api/v1/me", json={"name": "Paul"})
        too_fast(answer, GUESTS)
        assert "set-cookie" not in answer.headers
        await nina.post("/me", {"name": "Ninon"})


async def test_guessing_tables_is_slowed(limited: Site, redis: Redis) -> None:
    async with person(limited.url, "Nina") as nina, person(limited.url) as stranger:
        table = await open_table(nina)
        guesses = 0
        while (answer := await stranger.http.get(f"/api/v1/tables/00-{guesses:010}")).status_code == 404:
            guesses += 1
            await redis.delete(f"limit:general:{HERE}")
        too_fast(answer, LOOKUPS)
        assert guesses >= LOOKUPS.burst
        await drain(redis, LOOKUPS, HERE)
        for who in (stranger, nina):  # who guesses learns nothing from a right guess either, whoever he says he is
            for path in (f"/tables/{table}", "/games/00-none/1", "/tables/00-none"):
                too_fast(await who.http.get(f"/api/v1{path}"), LOOKUPS)
        too_fast(await nina.http.post(f"/api/v1/tables/{table}/start"), LOOKUPS)
        await nina.get("/tables")
        async with stranger.socket() as line:
            await line.send({"type": "join", "table": table})
            assert await line.closed() == 4429  # and does not wait for ever


async def test_guesses_by_socket_count_too(limited: Site, redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "LOOKUPS", replace(LOOKUPS, rate=SLOW.rate))  # or what was taken is soon there again
    async with person(limited.url) as stranger:
        for _ in range(3):
            async with stranger.socket() as line:
                await line.send({"type": "join", "table": "00-none"})
                assert await line.closed() == 4404
    assert float(await redis.get(f"limit:lookups:{HERE}") or 0) > await clock(redis)


async def test_sockets_are_opened_so_often_by_address(limited: Site, redis: Redis) -> None:
    await drain(redis, HANDSHAKES, HERE)
    async with person(limited.url, "Nina") as nina:
        with pytest.raises(InvalidStatus) as refused:
            async with nina.socket():
                pass
    response = refused.value.response
    assert response.status_code == 429
    assert int(response.headers["Retry-After"]) > 1
    assert b"too_fast" in (response.body or b"")


async def test_who_is_too_fast_over_a_socket_is_told_and_closed(limited: Site) -> None:
    async with person(limited.url, "Nina") as nina, nina.socket() as line:
        for _ in range(int(socket.BURST) * 3):
            await line.send({"type": "ping"})
        refused = await line.until(lambda frame: frame["type"] == "refused")
        assert (refused["why"], refused["cid"]) == ("too_fast", None)
        assert await line.closed() == 4429


async def test_talk_is_counted_by_person_and_table_however_many_sockets(
    limited: Site, redis_url: str, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "TALK", replace(TALK, rate=SLOW.rate))  # or there is soon more of it
    monkeypatch.setattr(socket, "SOCKETS_OF_PERSON", replace(SOCKETS_OF_PERSON, most=40))
    hello = {"type": "chat", "phrase": "hello"}
    async with (
        running_site(redis_url, database_url, limits=True) as second,
        person(limited.url, "Nina") as nina,
        person(limited.url, "Paul") as paul,
        elsewhere(nina, second.url) as there,
        AsyncExitStack() as stack,
    ):
        table, other = await open_table(nina), await open_table(nina)
        await paul.post(f"/tables/{table}/sit", {"seat": 1})
        lines = [await stack.enter_async_context((nina, there)[number % 2].at(table)) for number in range(30)]
        for line in lines[: TALK.burst]:
            await line.send(hello)
            await lines[0].until(lambda frame: frame["type"] == "chat")
        for line in lines[TALK.burst :]:
            await line.send(hello)
        answers = [await line.until(lambda frame: frame["type"] == "refused") for line in lines[TALK.burst :]]
        assert {(one["why"], one["cid"]) for one in answers} == {("too_fast", None)}
        async with paul.at(table) as his, nina.at(other) as elsewhere_too:
            for line in (his, elsewhere_too):  # it is hers, and this table's
                await line.send(hello)
                await line.until(lambda frame: frame["type"] == "chat")
            assert len((await nina.get(f"/tables/{table}/game"))["chat"]) == TALK.burst + 1
            await his.send(hello | {"phrase": "nothing like that"})  # what is refused for another reason is not counted
            assert (await his.until(lambda frame: frame["type"] == "refused"))["why"] == "bad_request"


async def test_one_person_has_so_many_sockets_open_and_one_address_many_more(
    limited: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "SOCKETS_OF_PERSON", replace(SOCKETS_OF_PERSON, most=2))
    monkeypatch.setattr("app.tables.limits.SOCKETS_OF_ADDRESS", replace(SOCKETS_OF_ADDRESS, most=4))
    async with person(limited.url, "Nina") as nina, person(limited.url, "Paul") as paul, AsyncExitStack() as stack:
        secret = (await nina.post("/me/tokens", {"name": "x", "scopes": ["read"]}, 201))["secret"]
        async with nina.socket() as first:
            await stack.enter_async_context(nina.socket())
            async with program(limited.url, secret) as hers, hers.socket() as third:
                refused = await third.until(lambda frame: frame["type"] == "refused")
                assert (refused["why"], await third.closed()) == ("too_fast", 4429)
            for _ in range(2):
                await stack.enter_async_context(paul.socket())
            async with person(limited.url) as stranger:
                async with asyncio.timeout(PATIENCE):
                    while await opens(stranger):  # the third that was closed counts until the server has seen it go
                        pass
            await first.websocket.close()
        async with asyncio.timeout(PATIENCE):
            while not await opens(nina):
                pass


async def opens(who: Person) -> bool:
    """Whether a socket of theirs is let in."""
    try:
        async with who.socket() as line:
            await line.send({"type": "ping"})
            answer = await line.until(lambda frame: frame["type"] in ("refused", "pong"))
            return bool(answer["type"] == "pong")
    except InvalidStatus as refused:
        return refused.response.status_code != 429


async def test_the_referee_counts_each_question_of_a_list(limited: Site, redis: Redis) -> None:
    async with person(limited.url) as stranger:
        many = await stranger.http.post("/api/v1/referee", json=[{}] * 1000)
        assert many.status_code == 200
        told = re.search(r'"referee";r=(\d+);t=', many.headers["ratelimit"])
        assert told is not None
        assert int(told[1]) <= REFEREE.burst - 1000
        await drain(redis, REFEREE, HERE)
        too_fast(await stranger.http.post("/api/v1/referee", json={}), REFEREE)


# --- while the store is away -----------------------------------------------------------------------------------------


async def test_while_the_store_is_away_nothing_is_limited_and_no_token_is_believed(tmp_path: Path, database_url: str) -> None:
    async with (
        nodes(tmp_path, 1) as [node],
        running_site(f"redis://{node.address}", database_url, limits=True) as site,
        person(site.url, "Nina") as nina,
        person(site.url) as stranger,
    ):
        made = await nina.post("/me/tokens", {"name": "x", "scopes": ["read"]}, 201)
        async with program(site.url, made["secret"]) as robot:
            await robot.get("/me")
            await node.end()
            answers: list[Any] = [await who.http.get("/api/v1/rules") for who in (stranger, nina, robot)]
            assert [one.status_code for one in answers] == [200, 200, 503]
            assert not [one for one in answers if "ratelimit" in one.headers]
            assert (await robot.get("/me", 503))["why"] == (await nina.get("/me", 503))["why"] == "busy"
            assert (await nina.post("/me/tokens", {"name": "x", "scopes": ["read"]}, 503))["why"] == "busy"
