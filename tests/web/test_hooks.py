"""Hooks as guests have them: made, listed, pinged, removed; and what they hear while people really play."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any

import pytest

from app.store.hooks import RedisHooks
from app.store.keys import SHARDS
from app.tables.deliveries import ClaimedDelivery, Delivery
from app.tables.hooks import MOST_HOOKS
from app.tables.table import Person as Known
from app.tables.tokens import OF_A_GUEST, Scope
from app.webhooks.sender import Sender, sign
from app.webhooks.url_policy import UrlPolicy
from tests.described import description, fits
from tests.people import MONITORING, Json, Person, Site, open_table, people, person, play, running_site, started
from tests.ports import held
from tests.receiver import Receiver, eventually, receiving
from tests.web.test_secrecy import CARD, SECRET_KEYS, keys

LOCAL = ("127.0.0.0/8",)
PAGE = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text()
EVENTS = ["table_opened", "game_finished", "turn_due"]


@pytest.fixture
async def site(redis_url: str, database_url: str) -> AsyncIterator[Site]:
    """A coinche whose hooks may reach this machine."""
    async with running_site(redis_url, database_url, hooks_inside=LOCAL) as one:
        yield one


async def hook(who: Person, server: Receiver, *events: str, status: int = 201, **more: Any) -> Json:
    return await who.post("/me/hooks", {"url": server.url, "events": list(events or EVENTS), **more}, status)


async def admin(site: Site, who: Person) -> dict[str, str]:
    """What the operator's token of this person is shown with."""
    issued = await site.parts.tokens.issue(Known(who.id, "Nina"), "operator", frozenset({*OF_A_GUEST, Scope.ADMIN}), 0, None)
    assert issued is not None
    return {"Authorization": f"Bearer {issued[1]}"}


async def quiet(site: Site) -> None:
    """Wait until all that has happened has been told."""
    hooks = site.parts.hooks
    assert isinstance(hooks, RedisHooks)
    redis = hooks._redis

    async def is_so() -> bool:
        games = sum((await site.parts.waiting()).values())
        notices = [await redis.xlen(f"{{s{shard}}}notices") for shard in SHARDS]
        return not games and not any(notices) and (await site.parts.hooks.waiting())["waiting"] == 0

    await eventually(is_so)


async def test_a_secret_is_shown_once_and_by_nothing_else(site: Site) -> None:
    async with receiving() as server, people(site.url, "Nina") as [nina]:
        made = await hook(nina, server, "turn_due", "table_opened")
        secret = made.pop("secret")
        assert secret.startswith("whsec_")
        assert made == {
            "id": made["id"],
            "url": server.url,
            "events": ["table_opened", "turn_due"],
            "scope": "mine",
            "created": made["created"],
            "off": False,
            "failures": 0,
            "dropped": 0,
            "last": None,
        }
        assert await nina.get("/me/hooks") == {"hooks": [made]}
        await nina.post(f"/me/hooks/{made['id']}/test", status=202)
        [got] = await server.have(1)
        await quiet(site)
        listed = await nina.get("/me/hooks")
        assert secret not in json.dumps(listed)
        assert got.is_signed(secret)
        assert got.told["event"] == "ping"
        assert got.told["data"] == {"hook": made["id"]}
        assert listed["hooks"][0]["last"] == {"at": listed["hooks"][0]["last"]["at"], "event": "ping", "result": "204"}
        assert (await nina.http.delete(f"/api/v1/me/hooks/{made['id']}")).status_code == 204
        assert await nina.get("/me/hooks") == {"hooks": []}
        numbers = (await nina.http.get("/metrics", headers=MONITORING)).text
        assert secret not in numbers
        assert 'coinche_hook_queue{state="waiting"} 0.0' in numbers
        assert re.search(r'coinche_hook_deliveries_total{outcome="delivered"} [1-9]', numbers)


async def test_a_ping_that_fails_is_told_by_the_list(site: Site) -> None:
    async with receiving(500) as server, people(site.url, "Nina") as [nina]:
        made = await hook(nina, server)
        await nina.post(f"/me/hooks/{made['id']}/test", status=202)

        async def has_failed() -> bool:
            return bool((await nina.get("/me/hooks"))["hooks"][0]["failures"])

        await eventually(has_failed)
        assert (await nina.get("/me/hooks"))["hooks"][0]["last"]["result"] == "500"


