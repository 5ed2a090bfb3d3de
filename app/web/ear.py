"""Following over plain HTTP: one who hears what a socket would be sent, and answers that go on while something happens."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

from fastapi import Response
from starlette.requests import HTTPConnection
from starlette.types import Receive, Scope, Send

from app.game.view import Viewer
from app.tables.ports import At
from app.tables.table import Person, Table
from app.tables.tasks import end, heed
from app.web.errors import Responses
from app.web.hub import Client, Outbox, Room
from app.web.media import EVENTS, LINES, STREAMED, many
from app.web.parts import Parts
from app.web.visit import visit_of
from app.wire import messages

HEARTBEAT_SECONDS = 15.0
"""How long a stream is silent at most. Each sign of life is also an occasion to look whether the token is still good."""

Json = dict[str, Any]
Done = TypeVar("Done")


def streamed(*forms: type) -> Responses:
    """For the `responses` of a route that may answer with a stream of such messages."""
    return {200: {"content": {kind: many(kind, *forms) for kind in (EVENTS, LINES)}}}


class Source(Protocol):
    """Where the messages of an answer come from."""

    outbox: Outbox

    async def hear(self) -> Sequence[Json]:
        """What there is to tell now; waits where there is nothing yet, but for the first time."""


class Ear:
    """One who follows a table. What is missed between two moments is told step by step where it is remembered; so is talk.

    `said` is the time of the newest line of talk that is known; None: none is asked for but what is said from now on.
    """

    def __init__(self, client: Client, room: Room, since: At | None, said: int | None) -> None:
        self.outbox = client.outbox
        self._client = client
        self._room = room
        self._since = since
        self.said = said

    async def hear(self) -> list[Json]:
        """At least one message, a goodbye last; the first time what happened since a moment, or a whole welcome."""
        heed()
        heard = await heard_from(self.outbox)
        since, self._since = self._since, None
        if since is not None and heard[0]["type"] == "welcome":
            heard[:1] = self._instead_of(heard[0], since)
        return [message for message in heard if self._is_new(message)]

    def _is_new(self, message: Json) -> bool:
        """Whether it is no line of talk that is known. What there is of talk is known from then on."""
        known = self.said
        if message["type"] == "welcome":
            self.said = max((line["at"] for line in message["chat"]), default=0)
        elif message["type"] == "chat":
            self.said = message["at"]
            return known is None or message["at"] > known
        return True

    def _instead_of(self, welcome: Json, since: At) -> list[Json]:
        """The steps between the moment and this welcome, and the table as it is after them."""
        mirror = self._room.mirror
        steps = mirror.steps(since, (welcome["at"][0], welcome["at"][1]), self._viewer)
        if steps is None:
            return [welcome]
        past = [messages.step_json(mirror.table.rules, step, self._room.clock()) for step in steps]
        missed = [] if self.said is None else [line for line in welcome["chat"] if line["at"] > self.said]
        return [*past, *missed, {"type": "table", "table": welcome["table"]}]

    def _viewer(self, table: Table) -> Viewer:
        return None if self._client.person is None else table.seat_of(self._client.person.id)


@asynccontextmanager
async def following(
    parts: Parts, client: Client, table: str, since: At | None = None, said: int | None = None
) -> AsyncIterator[Ear]:
    """Follow a table as this client, until the context ends. Raises `Refused`, and `NewerFormat`."""
    parts.hub.enter(client)
    try:
        room = await parts.hub.join(client, table)
        try:
            yield Ear(client, room, since, said)
        finally:
            await parts.hub.leave(client, room)
    finally:
        parts.hub.exit(client)


async def heard_from(outbox: Outbox) -> list[Json]:
    """All that is there, at least one message, a goodbye last."""
    heard = [json.loads(await outbox.take())]
    while outbox:
        heard.append(json.loads(await outbox.take()))
    return sorted(heard, key=lambda message: message["type"] == "bye")  # who comes while the process goes is told that first


def passer_by(me: Person | None) -> Client:
    """A client of its own for one answer."""
    return Client(secrets.token_hex(8), me)


def as_event(message: Json) -> str:
    """The message as a server-sent event. A goodbye says when to come back."""
    lines = [f"event: {message['type']}", f"data: {messages.text(message)}"]
    if message["type"] in ("welcome", "step"):
        lines.insert(0, "id: {}.{}".format(*message["at"]))
    if message["type"] == "bye":
        lines.insert(0, f"retry: {message['after']}")
    return "\n".join(lines) + "\n\n"


def as_line(message: Json) -> str:
    """The message as a line of JSON."""
    return messages.text(message) + "\n"


class Stream(Response):
    """An answer that goes on until one side goes, as events or as lines of JSON."""

    def __init__(self, follow: Callable[[], Any], accept: str) -> None:
        """`follow` gives a context in which there is a `Source`; what it raises before the first message is a problem."""
        as_events = EVENTS in accept
        super().__init__(media_type=EVENTS if as_events else LINES, headers=STREAMED)
        del self.headers["content-length"]
        self._follow = follow
        self._written = as_event if as_events else as_line
        self._beat = ": alive\n\n" if as_events else "\n"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asking = HTTPConnection(scope)
        parts: Parts = asking.app.state.parts
        with parts.hub.stream(visit_of(asking).who):
            await unless(self._run(send, visit_of(asking).void), gone(receive))

    async def _run(self, send: Send, void: asyncio.Event) -> None:
        async with self._follow() as source:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            # An answer that is stopped so breaks off without its end.
            await unless(self._tell(source, send), source.outbox.full.wait(), void.wait())

    async def _tell(self, source: Source, send: Send) -> None:
        is_over = False
        while not is_over:
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    heard = await source.hear()
                is_over = any(message["type"] == "bye" for message in heard)
                said = "".join(map(self._written, heard))
            except TimeoutError:
                said = self._beat
            await send({"type": "http.response.body", "body": said.encode(), "more_body": not is_over})


async def unless(work: Coroutine[Any, Any, Done], *ends: Coroutine[Any, Any, Any]) -> Done | None:
    """Do the work, but stop where one of the others ends before it."""
    tasks = (asyncio.create_task(work), *map(asyncio.create_task, ends))
    try:
        heed()
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return tasks[0].result() if tasks[0].done() else None
    finally:
        await end(*tasks)


async def gone(receive: Receive) -> None:
    """Wait until the other side has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
