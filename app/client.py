"""A client of our own API and socket: for the load tool, the tests and programs that play.

`Guest` asks over REST, where a whole game may be played too; `TableLine` follows one table over as many sockets as it takes. An
action is resent under its own command id until it is answered, so that it happens once.
"""

import asyncio
import json
import random
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from app.game.refusal import Refused, Why

Json = dict[str, Any]
At = tuple[int, int]

NO_SUCH_TABLE = 4404
LINES = "application/x-ndjson"
LEAST_WAIT = 0.25
MOST_WAIT = 8.0
SILENT_SECONDS = 4.0
"""After so long without a frame the line is asked whether it lives, and after as long again it is given up."""


class Guest:
    """Somebody who asks, known by a token, or by the cookie that `sign_in` brought."""

    def __init__(self, url: str, timeout: float = 30, token: str | None = None) -> None:
        self.url = url.rstrip("/")
        self.id = ""
        self._token = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._http = httpx2.AsyncClient(base_url=self.url, timeout=timeout, headers=self._token)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def sign_in(self, name: str) -> Json:
        """Become a guest of this name."""
        me = await self.ask("POST", "/me", {"name": name})
        self.id = me["id"]
        return me

    async def ask(self, method: str, path: str, body: Json | None = None, key: str | None = None) -> Json:
        """One request to `/api/v1`. Raises `Refused` with the reason the server gives, or `ConnectionError`."""
        try:
            headers = {} if key is None else {"Idempotency-Key": key}
            answer = await self._http.request(method, f"/api/v1{path}", json=body, headers=headers)
        except httpx2.TransportError as error:
            raise ConnectionError(str(error)) from error
        return _fields(answer)

    async def game(self, table: str) -> Json:
        """The table and its game as one may see them: a `welcome`."""
        return await self.ask("GET", f"/tables/{table}/game")

    async def act(self, table: str, action: Json, turn: int | None = None, key: str | None = None) -> At:
        """Do something from one's seat; returns the moment it was stored. Sent again under its own key until answered."""
        name, wait = key or secrets.token_hex(8), LEAST_WAIT
        while True:
            try:
                stored = await self.ask("POST", f"/tables/{table}/actions", {"turn": turn, "action": action}, name)
                return _at(stored)
            except (ConnectionError, Refused) as error:
                _raise_if_final(error)
            wait = await _pause(wait)

    async def poll(self, table: str, after: At | None = None, wait: float = 20) -> tuple[At, list[Json]]:
        """What happened after a moment, waited for so many seconds; and the moment to ask for next."""
        answer = await self.ask("GET", f"/tables/{table}/events?wait={wait}{_after('&', after)}")
        return _at(answer), answer["events"]

    def events(self, table: str, after: At | None = None) -> AsyncIterator[Json]:
        """What happens at a table, over as many connections as it takes; every step once, or a `welcome` in their place."""
        return self._stream(f"/tables/{table}/events", after)

    async def my_tables(self) -> list[Json]:
        """The tables at which one sits, newest first."""
        tables: list[Json] = (await self.ask("GET", "/me/tables"))["tables"]
        return tables

    def my_events(self) -> AsyncIterator[Json]:
        """What becomes of them; after each new connection all of them are told again."""
        return self._stream("/me/events")

    async def close(self, table: str) -> None:
        """Close one's own table for good."""
        await self.ask("POST", f"/tables/{table}/close")

    async def _stream(self, path: str, at: At | None = None) -> AsyncIterator[Json]:
        """The messages of a stream, called again until the server refuses it."""
        wait = LEAST_WAIT
        while True:
            try:
                async with self._http.stream("GET", f"/api/v1{path}{_after('?', at)}", headers={"Accept": LINES}) as answer:
                    if answer.is_error:
                        await answer.aread()
                        _fields(answer)
                    async for line in answer.aiter_lines():
                        message: Json = json.loads(line or "{}")
                        if message.get("type") == "bye":
                            wait = max(LEAST_WAIT, message["after"] / 1000)
                        elif message:
                            wait = LEAST_WAIT
                            at = _at(message) if message["type"] in ("welcome", "step") else at
                            yield message
            except httpx2.TransportError:
                pass
            except Refused as error:
                _raise_if_final(error)
            wait = await _pause(wait)

    def follow(self, table: str, watch: bool = False) -> "TableLine":
        """The table's live line, from one's seat or as a spectator; use it as an async context manager."""
        cookie = "; ".join(f"{name}={value}" for name, value in self._http.cookies.items())
        return TableLine(self.url, self._token or {"Cookie": cookie}, table, watch)


