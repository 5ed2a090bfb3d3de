"""The tables at which somebody sits: all of them now, and what becomes of them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import get_args

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.game.refusal import Refused, Why
from app.tables.ports import NewerFormat
from app.tables.table import Person
from app.tables.tasks import end, heed
from app.web.ear import Ear, Json, Stream, following, heard_from, passer_by, streamed, unless
from app.web.identity import Me
from app.web.parts import Parts, PartsDep
from app.wire import forms, messages

LOOK_SECONDS = 1.0
"""How often it is looked whether somebody has sat down elsewhere."""

router = APIRouter(prefix="/api/v1/me", tags=["me"])
_log = structlog.get_logger()


@router.get("/tables")
async def my_tables(me: Me, parts: PartsDep) -> forms.OwnTables:
    """The tables at which the asker sits, newest first."""
    found = [await _own_if_any(parts, me, table) for table in await parts.lobby.seats(me.id)]
    return {"tables": [one for one in found if one is not None]}


@router.get("/events", response_class=Response, responses=streamed(*get_args(forms.OwnMessage)))
async def my_events(request: Request, me: Me, parts: PartsDep) -> Response:
    """What becomes of the tables at which the asker sits, beginning with the tables as they are."""
    return Stream(lambda: _following_all(parts, me), request.headers.get("accept", ""))


async def _own_if_any(parts: Parts, me: Person, table: str) -> forms.OwnTable | None:
    """The same as `_own_now`, but a table that cannot be told keeps no other from being told."""
    try:
        return await _own_now(parts, me, table)
    except NewerFormat:
        return None
    except Refused:
        raise
    except Exception:
        _log.exception("own table failed", table=table)
        return None


async def _own_now(parts: Parts, me: Person, table: str) -> forms.OwnTable | None:
    """A table of the index, if the index is right; an entry that is not is taken out."""
    try:
        mirror = await parts.tables.mirror(table)
    except Refused as no:
        if no.why is not Why.NO_SUCH_TABLE:
            raise
    else:
        seat = mirror.table.seat_of(me.id)
        if seat is not None:
            return _own(table, seat, messages.welcome_json(mirror, me.id, seat, 0, (), ()))
    await parts.lobby.unseat(me.id, table)
    return None


def _own(table: str, seat: int, moment: Json) -> forms.OwnTable:
    """How a table stands for who sits on this seat, as a welcome or a step tells it."""
    view = moment["view"]
    is_playing = view is not None and view["phase"] != "over"
    return {
        "id": table,
        "at": moment["at"],
        "seat": seat,
        "status": "playing" if is_playing else "open",
        "turn": moment["turn"],
        "your_turn": is_playing and view["turn"] == seat,
        "deadline": moment["deadline"],
    }


class Desk:
    """One who follows all tables at which somebody sits, and is told the few things that one wants to be called for."""

    def __init__(self, parts: Parts, me: Person) -> None:
        self.client = passer_by(me)
        self.outbox = self.client.outbox
        self._parts = parts
        self._me = me
        self._following: dict[str, asyncio.Task[None]] = {}

    async def hear(self) -> list[Json]:
        """What there is to tell."""
        return await heard_from(self.outbox)

    async def run(self) -> None:
        """Look for tables and follow them until cancelled."""
        try:
            while True:
                heed()
                try:
                    for table in await self._parts.lobby.seats(self._me.id):
                        if table not in self._following:
                            self._following[table] = asyncio.create_task(self._follow(table))
                except Refused:
                    pass  # the store is away
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            await end(*self._following.values())

    async def _follow(self, table: str) -> None:
        """Tell of one table until one no longer sits there; what goes wrong meanwhile is tried anew at the next look."""
        client = passer_by(self._me)
        client.seen = False
        try:
            if await _own_now(self._parts, self._me, table) is None:
                return
            async with following(self._parts, client, table) as ear:
                await unless(self._tell(ear, _Case(table)), ear.outbox.full.wait())
        except (Refused, NewerFormat):
            pass
        except Exception:
            _log.exception("own table failed", table=table)
        finally:
            del self._following[table]

    async def _tell(self, ear: Ear, case: "_Case") -> None:
        while not case.is_closed:
            for message in await ear.hear():
                for told in case.take(message, self._me.id):
                    self.outbox.put(messages.text(told))


class _Case:
    """One table, as its messages come in."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._seat: int | None = None
        self._moment: Json = {}
        self._called: int | None = None
        self.is_closed = False

    def take(self, message: Json, me: str) -> list[Json]:
        """What is to be told of a message."""
        match message["type"]:
            case "welcome":
                self._moment, self._seat = message, message["you"]["seat"]
                return self._sits()
            case "step":
                self._moment = message
                return [] if self._seat is None else self._step(message)
            case "table":
                seat = next((one["seat"] for one in message["table"]["seats"] if one["player"] == me), None)
                changed, self._seat = seat != self._seat, seat
                return self._sits() if changed else []
            case "bye" if message["why"] == "no_such_table":
                self._seat = None
                return self._sits()
            case "bye" if message["why"] == "newer_release":
                return [message]
            case _:
                return []

    def _sits(self) -> list[Json]:
        if self._seat is not None:
            self._called = None
            return [self._say("table"), *self._turn()]
        told = [] if self.is_closed else [{"type": "left", "table": {"id": self._table}}]
        self.is_closed = True
        return told

    def _step(self, step: Json) -> list[Json]:
        kinds = {event["kind"] for event in step["events"]}
        started = [self._say("started")] if "game_started" in kinds else []
        over = {name: step["view"][name] for name in ("winner", "totals")} if "game_won" in kinds else {}
        return [*started, *([self._say("finished") | over] if over else ()), *self._turn()]

    def _turn(self) -> list[Json]:
        """That it is one's turn, once for each turn."""
        call = self._say("turn")
        if not call["table"]["your_turn"] or call["table"]["turn"] == self._called:
            return []
        self._called = call["table"]["turn"]
        return [call]

    def _say(self, kind: str) -> Json:
        return {"type": kind, "table": _own(self._table, self._seat or 0, self._moment)}


@asynccontextmanager
async def _following_all(parts: Parts, me: Person) -> AsyncIterator[Desk]:
    desk = Desk(parts, me)
    parts.hub.enter(desk.client)
    running = asyncio.create_task(desk.run())
    try:
        yield desk
    finally:
        await end(running)
        parts.hub.exit(desk.client)
