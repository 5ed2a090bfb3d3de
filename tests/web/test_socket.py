"""The socket: what it answers, whom it refuses, when it closes."""

import asyncio
import socket as sockets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from random import Random
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.web.hub import Client
from app.web.socket import BURST, MOST_BROKEN
from tests.people import PATIENCE, Json, Line, Person, Site, choice, open_table, people, person, seated, started

NAMES = ("Nina", "Paul", "Rosa", "Omar")


@pytest.fixture
async def four(url: str) -> AsyncIterator[list[Person]]:
    async with people(url, *NAMES) as them:
        yield them


class Game:
    """Four who play at a table, a socket each, by seat."""

    def __init__(self, table: str, lines: list[Line]) -> None:
        self.table = table
        self.lines = lines

    @property
    def in_turn(self) -> int:
        view = self.lines[0].view
        assert view is not None
        seat: int = view["turn"]
        return seat

    async def settled(self) -> None:
        """Until all know what anybody knows."""
        newest = max(line.at for line in self.lines)
        for line in self.lines:
            await line.until_at(newest)

    async def do(self, action: Json) -> Json:
        """Let the seat in turn do something, and all hear of it."""
        answer = await self.lines[self.in_turn].ask(action)
        assert answer["type"] == "ack", answer
        for line in self.lines:
            await line.until_at(answer["at"])
        return answer

    async def bid(self, value: int | str, trump: str = "H") -> Json:
        return await self.do({"kind": "bid", "value": value, "trump": trump})


async def game(stack: AsyncExitStack, four: list[Person], preset: str = "classic-1000", **more: Any) -> Game:
    """A game whose first hand has been dealt."""
    table = await started(four, preset, **more)
    lines = [await stack.enter_async_context(one.at(table)) for one in four]
    for line in lines:
        await line.until_state(lambda line: line.view and line.view["phase"] == "bidding")
    one = Game(table, lines)
    await one.settled()
    return one


def client_of(site: Site, who: Person) -> Client:
    """The server's side of somebody's only socket."""
    [found] = [one for one in site.parts.hub.clients if one.person is not None and one.person.id == who.id]
    return found


# --- joining ---------------------------------------------------------------------------------------------------------


async def test_joining_is_answered_with_everything_there_is_to_know(four: list[Person]) -> None:
    table = await seated(four)
    async with four[2].at(table) as line:
        welcome = line.frames[-1]
        assert welcome["you"] == {"player": four[2].id, "seat": 2}
        assert welcome["view"] is None
        assert welcome["chat"] == []
        assert welcome["at"] == [1, 4]
        assert welcome["table"]["seats"][2]["present"]


async def test_as_a_spectator_one_sees_what_all_may_see(four: list[Person], url: str) -> None:
    async with AsyncExitStack() as stack:
        one = await game(stack, four)
        watching = await stack.enter_async_context(four[0].at(one.table, "spectator"))
        stranger = await stack.enter_async_context((await stack.enter_async_context(person(url))).at(one.table))
        for line in (watching, stranger):
            assert line.view is not None
            assert (line.view["viewer"], line.view["hand"], line.view["moves"]) == (None, None, None)
            assert line.frames[-1]["you"]["seat"] is None
        assert stranger.frames[-1]["you"]["player"] is None


async def test_a_second_join_moves_the_socket(four: list[Person]) -> None:
    first, second = await open_table(four[0]), await open_table(four[0])
    async with four[0].at(first) as line:
        assert (await line.join(second))["table"]["id"] == second
        await four[1].post(f"/tables/{first}/sit")
        await four[1].post(f"/tables/{second}/sit")
        await line.until(lambda frame: frame["type"] == "table" and frame["table"]["seats"][2]["player"] == four[1].id)
        assert {frame["table"]["id"] for frame in line.of("table")[-2:]} == {second}