class TableLine:
    """One table, followed until closed. `moment` is the newest welcome or step; `on_message` hears every frame first."""

    def __init__(self, url: str, known_by: dict[str, str], table: str, watch: bool) -> None:
        parts = urlsplit(url)
        self._known_by = known_by
        self._address = f"{'wss' if parts.scheme == 'https' else 'ws'}://{parts.netloc}/ws?v=1"
        self._join = {"type": "join", "table": table, "as": "spectator" if watch else "player"}
        self._socket: ClientConnection | None = None
        self._wait = LEAST_WAIT
        self._waiting: dict[str, tuple[Json, asyncio.Future[At]]] = {}
        self._news = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None
        self.moment: Json | None = None
        self.table: Json | None = None
        self.connections = 0
        self.on_message: Callable[[Json], None] = lambda message: None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            (outcome,) = await asyncio.gather(self._task, return_exceptions=True)
            self._fail(ConnectionAbortedError("the line was closed"))
            if isinstance(outcome, Exception):
                raise outcome

    @property
    def at(self) -> At:
        """The newest moment heard of."""
        return (0, 0) if self.moment is None else tuple(self.moment["at"])

    @property
    def view(self) -> Json | None:
        """The newest view."""
        return None if self.moment is None else self.moment["view"]

    async def act(self, action: Json, turn: int | None = None, cid: str | None = None) -> At:
        """Do something; returns the moment it was stored. Sent again after every reconnect until answered.

        Raises `Refused`, or `ConnectionAbortedError` when the line is closed first; then it is not known whether it happened.
        """
        name = cid or secrets.token_hex(8)
        message = {"type": "act", "cid": name, "action": action} | ({} if turn is None else {"turn": turn})
        answer: asyncio.Future[At] = asyncio.get_running_loop().create_future()
        self._waiting[name] = (message, answer)
        try:
            await self.send(message)
            return await answer
        finally:
            self._waiting.pop(name, None)

    async def send(self, message: Json) -> None:
        """Send a frame if there is a connection; what must not be lost goes through `act`."""
        if self._socket is not None:
            with suppress(ConnectionClosed):
                await self._socket.send(json.dumps(message))

    async def news(self, after: At) -> Json:
        """The newest moment, once it is later than `after`."""
        async with self._news:
            await self._news.wait_for(lambda: self.moment is not None and self.at > after)
        assert self.moment is not None
        return self.moment

    def drop(self) -> None:
        """Lose the connection, as a phone in a tunnel does; the line comes back by itself."""
        if self._socket is not None:
            self._socket.transport.abort()

    async def _run(self) -> None:
        """One call after the other. A server that has said welcome and is about to go is left only when another says it too."""
        async with asyncio.TaskGroup() as group:
            while True:
                next_call = asyncio.Event()
                call = group.create_task(self._call(next_call))
                await next_call.wait()
                if call.done():
                    if not call.result():
                        return
                    await asyncio.sleep(random.uniform(0, self._wait))
                    self._wait = min(MOST_WAIT, self._wait * 2)

    async def _call(self, next_call: asyncio.Event) -> bool:
        """One connection, until it is lost or another has taken its place; whether the table may still be there."""
        try:
            async with connect(
                self._address,
                additional_headers=self._known_by,
                compression=None,
                open_timeout=10,
                ping_interval=None,
                close_timeout=2,
            ) as socket:
                self.connections += 1
                try:
                    await socket.send(json.dumps(self._join))
                    await self._listen(socket, next_call)
                finally:
                    if self._socket is socket:
                        self._socket = None
        except (OSError, ConnectionClosed, InvalidHandshake) as error:  # a TimeoutError is an OSError
            if isinstance(error, ConnectionClosed) and error.rcvd is not None and error.rcvd.code == NO_SUCH_TABLE:
                self._fail(Refused(Why.NO_SUCH_TABLE))
                return False
        finally:
            asyncio.get_running_loop().call_soon(next_call.set)  # when this call is done
        return True

    async def _listen(self, socket: ClientConnection, next_call: asyncio.Event) -> None:
        is_welcome = False
        while not is_welcome or self._socket is socket:
            frame = await _hear(socket)
            message: Json = json.loads(frame)
            match message["type"]:
                case "welcome":
                    if self._socket not in (None, socket):
                        self._socket.transport.abort()
                    is_welcome, self._socket, self._wait = True, socket, LEAST_WAIT
                case "probe":
                    await socket.send(frame)
                case "bye":
                    asyncio.get_running_loop().call_later(message["after"] / 1000, next_call.set)
                    if not is_welcome:
                        await next_call.wait()
                        return
            if self._socket is socket:
                await self._take_in(socket, message)

    async def _take_in(self, socket: ClientConnection, message: Json) -> None:
        self.on_message(message)
        match message["type"]:
            case "welcome":
                self.table = message["table"]
                self.moment = None  # it says where the table stands, even if that is not as far as it once was
                await self._take(message)
                for pending, _ in tuple(self._waiting.values()):
                    await socket.send(json.dumps(pending))
            case "step":
                await self._take(message)
            case "table":
                self.table = message["table"]
            case "ack":
                self._answer(message["cid"], tuple(message["at"]))
            case "refused":
                self._refuse(message["cid"], Why(message["why"]))

    async def _take(self, moment: Json) -> None:
        if tuple(moment["at"]) >= self.at:
            if moment["view"] is not None and moment["view"]["sheet"] is None and self.view is not None:
                moment["view"]["sheet"] = self.view["sheet"]
            self.moment = moment
        async with self._news:
            self._news.notify_all()

    def _answer(self, cid: str, at: At) -> None:
        known = self._waiting.get(cid)
        if known is not None and not known[1].done():
            known[1].set_result(at)

    def _refuse(self, cid: str | None, why: Why) -> None:
        known = self._waiting.get(cid or "")
        if known is None or known[1].done():
            return
        if why in (Why.BUSY, Why.NEWER_RELEASE):  # perhaps stored, perhaps not: the same command, sent again, is answered
            asyncio.get_running_loop().call_later(0.3, lambda: asyncio.ensure_future(self.send(known[0])))
        else:
            known[1].set_exception(Refused(why))

    def _fail(self, error: Exception) -> None:
        for _, answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(error)


