"""Who is at a table, and what follows from it: a host who is gone makes way, and so does who does nothing for long."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.game.refusal import Why
from app.game.seats import Seat
from app.tables.commands import HOUSE, Actor, CallStandIn, FreeSeat, PassOn
from app.tables.mirror import Mirror
from app.tables.play import Tables
from app.tables.ports import At, Clock, Company
from app.tables.table import Table

IDLE_MS = 180_000
"""Whoever is connected and does nothing for so long may be made to give way."""

HOST_GONE_MS = 300_000
"""After so long without its host the table has another one, if somebody is there."""


async def call_stand_in(tables: Tables, company: Company, clock: Clock, table: str, by: Actor, cid: str, seat: Seat) -> At:
    """Lets the stand-in play for somebody who is not connected, or who has not moved for long.

    Raises `Refused` while the owner of the seat is there and has time.
    """
    mirror = await tables.mirror(table)
    person = mirror.table.places[seat].person
    if person is None or person.id not in await company.present(table):
        return await tables.act(table, by, cid, CallStandIn(seat))
    if seat is not mirror.table.in_turn or clock() - mirror.turned < IDLE_MS:
        return await tables.refuse(table, by, cid, Why.STILL_HERE)
    return await tables.act(table, by, cid, CallStandIn(seat, idle=True), mirror.table.turn)


async def free_seat(tables: Tables, clock: Clock, table: str, by: Actor, cid: str, seat: Seat) -> At:
    """Frees the seat of a person while no game is running: the host does, or all others where the host does nothing."""
    mirror = await tables.mirror(table)
    person = mirror.table.places[seat].person
    is_about_host = person is not None and person.id == mirror.table.host != by.person
    return await tables.act(table, by, cid, FreeSeat(seat, idle=is_about_host and _is_idle(mirror, clock())))


def _is_idle(mirror: Mirror, now: int) -> bool:
    """Whether the host has done nothing for long, nor become the host just now."""
    return now - max(mirror.acted.get(mirror.table.host, 0), mirror.hosted) >= IDLE_MS


@dataclass
class HostWatch:
    """Sees to it that a table has a host who is there. `since`: when this one was missed first, in ms that nobody sets."""

    host: str | None = None
    since: float = 0.0

    async def look(self, tables: Tables, mirror: Mirror, present: Iterable[str | None], now: float) -> None:
        """Makes somebody host in place of one who has been gone for long; all processes may ask for it."""
        host, heir = mirror.table.host, self.heir(mirror.table, present, now)
        if heir is not None:
            await tables.act(mirror.table.id, HOUSE, f"host:{mirror.seq}", PassOn(host, heir))

    def heir(self, table: Table, present: Iterable[str | None], now: float) -> str | None:
        """Who is to be host, once the host has been gone for long while others are there."""
        here = set(present)
        others = [place.person for place in table.places if place.person is not None and place.person.id in here]
        is_slow = table.is_slow and table.is_playing  # nobody need stay there
        if table.host in here or not others or is_slow:
            self.host = None
            return None
        if self.host != table.host:
            self.host, self.since = table.host, now
        return others[0].id if now - self.since >= HOST_GONE_MS else None
