"""Tokens and bots: shown once, kept as a hash, listed, revoked, forged; and what a program may do with one."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from random import Random
from typing import Any

import pytest
import structlog
from httpx2 import RemoteProtocolError, Response
from redis.asyncio import Redis
from websockets.exceptions import InvalidStatus

from app.embedded import Servers
from app.game.rules import PRESETS
from app.store.log import RedisLog
from app.tables.tokens import MOST_BOTS, MOST_TOKENS
from app.web import ear, gate, socket
from app.web.address import COOKIE
from tests.finished import played, store
from tests.people import PATIENCE, Json, Person, Site, open_table, people, person, play, program, running_site
from tests.receiver import eventually

ALL = ["play", "read", "tables"]
NO_ID = "00" * 8


@pytest.fixture
async def nina(url: str) -> AsyncIterator[Person]:
    async with person(url, "Nina") as one:
        yield one


@pytest.fixture
async def valkey(servers: Servers, site: Site) -> AsyncIterator[Redis]:
    """The store of the site, as it is."""
    async with Redis.from_url(servers.redis_url, decode_responses=True) as client:
        yield client


async def token_of(who: Person, *scopes: str, path: str = "/me/tokens", **more: Any) -> Json:
    """A new token with these scopes, or all."""
    return await who.post(path, {"name": "Robot", "scopes": scopes or ALL} | more, 201)


async def bot_of(who: Person, name: str = "Robi", **more: Any) -> Json:
    return await who.post("/me/bots", {"name": name} | more, 201)


async def everything(valkey: Redis) -> dict[str, str]:
    """All keys of the store with what they hold, written out."""
    found: dict[str, str] = {}
    async for key in valkey.scan_iter():
        match await valkey.type(key):
            case "string":
                found[key] = str(await valkey.get(key))
            case "hash":
                found[key] = str(await valkey.hgetall(key))
            case "set":
                found[key] = str(await valkey.smembers(key))
            case "zset":
                found[key] = str(await valkey.zrange(key, 0, -1))
            case "list":
                found[key] = str(await valkey.lrange(key, 0, -1))
            case "stream":
                found[key] = str(await valkey.xrange(key))
            case other:
                raise AssertionError(other)
    return found


async def alter(valkey: Redis, person: str, token: str, **changes: Any) -> None:
    """Write something else into a token's record."""
    record = json.loads(str(await valkey.hget(f"{{{person}}}tokens", token)))
    await valkey.hset(f"{{{person}}}tokens", token, json.dumps(record | changes))


# --- made, listed, revoked -------------------------------------------------------------------------------------------


async def test_a_token_acts_in_its_owners_name(url: str, nina: Person) -> None:
    made = await token_of(nina, "read", "play")
    assert (made["name"], made["scopes"], made["expires"], made["used"]) == ("Robot", ["play", "read"], None, None)
    async with program(url, made["secret"]) as robot:
        assert await robot.get("/me") == {"id": nina.id, "name": "Nina"}


async def test_a_secret_is_shown_once(nina: Person) -> None:
    made = await token_of(nina)
    listed = (await nina.get("/me/tokens"))["tokens"]
    assert listed == [{name: value for name, value in made.items() if name != "secret"}]
    assert made["secret"] not in json.dumps(listed)


