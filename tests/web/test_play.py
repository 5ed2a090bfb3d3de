"""A table's game over REST: whole games by long poll, streams that go on where they broke off, actions that happen once."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from httpx2 import AsyncClient, RemoteProtocolError, Response
from redis.asyncio import Redis

from app.embedded import Servers
from app.web import ear, gate, own
from app.web.hub import MOST_STREAMS, Client
from tests.people import (
    PATIENCE,
    Json,
    Person,
    Site,
    choice,
    elsewhere,
    open_table,
    people,
    person,
    running_site,
    seated,
    started,
)

NAMES = ("Nina", "Paul", "Rosa", "Omar")
UNKNOWN = "00-2222222222"
SSE, LINES = "text/event-stream", "application/x-ndjson"
PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text()


@pytest.fixture
async def four(url: str) -> AsyncIterator[list[Person]]:
    async with people(url, *NAMES) as them:
        yield them


def written(at: list[int]) -> str:
    return f"{at[0]}.{at[1]}"


async def game_of(who: Person, table: str) -> Json:
    return await who.get(f"/tables/{table}/game")


async def poll(who: Person, table: str, after: list[int] | None = None, wait: float = 20) -> Json:
    since = "" if after is None else f"&after={written(after)}"
    return await who.get(f"/tables/{table}/events?wait={wait}{since}")


async def send(who: Person, table: str, body: Json, key: str | None = None) -> Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return await who.http.post(f"/api/v1/tables/{table}/actions", json=body, headers=headers)


async def begun(four: list[Person], **more: Any) -> tuple[str, Person, Json]:
    """A table whose first hand is dealt, whose turn it is, and the game as that one sees it."""
    table = await started(four, "classic-1000", **more)
    async with asyncio.timeout(PATIENCE):
        while True:
            game = await game_of(four[0], table)
            if game["view"] is not None and game["view"]["phase"] == "bidding":
                break
            await poll(four[0], table, game["at"])
    who = four[game["view"]["turn"]]
    return table, who, await game_of(who, table)


class Stream:
    """A stream that is read: every message with its id."""

    def __init__(self, response: Response) -> None:
        self.response = response
        self.is_sse = response.headers["content-type"].startswith(SSE)
        self.beats = 0
        self.ids: list[str] = []
        self._lines = response.aiter_lines()

    async def hear(self) -> Json:
        """The next message. Raises StopAsyncIteration at the end."""
        fields: dict[str, str] = {}
        async with asyncio.timeout(PATIENCE):
            while True:
                line = await anext(self._lines)
                if not self.is_sse and line:
                    message: Json = json.loads(line)
                    return message
                if self.is_sse and line and not line.startswith(":"):
                    name, _, value = line.partition(": ")
                    fields[name] = value
                elif fields:
                    break
                else:
                    self.beats += 1
        message = json.loads(fields["data"])
        assert message["type"] == fields["event"]
        if "id" in fields:
            assert fields["id"] == written(message["at"])
            self.ids.append(fields["id"])
        return message

    async def until(self, kind: str) -> Json:
        while (message := await self.hear())["type"] != kind:
            pass
        return message

    async def end(self) -> list[Json]:
        """All that comes until the stream ends."""
        heard = []
        try:
            while True:
                heard.append(await self.hear())
        except StopAsyncIteration:
            return heard


@asynccontextmanager
async def streaming(who: Person, path: str, accept: str = LINES, **headers: str) -> AsyncIterator[Stream]:
    async with who.http.stream("GET", f"/api/v1{path}", headers={"Accept": accept} | headers) as response:
        assert response.status_code == 200, await response.aread()
        assert response.headers["content-type"].startswith(accept)
        yield Stream(response)


async def nobody_left(site: Site, before: set[Client]) -> None:
    """Until the hub has only those clients that it had, and no room without somebody in it."""
    async with asyncio.timeout(PATIENCE):
        while set(site.parts.hub.clients) != before:  # noqa: ASYNC110 (what is waited for happens in the server)
            await asyncio.sleep(0.01)


# --- a game by long poll ---------------------------------------------------------------------------------------------


async def play_by_poll(who: Person, table: str, dice: Random) -> tuple[list[Json], Json]:
    """Play what is offered, by what docs/api.md says; every message heard, and the last view."""
    heard: list[Json] = []
    state: Json = {}
    at, done = None, -1
    async with asyncio.timeout(4 * PATIENCE):
        while True:
            answer = await poll(who, table, at)
            heard += answer["events"]
            at = answer["at"]
            state = next((one for one in reversed(answer["events"]) if one["type"] in ("welcome", "step")), state)
            view = state["view"]
            if view is None:
                continue
            if view["phase"] == "over":
                return heard, view
            action = choice(state, dice) if state["turn"] != done else None
            if view["phase"] == "dealing" and state["turn"] != done and view["viewer"] not in state["next"]:
                action = {"kind": "next"}
            if action is not None:
                done = state["turn"]
                await send(who, table, {"turn": done, "action": action})


async def test_four_play_a_whole_game_over_rest_alone(four: list[Person]) -> None:
    table = await started(four, options={"target": 150})
    told = await asyncio.gather(*(play_by_poll(who, table, Random(seat)) for seat, who in enumerate(four)))
    steps = [[one["at"] for one in heard if one["type"] == "step"] for heard, _ in told]
    for seat, (heard, view) in enumerate(told):
        first = next(one for one in heard if one["type"] == "welcome")
        assert [one["type"] for one in heard].count("welcome") == 1
        assert first["you"] == {"player": four[seat].id, "seat": seat}
        assert steps[seat] == [[1, first["at"][1] + number] for number in range(1, len(steps[seat]) + 1)]
        assert view["winner"] == told[0][1]["winner"] is not None
        assert view["viewer"] == seat


async def test_a_poll_says_what_it_is_said_to_say(four: list[Person]) -> None:
    [told] = [json.loads(block) for block in re.findall(r"^```json events\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)]
    table = await seated(four)
    at = (await game_of(four[0], table))["at"]
    await four[1].post(f"/tables/{table}/ready")
    answer = await poll(four[0], table, at, wait=0)
    assert set(answer) == set(told)
    for one, other in zip(answer["events"], told["events"], strict=True):
        assert set(one) == set(other)
    assert set(answer["events"][1]["table"]) == set(told["events"][1]["table"])


async def test_the_action_that_is_shown_is_read(four: list[Person]) -> None:
    [told] = [json.loads(block) for block in re.findall(r"^```json action\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)]
    table, who, _ = await begun(four)
    response = await send(who, table, told)
    assert (response.status_code, response.json()["why"]) == (409, "stale_turn")


async def test_a_poll_without_news_waits_for_them(four: list[Person]) -> None:
    table = await seated(four)
    at = (await game_of(four[0], table))["at"]
    waiting = asyncio.create_task(poll(four[0], table, at))
    async with four[1].at(table) as line:
        await line.until_state(lambda line: line.table["seats"][0]["present"])
        await four[2].post(f"/tables/{table}/ready")
        answer = await waiting
        while not any(one["type"] == "step" for one in answer["events"]):  # that somebody came is news too
            answer = await poll(four[0], table, answer["at"])
    assert answer["at"] == [at[0], at[1] + 1]


async def test_a_poll_without_news_ends_with_the_time(four: list[Person]) -> None:
    table = await seated(four)
    at = (await game_of(four[0], table))["at"]
    assert await poll(four[0], table, at, wait=0.05) == {"at": at, "said": None, "events": []}
    assert await poll(four[0], table, at, wait=0) == {"at": at, "said": None, "events": []}


@pytest.mark.parametrize("after", [[2, 3], [1, 99], [7, 0]])
async def test_a_moment_that_never_was_is_answered_with_a_welcome(four: list[Person], after: list[int]) -> None:
    table = await seated(four)
    answer = await poll(four[0], table, after)
    assert [one["type"] for one in answer["events"]] == ["welcome"]
    assert answer["at"] == answer["events"][0]["at"]


async def test_who_has_missed_too_much_takes_the_table_as_it_is(four: list[Person]) -> None:
    table = await seated(four)
    for number in range(40):
        await four[1].post(f"/tables/{table}/ready", {"ready": number % 2 == 0})
    newest = (await game_of(four[0], table))["at"]
    assert [one["type"] for one in (await poll(four[0], table, [1, 1], wait=0))["events"]] == ["welcome"]
    answer = await poll(four[0], table, [1, newest[1] - 30], wait=0)
    assert [one["at"][1] for one in answer["events"][:-1]] == list(range(newest[1] - 29, newest[1] + 1))


async def test_who_polls_is_there_from_one_poll_to_the_next(four: list[Person], url: str) -> None:
    table = await seated(four)
    at = (await game_of(four[0], table))["at"]
    async with four[1].at(table) as line, person(url) as stranger:
        for who in (four[0], four[0], four[0], stranger):
            await poll(who, table, at, wait=0.05)
        await poll(four[2], table, at, wait=0)
        await line.until_state(lambda line: line.table["seats"][0]["present"])
        now = await four[1].get(f"/tables/{table}")
        assert [seat["present"] for seat in now["seats"]] == [True, True, False, False]
        assert now["spectators"] == 0
        await line.send({"type": "ping"})
        await line.until(lambda frame: frame["type"] == "pong")
        assert len(line.of("table")) == 1


# --- acting ----------------------------------------------------------------------------------------------------------


async def test_an_action_is_stored_and_its_turn_is_over(four: list[Person]) -> None:
    table, who, game = await begun(four)
    body = {"turn": game["turn"], "action": {"kind": "bid", "value": 90, "trump": "H"}}
    response = await send(who, table, body)
    assert (response.status_code, response.json()) == (200, {"at": [1, game["at"][1] + 1]})
    again = await send(who, table, body)
    assert (again.status_code, again.json()["why"]) == (409, "stale_turn")
    assert (await game_of(who, table))["view"]["calls"][-1]["call"] == {"value": 90, "trump": "H"}


async def test_the_same_key_is_applied_once_and_answered_as_the_first_time(four: list[Person]) -> None:
    table, who, game = await begun(four)
    body = {"turn": game["turn"], "action": {"kind": "bid", "value": 90, "trump": "H"}}
    answers = await asyncio.gather(*(send(who, table, body, "k1") for _ in range(8)))
    assert {(one.status_code, one.text) for one in answers} == {(200, f'{{"at":[1,{game["at"][1] + 1}]}}')}
    other = await send(who, table, {"turn": 999, "action": {"kind": "pass"}}, "k1")
    assert (other.status_code, other.json()) == (200, answers[0].json())
    assert (await game_of(who, table))["at"] == answers[0].json()["at"]


async def test_a_key_is_known_to_another_process_and_after_a_restart(redis_url: str, database_url: str) -> None:
    async with AsyncExitStack() as stack:
        async with running_site(redis_url, database_url) as site:
            four = await stack.enter_async_context(people(site.url, *NAMES))
            table, who, game = await begun(four)
            body = {"turn": game["turn"], "action": {"kind": "pass"}}
            first = await send(who, table, body, "k1")
        async with running_site(redis_url, database_url) as site, elsewhere(who, site.url) as again:
            assert (await send(again, table, body, "k1")).json() == first.json() == {"at": [1, game["at"][1] + 1]}
            told = await poll(again, table, game["at"], wait=0)
            assert [one["at"] for one in told["events"][:-1]] == [first.json()["at"]]


async def test_the_key_is_the_cid_of_the_socket(four: list[Person]) -> None:
    table, who, game = await begun(four)
    async with who.at(table) as line:
        ack = await line.ask({"kind": "pass"}, cid="one")
    response = await send(who, table, {"turn": game["turn"], "action": {"kind": "pass"}}, "one")
    assert response.json() == {"at": ack["at"]}


@pytest.mark.parametrize(
    ("body", "status", "why", "field"),
    [
        ({"action": {"kind": "pass"}}, 422, "missing", "turn"),
        ({"turn": 1}, 422, "missing", "action"),
        ({"turn": "1", "action": {"kind": "pass"}}, 422, "wrong_type", "turn"),
        ({"turn": 1, "action": {"kind": "cheat"}}, 422, "wrong_type", "action"),
        ({"turn": 1, "action": {"kind": "play", "card": "1S"}}, 422, "wrong_type", "action.card"),
        ({"turn": 1, "action": {"kind": "play"}}, 422, "missing", "action.card"),
        ({"turn": 1, "action": {"kind": "bid", "value": "90", "trump": "H"}}, 422, "wrong_type", "action.value"),
        ({"turn": 1, "action": {"kind": "coinche", "on": {"deal": 1, "value": 90}}}, 422, "missing", "action.on.trump"),
        ({"turn": 1, "action": {"kind": "pass"}}, 409, "stale_turn", None),
        ({"action": {"kind": "coinche", "on": {"deal": 1, "value": 90, "trump": "H"}}}, 422, "nothing_to_coinche", None),
    ],
)
async def test_what_cannot_be_done_is_refused(four: list[Person], body: Json, status: int, why: str, field: str | None) -> None:
    table, who, _ = await begun(four)
    response = await send(who, table, body)
    assert (response.status_code, response.json()["why"], response.json().get("field")) == (status, why, field)


async def test_only_who_sits_there_acts(four: list[Person], url: str) -> None:
    table, _, game = await begun(four)
    body = {"turn": game["turn"], "action": {"kind": "pass"}}
    async with person(url, "Uma") as uma, person(url) as stranger:
        for who, status, why in ((uma, 403, "not_seated"), (stranger, 401, "not_signed_in")):
            response = await send(who, table, body)
            assert (response.status_code, response.json()["why"]) == (status, why)
    waiting = next(one for seat, one in enumerate(four) if seat != game["view"]["turn"])
    response = await send(waiting, table, body)
    assert (response.status_code, response.json()["why"]) == (422, "not_your_turn")


@pytest.mark.parametrize(("key", "status"), [("", 422), ("x" * 41, 422), ("x" * 40, 200)])
async def test_a_key_has_a_length(four: list[Person], key: str, status: int) -> None:
    table, who, game = await begun(four)
    assert (await send(who, table, {"turn": game["turn"], "action": {"kind": "pass"}}, key)).status_code == status


async def test_where_there_is_no_table_there_is_no_game(four: list[Person]) -> None:
    for path in ("game", "events", "events?wait=5&after=1.1"):
        assert (await four[0].get(f"/tables/{UNKNOWN}/{path}", 404))["why"] == "no_such_table"
    for accept in (SSE, LINES):
        response = await four[0].http.get(f"/api/v1/tables/{UNKNOWN}/events", headers={"Accept": accept})
        assert (response.status_code, response.headers["content-type"]) == (404, "application/problem+json")
    response = await send(four[0], UNKNOWN, {"turn": 1, "action": {"kind": "pass"}})
    assert (response.status_code, response.json()["why"]) == (404, "no_such_table")


@pytest.mark.parametrize("asked", ["after=x", "after=1", "after=1.x", "after=-1.2", "wait=-1", "wait=31", "wait=x"])
async def test_a_moment_or_a_wait_that_makes_no_sense_is_refused(four: list[Person], asked: str) -> None:
    table = await open_table(four[0])
    answer = await four[0].get(f"/tables/{table}/events?{asked}", 422)
    assert (answer["why"], answer["field"]) == ("wrong_type", asked.partition("=")[0])


# --- who sees what ---------------------------------------------------------------------------------------------------


async def test_everybody_sees_the_game_from_his_own_seat(four: list[Person], url: str) -> None:
    table, _, _ = await begun(four)
    async with person(url, "Uma") as uma, person(url) as stranger:
        hands = [(await game_of(who, table))["view"]["hand"] for who in four]
        assert len({card for hand in hands for card in hand}) == 32
        for who in (uma, stranger):
            game = await game_of(who, table)
            assert (game["view"]["viewer"], game["view"]["hand"], game["view"]["moves"]) == (None, None, None)
            assert game["you"] == {"player": who.id or None, "seat": None}
            told = (await poll(who, table, [1, game["at"][1] - 2], wait=0))["events"]
            dealt = [event for one in told[:-1] for event in one["events"] if event["kind"] == "hands_dealt"]
            assert [event["hands"] for event in dealt] == [[None] * 4]
        told = (await poll(four[1], table, [1, game["at"][1] - 2], wait=0))["events"]
        [dealt] = [event for one in told[:-1] for event in one["events"] if event["kind"] == "hands_dealt"]
        assert [hand and sorted(hand) for hand in dealt["hands"]] == [None, sorted(hands[1]), None, None]


async def test_a_game_is_what_a_welcome_says(four: list[Person]) -> None:
    table, who, game = await begun(four)
    async with who.at(table) as line:
        welcome = line.of("welcome")[0]
    for one in (welcome, game):
        del one["now"]
        for seat in one["table"]["seats"]:
            del seat["present"]
    assert game == welcome


# --- streams ---------------------------------------------------------------------------------------------------------


async def toggles(who: Person, table: str, count: int) -> None:
    """So many entries in the table's log."""
    for number in range(count):
        await who.post(f"/tables/{table}/ready", {"ready": number % 2 == 0})