async def test_joining_again_and_again_is_being_there_once(four: list[Person]) -> None:
    table = await seated(four)
    async with four[0].at(table) as line:
        for _ in range(5):
            await line.join(table)
        before = len(line.of("step"))
        await four[1].post(f"/tables/{table}/ready")
        await line.until(lambda frame: frame["type"] == "step")
        await line.send({"type": "ping"})
        await line.until(lambda frame: frame["type"] == "pong")
        assert len(line.of("step")) == before + 1


async def test_one_who_comes_as_the_last_one_leaves_misses_nothing(four: list[Person]) -> None:
    """A reload is exactly that: the old socket goes while the new one comes."""
    table = await seated(four)
    ready = False
    for _ in range(40):
        async with AsyncExitStack() as stack:
            old = await stack.enter_async_context(four[0].at(table))
            new = await stack.enter_async_context(four[0].socket())
            await asyncio.gather(old.websocket.close(), new.join(table))
            ready = not ready
            await four[1].post(f"/tables/{table}/ready", {"ready": ready})
            await new.until(lambda frame: frame["type"] == "step")


async def test_there_is_no_such_table(four: list[Person]) -> None:
    for table in ("00-nothere", "", "x" * 40, "{s00}", "00-nothere:log"):
        async with four[0].socket() as line:
            await line.send({"type": "join", "table": table})
            assert await line.closed() == 4404


# --- acting ----------------------------------------------------------------------------------------------------------


async def test_an_action_is_acknowledged_and_everybody_is_told(four: list[Person]) -> None:
    async with AsyncExitStack() as stack:
        one = await game(stack, four)
        seat = one.in_turn
        answer = await one.bid(90)
        for line in one.lines:
            assert line.at == answer["at"]
            assert line.state["events"] == [{"kind": "call_made", "seat": seat, "call": {"value": 90, "trump": "H"}}]


async def test_a_command_sent_again_is_applied_once_and_answered_the_same(four: list[Person]) -> None:
    async with AsyncExitStack() as stack:
        one = await game(stack, four)
        seat = one.in_turn
        line, turn = one.lines[seat], one.lines[seat].turn
        first = await line.ask({"kind": "pass"}, turn, "once")
        await one.settled()
        await one.bid(90)
        again = await line.ask({"kind": "pass"}, turn, "once")
        assert again == first
        async with four[seat].at(one.table) as fresh:
            assert await fresh.ask({"kind": "pass"}, turn, "once") == first
            assert await fresh.ask({"kind": "bid", "value": 150, "trump": "S"}, turn, "once") == first
            assert fresh.view is not None
            assert len(fresh.view["calls"]) == 2


async def test_the_same_name_is_another_command_in_another_hand(four: list[Person]) -> None:
    async with AsyncExitStack() as stack:
        one = await game(stack, four)
        for count in range(3):
            line = one.lines[one.in_turn]
            answer = await line.ask({"kind": "bid", "value": 80 + 10 * count, "trump": "H"}, cid="same")
            assert answer["type"] == "ack"
            await one.settled()


async def test_a_stale_turn_is_refused(four: list[Person]) -> None:
    async with AsyncExitStack() as stack:
        one = await game(stack, four)
        line = one.lines[one.in_turn]
        for turn in (line.turn - 1, line.turn + 1, -1, 0, 10**30):
            answer = await line.ask({"kind": "pass"}, turn)
            assert (answer["type"], answer["why"], answer["at"]) == ("refused", "stale_turn", line.at)


