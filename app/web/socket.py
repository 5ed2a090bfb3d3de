"""The WebSocket of a table: decode, ask, answer. It has no opinion about cards (docs/protocol.md)."""

import asyncio
import secrets
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field

import structlog
from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect

from app import metrics
from app.game.refusal import Refused, Why
from app.tables.limits import LOOKUPS, SOCKETS_OF_PERSON, TALK, Wish
from app.tables.ports import NewerFormat, Said
from app.tables.table import Person
from app.tables.tokens import Asker, Scope
from app.web.gate import is_void
from app.web.hub import Client, Room
from app.web.identity import asker_of, bearer_of
from app.web.parts import Parts
from app.web.play import do
from app.web.text import clean_text
from app.web.visit import visit_of
from app.wire.messages import (
    PHRASES,
    Act,
    Chat,
    Join,
    Ping,
    Probe,
    ack,
    pong,
    probe,
    read_message,
    refused,
)

VERSION = "1"

POLICY = 1008
INTERNAL = 1011
TRY_AGAIN = 1013
BAD_TOKEN = 4401
NO_SUCH_TABLE = 4404
TOO_SLOW = 4408
TOO_FAST = 4429

_LATER = {Why.BUSY: TRY_AGAIN, Why.TOO_FAST: TOO_FAST}

CLOSE_SECONDS = 5
"""How long a connection may take to hear that it is closed."""

RATE = 10.0
BURST = 40.0
PROBE_SECONDS = 15
"""How often the way to the client is measured."""

MOST_LAG_MS = 1_000
"""So much lag at most is made up for when a time is up."""

MOST_BROKEN = 10
"""So many frames that cannot be read, and the connection is closed."""

router = APIRouter()
_log = structlog.get_logger()


@dataclass
class Bucket:
    """A token bucket: `RATE` messages a second, `BURST` at once."""

    tokens: float = BURST
    last: float = field(default_factory=time.monotonic)

    def take(self) -> bool:
        """Whether one more message may come now."""
        now = time.monotonic()
        self.tokens = min(BURST, self.tokens + (now - self.last) * RATE)
        self.last = now
        self.tokens -= 1
        return self.tokens >= 0