@pytest.mark.parametrize("accept", [SSE, LINES])
async def test_a_stream_begins_with_a_welcome_and_tells_every_step(four: list[Person], accept: str) -> None:
    table = await seated(four)
    async with streaming(four[0], f"/tables/{table}/events", accept) as stream:
        at = (await stream.hear())["at"]
        await toggles(four[1], table, 3)
        assert [(await stream.until("step"))["at"] for _ in range(3)] == [[1, at[1] + number] for number in (1, 2, 3)]
        async with four[2].at(table) as line:
            await line.send({"type": "chat", "text": "bonjour"})
            assert (await stream.until("chat"))["text"] == "bonjour"


@pytest.mark.parametrize("accept", [SSE, LINES])
async def test_a_stream_that_breaks_again_and_again_tells_every_step_once(four: list[Person], accept: str) -> None:
    table = await seated(four)
    told: list[list[int]] = []
    async with streaming(four[0], f"/tables/{table}/events", accept) as stream:
        first = last = (await stream.hear())["at"]
    acting = asyncio.create_task(toggles(four[1], table, 60))
    headers: dict[str, str] = {}
    while len(told) < 60:
        where = "" if accept == SSE else f"?after={written(last)}"
        if accept == SSE:
            headers = {"Last-Event-ID": written(last)}
        async with streaming(four[0], f"/tables/{table}/events{where}", accept, **headers) as stream:
            for _ in range(min(7, 60 - len(told))):
                step = await stream.until("step")
                told.append(step["at"])
                last = step["at"]
    await acting
    assert told == [[1, first[1] + number] for number in range(1, 61)]