async def test_what_may_not_be_done_is_refused_with_its_reason(four: list[Person]) -> None:
    async with AsyncExitStack() as stack:
        one = await game(stack, four)
        line, other = one.lines[one.in_turn], one.lines[(one.in_turn + 1) % 4]
        assert line.view is not None
        cases: list[tuple[Line, Json, str]] = [
            (other, {"kind": "pass"}, "not_your_turn"),
            (line, {"kind": "bid", "value": 85, "trump": "H"}, "bid_off_step"),
            (line, {"kind": "bid", "value": 1, "trump": "H"}, "bid_too_low"),
            (line, {"kind": "bid", "value": 10**40, "trump": "H"}, "bid_too_high"),
            (line, {"kind": "bid", "value": -80, "trump": "H"}, "bid_too_low"),
            (line, {"kind": "surcoinche"}, "not_coinched"),
            (line, {"kind": "coinche", "on": {"deal": 1, "value": 80, "trump": "H"}}, "nothing_to_coinche"),
            (line, {"kind": "redeal", "right": "sevens"}, "no_redeal"),
            (line, {"kind": "play", "card": line.view["hand"][0]}, "not_now"),
            (line, {"kind": "next"}, "not_now"),
        ]
        before = line.at
        for who, action, why in cases:
            answer = await who.ask(action)
            assert (answer["type"], answer.get("why")) == ("refused", why), action
        assert line.at == before


async def test_who_may_not_act_is_told_why(four: list[Person], url: str) -> None:
    async with AsyncExitStack() as stack:
        one = await game(stack, four)
        stranger = await stack.enter_async_context((await stack.enter_async_context(person(url))).at(one.table))
        assert (await stranger.ask({"kind": "pass"}))["why"] == "not_signed_in"
        guest = await stack.enter_async_context((await stack.enter_async_context(person(url, "Uma"))).at(one.table))
        assert (await guest.ask({"kind": "pass"}))["why"] == "not_seated"
        await guest.send({"type": "chat", "phrase": "hello"})
        assert (await guest.until(lambda frame: frame["type"] == "refused"))["why"] == "not_seated"
        nowhere = await stack.enter_async_context(four[0].socket())
        assert (await nowhere.ask({"kind": "pass"}, 1))["why"] == "no_such_table"


async def test_one_who_has_just_sat_down_elsewhere_may_act(four: list[Person]) -> None:
    """Another process has seated him, and its bell has not been heard yet."""
    table = await open_table(four[0])
    async with four[1].at(table) as line:
        await four[1].post(f"/tables/{table}/sit")
        assert (await line.ask({"kind": "return"}))["type"] == "ack"


async def test_a_coinche_that_races_a_raise_is_never_moved_to_another_bid(four: list[Person]) -> None:
    """Either the coinche is first, and the raise is refused, or the raise is, and the coinche is refused."""
    won: dict[str, int] = {"coinche": 0, "raise": 0}
    async with AsyncExitStack() as stack:
        one = await game(stack, four)
        for attempt in range(100):
            moves = one.lines[one.in_turn].view["moves"]  # type: ignore[index]
            if moves["bids"] is None or (moves["bids"]["lowest"] or 999) > 160:
                one = await another_game(one, four)
            bidder = one.in_turn
            lowest = one.lines[bidder].view["moves"]["bids"]["lowest"]  # type: ignore[index]
            await one.bid(lowest)
            await one.do({"kind": "pass"})
            partner, opponent = one.lines[(bidder + 2) % 4], one.lines[(bidder + 3) % 4]
            doubled = opponent.view["moves"]["coinche"]  # type: ignore[index]
            assert doubled["value"] == lowest
            raising = partner.ask({"kind": "bid", "value": lowest + 10, "trump": "S"})
            doubling = opponent.ask({"kind": "coinche", "on": doubled})
            if attempt % 2:
                raised, coinched = await asyncio.gather(raising, doubling)
            else:
                coinched, raised = await asyncio.gather(doubling, raising)
            await one.settled()
            contract = one.lines[0].view["contract"]  # type: ignore[index]
            if coinched["type"] == "ack":
                won["coinche"] += 1
                assert raised["why"] in ("stale_turn", "coinched")
                assert (contract["value"], contract["level"]) == (lowest, 1)
            else:
                won["raise"] += 1
                assert (raised["type"], coinched["why"]) == ("ack", "other_bid")
                assert (contract["value"], contract["level"]) == (lowest + 10, 0)
    assert sum(won.values()) == 100


