"""Our own client, against a server that does what tests want."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.protocol import State

from app import client
from app.client import At, Guest, TableLine
from app.game.refusal import Refused, Why
from tests.people import choice, running_site
from tests.ports import held

Json = dict[str, Any]
PATIENCE = 30


@dataclass
class Server:
    """Says welcome to everybody, or bye, and acknowledges what it is told to."""

    url: str = ""
    welcomes: bool = True
    acknowledges: bool = True
    calls: list[ServerConnection] = field(default_factory=list)
    heard: list[tuple[int, Json]] = field(default_factory=list)
    """Each frame with the number of the connection it came by."""

    async def answer(self, socket: ServerConnection) -> None:
        number = len(self.calls)
        self.calls.append(socket)
        try:
            async for frame in socket:
                message = json.loads(frame)
                self.heard.append((number, message))
                if message["type"] == "join" and not self.welcomes:
                    await self.say(number, type="bye", why="newer_release", after=0)
                elif message["type"] == "join":
                    await self.say(number, type="welcome", at=[1, 7], turn=3, view=None, table={"id": "t"})
                elif message["type"] == "act" and self.acknowledges:
                    await self.say(number, type="ack", cid=message["cid"], at=[1, 8])
        except ConnectionClosed:
            pass

    async def say(self, number: int, **message: Any) -> None:
        await self.calls[number].send(json.dumps(message))

    async def until(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():  # noqa: ASYNC110
                await asyncio.sleep(0.005)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    one = Server()
    async with serve(one.answer, "127.0.0.1", 0) as listening:
        port = next(iter(listening.sockets)).getsockname()[1]
        one.url = f"http://127.0.0.1:{port}"
        yield one


@asynccontextmanager
async def line(server: Server) -> AsyncIterator[TableLine]:
    async with Guest(server.url) as guest, guest.follow("t") as one:
        await server.until(lambda: one.moment)
        yield one


async def test_an_action_that_was_not_answered_is_sent_again_under_its_own_name(server: Server) -> None:
    server.acknowledges = False
    async with line(server) as one, asyncio.TaskGroup() as group:
        asked = group.create_task(one.act({"kind": "pass"}, 3, "c1"))
        await server.until(lambda: len(server.heard) == 2)
        server.acknowledges = True
        one.drop()
        async with asyncio.timeout(PATIENCE):
            assert await asked == (1, 8)
    assert [message["cid"] for _, message in server.heard if message["type"] == "act"] == ["c1", "c1"]


async def test_a_server_that_goes_is_left_when_another_has_said_welcome(server: Server) -> None:
    async with line(server) as one:
        await server.say(0, type="bye", why="going_away", after=0)
        await server.until(lambda: server.calls[0].close_code is not None)
        assert len(server.calls) == 2
        assert await one.act({"kind": "pass"}, 3) == (1, 8)
    assert [number for number, message in server.heard if message["type"] == "act"] == [1]


async def test_a_server_that_says_bye_before_it_says_welcome_is_not_held_on_to(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SILENT_SECONDS", 2 * PATIENCE)
    async with line(server) as one:
        server.welcomes = False
        await server.say(0, type="bye", why="newer_release", after=0)
        await server.until(lambda: len(server.calls) > 3)
        server.welcomes = True
        await server.until(lambda: [call.state for call in server.calls if call.state is not State.CLOSED] == [State.OPEN])
        assert await one.act({"kind": "pass"}, 3) == (1, 8)


async def test_until_then_it_is_still_spoken_to(server: Server) -> None:
    async with line(server) as one:
        await server.say(0, type="bye", why="going_away", after=60_000)
        assert await one.act({"kind": "pass"}, 3) == (1, 8)
        assert len(server.calls) == 1


async def test_a_line_that_answers_no_ping_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "SILENT_SECONDS", 0.05)
    async with line(server):
        await server.until(lambda: len(server.calls) > 1)
    assert (0, {"type": "ping"}) in server.heard


async def test_a_closed_line_says_that_it_does_not_know(server: Server) -> None:
    server.acknowledges = False
    async with line(server) as one:
        asked = asyncio.ensure_future(one.act({"kind": "pass"}, 3))
        await server.until(lambda: len(server.heard) == 2)
    with pytest.raises(ConnectionAbortedError):
        await asked


async def test_a_table_that_is_not_there_ends_the_line(server: Server) -> None:
    server.acknowledges = False
    async with line(server) as one:
        asked = asyncio.ensure_future(one.act({"kind": "pass"}, 3))
        await server.until(lambda: len(server.heard) == 2)
        await server.calls[0].close(client.NO_SUCH_TABLE)
        with pytest.raises(Refused, match=Why.NO_SUCH_TABLE):
            await asked


async def test_a_server_that_is_not_there_is_a_connection_error() -> None:
    async with Guest("http://127.0.0.1:1") as guest:
        with pytest.raises(ConnectionError):
            await guest.ask("GET", "/me")


async def test_a_proxy_that_answers_for_a_server_that_has_gone_is_a_connection_error() -> None:
    async def gone(socket: ServerConnection) -> None:
        raise AssertionError

    async with serve(gone, "127.0.0.1", 0, process_request=lambda socket, request: socket.respond(502, "")) as proxy:
        port = next(iter(proxy.sockets)).getsockname()[1]
        async with Guest(f"http://127.0.0.1:{port}") as guest:
            with pytest.raises(ConnectionError, match="502"):
                await guest.ask("GET", "/me")


# --- over REST -------------------------------------------------------------------------------------------------------


async def plays_over_rest(guest: Guest, table: str, dice: Random) -> tuple[list[At], Json]:
    """Play what is offered to the end of the game; the moments of the steps, and the last view."""
    steps, done = [], -1
    async for message in guest.events(table):
        if message["type"] not in ("welcome", "step"):
            continue
        steps += [tuple(message["at"])] if message["type"] == "step" else []
        view = message["view"]
        if view is not None and view["phase"] == "over":
            return steps, view
        action = choice(message, dice) if message["turn"] != done else None
        if action is not None:
            done = message["turn"]
            await guest.act(table, action, done)
    raise AssertionError("events never end")


async def test_a_game_is_played_over_rest_alone_while_its_process_is_replaced(redis_url: str, database_url: str) -> None:
    async with AsyncExitStack() as stack:
        [port] = stack.enter_context(held())
        async with running_site(redis_url, database_url, port) as site:
            guest = await stack.enter_async_context(client.guest(site.url, "Nina"))
            opened = await guest.ask("POST", "/tables", {"options": {"target": 1}, "listed": False})
            table = opened["id"]
            await guest.ask("POST", f"/tables/{table}/start")
            playing = asyncio.create_task(plays_over_rest(guest, table, Random(1)))
            at, news = await guest.poll(table)
            while at[1] < 20:
                at, news = await guest.poll(table, at)
            assert {one["type"] for one in news} <= {"step", "table", "welcome"}
        async with running_site(redis_url, database_url, port):
            async with asyncio.timeout(PATIENCE):
                steps, view = await playing
            assert steps == [(1, steps[0][1] + number) for number in range(len(steps))]
            assert (await guest.game(table))["view"] == view
            [mine] = await guest.my_tables()
            assert (mine["id"], mine["status"], tuple(mine["at"])) == (table, "open", steps[-1])
            async for message in guest.my_events():
                assert message == {"type": "table", "table": mine}
                break
            await closed(guest, table)
            with pytest.raises(Refused, match=Why.NO_SUCH_TABLE):
                async for _ in guest.events(table):
                    pass
            with pytest.raises(Refused, match=Why.NO_SUCH_TABLE):
                await guest.act(table, {"kind": "return"})


async def closed(guest: Guest, table: str) -> None:
    """Until the archive has the finished game and the table may go."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return await guest.close(table)
            except Refused as no:
                if no.why is not Why.BUSY:
                    raise