async def test_a_silent_stream_shows_that_it_lives(four: list[Person], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ear, "HEARTBEAT_SECONDS", 0.02)
    table = await seated(four)
    for accept in (SSE, LINES):
        async with streaming(four[0], f"/tables/{table}/events", accept) as stream:
            await stream.hear()
            async with asyncio.timeout(PATIENCE):
                while stream.beats < 3:
                    line = await anext(stream._lines)
                    stream.beats += line == (": alive" if accept == SSE else "")


async def test_nothing_stays_of_a_client_that_has_gone(site: Site, four: list[Person]) -> None:
    table = await seated(four)
    before, tasks = set(site.parts.hub.clients), len(asyncio.all_tasks())
    for accept in (SSE, LINES):
        async with streaming(four[0], f"/tables/{table}/events", accept) as stream:
            await stream.hear()
        await nobody_left(site, before)
    at = (await game_of(four[0], table))["at"]
    for _ in range(3):
        async with AsyncClient(base_url=site.url, cookies=four[0].http.cookies, timeout=PATIENCE) as http:
            waiting = asyncio.create_task(http.get(f"/api/v1/tables/{table}/events?wait=30&after={written(at)}"))
            async with asyncio.timeout(PATIENCE):
                while set(site.parts.hub.clients) == before:  # noqa: ASYNC110 (what is waited for happens in the server)
                    await asyncio.sleep(0.01)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        await nobody_left(site, before)
    async with asyncio.timeout(PATIENCE):
        while len(asyncio.all_tasks()) > tasks:  # noqa: ASYNC110 (connections end by themselves)
            await asyncio.sleep(0.01)
    assert (await four[1].get(f"/tables/{table}"))["spectators"] == 0