async def another_game(one: Game, four: list[Person]) -> Game:
    """The same four at another table, with the same sockets."""
    table = await started(four, "classic-1000")
    for line in one.lines:
        await line.join(table)
        await line.until_state(lambda line: line.view and line.view["phase"] == "bidding")
    again = Game(table, one.lines)
    await again.settled()
    return again


# --- several at one seat ---------------------------------------------------------------------------------------------


async def test_two_tabs_and_a_phone_are_all_told_the_same_and_none_is_closed(four: list[Person]) -> None:
    async with AsyncExitStack() as stack:
        one = await game(stack, four)
        tabs = [await stack.enter_async_context(four[0].at(one.table)) for _ in range(3)]
        for count in range(4):
            await one.bid(80 + 10 * count)
        newest = one.lines[0].at
        for tab in tabs:
            await tab.until_at(newest)
        assert all(tab.of("step") == tabs[0].of("step") for tab in tabs)
        assert tabs[0].of("step")[-4:] == one.lines[0].of("step")[-4:]
        assert (await tabs[1].ask({"kind": "pass"}))["type"] == ("ack" if one.in_turn == 0 else "refused")


async def test_coming_back_at_any_moment_shows_the_same_table(four: list[Person]) -> None:
    dice = Random(3)
    async with AsyncExitStack() as stack:
        one = await game(stack, four, "announced-701")
        for count in range(25):
            action = choice(one.lines[one.in_turn].state, dice)
            assert action is not None
            await one.do(action)
            if one.lines[0].view["phase"] == "dealing":  # type: ignore[index]
                break
            seat = count % 4
            async with four[seat].at(one.table) as fresh:
                seen = {**fresh.view, "sheet": None}  # type: ignore[dict-item]
                assert seen == {**one.lines[seat].view, "sheet": None}  # type: ignore[dict-item]
                assert (fresh.at, fresh.turn) == (one.lines[seat].at, one.lines[seat].turn)


# --- talk, company, time ---------------------------------------------------------------------------------------------


async def test_what_is_said_is_heard_by_all_and_by_those_who_come_later(four: list[Person]) -> None:
    table = await seated(four)
    async with four[0].at(table) as nina, four[1].at(table) as paul:
        await nina.send({"type": "chat", "text": "  <script>alert(1)</script> \u202e ça va ? "})
        heard = await paul.until(lambda frame: frame["type"] == "chat")
        assert (heard["seat"], heard["name"], heard["phrase"]) == (0, "Nina", None)
        assert heard["text"] == "<script>alert(1)</script> ça va ?"
        await paul.send({"type": "chat", "phrase": "hello"})
        assert (await nina.until(lambda frame: frame.get("phrase") == "hello"))["text"] is None
        async with four[2].at(table) as rosa:
            assert [said["phrase"] for said in rosa.frames[-1]["chat"]] == [None, "hello"]


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"text": ""},
        {"text": "\u200b "},
        {"phrase": "rude"},
        {"phrase": "hello", "text": "you"},
        {"text": "x" * 201},
        {"text": 7},
    ],
)
async def test_what_cannot_be_said_is_refused(four: list[Person], said: Json) -> None:
    async with four[0].at(await open_table(four[0])) as line:
        await line.send({"type": "chat", **said})
        assert (await line.until(lambda frame: frame["type"] == "refused"))["why"] == "bad_request"


async def test_who_is_here_is_shown(four: list[Person], url: str) -> None:
    table = await seated(four)
    async with four[0].at(table) as nina:
        async with four[1].at(table), person(url) as stranger, stranger.at(table):
            await nina.until_state(lambda line: line.table["seats"][1]["present"] and line.table["spectators"] == 1)
        await nina.until_state(lambda line: not line.table["seats"][1]["present"] and line.table["spectators"] == 0)