class Closing(Exception):
    """The connection is to be closed with this code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@router.websocket("/ws")
async def live(websocket: WebSocket) -> None:
    """Follow one table and act at it."""
    parts: Parts = websocket.app.state.parts
    why = parts.address.refusal(websocket, is_change=True, has_token=bearer_of(websocket) is not None)
    if why is not None or websocket.query_params.get("v", VERSION) != VERSION:
        await websocket.close(POLICY)
        return
    await websocket.accept()
    try:
        asker = await asker_of(websocket, parts)
    except Refused:
        await websocket.close(TRY_AGAIN)
        return
    client = Client(secrets.token_hex(8), asker.person, is_socket=True)
    conversation = Conversation(websocket, parts, asker, client)
    try:
        # Whoever asks with how many tokens: the person is one.
        person = None if asker.person is None else f"p:{asker.person.id}"
        async with nullcontext() if person is None else parts.limits.hold(SOCKETS_OF_PERSON, person):
            await conversation.run()
    except Refused as refused:
        await conversation.close(_LATER[refused.why])


class Conversation:
    """One socket from its first message to its last."""

    def __init__(self, websocket: WebSocket, parts: Parts, asker: Asker, client: Client) -> None:
        self._websocket = websocket
        self._parts = parts
        self._asker = asker
        self._client = client
        self._room: Room | None = None
        self._bucket = Bucket()
        self._broken = 0
        self._mark = 0
        self._asked = 0.0

    async def run(self) -> None:
        """Read and write until either side has had enough."""
        code: int | None = None
        self._parts.hub.enter(self._client)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._write())
                group.create_task(self._read())
                group.create_task(self._measure())
                group.create_task(self._watch())
                group.create_task(self._heed())
        except* Closing as closing:
            code = next(one.code for one in closing.exceptions if isinstance(one, Closing))
        except* WebSocketDisconnect:
            pass
        except* Exception as error:
            _log.error("socket failed", exc_info=error)
            code = INTERNAL
        finally:
            self._parts.hub.exit(self._client)
            await self._part()
        if code is not None:
            await self.close(code)

    async def close(self, code: int) -> None:
        """Close the connection; one that is too fast is first told so in the words in which all else is refused."""
        metrics.closes.labels(str(code)).inc()
        # The other side was faster, or does not read.
        with suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                if code == TOO_FAST:
                    metrics.refusals.labels(Why.TOO_FAST.value).inc()
                    await self._websocket.send_text(refused(None, Why.TOO_FAST, None))
                await self._websocket.close(code)

    async def _part(self) -> None:
        room, self._room = self._room, None
        if room is not None:
            await self._parts.hub.leave(self._client, room)

    async def _write(self) -> None:
        while True:
            frame = await self._client.outbox.take()
            await self._websocket.send_text(frame)

    async def _watch(self) -> None:
        """One who does not read keeps the writer waiting for ever, so somebody else has to look."""
        await self._client.outbox.full.wait()
        raise Closing(TOO_SLOW)

    async def _heed(self) -> None:
        await visit_of(self._websocket).void.wait()
        raise Closing(BAD_TOKEN)

    async def _check_token(self) -> None:
        """Close the connection where its token is good no more."""
        if self._asker.token is not None and await is_void(self._websocket, self._parts):
            raise Closing(BAD_TOKEN)

    async def _measure(self) -> None:
        """Ask again and again how long the way is; the answer is taken in `_probed`. And whether the token is still good."""
        while True:
            self._mark += 1
            self._asked = time.monotonic()
            self._client.outbox.put(probe(self._mark))
            await asyncio.sleep(PROBE_SECONDS)
            await self._check_token()

    async def _read(self) -> None:
        while True:
            received = await self._websocket.receive()
            if received["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(received.get("code", 1005))
            if not self._bucket.take() and not self._parts.limits.are_lifted:
                raise Closing(TOO_FAST)
            frame = received.get("text")
            if frame is None:
                raise Closing(POLICY)
            await self._answer(frame)

    async def _answer(self, frame: str) -> None:
        try:
            message = read_message(frame)
        except ValueError:
            self._broken += 1
            if self._broken > MOST_BROKEN:
                raise Closing(POLICY) from None
            self._refuse(None, Why.BAD_REQUEST)
            return
        cid = message.cid if isinstance(message, Act) else None
        if isinstance(message, Join | Act | Chat):
            await self._check_token()
        try:
            match message:
                case Join():
                    await self._join(message)
                case Act():
                    await self._act(message)
                case Chat():
                    await self._chat(message)
                case Probe():
                    await self._probed(message)
                case Ping():
                    self._client.outbox.put(pong(self._parts.clock(), None if self._room is None else self._room.mirror.at))
        except Refused as no:
            self._refuse(cid, no.why)
        except NewerFormat:
            self._parts.hub.send_elsewhere(self._client)

    def _refuse(self, cid: str | None, why: Why) -> None:
        metrics.refusals.labels(why.value).inc()
        self._client.outbox.put(refused(cid, why, None if self._room is None else self._room.mirror.at))

    async def _join(self, message: Join) -> None:
        await self._part()
        visit = visit_of(self._websocket)
        self._client.watching = message.as_ == "spectator"
        try:
            await visit.meet(self._parts.limits, Wish(LOOKUPS, visit.address, how="look"))
            self._room = await self._parts.hub.join(self._client, message.table)
        except Refused as no:
            if no.why is Why.NO_SUCH_TABLE:
                await self._parts.limits.ask(Wish(LOOKUPS, visit.address, how="charge"))
                raise Closing(NO_SUCH_TABLE) from None
            if no.why in _LATER:  # one that is here and follows nothing would wait for ever
                raise Closing(_LATER[no.why]) from None
            raise

    async def _probed(self, message: Probe) -> None:
        room, person = self._room, self._client.person
        if message.mark != self._mark or room is None or person is None:
            return
        seat = room.mirror.table.seat_of(person.id)
        if seat is not None:
            lag = min(MOST_LAG_MS, int((time.monotonic() - self._asked) * 1000))
            await self._parts.company.lag(room.mirror.table.id, seat, lag)

    def _acting(self) -> tuple[Room, Person]:
        """The room and who acts in it, if this connection may. Raises `Refused`."""
        if self._room is None:
            raise Refused(Why.NO_SUCH_TABLE)
        if self._client.person is None:
            raise Refused(Why.NOT_SIGNED_IN)
        if Scope.PLAY not in self._asker.scopes:
            raise Refused(Why.MISSING_SCOPE)
        return self._room, self._client.person

    async def _act(self, message: Act) -> None:
        room, person = self._acting()
        scopes = self._asker.scopes
        at = await do(self._parts, room.mirror, person, scopes, message.cid, message.turn, message.action)
        self._client.outbox.put(ack(message.cid, at))

    async def _chat(self, message: Chat) -> None:
        room, person = self._acting()
        seat = room.mirror.table.seat_of(person.id)
        if seat is None:
            raise Refused(Why.NOT_SEATED)
        words = None if message.text is None else clean_text(message.text)
        if (message.phrase is None) == (not words) or (message.phrase is not None and message.phrase not in PHRASES):
            raise Refused(Why.BAD_REQUEST)
        await visit_of(self._websocket).take(self._parts.limits, TALK, f"p:{person.id}:{room.mirror.table.id}")
        name = (room.mirror.table.places[seat].person or person).name  # of now, not of when the connection began
        said = Said(self._parts.clock(), seat, name, message.phrase, words)
        await self._parts.company.say(room.mirror.table.id, said)
