"""Tables over REST: open, list, read, sit, leave, ready, start, and the players of the house."""

import secrets
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr, WithJsonSchema

from app.game.refusal import Refused, Why
from app.game.rules import PRESETS, override, preset, preset_of
from app.game.seats import Seat
from app.tables import lobby, presence
from app.tables.commands import Actor, Command, GetReady, Leave, RemoveHouse, Sit
from app.tables.history import Bookmark
from app.tables.limits import GAMES_OF_ADDRESS, GAMES_OF_PERSON
from app.tables.ports import Listed
from app.tables.table import CLOCKS
from app.web import lists
from app.web.errors import refusals, with_headers
from app.web.identity import Me
from app.web.lists import LONGEST_LIST, MOMENTS, Page
from app.web.parts import Parts, PartsDep
from app.web.visit import visit_of
from app.wire import forms
from app.wire.messages import table_json

router = APIRouter(prefix="/api/v1/tables", tags=["tables"])

TableId = Annotated[str, Path(max_length=40, description="The id of a table", examples=["3f-k2m7q9x4wz"])]
SeatInPath = Annotated[
    int,
    Path(description="The number of a seat"),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 3, "examples": [1]}),
]
SeatNumber = Annotated[StrictInt, WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 3})]
Preset = Annotated[StrictStr, WithJsonSchema({"type": "string", "enum": list(PRESETS)})]
Seconds = Annotated[StrictInt | None, WithJsonSchema({"enum": list(CLOCKS)})]


class OpenIn(BaseModel):
    """The table that is wanted: a preset, fields to override, seconds a turn, whether the lobby shows it, who sits where."""

    preset: Preset = "announced-701"
    options: forms.SomeOptions = Field({}, examples=[{"target": 300}])
    clock: Seconds = Field(None, description="Seconds a turn may take; null: as long as it takes", examples=[30])
    listed: StrictBool = Field(False, description="Whether the lobby shows it; else only who has its id finds it")
    seat: StrictInt = Field(0, description="The host's own seat, 0 to 3", examples=[2])
    house: list[StrictInt] = Field(
        [], max_length=3, description="Seats that players of the house take, 0 to 3", examples=[[1, 3]]
    )


class TablesAsked(Page):
    """Which tables."""

    limit: int = Field(50, ge=1, le=LONGEST_LIST, description="Rows a page")
    preset: str | None = Field(None, description="Tables under this unchanged preset", examples=["announced-701"])
    status: Literal["open", "playing"] | None = Field(None, description="Those that wait for players, or those that play")
    free: bool | None = Field(None, description="Those with a free seat, or those without")
    clock: bool | None = Field(None, description="Those with a clock, or those without")

    def lists(self, one: Listed) -> bool:
        """Whether the table is asked for. Raises `Refused`."""
        if self.preset is not None and self.preset not in PRESETS:
            raise Refused(Why.UNKNOWN_PRESET, "preset")
        is_free = any(place.occupant is None for place in one.table.places)
        return (
            self.preset in (None, preset_of(one.table.rules))
            and self.status in (None, "playing" if one.playing else "open")
            and self.free in (None, is_free)
            and self.clock in (None, one.table.clock is not None)
        )


class SeatIn(BaseModel):
    """A seat, or none in particular."""

    seat: SeatNumber | None = Field(None, examples=[2])

    @property
    def named(self) -> Seat | None:
        """The seat. Raises `Refused` if there is no such seat."""
        return None if self.seat is None else seat_numbered(self.seat)


class ThatSeatIn(BaseModel):
    """One seat."""

    seat: SeatNumber = Field(examples=[2])


class ReadyIn(BaseModel):
    """Ready for a game, or not yet."""

    ready: StrictBool = True


MAKING_WAY = (
    *(Why.NOT_HOST, Why.NOT_SEATED, Why.NO_GAME, Why.GAME_RUNNING, Why.CLOCK_RUNNING),
    *(Why.STILL_HERE, Why.STALE_TURN, Why.NOBODY_THERE, Why.SEAT_OUT_OF_RANGE),
)
"""Why somebody else's seat stays as it is."""