@pytest.mark.parametrize("accept", [SSE, LINES])
async def test_a_stream_ends_with_the_process_and_goes_on_at_another(redis_url: str, database_url: str, accept: str) -> None:
    async with AsyncExitStack() as stack:
        async with running_site(redis_url, database_url) as site:
            [nina] = await stack.enter_async_context(people(site.url, "Nina"))
            table = await open_table(nina)
            streams = await stack.enter_async_context(streaming(nina, f"/tables/{table}/events", accept))
            at = (await streams.hear())["at"]
            polling = asyncio.create_task(nina.http.get(f"/api/v1/tables/{table}/events?wait=30&after={written(at)}"))
            async with asyncio.timeout(PATIENCE):
                while len(site.parts.hub.clients) < 2:  # noqa: ASYNC110 (what is waited for happens in the server)
                    await asyncio.sleep(0.01)
        assert (await streams.end())[-1]["why"] == "going_away"
        polled = await polling
        assert (polled.json()["events"][-1]["why"], polled.headers["connection"]) == ("going_away", "close")
        async with running_site(redis_url, database_url) as site, elsewhere(nina, site.url) as again:
            await again.post(f"/tables/{table}/ready")
            async with streaming(again, f"/tables/{table}/events?after={written(at)}", accept) as stream:
                assert (await stream.hear())["at"] == [1, at[1] + 1]