def _fields(answer: httpx2.Response) -> Json:
    if answer.is_success and not answer.content:
        return {}
    try:
        fields: Json = answer.json()
    except ValueError:
        raise ConnectionError(f"a proxy answered in the server's place, with {answer.status_code}") from None
    if answer.is_error:
        raise Refused(Why(fields["why"]), fields.get("field"))
    return fields


def _at(fields: Json) -> At:
    epoch, seq = fields["at"]
    return (epoch, seq)


def _after(sign: str, at: At | None) -> str:
    return "" if at is None else f"{sign}after={at[0]}.{at[1]}"


def _raise_if_final(error: Exception) -> None:
    """Unless what failed may be tried again as it was."""
    if isinstance(error, Refused) and error.why not in (Why.BUSY, Why.NEWER_RELEASE, Why.TOO_FAST):
        raise error


async def _pause(wait: float) -> float:
    await asyncio.sleep(random.uniform(0, wait))
    return min(MOST_WAIT, wait * 2)


async def _hear(socket: ClientConnection) -> str | bytes:
    """The next frame. Raises `TimeoutError` when the other side does not answer a ping either."""
    with suppress(TimeoutError):
        async with asyncio.timeout(SILENT_SECONDS):
            return await socket.recv()
    await socket.send('{"type":"ping"}')
    async with asyncio.timeout(SILENT_SECONDS):
        return await socket.recv()


@asynccontextmanager
async def guest(url: str, name: str) -> AsyncIterator[Guest]:
    """A guest of this name, signed in."""
    async with Guest(url) as one:
        await one.sign_in(name)
        yield one