async def test_one_person_has_so_many_hooks_and_the_next_has_as_many(site: Site) -> None:
    async with receiving() as server, people(site.url, "Nina", "Paul") as [nina, paul]:
        made = [await hook(nina, server) for _ in range(MOST_HOOKS)]
        assert (await hook(nina, server, status=409))["why"] == "too_many"
        await hook(paul, server)
        await nina.http.delete(f"/api/v1/me/hooks/{made[3]['id']}")
        await hook(nina, server)
        assert len((await nina.get("/me/hooks"))["hooks"]) == MOST_HOOKS


async def test_at_once_no_more_can_be_made_than_one_after_the_other(site: Site) -> None:
    async with receiving() as server, people(site.url, "Nina") as [nina]:
        wanted = {"url": server.url, "events": ["turn_due"]}
        answers = await asyncio.gather(*(nina.http.post("/api/v1/me/hooks", json=wanted) for _ in range(MOST_HOOKS + 5)))
        assert sorted(one.status_code for one in answers) == [201] * MOST_HOOKS + [409] * 5


async def test_of_another_ones_hook_nobody_learns_even_that_it_is_there(site: Site) -> None:
    async with receiving() as server, people(site.url, "Nina", "Paul") as [nina, paul]:
        made = await hook(nina, server)
        for name in (made["id"], "0" * 16, "x y", "%2A"):
            removed = await paul.http.delete(f"/api/v1/me/hooks/{name}")
            pinged = await paul.http.post(f"/api/v1/me/hooks/{name}/test")
            assert (removed.status_code, removed.json()["why"]) == (404, "not_found")
            assert (pinged.status_code, pinged.json()["why"]) == (404, "not_found")
        assert await paul.get("/me/hooks") == {"hooks": []}
        assert len((await nina.get("/me/hooks"))["hooks"]) == 1
        assert server.got == []


async def test_a_stranger_and_a_token_of_a_guest_have_no_hooks(site: Site) -> None:
    async with (
        receiving() as server,
        people(site.url, "Nina") as [nina],
        person(site.url) as stranger,
        person(site.url) as program,
    ):
        token = await nina.post("/me/tokens", {"name": "t", "scopes": ["read", "play", "tables"]}, 201)
        program.http.headers["Authorization"] = f"Bearer {token['secret']}"
        for who, status, why in ((stranger, 401, "not_signed_in"), (program, 403, "missing_scope")):
            assert (await hook(who, server, status=status))["why"] == why
            assert (await who.get("/me/hooks", status))["why"] == why
            assert (await who.delete("/me/hooks/x", status))["why"] == why
            assert (await who.post("/me/hooks/x/test", status=status))["why"] == why


@pytest.mark.parametrize(
    ("wrong", "why", "field"),
    [
        ({"url": "http://192.0.2.1/"}, "bad_url", "url"),
        ({"url": "https://10.0.0.1/"}, "bad_url", "url"),
        ({"url": "https://[::1]/"}, "bad_url", "url"),
        ({"url": "https://me:you@127.0.0.1/"}, "bad_url", "url"),
        ({"url": "https://nowhere.invalid/"}, "bad_url", "url"),
        ({"url": 7}, "wrong_type", "url"),
        ({"events": []}, "wrong_value", "events"),
        ({"events": ["turn_due", "card_played"]}, "wrong_value", "events"),
        ({"events": "turn_due"}, "wrong_type", "events"),
        ({"scope": "server"}, "wrong_value", "scope"),
    ],
)
async def test_what_does_not_fit_is_refused(site: Site, wrong: Json, why: str, field: str) -> None:
    async with receiving() as server, people(site.url, "Nina") as [nina]:
        answer = await nina.post("/me/hooks", {"url": server.url, "events": ["turn_due"]} | wrong, 422)
        assert (answer["why"], answer["field"]) == (why, field)
        assert (await nina.get("/me/hooks"))["hooks"] == []


async def test_all_games_are_for_the_operator_to_hear(site: Site) -> None:
    async with receiving() as server, people(site.url, "Nina") as [nina], person(site.url) as operator:
        assert (await hook(nina, server, scope="all", status=403))["field"] == "admin"
        operator.http.headers.update(await admin(site, nina))
        assert (await hook(operator, server, scope="all"))["scope"] == "all"
        assert len((await nina.get("/me/hooks"))["hooks"]) == 1


async def test_making_and_pinging_is_limited(redis_url: str, database_url: str) -> None:
    async with (
        running_site(redis_url, database_url, hooks_inside=LOCAL, limits=True) as site,
        receiving() as server,
        people(site.url, "Nina") as [nina],
    ):
        made = await hook(nina, server)
        for _ in range(9):
            await nina.post(f"/me/hooks/{made['id']}/test", status=202)
        answer = await nina.http.post(f"/api/v1/me/hooks/{made['id']}/test")
        assert answer.status_code == 429
        assert '"hooks"' in answer.headers["RateLimit"]
        assert (await hook(nina, server, status=429))["why"] == "too_fast"
        assert len((await nina.get("/me/hooks"))["hooks"]) == 1