async def test_nobody_holds_any_number_of_streams(four: list[Person]) -> None:
    table, others = await seated(four), f"/api/v1/tables/{await open_table(four[0])}/events"
    async with AsyncExitStack() as stack:
        held = [await stack.enter_async_context(streaming(four[0], f"/tables/{table}/events")) for _ in range(MOST_STREAMS)]
        await held[-1].hear()
        refused = await four[0].http.get(others, headers={"Accept": LINES})
        assert (refused.status_code, refused.json()["why"]) == (429, "too_fast")
        assert int(refused.headers["retry-after"]) >= 1
        async with streaming(four[1], f"/tables/{table}/events") as another:
            await another.hear()
    async with asyncio.timeout(PATIENCE):
        status = 0
        while status != 200:  # the server hears of those that have gone a moment later
            async with four[0].http.stream("GET", others, headers={"Accept": LINES}) as again:
                status = again.status_code


async def test_a_stream_ends_when_its_token_is_revoked(four: list[Person], monkeypatch: pytest.MonkeyPatch, site: Site) -> None:
    monkeypatch.setattr(ear, "HEARTBEAT_SECONDS", 0.02)
    made = await four[0].post("/me/tokens", {"name": "reader", "scopes": ["read"]}, 201)
    table, before = await open_table(four[0]), set(site.parts.hub.clients)
    headers = {"Authorization": f"Bearer {made['secret']}"}
    async with person(site.url) as program, streaming(program, f"/tables/{table}/events", **headers) as stream:
        assert (await stream.hear())["you"]["seat"] == 0
        await four[0].http.delete(f"/api/v1/me/tokens/{made['id']}")
        with pytest.raises(RemoteProtocolError):  # broken off: what looks whole is whole
            await stream.end()
        await nobody_left(site, before)
        assert (await program.http.get(f"/api/v1/tables/{table}/events", headers=headers)).status_code == 401
        # A token to read with does not play.
        other = await four[0].post("/me/tokens", {"name": "reader", "scopes": ["read"]}, 201)
        response = await program.http.post(
            f"/api/v1/tables/{table}/actions",
            json={"turn": 1, "action": {"kind": "pass"}},
            headers={"Authorization": f"Bearer {other['secret']}"},
        )
        assert (response.status_code, response.json()["field"]) == (403, "play")