async def test_only_a_hash_is_stored_and_nothing_is_logged(
    url: str, nina: Person, valkey: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with structlog.testing.capture_logs() as logs:
        made, bot = await token_of(nina), await bot_of(nina)
        for secret in (made["secret"], bot["token"]["secret"]):
            async with program(url, secret) as robot, robot.socket():
                await robot.get("/me")
                await robot.get("/games/none/1", 404)
    kept = await everything(valkey)
    for secret in (made["secret"], bot["token"]["secret"]):
        random = secret[-43:]
        assert len(random) == 43
        assert not [key for key, value in kept.items() if random in key or random in value]
        assert not [line for line in logs if random in str(line)]
        ours = [one for one in caplog.records if not one.name.startswith(("websockets.client", "httpx", "httpcore"))]
        assert not [one for one in ours if random in one.getMessage()]
    assert made["id"] in kept[f"{{{nina.id}}}tokens"]  # there is something to be found in what was looked through


async def test_tokens_are_listed_newest_first_with_their_last_use(url: str, nina: Person) -> None:
    first = await token_of(nina)
    await asyncio.sleep(0.002)
    second = await token_of(nina)
    async with program(url, first["secret"]) as robot:
        await robot.get("/me")
    newer, older = (await nina.get("/me/tokens"))["tokens"]
    assert (newer["id"], older["id"]) == (second["id"], first["id"])
    assert newer["used"] is None
    assert older["used"] >= first["created"] - 1000
    async with program(url, first["secret"]) as robot:
        await robot.get("/me")
    assert (await nina.get("/me/tokens"))["tokens"][1]["used"] == older["used"]  # to a minute


async def test_a_revoked_token_is_void_at_once(url: str, nina: Person) -> None:
    made, other = await token_of(nina), await token_of(nina)
    async with program(url, made["secret"]) as robot, program(url, other["secret"]) as kept:
        await robot.get("/me")
        assert (await nina.http.delete(f"/api/v1/me/tokens/{made['id']}")).status_code == 204
        assert (await robot.get("/me", 401))["why"] == "bad_token"
        await kept.get("/me")
    assert (await nina.delete(f"/me/tokens/{made['id']}", 404))["why"] == "not_found"
    assert [one["id"] for one in (await nina.get("/me/tokens"))["tokens"]] == [other["id"]]


@pytest.fixture
def unwatched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks at a token again by himself."""
    monkeypatch.setattr(socket, "PROBE_SECONDS", PATIENCE * 10)
    monkeypatch.setattr(ear, "HEARTBEAT_SECONDS", PATIENCE * 10)


@pytest.fixture
async def other(site: Site, servers: Servers, database_url: str) -> AsyncIterator[Site]:
    """Another process of the site."""
    async with running_site(servers.redis_url, database_url) as one:
        yield one


@pytest.mark.usefixtures("unwatched")
async def test_all_that_is_open_with_a_revoked_token_ends_at_once_in_every_process(
    site: Site, other: Site, nina: Person
) -> None:
    kept, table = await token_of(nina), await open_table(nina)
    for here in (site, other):
        made = await token_of(nina)
        async with AsyncExitStack() as stack:
            robot = await stack.enter_async_context(program(here.url, made["secret"]))
            others = await stack.enter_async_context(program(here.url, kept["secret"]))
            line, theirs, mine = [await stack.enter_async_context(one.at(table)) for one in (robot, others, nina)]
            news = f"/api/v1/tables/{table}/events?after={'.'.join(map(str, line.at))}"
            streams = []
            for path in (f"/tables/{table}/events", "/me/events"):
                accept = {"Accept": "application/x-ndjson"}
                stream = await stack.enter_async_context(robot.http.stream("GET", f"/api/v1{path}", headers=accept))
                streams.append(stream.aiter_lines())
                await anext(streams[-1])

            async def is_quiet() -> bool:  # that somebody came is news too, and would end a poll
                return not (await robot.http.get(f"{news}&wait=0.3")).json()["events"]  # noqa: B023

            await eventually(is_quiet)
            poll = asyncio.create_task(robot.http.get(f"{news}&wait=30"))
            await mine.until(lambda frame: any(one["present"] for one in frame.get("table", {}).get("seats", ())))
            await nina.http.delete(f"/api/v1/me/tokens/{made['id']}")
            async with asyncio.timeout(PATIENCE):
                assert await line.closed() == socket.BAD_TOKEN
                for lines in streams:
                    with pytest.raises(RemoteProtocolError):
                        [line async for line in lines]
                answer = await poll
                assert (answer.status_code, answer.json().get("why")) == (401, "bad_token")
            for one in (theirs, mine):
                await one.send({"type": "ping"})
                await one.until(lambda frame: frame["type"] == "pong")


@pytest.mark.usefixtures("unwatched")
async def test_all_that_a_bot_has_open_ends_when_it_is_dismissed(url: str, nina: Person) -> None:
    bot, kept, table = await bot_of(nina), await bot_of(nina), await open_table(nina)
    more = await token_of(nina, "read", path=f"/me/bots/{bot['id']}/tokens")
    async with AsyncExitStack() as stack:
        secrets = (bot["token"]["secret"], more["secret"], kept["token"]["secret"])
        robots = [await stack.enter_async_context(program(url, secret)) for secret in secrets]
        lines = [await stack.enter_async_context(robot.at(table)) for robot in robots]
        await nina.http.delete(f"/api/v1/me/bots/{bot['id']}")
        assert [await line.closed() for line in lines[:2]] == [socket.BAD_TOKEN] * 2
        await lines[2].send({"type": "ping"})
        await lines[2].until(lambda frame: frame["type"] == "pong")


SAID_WITH_A_TOKEN: list[Json] = [
    {"type": "join", "table": "00-2222222222"},
    {"type": "act", "cid": "x", "action": {"kind": "return"}},
    {"type": "chat", "phrase": "hello"},
]


@pytest.mark.usefixtures("unwatched")
@pytest.mark.parametrize("said", SAID_WITH_A_TOKEN, ids=lambda one: one["type"])
async def test_a_void_token_does_nothing_even_where_nobody_heard_of_it(
    url: str, nina: Person, valkey: Redis, said: Json
) -> None:
    made, table = await token_of(nina), await open_table(nina)
    async with program(url, made["secret"]) as robot, robot.at(table) as line:
        await valkey.hdel(f"{{{nina.id}}}tokens", made["id"])  # without a word to anybody
        await line.send(said)
        assert await line.closed() == socket.BAD_TOKEN
    seen = await nina.get(f"/tables/{table}/game")
    assert (seen["at"], seen["chat"]) == (line.at, [])


async def test_a_socket_whose_token_is_void_is_closed(
    url: str, nina: Person, valkey: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "PROBE_SECONDS", 0.05)
    made, table = await token_of(nina), await open_table(nina)
    async with program(url, made["secret"]) as robot, robot.at(table) as line, nina.at(table) as mine:
        await line.until(lambda frame: frame["type"] == "probe")
        await valkey.hdel(f"{{{nina.id}}}tokens", made["id"])
        assert await line.closed() == socket.BAD_TOKEN
        await mine.send({"type": "ping"})
        await mine.until(lambda frame: frame["type"] == "pong")


@pytest.mark.parametrize("is_heard", [True, False])
async def test_an_answer_whose_token_is_revoked_breaks_off(
    site: Site, valkey: Redis, nina: Person, monkeypatch: pytest.MonkeyPatch, is_heard: bool
) -> None:
    monkeypatch.setattr(gate, "RECHECK_SECONDS", PATIENCE * 10 if is_heard else 0.0)
    for number in range(3):
        await store(RedisLog(valkey), played(PRESETS["announced-701"], 1, table=f"0b-cut{int(is_heard)}{number}"))
    whole: list[str] = []
    async with asyncio.timeout(PATIENCE):
        while sum(f'"table":"0b-cut{int(is_heard)}' in line for line in whole) < 3:
            whole = (await nina.http.get("/api/v1/games/export")).text.splitlines()
    gone, real = asyncio.Event(), type(site.parts.history).export

    async def slowly(*args: Any) -> AsyncIterator[Any]:
        async for game in real(*args):
            yield game
            await gone.wait()

    monkeypatch.setattr(type(site.parts.history), "export", slowly)
    made = await token_of(nina)
    async with program(site.url, made["secret"]) as robot, robot.http.stream("GET", "/api/v1/games/export") as answer:
        lines = answer.aiter_lines()
        assert await anext(lines) == whole[0]
        if is_heard:
            await nina.http.delete(f"/api/v1/me/tokens/{made['id']}")
            async with asyncio.timeout(PATIENCE):
                while not any(one.void.is_set() for one in site.parts.hub.visits):  # noqa: ASYNC110 -- the bell rings a moment later
                    await asyncio.sleep(0.01)
        else:
            await valkey.hdel(f"{{{nina.id}}}tokens", made["id"])
        gone.set()
        with pytest.raises(RemoteProtocolError):
            await anext(lines)


async def test_an_expired_token_is_void(url: str, nina: Person, valkey: Redis) -> None:
    made = await token_of(nina, expires=1)
    assert made["expires"] == made["created"] + 24 * 3600 * 1000
    async with program(url, made["secret"]) as robot:
        await robot.get("/me")
        await alter(valkey, nina.id, made["id"], expires=made["created"] - 1)
        assert (await robot.get("/me", 401))["why"] == "bad_token"


async def test_a_scope_of_a_newer_release_is_left_out(url: str, nina: Person, valkey: Redis) -> None:
    made = await token_of(nina, "read")
    await alter(valkey, nina.id, made["id"], scopes=["read", "moderate"])
    async with program(url, made["secret"]) as robot:
        await robot.get("/me")
        await robot.post("/tables", {}, 403)


async def test_a_guest_has_so_many_tokens_and_those_that_expired_make_room(nina: Person, valkey: Redis) -> None:
    made = [await token_of(nina) for _ in range(MOST_TOKENS)]
    assert (await nina.post("/me/tokens", {"name": "x", "scopes": ["read"]}, 409))["why"] == "too_many"
    await alter(valkey, nina.id, made[0]["id"], expires=1)
    await token_of(nina)
    await nina.post("/me/tokens", {"name": "x", "scopes": ["read"]}, 409)
    assert len((await nina.get("/me/tokens"))["tokens"]) == MOST_TOKENS


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"scopes": []}, "scopes"),
        ({"scopes": ["read", "admin"]}, "scopes"),
        ({"scopes": ["everything"]}, "scopes"),
        ({"scopes": "read"}, "scopes"),
        ({"expires": 0}, "expires"),
        ({"expires": 3651}, "expires"),
        ({"expires": 1.5}, "expires"),
        ({"expires": True}, "expires"),
        ({"expires": 10**30}, "expires"),
        ({"name": ""}, "name"),
        ({"name": "\ud800"}, "name"),
        ({"name": "x" * 25}, "name"),
        ({"name": None}, "name"),
    ],
)
async def test_a_token_that_makes_no_sense_is_refused(nina: Person, changes: Json, field: str) -> None:
    for path in ("/me/tokens", "/me/bots"):
        body = json.dumps({"name": "Robot", "scopes": ["read"]} | changes)
        answer = await nina.http.post(f"/api/v1{path}", content=body, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json().get("field")) == (422, field)
    assert await nina.get("/me/tokens") == {"tokens": []}
    assert await nina.get("/me/bots") == {"bots": []}


async def test_a_stranger_has_no_tokens(url: str) -> None:
    async with person(url) as stranger:
        assert (await stranger.get("/me/tokens", 401))["why"] == "not_signed_in"
        await stranger.post("/me/tokens", {"name": "x", "scopes": ["read"]}, 401)
        await stranger.post("/me/bots", {"name": "x"}, 401)


async def test_a_new_name_is_the_tokens_too(url: str, nina: Person) -> None:
    made = await token_of(nina)
    await nina.post("/me", {"name": "Ninon"})
    async with program(url, made["secret"]) as robot:
        assert (await robot.get("/me"))["name"] == "Ninon"


# --- forged ----------------------------------------------------------------------------------------------------------


def answered(response: Response) -> tuple[int, str | None, bytes]:
    return response.status_code, response.headers.get("www-authenticate"), response.content


async def test_what_is_no_token_is_always_answered_the_same(url: str, nina: Person) -> None:
    secret: str = (await token_of(nina))["secret"]
    other: str = (await token_of(nina))["secret"]
    other_way = secret.swapcase()
    forged = [
        b"Bearer",
        b"Bearer x",
        b"bearer Basic",
        f"Bearer {secret[:-1]}".encode(),
        f"Bearer {secret}x".encode(),
        f"Bearer {secret[:-1]}{'A' if secret[-1] != 'A' else 'B'}".encode(),
        f"Bearer {secret[:-43]}{other[-43:]}".encode(),
        f"Bearer {secret.replace(nina.id, 'g_' + NO_ID)}".encode(),
        f"Bearer {secret.replace(nina.id, '{x}')}".encode(),
        f"Bearer {other_way}".encode(),
        f"Bearer {secret} {secret}".encode(),
        f"Bearer {secret}{'x' * 20_000}".encode(),
        f"Bearer {secret[:-1]}é".encode(),
        f"Bearer {secret[:-1]}".encode() + b"\xff",
        "Bearer 🂡".encode(),
    ]
    async with person(url) as stranger:
        paths = ("/me", "/rules", "/tables/00-none")
        given = [
            answered(await stranger.http.get(f"/api/v1{path}", headers={b"Authorization": value}))
            for value in forged
            for path in paths
        ]
        assert {one[:2] for one in given} == {(401, 'Bearer error="invalid_token"')}
        assert len({one[2] for one in given}) == 1
        assert json.loads(given[0][2])["why"] == "bad_token"
        right = await stranger.http.get("/api/v1/me", headers={"Authorization": f"bearer  {secret}"})
        assert right.json()["id"] == nina.id


@pytest.mark.parametrize("value", ["", "x", "x" * 20_000, '"\\377\\000"', "\xff", "é", "🂡", "{x}", "\\", "a=b"])
async def test_a_forged_cookie_is_a_stranger(url: str, value: str) -> None:
    headers = {b"Cookie": f"{COOKIE}={value}".encode()}
    async with person(url) as stranger:
        assert (await stranger.http.get("/api/v1/me", headers=headers)).json()["why"] == "not_signed_in"
        assert (await stranger.http.get("/api/v1/tables", headers=headers)).status_code == 200
        assert (await stranger.http.post("/api/v1/me/tokens", json={}, headers=headers)).status_code in (401, 422)


async def test_a_cookie_beside_a_token_does_not_count(url: str, nina: Person) -> None:
    made = await token_of(nina, "read")
    both = {"Cookie": nina.cookie}
    async with program(url, made["secret"]) as robot, program(url, "x") as void:
        assert (await robot.http.post("/api/v1/tables", json={}, headers=both)).json()["why"] == "missing_scope"
        assert (await robot.http.post("/api/v1/me", json={"name": "X"}, headers=both)).json()["why"] == "missing_scope"
        assert (await void.http.get("/api/v1/me", headers=both)).json()["why"] == "bad_token"
    assert (await nina.get("/me"))["name"] == "Nina"


@pytest.mark.parametrize(("scopes", "status"), [(["read"], None), (["play"], 403), (["tables"], 403), ([], 401)])
async def test_a_socket_is_opened_with_the_right_token_alone(
    url: str, nina: Person, scopes: list[str], status: int | None
) -> None:
    secret = (await token_of(nina, *scopes))["secret"] if scopes else "coinche_x"
    async with program(url, secret) as robot:
        if status is None:
            async with robot.socket() as line:
                await line.send({"type": "ping"})
                await line.until(lambda frame: frame["type"] == "pong")
        else:
            with pytest.raises(InvalidStatus) as refused:
                async with robot.socket():
                    pass
            assert refused.value.response.status_code == status
            assert json.loads(refused.value.response.body or b"")["why"] == ("missing_scope" if scopes else "bad_token")


async def test_who_may_only_read_sees_a_hand_and_cannot_act(url: str, nina: Person) -> None:
    made, table = await token_of(nina, "read"), await open_table(nina)
    await nina.post(f"/tables/{table}/start")
    async with program(url, made["secret"]) as robot, robot.at(table) as line:
        await line.until_state(lambda line: line.view)
        assert len((line.view or {})["hand"]) == 8
        answer = await line.ask({"kind": "pass"})
        assert (answer["type"], answer["why"]) == ("refused", "missing_scope")
        await line.send({"type": "chat", "phrase": "hello"})
        assert (await line.until(lambda frame: frame["type"] == "refused"))["why"] == "missing_scope"


# --- bots ------------------------------------------------------------------------------------------------------------


async def test_a_bot_is_somebody_of_its_own_and_is_shown_as_one(url: str, nina: Person) -> None:
    bot = await bot_of(nina)
    assert bot["id"].startswith("b_")
    assert bot["bot"] is True
    assert bot["token"]["scopes"] == ["play", "read"]
    table = await open_table(nina)
    async with program(url, bot["token"]["secret"]) as robot:
        assert await robot.get("/me") == {"id": bot["id"], "name": "Robi"}
        seats = (await robot.post(f"/tables/{table}/sit", {"seat": 1}))["seats"]
        assert (seats[0]["bot"], seats[1]["bot"], seats[1]["player"], seats[1]["kind"]) == (False, True, bot["id"], "person")
        await robot.post("/tables", {}, 403)
        await robot.get("/me/bots", 403)


async def test_bots_play_a_whole_game(url: str, nina: Person) -> None:
    bots = [await bot_of(nina, f"Robi {number}", scopes=ALL) for number in range(4)]
    async with AsyncExitStack() as stack:
        robots = [await stack.enter_async_context(program(url, bot["token"]["secret"])) for bot in bots]
        table = await open_table(robots[0], options={"target": 100})
        for robot in robots:
            await robot.post(f"/tables/{table}/sit", {})
        for robot in robots:
            await robot.post(f"/tables/{table}/ready")
        lines = [await stack.enter_async_context(robot.at(table)) for robot in robots]
        await asyncio.gather(*(play(line, Random(seat)) for seat, line in enumerate(lines)))
        assert (lines[0].view or {})["winner"] in ("A", "B")


async def test_a_bot_is_renamed_and_dismissed_with_its_tokens(url: str, nina: Person, valkey: Redis) -> None:
    bot = await bot_of(nina)
    further = await token_of(nina, "read", path=f"/me/bots/{bot['id']}/tokens")
    renamed = await nina.http.patch(f"/api/v1/me/bots/{bot['id']}", json={"name": "Roba"})
    assert renamed.json() == {"id": bot["id"], "name": "Roba", "bot": True}
    assert await nina.get("/me/bots") == {"bots": [renamed.json()]}
    listed = (await nina.get(f"/me/bots/{bot['id']}/tokens"))["tokens"]
    assert {one["id"] for one in listed} == {bot["token"]["id"], further["id"]}
    async with program(url, bot["token"]["secret"]) as robot, program(url, further["secret"]) as other:
        assert (await robot.get("/me"))["name"] == "Roba"
        await nina.http.delete(f"/api/v1/me/bots/{bot['id']}/tokens/{further['id']}")
        await other.get("/me", 401)
        await robot.get("/me")
        assert (await nina.http.delete(f"/api/v1/me/bots/{bot['id']}")).status_code == 204
        assert (await robot.get("/me", 401))["why"] == "bad_token"
    assert await nina.get("/me/bots") == {"bots": []}
    assert not [key for key, value in (await everything(valkey)).items() if bot["id"] in key or bot["id"] in value]


async def test_no_token_is_made_for_a_bot_that_is_dismissed_meanwhile(site: Site, nina: Person) -> None:
    bot = await bot_of(nina)
    found = await site.parts.bots.find(nina.id, bot["id"])
    assert found is not None
    await nina.http.delete(f"/api/v1/me/bots/{bot['id']}")
    assert await site.parts.tokens.issue(found, "late", frozenset(), 1, None) is None
    assert await site.parts.tokens.of(bot["id"]) == []


async def test_a_person_has_so_many_bots(nina: Person, valkey: Redis) -> None:
    made = [await bot_of(nina) for _ in range(MOST_BOTS)]
    there = [key async for key in valkey.scan_iter("{b_*}*")]
    assert len(there) >= 2 * MOST_BOTS
    assert (await nina.post("/me/bots", {"name": "x"}, 409))["why"] == "too_many"
    assert len([key async for key in valkey.scan_iter("{b_*}*")]) == len(there)
    await nina.http.delete(f"/api/v1/me/bots/{made[0]['id']}")
    await bot_of(nina)
    assert len((await nina.get("/me/bots"))["bots"]) == MOST_BOTS


async def test_what_is_anothers_is_as_unknown_as_what_is_not_there(url: str) -> None:
    async with people(url, "Nina", "Paul") as (nina, paul):
        bot, token = await bot_of(nina), await token_of(nina)
        body = {"name": "Mine", "scopes": ["read"]}
        for method, path, theirs in (
            ("DELETE", "/me/tokens/{}", token["id"]),
            ("PATCH", "/me/bots/{}", bot["id"]),
            ("DELETE", "/me/bots/{}", bot["id"]),
            ("GET", "/me/bots/{}/tokens", bot["id"]),
            ("POST", "/me/bots/{}/tokens", bot["id"]),
            ("DELETE", "/me/bots/{}/tokens/" + bot["token"]["id"], bot["id"]),
        ):
            asked = [paul.http.request(method, f"/api/v1{path.format(one)}", json=body) for one in (theirs, "b_" + NO_ID)]
            there, nowhere = await asyncio.gather(*asked)
            assert there.status_code == 404
            assert answered(there) == answered(nowhere)
        own = await bot_of(paul)
        await paul.delete(f"/me/bots/{own['id']}/tokens/{bot['token']['id']}", 404)
        await paul.delete(f"/me/tokens/{own['token']['id']}", 404)
        async with program(url, bot["token"]["secret"]) as robot, program(url, token["secret"]) as program_of_nina:
            assert (await robot.get("/me"))["name"] == "Robi"
            await program_of_nina.get("/me")