async def test_of_a_new_table_hears_its_host_and_if_it_is_listed_the_operator(site: Site) -> None:
    async with (
        receiving() as ninas,
        receiving() as pauls,
        receiving() as operators,
        people(site.url, "Nina", "Paul") as [nina, paul],
        person(site.url) as operator,
    ):
        await hook(nina, ninas, "table_opened")
        await hook(paul, pauls, "table_opened")
        operator.http.headers.update(await admin(site, paul))
        await hook(operator, operators, "table_opened", scope="all")
        hidden = await open_table(nina, listed=False)
        shown = await open_table(nina, listed=True, clock=14_400)
        await quiet(site)
        assert {one.told["data"]["table"] for one in ninas.got} == {hidden, shown}
        assert pauls.got == []
        [got] = operators.got
        assert got.told["data"]["table"] == shown
        assert got.told["data"]["host"] == {"id": nina.id, "name": "Nina"}
        assert hidden not in got.body.decode()


async def test_a_hook_that_an_earlier_release_let_hear_of_all_tables_hears_of_its_owner_s_alone(site: Site) -> None:
    async with receiving() as server, people(site.url, "Nina", "Paul") as [nina, paul]:
        made = await hook(paul, server, "table_opened")
        hooks = site.parts.hooks
        assert isinstance(hooks, RedisHooks)
        await hooks._redis.sadd("{hooks}all:table_opened", made["id"])
        await open_table(nina, listed=True)
        own = await open_table(paul, listed=True)
        await quiet(site)
        assert [got.told["data"]["table"] for got in server.got] == [own]


async def test_the_owner_of_a_bot_hears_of_its_turns_until_it_is_dismissed(site: Site) -> None:
    async with receiving() as server, people(site.url, "Nina", "Paul", "Rosa", "Omar") as four, person(site.url) as robot:
        bot = await four[3].post("/me/bots", {"name": "Robo"}, 201)
        robot.http.headers["Authorization"] = f"Bearer {bot['token']['secret']}"
        robot.id = bot["id"]
        await hook(four[3], server, "turn_due")
        await open_table(four[0])
        table = await started([*four[:3], robot], "contree-701", clock=14_400)
        async with AsyncExitStack() as stack:
            lines = [await stack.enter_async_context(one.at(table)) for one in four[:3]]
            robots = await stack.enter_async_context(robot.at(table))
            everybody = [*lines, robots]
            for line in everybody:
                await line.until_state(lambda line: line.view is not None and line.view["phase"] == "bidding")
            while (line := _in_turn(everybody)) is not robots:
                await _pass(line, everybody)
            [got] = await server.have(1)
            data = got.told["data"]
            assert (data["player"], data["seat"], data["turn"], data["deadline"]) == (
                bot["id"],
                3,
                robots.turn,
                robots.state["deadline"],
            )
            assert data["links"]["page"] == f"/t/{table}"
            await four[3].http.delete(f"/api/v1/me/bots/{bot['id']}")
            await four[3].post("/me", {"name": "Omar"})
            await quiet(site)
            assert len(server.got) == 1


def _in_turn(lines: list[Any]) -> Any:
    return lines[lines[0].view["turn"]]


async def _pass(line: Any, everybody: list[Any]) -> None:
    answer = await line.ask({"kind": "pass"})
    assert answer["type"] == "ack"
    for one in everybody:
        await one.until_at(answer["at"])