async def test_a_ping_is_answered_with_the_time_and_the_number_of_the_last_entry(four: list[Person]) -> None:
    async with four[0].socket() as line:
        await line.send({"type": "ping"})
        assert (await line.until(lambda frame: frame["type"] == "pong"))["at"] is None
        await line.join(await open_table(four[0]))
        await line.send({"type": "ping"})
        pong = await line.until(lambda frame: frame["type"] == "pong")
        assert pong["at"] == line.at
        assert pong["now"] >= line.state["now"]


# --- what is broken --------------------------------------------------------------------------------------------------

BROKEN = [
    "",
    "x",
    "null",
    "[]",
    "7",
    "{}",
    "{",
    '{"type": null}',
    '{"type": "nothing"}',
    '{"type": "join"}',
    '{"type": "join", "table": 7}',
    '{"type": "join", "table": "x", "as": "host"}',
    '{"type": "join", "table": "' + "x" * 41 + '"}',
    '{"type": "act"}',
    '{"type": "act", "cid": "", "turn": 1, "action": {"kind": "pass"}}',
    '{"type": "act", "cid": "' + "x" * 41 + '", "turn": 1, "action": {"kind": "pass"}}',
    '{"type": "act", "cid": 7, "turn": 1, "action": {"kind": "pass"}}',
    '{"type": "act", "cid": "a", "turn": "1", "action": {"kind": "pass"}}',
    '{"type": "act", "cid": "a", "turn": 1.5, "action": {"kind": "pass"}}',
    '{"type": "act", "cid": "a", "turn": true, "action": {"kind": "pass"}}',
    '{"type": "act", "cid": "a", "turn": NaN, "action": {"kind": "pass"}}',
    '{"type": "act", "cid": "a", "turn": 1, "action": {"kind": "deal"}}',
    '{"type": "act", "cid": "a", "turn": 1, "action": {"kind": "house_plays"}}',
    '{"type": "act", "cid": "a", "turn": 1, "action": {"kind": "bid", "value": "90", "trump": "H"}}',
    '{"type": "act", "cid": "a", "turn": 1, "action": {"kind": "bid", "value": 90.0, "trump": "H"}}',
    '{"type": "act", "cid": "a", "turn": 1, "action": {"kind": "bid", "value": true, "trump": "H"}}',
    '{"type": "act", "cid": "a", "turn": 1, "action": {"kind": "bid", "value": 90, "trump": "X"}}',
    '{"type": "act", "cid": "a", "turn": 1, "action": {"kind": "play", "card": "1H"}}',
    '{"type": "act", "cid": "a", "turn": 1, "action": {"kind": "play", "card": "JH", "belote": 1}}',
    '{"type": "act", "cid": "a", "turn": 1, "action": {"kind": "coinche"}}',
    '{"type": "act", "cid": "a", "action": {"kind": "coinche", "on": 7}}',
    '{"type": "act", "cid": "\\ud800", "turn": 1, "action": {"kind": "pass"}}',
    '{"type": "chat", "text": "\\ud800"}',
    "[" * 2000,
    '{"a":' * 700,
]


@pytest.mark.parametrize("frame", BROKEN)
async def test_what_cannot_be_read_is_refused_and_the_line_stays_open(four: list[Person], frame: str) -> None:
    async with four[0].at(await open_table(four[0])) as line:
        await line.websocket.send(frame)
        refused = await line.until(lambda frame: frame["type"] == "refused")
        assert (refused["why"], refused["at"]) == ("bad_request", line.at)
        await line.send({"type": "ping"})
        await line.until(lambda frame: frame["type"] == "pong")


async def test_without_its_turn_a_call_is_refused(four: list[Person]) -> None:
    async with four[0].at(await open_table(four[0])) as line:
        await line.send({"type": "act", "cid": "a", "action": {"kind": "pass"}})
        refused = await line.until(lambda frame: frame["type"] == "refused")
        assert (refused["cid"], refused["why"]) == ("a", "missing")