async def test_a_stream_ends_when_the_table_is_gone(site: Site, four: list[Person]) -> None:
    table = await seated(four)
    async with streaming(four[0], f"/tables/{table}/events") as stream:
        await stream.hear()
        mirror = await site.parts.tables.mirror(table)
        mirror.watchers[0].on_end(mirror, "no_such_table")
        assert (await stream.end())[-1]["why"] == "no_such_table"


async def test_who_does_not_keep_up_is_cut_off(site: Site, four: list[Person]) -> None:
    table, before = await seated(four), set(site.parts.hub.clients)
    async with streaming(four[0], f"/tables/{table}/events") as stream:
        await stream.hear()
        [client] = site.parts.hub.clients - before
        while not client.outbox.full.is_set():
            client.outbox.put('{"type":"chat","text":"' + "x" * 30_000 + '"}')
            await asyncio.sleep(0)
        await nobody_left(site, before)
        with pytest.raises(RemoteProtocolError):
            await stream.end()


# --- closing ---------------------------------------------------------------------------------------------------------


async def test_the_host_closes_a_table_and_everybody_is_told(site: Site, four: list[Person], redis_keys: Any) -> None:
    table, before = await seated(four), set(site.parts.hub.clients)
    async with four[1].at(table) as line, streaming(four[2], f"/tables/{table}/events") as stream:
        await stream.hear()
        assert (await four[1].post(f"/tables/{table}/close", status=403))["why"] == "not_host"
        response = await four[0].http.post(f"/api/v1/tables/{table}/close")
        assert (response.status_code, response.content) == (204, b"")
        assert (await line.until(lambda frame: frame["type"] == "bye"))["why"] == "no_such_table"
        assert (await stream.end())[-1]["why"] == "no_such_table"
    await nobody_left(site, before)
    for path in ("", "/game", "/events"):
        assert (await four[0].get(f"/tables/{table}{path}", 404))["why"] == "no_such_table"
    assert (await four[0].post(f"/tables/{table}/close", status=404))["why"] == "no_such_table"
    assert table not in [one["id"] for one in (await four[0].get("/tables"))["tables"]]
    assert await four[3].get("/me/tables") == {"tables": []}
    assert await redis_keys(table) == []