_SITTING = (Why.SEAT_TAKEN, Why.TABLE_FULL, Why.GAME_RUNNING, Why.SEAT_OUT_OF_RANGE)


def seat_numbered(number: int, field: str = "seat") -> Seat:
    """The seat of this number. Raises `Refused` if there is none."""
    if number not in range(4):
        raise Refused(Why.SEAT_OUT_OF_RANGE, field)
    return Seat(number)


def _cid() -> str:
    """A command of its own for each request."""
    return f"rest:{secrets.token_hex(8)}"


async def _shown(parts: Parts, table: str) -> forms.Table:
    mirror = await parts.tables.mirror(table)
    return table_json(mirror.table, mirror.table.is_playing, await parts.company.present(table))


async def _done(parts: Parts, table: str, me: Me, command: Command) -> forms.Table:
    await parts.tables.act(table, Actor(me.id), _cid(), command)
    return await _shown(parts, table)


async def _admit(request: Request, parts: Parts, table: str, me: Me) -> None:
    """Raises `Refused` if too many games are running for this person, or from this address, to begin one more."""
    if (await parts.tables.mirror(table)).table.seat_of(me.id) is not None:  # else it is refused anyway
        quotas = (GAMES_OF_PERSON, me.id), (GAMES_OF_ADDRESS, visit_of(request).address)
        await lobby.admit(parts.tables, parts.limits, table, *quotas)


_RULES = (Why.UNKNOWN_PRESET, Why.UNKNOWN_OPTION, Why.WRONG_VALUE, Why.SENSELESS_OPTIONS)
_OPENING = with_headers(201, "Location") | refusals(*_RULES, Why.SEAT_OUT_OF_RANGE, Why.SEAT_TAKEN)


@router.post("", status_code=201, responses=_OPENING)
async def open_table(body: OpenIn, me: Me, parts: PartsDep, response: Response) -> forms.Table:
    """Open a table; its host sits down, and players of the house if wanted."""
    rules = override(preset(body.preset, "preset"), body.options)
    houses = [seat_numbered(one, "house") for one in body.house]
    mirror = await lobby.open_table(
        *(parts.tables, parts.dice, parts.clock, me, rules, body.clock, body.listed, seat_numbered(body.seat), houses)
    )
    response.headers["Location"] = f"/api/v1/tables/{mirror.table.id}"
    return await _shown(parts, mirror.table.id)


@router.get("", responses=with_headers(200, "Link") | refusals(Why.BAD_CURSOR, Why.UNKNOWN_PRESET))
async def list_tables(
    request: Request, response: Response, parts: PartsDep, asked: Annotated[TablesAsked, Query()]
) -> forms.Tables:
    """The tables that anybody may find, newest first."""
    after = lists.begin(request, asked.cursor, MOMENTS)
    found = [one for one in await parts.lobby.tables() if asked.lists(one) and (after is None or _comes_after(one, after))]
    page = found[: asked.limit]
    more = lists.link(request, response, _place(page[-1])) if len(found) > len(page) else None
    present = await parts.company.present_at([one.table.id for one in page]) if page else ()
    shown = [table_json(one.table, one.playing, here) for one, here in zip(page, present, strict=True)]
    return {"tables": shown, "next": more}


def _place(listed: Listed) -> Bookmark:
    return Bookmark(listed.table.created, listed.table.id)


def _comes_after(listed: Listed, last: Bookmark) -> bool:
    return (listed.table.created, listed.table.id) < (last.key, last.id)


@router.get("/{table}")
async def read_table(table: TableId, parts: PartsDep) -> forms.Table:
    """One table."""
    return await _shown(parts, table)