async def test_no_hook_ever_hears_of_a_card_while_whole_games_are_played(site: Site) -> None:
    """Everybody hears all he may. Of a listed slow game, and of one that is not listed; the operator too."""
    names = ("Nina", "Paul", "Rosa", "Omar", "Zoe")
    async with AsyncExitStack() as stack:
        guests = await stack.enter_async_context(people(site.url, *names))
        servers = [await stack.enter_async_context(receiving()) for _ in range(6)]
        four, zoe = guests[:4], guests[4]
        for one, server in zip(guests, servers, strict=False):
            await hook(one, server)
        operator = await stack.enter_async_context(person(site.url))
        operator.http.headers.update(await admin(site, zoe))
        await hook(operator, servers[5], scope="all")
        ends = {}
        for listed in (True, False):
            table = await started(four, "contree-701", options={"target": 100}, clock=14_400, listed=listed)
            lines = [await stack.enter_async_context(one.at(table)) for one in four]
            await asyncio.gather(*(play(line, Random(seat)) for seat, line in enumerate(lines)))
            ends[table] = lines[0].view
        await quiet(site)
    shown, hidden = ends
    for seat, server in enumerate(servers[:4]):
        events = [(one.told["event"], one.told["data"]["table"]) for one in server.got]
        assert [event for event in events if event[0] == "game_finished"].count(("game_finished", shown)) == 1
        assert events.count(("game_finished", hidden)) == 1
        assert events.count(("table_opened", shown)) == (seat == 0)
        assert events.count(("table_opened", hidden)) == (seat == 0)
        turns = [one.told["data"] for one in server.got if one.told["event"] == "turn_due"]
        assert {turn["player"] for turn in turns} == {four[seat].id}
        assert {turn["seat"] for turn in turns} == {seat}
        assert len({(turn["table"], turn["turn"]) for turn in turns}) == len(turns) > 16
        over = {one.told["data"]["table"]: one.told["data"] for one in server.got if one.told["event"] == "game_finished"}
        for table, view in ends.items():
            assert view is not None
            assert (over[table]["totals"], over[table]["winner"]) == (view["totals"], view["winner"])
    assert servers[4].got == []
    operators = {(one.told["event"], one.told["data"]["table"]) for one in servers[5].got}
    assert operators == {("table_opened", shown), ("game_finished", shown)}
    for got in (one for server in servers for one in server.got):
        assert not CARD.search(got.body.decode())
        assert not (SECRET_KEYS | {"hand", "hands", "view"}) & set(keys(got.told))
        assert "whsec_" not in got.body.decode()


# --- what the page says --------------------------------------------------------------------------------------------------


def examples() -> dict[str, Json]:
    """The examples by their event."""
    blocks = [json.loads(one) for one in re.findall(r"^```json hook\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)]
    return {one["event"]: one for one in blocks}


def shape(value: Any) -> Any:
    """The names in a value, in order."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    return [shape(value[0])] if isinstance(value, list) else None


async def test_the_page_shows_what_really_arrives(site: Site) -> None:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(receiving())
        four = await stack.enter_async_context(people(site.url, "Nina", "Paul", "Rosa", "Omar"))
        made = await hook(four[0], server)
        await four[0].post(f"/me/hooks/{made['id']}/test", status=202)
        table = await started(four, "contree-701", options={"target": 100}, clock=14_400)
        lines = [await stack.enter_async_context(one.at(table)) for one in four]
        await asyncio.gather(*(play(line, Random(seat)) for seat, line in enumerate(lines)))
        await server.until(lambda got: any(one.told["event"] == "game_finished" for one in got))
        real = {one.told["event"]: one.told for one in server.got}
    for event, told in real.items():
        assert fits(description()["webhooks"][event]["post"]["requestBody"]["content"]["application/json"]["schema"], told)
    assert {event: shape(one) for event, one in examples().items()} == {event: shape(one) for event, one in real.items()}
    assert {event: list(one["data"]) for event, one in examples().items()} == {
        event: list(one["data"]) for event, one in real.items()
    }


async def test_the_receiver_of_the_page_knows_what_is_signed_from_what_is_not() -> None:
    [program] = re.findall(r"^```python receiver\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    secret, other = "whsec_QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=", "whsec_" + "QUJD" * 8
    delivery, sender = Delivery("h", "msg_1", "ping", '{"name":"Élise"}'), Sender(UrlPolicy(LOCAL))

    async def answer(key: str) -> tuple[int | None, str]:
        return await sender.send(ClaimedDelivery(delivery, f"http://127.0.0.1:{port}/", key))

    async def is_there() -> bool:
        return (await answer(other))[0] is not None

    with held() as [port]:
        environment = os.environ | {"HOOK_SECRET": secret, "PORT": str(port)}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, env=environment, stderr=subprocess.DEVNULL
        )
        try:
            await eventually(is_there)
            answers = [await answer(one) for one in (secret, other)]
        finally:
            process.kill()
            await process.wait()
    assert answers == [(204, "204"), (400, "400")]


def test_a_signature_is_the_one_that_standard_webhooks_show() -> None:
    """The example of their specification."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    assert sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, '{"test": 2432232314}') == (
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    )


def test_the_page_names_every_event() -> None:
    assert set(examples()) == {*EVENTS, "ping"}
    assert all(re.search(rf"^\| `{event}` \|", PAGE, re.MULTILINE) for event in EVENTS)
