"""A table's game over REST, for who has no socket: read it, act in it, hear what happens by long poll or as a stream."""

import asyncio
import secrets
from contextlib import suppress
from typing import Annotated, get_args

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel, Field, StrictInt

from app.game.refusal import Refused, Why
from app.tables import presence
from app.tables.commands import Actor
from app.tables.mirror import Mirror
from app.tables.ports import At
from app.tables.table import Person
from app.tables.tokens import Scope
from app.web.ear import Json, Stream, following, gone, passer_by, streamed, unless
from app.web.errors import refusals
from app.web.hub import Client
from app.web.identity import MaybeMe, Me
from app.web.media import EVENTS, LINES
from app.web.parts import Parts, PartsDep
from app.web.tables import MAKING_WAY, TableId, seat_numbered
from app.web.visit import visit_of
from app.wire import forms, messages

LONGEST_WAIT = 30
"""Seconds that a long poll waits at the most."""

_AT = r"^\d{1,9}\.\d{1,15}$"

router = APIRouter(prefix="/api/v1/tables", tags=["play"])


class ActIn(BaseModel):
    """An action in the words of the socket, and the turn that it is meant for."""

    turn: StrictInt | None = Field(None, examples=[22])
    action: messages.ActionIn = Field(examples=[{"kind": "play", "card": "KH"}])


class Stored(BaseModel):
    """The moment at which an action was stored."""

    at: forms.At


_OF_THE_GAME = list(Why)[: list(Why).index(Why.BAD_PACK)]
"""Why the game says no to a player."""


_ACTING = (Why.NOT_SEATED, Why.STALE_TURN, Why.NO_GAME, Why.MISSING, Why.MISSING_SCOPE, *MAKING_WAY)


@router.post("/{table}/actions", responses=refusals(*_OF_THE_GAME, *_ACTING))
async def act(
    table: TableId,
    body: ActIn,
    request: Request,
    me: Me,
    parts: PartsDep,
    idempotency_key: Annotated[
        str | None, Header(min_length=1, max_length=40, description="The asker's own name for this action", examples=["a1"])
    ] = None,
) -> Stored:
    """Act from one's seat. The same Idempotency-Key sent again is answered as the first time, and applied once."""
    mirror, asker = await parts.tables.mirror(table), visit_of(request).asker
    scopes = frozenset(Scope) if asker is None else asker.scopes
    at = await do(parts, mirror, me, scopes, idempotency_key or secrets.token_hex(8), body.turn, body.action)
    if mirror.table.listed:
        with suppress(Refused):  # it is done; whoever plays is there
            await parts.lobby.touch([table])
    return Stored(at=at)


async def do(
    parts: Parts, mirror: Mirror, me: Person, scopes: frozenset[Scope], cid: str, turn: int | None, action: messages.ActionIn
) -> At:
    """The one way in which somebody's action reaches a table, over the socket or over REST. Raises `Refused`."""
    tables, table, name = parts.tables, mirror.table.id, f"act:{cid}"
    if isinstance(action, messages.OF_THE_TABLE):
        if Scope.TABLES not in scopes:
            raise Refused(Why.MISSING_SCOPE, Scope.TABLES.value)
        about = seat_numbered(action.seat)
        if isinstance(action, messages.FreeSeatAction):
            return await presence.free_seat(tables, parts.clock, table, Actor(me.id), name, about)
        return await presence.call_stand_in(tables, parts.company, parts.clock, table, Actor(me.id), name, about)
    seat = mirror.table.seat_of(me.id)
    if seat is None and await tables.catch_up(mirror):  # sat down in another process just now
        seat = mirror.table.seat_of(me.id)
    if seat is None:
        raise Refused(Why.NOT_SEATED)
    needs_turn = isinstance(action, messages.NEEDS_TURN)
    if needs_turn and turn is None:
        raise Refused(Why.MISSING, "turn")
    command = messages.command_of(action, seat)
    return await tables.act(table, Actor(me.id), name, command, turn if needs_turn else None)


@router.get("/{table}/game", response_model=forms.Welcome)
async def see_game(table: TableId, me: MaybeMe, parts: PartsDep) -> Response:
    """The table and its game as the asker may see them now: the socket's `welcome`."""
    mirror = await parts.tables.mirror(table)
    present, talk = await parts.company.present(table), await parts.company.talk(table)
    player = None if me is None else me.id
    seat = None if me is None else mirror.table.seat_of(me.id)
    welcome = messages.welcome_json(mirror, player, seat, parts.clock(), present, talk)
    return Response(messages.text(welcome), media_type="application/json")


@router.get("/{table}/events", response_model=forms.News, responses=streamed(*get_args(forms.Message)))
async def hear(
    table: TableId,
    request: Request,
    me: MaybeMe,
    parts: PartsDep,
    after: Annotated[
        str | None, Query(pattern=_AT, description="Only what came after this moment, `epoch.seq`", examples=["1.41"])
    ] = None,
    wait: Annotated[float, Query(ge=0, le=LONGEST_WAIT, description="Long poll: seconds to wait for news")] = 0,
    said: Annotated[
        int | None,
        Query(ge=0, le=10**15, description="Also the talk after this time, the `said` of an answer", examples=[1796000000000]),
    ] = None,
    last_event_id: Annotated[
        str | None, Header(pattern=_AT, description="The same, as a browser sends it", examples=["1.41"])
    ] = None,
) -> Response:
    """What happens at the table, in the socket's messages and as the asker may see it: a stream, or one answer."""
    since = _at(last_event_id or after)
    accept = request.headers.get("accept", "")
    if EVENTS in accept or LINES in accept:
        return Stream(lambda: following(parts, passer_by(me), table, since, said), accept)
    void = visit_of(request).void
    polled = await unless(_poll(parts, me, table, since, said, wait), gone(request.receive), void.wait())
    heard, said = polled or ([], said)
    if void.is_set():
        raise Refused(Why.BAD_TOKEN)
    news = [message["at"] for message in heard if message["type"] in ("welcome", "step")]
    headers = {"Cache-Control": "no-store"}
    if any(message["type"] == "bye" for message in heard):
        headers["Connection"] = "close"  # and the next one is let in by another process
    answer = {"at": news[-1] if news else since, "said": said, "events": heard}
    return Response(messages.text(answer), headers=headers, media_type="application/json")


def _at(moment: str | None) -> At | None:
    if moment is None:
        return None
    epoch, _, seq = moment.partition(".")
    return (int(epoch), int(seq))


async def _poll(
    parts: Parts, me: Person | None, table: str, since: At | None, said: int | None, wait: float
) -> tuple[list[Json], int | None]:
    """What came after a moment, and the time of the last line of talk; if nothing, what comes first in the time that is waited.

    Who polls is at the table from one poll to the next, under one name.
    """
    client = passer_by(None) if me is None else Client(f"poll-{me.id}", me, lingers=True)
    client.seen = me is not None and wait > 0
    async with following(parts, client, table, since, said) as ear:
        heard = await ear.hear()
        if any(message["type"] != "table" for message in heard):
            return heard, ear.said
        heard = []
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                while not heard:
                    heard = await ear.hear()
        return heard, ear.said