@router.post("/{table}/sit", responses=refusals(*_SITTING))
async def sit(table: TableId, me: Me, parts: PartsDep, body: SeatIn | None = None) -> forms.Table:
    """Sit down, on the first free seat if none is named."""
    return await _done(parts, table, me, Sit(me, None if body is None else body.named))


@router.post("/{table}/leave", responses=refusals(Why.NOT_SEATED))
async def leave(table: TableId, me: Me, parts: PartsDep) -> forms.Table:
    """Give the seat up; in a running game the stand-in plays on and the seat can be taken back."""
    return await _done(parts, table, me, Leave())


@router.post("/{table}/ready", responses=refusals(Why.NOT_SEATED, Why.GAME_RUNNING, Why.TOO_MANY_GAMES))
async def ready(table: TableId, request: Request, me: Me, parts: PartsDep, body: ReadyIn | None = None) -> forms.Table:
    """Be ready; the game starts when four seats are."""
    if body is None or body.ready:
        await _admit(request, parts, table, me)
    return await _done(parts, table, me, GetReady(body is None or body.ready))


@router.post("/{table}/start", responses=refusals(Why.NOT_HOST, Why.NOT_SEATED, Why.GAME_RUNNING, Why.TOO_MANY_GAMES))
async def start(table: TableId, request: Request, me: Me, parts: PartsDep) -> forms.Table:
    """The host: let the house fill the free seats, and be ready."""
    await _admit(request, parts, table, me)
    await lobby.start(parts.tables, table, Actor(me.id), _cid())
    return await _shown(parts, table)


@router.post("/{table}/house", responses=refusals(Why.NOT_HOST, *_SITTING))
async def add_house(table: TableId, me: Me, parts: PartsDep, body: SeatIn | None = None) -> forms.Table:
    """The host: let a player of the house sit down."""
    await lobby.add_house(parts.tables, table, Actor(me.id), _cid(), None if body is None else body.named)
    return await _shown(parts, table)


@router.delete(
    "/{table}/house/{seat}",
    responses=refusals(Why.NOT_HOST, Why.NO_HOUSE_PLAYER, Why.GAME_RUNNING, Why.SEAT_OUT_OF_RANGE),
)
async def remove_house(table: TableId, seat: SeatInPath, me: Me, parts: PartsDep) -> forms.Table:
    """The host: send a player of the house away."""
    return await _done(parts, table, me, RemoveHouse(seat_numbered(seat)))


@router.post("/{table}/close", status_code=204, responses=refusals(Why.NOT_HOST, Why.GAME_RUNNING))
async def close_table(table: TableId, me: Me, parts: PartsDep) -> None:
    """The host: close the table for good, while no game is running in which somebody else sits."""
    await parts.tables.close(table, Actor(me.id))


@router.delete(
    "/{table}/seats/{seat}",
    responses=refusals(*(set(MAKING_WAY) - {Why.NO_GAME, Why.CLOCK_RUNNING, Why.STILL_HERE, Why.STALE_TURN})),
)
async def free_seat(table: TableId, seat: SeatInPath, me: Me, parts: PartsDep) -> forms.Table:
    """The host, while no game is running: make a person give up a seat. Of a host who does nothing for long, all others may."""
    await presence.free_seat(parts.tables, parts.clock, table, Actor(me.id), _cid(), seat_numbered(seat))
    return await _shown(parts, table)


@router.post("/{table}/stand-in", responses=refusals(*(set(MAKING_WAY) - {Why.GAME_RUNNING, Why.NOBODY_THERE})))
async def call_stand_in(table: TableId, body: ThatSeatIn, me: Me, parts: PartsDep) -> forms.Table:
    """The host, at a table without a clock: let the stand-in play for somebody who is not connected, or does not move for long.

    For a host who is connected and does not move, all others may.
    """
    by, seat = Actor(me.id), seat_numbered(body.seat)
    await presence.call_stand_in(parts.tables, parts.company, parts.clock, table, by, _cid(), seat)
    return await _shown(parts, table)
