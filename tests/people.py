"""People at a running coinche, as its protocol has them: who they are over HTTP, what they hear and do over the socket."""

import asyncio
import itertools
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI
from httpx2 import AsyncClient, Response
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from app.main import build
from app.settings import Settings
from app.web.address import COOKIE
from app.web.parts import Parts
from app.web.server import Server
from tests.described import as_described

PATIENCE = 30  # seconds after which something hangs; never a measure of speed

METRICS_TOKEN = "a-secret-of-the-operator"
MONITORING = {"Authorization": f"Bearer {METRICS_TOKEN}"}
"""What the operator's monitoring shows to a coinche of the tests."""

Json = dict[str, Any]
_cids = itertools.count(1)


class _Server(Server):
    """The server as it is run, but signals are the test runner's."""

    capture_signals = contextmanager(lambda self: iter([None]))


@dataclass(frozen=True, slots=True)
class Site:
    """A coinche in this process."""

    app: FastAPI
    url: str

    @property
    def parts(self) -> Parts:
        parts: Parts = self.app.state.parts
        return parts


@asynccontextmanager
async def running_site(redis_url: str, database_url: str, port: int = 0, **settings: Any) -> AsyncIterator[Site]:
    """The whole application behind its real web server, on a free port if none is named; nobody asks too often."""
    usual: dict[str, Any] = {"limits": False, "metrics_token": METRICS_TOKEN}
    chosen = Settings(**(usual | settings))
    app = build(chosen, redis_url, database_url)
    ready = asyncio.Event()
    server = _Server(app, "warning", ready.set, chosen.proxies)
    with socket.create_server(("127.0.0.1", port)) as listener:
        serving = asyncio.create_task(server.serve([listener]))
        done, _ = await asyncio.wait([serving, asyncio.create_task(ready.wait())], return_when=asyncio.FIRST_COMPLETED)
        if serving in done:
            await serving
        try:
            yield Site(app, f"http://127.0.0.1:{listener.getsockname()[1]}")
        finally:
            server.leave()
            await serving


@dataclass(eq=False)
class Person:
    """Somebody with a browser: an HTTP client that keeps its cookie."""

    http: AsyncClient
    id: str = ""

    async def post(self, path: str, body: Any = None, status: int = 200) -> Json:
        """Ask for something that is expected to be answered with this status."""
        return _answer(await self.http.post(f"/api/v1{path}", json=body), status)

    async def get(self, path: str, status: int = 200) -> Json:
        return _answer(await self.http.get(f"/api/v1{path}"), status)

    async def delete(self, path: str, status: int = 200) -> Json:
        return _answer(await self.http.delete(f"/api/v1{path}"), status)

    @property
    def cookie(self) -> str:
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.http.cookies.jar)

    @asynccontextmanager
    async def socket(self, **options: Any) -> AsyncIterator["Line"]:
        """A socket that follows nothing yet."""
        token = self.http.headers.get("authorization")
        headers = ({"Cookie": self.cookie} if self.cookie else {}) | ({"Authorization": token} if token else {})
        url = str(self.http.base_url).replace("http", "ws").rstrip("/") + "/ws?v=1"
        async with connect(url, additional_headers=headers, max_queue=None, proxy=None, **options) as websocket:
            yield Line(websocket)

    @asynccontextmanager
    async def at(self, table: str, role: str = "player") -> AsyncIterator["Line"]:
        """A socket that follows a table and has been welcomed."""
        async with self.socket() as line:
            await line.join(table, role)
            yield line


def _answer(response: Response, status: int) -> Json:
    assert response.status_code == status, (response.status_code, response.text)
    answer: Json = response.json()
    return answer


@asynccontextmanager
async def person(url: str, name: str | None = None) -> AsyncIterator[Person]:
    """A guest of this name, or a stranger."""
    async with AsyncClient(base_url=url, timeout=PATIENCE, verify=False, event_hooks={"response": [as_described]}) as http:
        one = Person(http)
        if name is not None:
            one.id = (await one.post("/me", {"name": name}))["id"]
        yield one


@asynccontextmanager
async def program(url: str, secret: str) -> AsyncIterator[Person]:
    """A program that shows this token with all that it asks."""
    async with AsyncClient(base_url=url, timeout=PATIENCE, headers={"Authorization": f"Bearer {secret}"}) as http:
        yield Person(http)


@asynccontextmanager
async def elsewhere(who: Person, url: str) -> AsyncIterator[Person]:
    """The same person at another address of the site: the cookie is all one is known by, and its name has the port."""
    async with person(url) as one:
        for cookie in who.http.cookies.jar:
            one.http.cookies.set(f"{COOKIE}_{urlsplit(url).port}", cookie.value or "")
        one.id = who.id
        yield one


@asynccontextmanager
async def people(url: str, *names: str) -> AsyncIterator[list[Person]]:
    """Guests of these names."""
    async with person(url, names[0]) if names else nullcontext() as first:
        if first is None:
            yield []
            return
        async with people(url, *names[1:]) as others:
            yield [first, *others]


async def open_table(host: Person, preset: str = "announced-701", **more: Any) -> str:
    """A table with its host on seat 0, in the lobby unless it is to be found by its id alone."""
    return str((await host.post("/tables", {"preset": preset, "listed": True, **more}, 201))["id"])