async def test_a_running_game_is_closed_only_by_who_plays_alone(four: list[Person], redis_keys: Any) -> None:
    table = await seated(four)
    assert (await four[0].get(f"/tables/{table}"))["closable"]
    table, _, _ = await begun(four)
    assert not (await four[0].get(f"/tables/{table}"))["closable"]
    assert (await four[0].post(f"/tables/{table}/close", status=409))["why"] == "game_running"
    alone = await open_table(four[0])
    await four[0].post(f"/tables/{alone}/start")
    async with four[0].at(alone) as line:
        await line.until_state(lambda line: line.view and line.table["closable"])
        assert (await four[0].http.post(f"/api/v1/tables/{alone}/close")).status_code == 204
        await line.until(lambda frame: frame["type"] == "bye")
    assert await redis_keys(alone) == []


async def test_another_process_tells_its_guests_that_a_table_is_closed(redis_url: str, database_url: str) -> None:
    async with (
        running_site(redis_url, database_url) as site,
        running_site(redis_url, database_url) as other,
        people(site.url, *NAMES) as four,
        elsewhere(four[1], other.url) as paul,
    ):
        table = await seated(four)
        async with paul.at(table) as line:
            await four[0].http.post(f"/api/v1/tables/{table}/close")
            assert (await line.until(lambda frame: frame["type"] == "bye"))["why"] == "no_such_table"


@pytest.fixture
async def redis_keys(servers: Servers) -> AsyncIterator[Callable[[str], Awaitable[list[str]]]]:
    """What is kept under a table's name."""
    async with Redis.from_url(servers.redis_url, decode_responses=True) as client:

        async def of(table: str) -> list[str]:
            due = [key async for key in client.scan_iter("*dues") if await client.zscore(key, table) is not None]
            return [*due, *[key async for key in client.scan_iter(f"*{table}*")]]

        yield of


# --- one's own tables ------------------------------------------------------------------------------------------------