async def test_unknown_fields_are_ignored(four: list[Person]) -> None:
    async with four[0].socket() as line:
        await line.send({"type": "ping", "new": {"field": [1]}})
        await line.until(lambda frame: frame["type"] == "pong")


async def test_too_many_broken_frames_close_the_line(four: list[Person]) -> None:
    async with four[0].socket() as line:
        for _ in range(MOST_BROKEN + 1):
            await line.websocket.send("x")
        assert await line.closed() == 1008


async def test_a_binary_frame_closes_the_line(four: list[Person]) -> None:
    async with four[0].socket() as line:
        await line.websocket.send(b'{"type": "ping"}')
        assert await line.closed() == 1008


async def test_a_frame_that_is_no_text_closes_the_line(four: list[Person]) -> None:
    async with four[0].socket() as line:
        await line.websocket.send(b"\xff\xfe", text=True)
        assert await line.closed() == 1007


async def test_a_frame_that_is_too_large_closes_the_line(four: list[Person]) -> None:
    async with four[0].socket() as line:
        await line.websocket.send('{"type": "ping"}' + " " * 4096)
        assert await line.closed() == 1009


async def test_where_nothing_is_limited_a_socket_may_be_fast(four: list[Person]) -> None:
    async with four[0].socket() as line:
        for sent in range(1, int(BURST) * 3 + 1):
            await line.send({"type": "ping"})
            if sent % BURST == 0:  # more than that at once would not be read fast enough
                await line.until(lambda frame: len(line.of("pong")) == sent)  # noqa: B023 -- it is asked at once


async def test_who_does_not_read_is_closed_and_costs_nobody_else_anything(site: Site, four: list[Person]) -> None:
    table = await seated(four)
    async with AsyncExitStack() as stack:
        raw = sockets.socket()
        raw.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        raw.setblocking(False)
        host, port = site.url.removeprefix("http://").split(":")
        await asyncio.get_running_loop().sock_connect(raw, (host, int(port)))
        slow = await stack.enter_async_context(
            connect(
                f"ws://{host}:{port}/ws?v=1", sock=raw, additional_headers={"Cookie": four[0].cookie}, max_queue=1, proxy=None
            )
        )
        await slow.send(f'{{"type": "join", "table": "{table}"}}')
        other = await stack.enter_async_context(four[1].at(table))
        await other.until_state(lambda line: line.table["seats"][0]["present"])
        client = client_of(site, four[0])
        while not client.outbox.full.is_set():
            client.outbox.put('{"type":"chat","text":"' + "x" * 30_000 + '"}')
            await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE):
            with suppress(ConnectionClosed):
                async for _ in slow:
                    pass
        assert slow.close_code == 4408
        await four[2].post(f"/tables/{table}/ready")
        await other.until(lambda frame: frame["type"] == "step")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://[::1"])
async def test_a_foreign_page_is_not_even_connected(site: Site, four: list[Person], origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with four[0].socket(origin=origin):
            pass
    assert refused.value.response.status_code == 403


async def test_the_own_page_is_connected(site: Site, four: list[Person]) -> None:
    async with four[0].socket(origin=site.url) as line:
        await line.send({"type": "ping"})
        await line.until(lambda frame: frame["type"] == "pong")


async def test_another_version_of_the_protocol_is_refused(site: Site) -> None:
    with pytest.raises(InvalidStatus):
        async with connect(site.url.replace("http", "ws") + "/ws?v=2", proxy=None):
            pass


async def test_a_forged_cookie_is_a_stranger(site: Site, four: list[Person]) -> None:
    table = await open_table(four[0])
    async with connect(
        site.url.replace("http", "ws") + "/ws?v=1", additional_headers={"Cookie": "coinche_guest=forged"}, proxy=None
    ) as websocket:
        line = Line(websocket)
        assert (await line.join(table))["you"] == {"player": None, "seat": None}