async def seated(four: list[Person], preset: str = "announced-701", **more: Any) -> str:
    """A table where these sit in order; nobody is ready."""
    table = await open_table(four[0], preset, **more)
    await asyncio.gather(*(one.post(f"/tables/{table}/sit", {"seat": seat}) for seat, one in enumerate(four[1:], 1)))
    return table


async def started(four: list[Person], preset: str = "announced-701", **more: Any) -> str:
    """A table where these four play."""
    table = await seated(four, preset, **more)
    await asyncio.gather(*(one.post(f"/tables/{table}/ready") for one in four))
    return table


@dataclass(eq=False)
class Line:
    """One socket: every frame it was sent, and the newest state of affairs."""

    websocket: ClientConnection
    raw: list[str] = field(default_factory=list)
    frames: list[Json] = field(default_factory=list)
    state: Json = field(default_factory=dict)
    table: Json = field(default_factory=dict)

    @property
    def view(self) -> Json | None:
        return self.state.get("view")

    @property
    def turn(self) -> int:
        return int(self.state["turn"])

    @property
    def at(self) -> list[int]:
        return list(self.state["at"])

    def of(self, kind: str) -> list[Json]:
        """The frames of one type so far."""
        return [frame for frame in self.frames if frame["type"] == kind]

    async def send(self, message: Json) -> None:
        await self.websocket.send(json.dumps(message))

    async def hear(self) -> Json:
        """The next frame."""
        text = await self.websocket.recv()
        assert isinstance(text, str)
        frame: Json = json.loads(text)
        self.raw.append(text)
        self.frames.append(frame)
        if frame["type"] in ("welcome", "step"):
            self.state = frame
        if frame["type"] in ("welcome", "table"):
            self.table = frame["table"]
        return frame

    async def until(self, wanted: Callable[[Json], object]) -> Json:
        """The next frame that is wanted."""
        async with asyncio.timeout(PATIENCE):
            while not wanted(frame := await self.hear()):
                pass
        return frame

    async def until_state(self, wanted: Callable[["Line"], object]) -> None:
        """Listen until the newest state is as wanted; perhaps it is already."""
        async with asyncio.timeout(PATIENCE):
            while not (self.state and wanted(self)):
                await self.hear()

    async def until_at(self, at: list[int]) -> None:
        """Listen until this moment, or a later one, is known."""
        await self.until_state(lambda line: line.at >= at)

    async def join(self, table: str, role: str = "player") -> Json:
        await self.send({"type": "join", "table": table, "as": role})
        return await self.until(lambda frame: frame["type"] == "welcome")

    async def act(self, action: Json, turn: int | None = None, cid: str | None = None) -> str:
        """Ask for something without waiting for the answer; returns the command's name."""
        name = cid or f"c{next(_cids)}"
        message: Json = {"type": "act", "cid": name, "action": action}
        if action["kind"] not in ("coinche", "return"):
            message["turn"] = self.turn if turn is None else turn
        await self.send(message)
        return name

    async def ask(self, action: Json, turn: int | None = None, cid: str | None = None) -> Json:
        """Ask for something; its ack or its refusal."""
        name = await self.act(action, turn, cid)
        return await self.until(lambda frame: frame.get("cid") == name)

    async def closed(self) -> int:
        """The code with which the server closes, whatever it says before."""
        async with asyncio.timeout(PATIENCE):
            with suppress(ConnectionClosed):
                async for _ in self.websocket:
                    pass
        assert self.websocket.close_code is not None
        return self.websocket.close_code


def choice(state: Json, dice: Random) -> Json | None:
    """Something that the view offers to do in one's turn, or None. Bids stay low, so that auctions end."""
    view = state["view"]
    moves = None if view is None else view["moves"]
    if moves is None:
        return None
    if moves["kind"] == "cards":
        card = dice.choice([one["card"] for one in moves["cards"] if one["why"] is None])
        return {"kind": "play", "card": card, "belote": card in moves["belote"]}
    if not moves["pass"]:
        return None
    if moves["redeal"] and dice.random() < 0.5:
        return {"kind": "redeal", "right": dice.choice(moves["redeal"])}
    if moves["surcoinche"] and dice.random() < 0.3:
        return {"kind": "surcoinche"}
    if moves["coinche"] is not None and dice.random() < 0.15:
        return {"kind": "coinche", "on": moves["coinche"]}
    bids = moves["bids"]
    if bids is not None and dice.random() < 0.35:
        value = bids["lowest"] if bids["lowest"] is not None and dice.random() < 0.97 else "capot"
        return {"kind": "bid", "value": value, "trump": dice.choice(bids["trumps"])}
    return {"kind": "pass"}


async def play(line: Line, dice: Random, until: Callable[[Json], object] = lambda view: view["phase"] == "over") -> list[Json]:
    """Play what is offered until the view is as wanted; returns what was refused."""
    refused: list[Json] = []
    done = -1
    while True:
        view = line.view
        if view is not None and until(view):
            return refused
        action = None
        if view is not None and line.turn != done:
            seat = view["viewer"]
            reading = view["phase"] == "dealing" and view["sheet"] and view["sheet"][-1]["contract"] is not None
            action = {"kind": "next"} if reading and seat not in line.state["next"] else choice(line.state, dice)
        if action is None:
            await line.hear()
            continue
        done = line.turn
        answer = await line.ask(action)
        if answer["type"] == "refused":
            refused.append(answer)