async def test_ones_own_tables_are_those_at_which_one_sits(four: list[Person], url: str) -> None:
    first, second = await seated(four), await open_table(four[1])
    [told] = [json.loads(block) for block in re.findall(r"^```json own\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)]
    mine = (await four[1].get("/me/tables"))["tables"]
    assert [(one["id"], one["seat"], one["status"]) for one in mine] == [(second, 0, "open"), (first, 1, "open")]
    assert set(mine[0]) == set(told)
    await four[1].post(f"/tables/{first}/leave")
    assert [one["id"] for one in (await four[1].get("/me/tables"))["tables"]] == [second]
    async with person(url) as stranger, person(url, "Uma") as uma:
        assert await uma.get("/me/tables") == {"tables": []}
        for path in ("/me/tables", "/me/events"):
            assert (await stranger.get(path, 401))["why"] == "not_signed_in"


async def test_the_index_of_ones_tables_is_rebuilt_and_put_right(site: Site, four: list[Person], servers: Servers) -> None:
    table, gone = await seated(four), await open_table(four[0])
    async with Redis.from_url(servers.redis_url) as client:
        await client.delete(*[key async for key in client.scan_iter("{g_*}tables")])
        assert await four[1].get("/me/tables") == {"tables": []}
        await asyncio.gather(*(one.post(f"/tables/{table}/ready") for one in four))
        async with asyncio.timeout(PATIENCE):
            while not (await four[1].get("/me/tables"))["tables"]:  # noqa: ASYNC110 (it is written after the game has begun)
                await asyncio.sleep(0.01)
        for wrong in (gone, UNKNOWN):
            await site.parts.lobby.seat(four[1].id, wrong)
        assert [one["id"] for one in (await four[1].get("/me/tables"))["tables"]] == [table]
        assert await site.parts.lobby.seats(four[1].id) == [table]


@pytest.mark.parametrize("accept", [SSE, LINES])
async def test_one_is_told_what_becomes_of_ones_tables(
    site: Site, four: list[Person], accept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "LOOK_SECONDS", 0.02)
    first, before = await seated(four, options={"target": 1}), set(site.parts.hub.clients)
    async with streaming(four[2], "/me/events", accept) as stream:
        mine = await stream.hear()
        assert (mine["type"], mine["table"]["id"], mine["table"]["seat"]) == ("table", first, 2)
        assert not (await four[0].get(f"/tables/{first}"))["seats"][2]["present"]
        second = await open_table(four[2])
        assert (await stream.hear())["table"]["id"] == second
        await four[2].post(f"/tables/{second}/leave")
        assert await stream.hear() == {"type": "left", "table": {"id": second}}
        await asyncio.gather(*(one.post(f"/tables/{first}/ready") for one in four))
        hearing = asyncio.create_task(heard_until(stream, "finished"))
        played = await asyncio.gather(*(play_by_poll(who, first, Random(seat)) for seat, who in enumerate(four)))
        told, view = await hearing, played[0][1]
        assert told[0]["type"] == "started"
        assert told[0]["table"]["status"] == "playing"
        turns = [one["table"]["turn"] for one in told if one["type"] == "turn"]
        assert turns == sorted(set(turns))
        assert len(turns) >= 9
        assert all(one["table"]["your_turn"] for one in told if one["type"] == "turn")
        assert (told[-1]["winner"], told[-1]["table"]["status"]) == (view["winner"], "open")
        assert set(told[-1]["totals"]) == {"A", "B"}
        await four[0].http.post(f"/api/v1/tables/{first}/close")
        assert await stream.until("left") == {"type": "left", "table": {"id": first}}
    await nobody_left(site, before)


async def heard_until(stream: Stream, kind: str) -> list[Json]:
    heard = [await stream.hear()]
    while heard[-1]["type"] != kind:
        heard.append(await stream.hear())
    return heard


async def test_the_stream_of_ones_tables_ends_with_the_process_and_with_the_token(
    redis_url: str, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "RECHECK_SECONDS", 0.0)
    monkeypatch.setattr(ear, "HEARTBEAT_SECONDS", 0.02)
    async with AsyncExitStack() as stack:
        async with running_site(redis_url, database_url) as site:
            [nina] = await stack.enter_async_context(people(site.url, "Nina"))
            await open_table(nina)
            made = await nina.post("/me/tokens", {"name": "reader", "scopes": ["read"]}, 201)
            program = await stack.enter_async_context(person(site.url))
            headers = {"Authorization": f"Bearer {made['secret']}"}
            async with streaming(program, "/me/events", **headers) as stream:
                assert (await stream.hear())["type"] == "table"
                await nina.http.delete(f"/api/v1/me/tokens/{made['id']}")
                with pytest.raises(RemoteProtocolError):
                    await stream.end()
            stream = await stack.enter_async_context(streaming(nina, "/me/events"))
            assert (await stream.hear())["type"] == "table"
        assert [one["why"] for one in await stream.end()] == ["going_away"]


async def test_who_polls_misses_no_line_of_talk(four: list[Person]) -> None:
    """However slowly one polls, each line comes once, also of several that are said at the same moment."""
    nina, paul, *_ = four
    table = await open_table(nina)
    await paul.post(f"/tables/{table}/sit")
    news = await poll(nina, table)
    assert news["said"] == 0
    lines = [f"line {number}" for number in range(4)]
    heard: list[str] = []
    async with nina.at(table) as hers, paul.at(table) as his:
        for line in lines:
            sayer = hers if line == lines[0] else his
            await sayer.send({"type": "chat", "text": line})
            while (await hers.hear()).get("text") != line:
                pass
            if line != lines[1]:  # one is said between two polls beside another
                at, said = written(news["at"]), news["said"]
                news = await nina.get(f"/tables/{table}/events?wait=0&after={at}&said={said}")
                heard += [one["text"] for one in news["events"] if one["type"] == "chat"]
    assert heard == lines
    again = await nina.get(f"/tables/{table}/events?wait=0&after={written(news['at'])}&said={news['said']}")
    assert [one for one in again["events"] if one["type"] == "chat"] == []
    assert again["said"] == news["said"]
