"""Opening a table and sitting down with the house: what is asked before the first card."""

from app.game.refusal import Refused, Why
from app.game.rules import Rules
from app.game.seats import Seat
from app.tables.mirror import Mirror
from app.tables.play import Tables
from app.tables.ports import Clock, Company, Dice
from app.tables.table import CLOCKS, Actor, AddHouse, CallStandIn, House, Person, Sit, Start, Table

HOUSES = (House("alma", "Alma"), House("basile", "Basile"), House("cleo", "Cléo"), House("dario", "Dario"))
"""The players of the house, in the order in which they are called to a table."""


async def open_table(
    tables: Tables, dice: Dice, clock: Clock, host: Person, rules: Rules, seconds: int | None, listed: bool
) -> Mirror:
    """A new table with its host on the first seat. Raises `Refused` for a clock that is not offered."""
    if seconds not in CLOCKS:
        raise Refused(Why.WRONG_VALUE, "clock")
    table = Table(dice.table_id(), host.id, rules, seconds, listed, clock())
    mirror = await tables.open(table)
    await tables.act(table.id, Actor(host.id), "open", Sit(host, Seat.FIRST))
    return mirror


async def add_house(tables: Tables, table: str, by: Actor, cid: str, seat: Seat | None) -> None:
    """Let a player of the house sit down on a seat, or on the first that is free."""
    await tables.act(table, by, cid, AddHouse(HOUSES, seat))


async def start(tables: Tables, table: str, by: Actor, cid: str) -> None:
    """Let the house fill the free seats and be ready; the game begins when all are."""
    await tables.act(table, by, cid, Start(HOUSES))


async def call_stand_in(tables: Tables, company: Company, table: str, by: Actor, cid: str, seat: Seat) -> None:
    """Let the stand-in play for somebody who is not connected; raises `Refused` while the owner of the seat is here."""
    mirror = await tables.mirror(table)
    person = mirror.table.places[seat].person
    if person is not None and person.id in await company.present(table):
        raise Refused(Why.STILL_HERE)
    await tables.act(table, by, cid, CallStandIn(seat))
