"""Tables over REST: open, list, read, sit, leave, ready, start, and the players of the house."""

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, StrictBool, StrictInt, StrictStr

from app.game.refusal import Refused, Why
from app.game.rules import override, preset
from app.game.seats import Seat
from app.tables import lobby
from app.tables.table import Actor, Command, GetReady, Leave, RemoveHouse, Sit
from app.web.identity import Me
from app.web.parts import Parts, PartsDep
from app.wire.messages import table_json

router = APIRouter(prefix="/api/v1/tables", tags=["tables"])

TableId = Annotated[str, Path(max_length=40)]


class OpenIn(BaseModel):
    """The table that is wanted: a preset, fields to override, seconds a turn, and whether the lobby shows it."""

    preset: StrictStr = "announced-701"
    options: dict[str, Any] = {}
    clock: StrictInt | None = None
    listed: StrictBool = True


class SeatIn(BaseModel):
    """A seat, or none in particular."""

    seat: StrictInt | None = None

    @property
    def named(self) -> Seat | None:
        """The seat. Raises `Refused` if there is no such seat."""
        return None if self.seat is None else _seat(self.seat)


class ThatSeatIn(BaseModel):
    """One seat."""

    seat: StrictInt


class ReadyIn(BaseModel):
    """Ready for a game, or not yet."""

    ready: StrictBool = True


def _seat(number: int) -> Seat:
    if number not in range(4):
        raise Refused(Why.SEAT_OUT_OF_RANGE, "seat")
    return Seat(number)


def _cid() -> str:
    """A command of its own for each request."""
    return f"rest:{secrets.token_hex(8)}"


async def _shown(parts: Parts, table: str) -> dict[str, Any]:
    mirror = await parts.tables.mirror(table)
    return table_json(mirror.table, mirror.table.is_playing, await parts.company.present(table))


async def _done(parts: Parts, table: str, me: Me, command: Command) -> dict[str, Any]:
    await parts.tables.act(table, Actor(me.id), _cid(), command)
    return await _shown(parts, table)


@router.post("", status_code=201)
async def open_table(body: OpenIn, me: Me, parts: PartsDep, response: Response) -> dict[str, Any]:
    """Open a table; its host sits on seat 0."""
    rules = override(preset(body.preset), body.options)
    mirror = await lobby.open_table(parts.tables, parts.dice, parts.clock, me, rules, body.clock, body.listed)
    response.headers["Location"] = f"/api/v1/tables/{mirror.table.id}"
    return await _shown(parts, mirror.table.id)


@router.get("")
async def list_tables(parts: PartsDep) -> dict[str, Any]:
    """The tables that anybody may find, newest first."""
    listed = await parts.lobby.tables()
    return {"tables": [table_json(one.table, one.playing, ()) for one in listed]}


@router.get("/{table}")
async def read_table(table: TableId, parts: PartsDep) -> dict[str, Any]:
    """One table."""
    return await _shown(parts, table)


@router.post("/{table}/sit")
async def sit(table: TableId, me: Me, parts: PartsDep, body: SeatIn | None = None) -> dict[str, Any]:
    """Sit down, on the first free seat if none is named."""
    return await _done(parts, table, me, Sit(me, None if body is None else body.named))


@router.post("/{table}/leave")
async def leave(table: TableId, me: Me, parts: PartsDep) -> dict[str, Any]:
    """Give the seat up; in a running game the stand-in plays on and the seat can be taken back."""
    return await _done(parts, table, me, Leave())


@router.post("/{table}/ready")
async def ready(table: TableId, me: Me, parts: PartsDep, body: ReadyIn | None = None) -> dict[str, Any]:
    """Be ready; the game starts when four seats are."""
    return await _done(parts, table, me, GetReady(body is None or body.ready))


@router.post("/{table}/start")
async def start(table: TableId, me: Me, parts: PartsDep) -> dict[str, Any]:
    """The host: let the house fill the free seats, and be ready."""
    await lobby.start(parts.tables, table, Actor(me.id), _cid())
    return await _shown(parts, table)


@router.post("/{table}/house")
async def add_house(table: TableId, me: Me, parts: PartsDep, body: SeatIn | None = None) -> dict[str, Any]:
    """The host: let a player of the house sit down."""
    await lobby.add_house(parts.tables, table, Actor(me.id), _cid(), None if body is None else body.named)
    return await _shown(parts, table)


@router.delete("/{table}/house/{seat}")
async def remove_house(table: TableId, seat: int, me: Me, parts: PartsDep) -> dict[str, Any]:
    """The host: send a player of the house away."""
    return await _done(parts, table, me, RemoveHouse(_seat(seat)))


@router.post("/{table}/close", status_code=204)
async def close_table(table: TableId, me: Me, parts: PartsDep) -> None:
    """The host: close the table for good, while no game is running in which somebody else sits."""
    await parts.tables.close(table, Actor(me.id))


@router.post("/{table}/stand-in")
async def call_stand_in(table: TableId, body: ThatSeatIn, me: Me, parts: PartsDep) -> dict[str, Any]:
    """The host, at a table without a clock: let the stand-in play for somebody who is not connected."""
    await lobby.call_stand_in(parts.tables, parts.company, table, Actor(me.id), _cid(), _seat(body.seat))
    return await _shown(parts, table)
