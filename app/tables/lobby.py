"""Opening a table and sitting down with the house: what is asked before the first card."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from app.game.refusal import Refused, Why
from app.game.rules import Rules
from app.game.seats import Seat
from app.tables.commands import Actor, AddHouse, Sit, Start
from app.tables.limits import GAMES_OF_PERSON, Limits, Quota
from app.tables.mirror import Mirror
from app.tables.play import Tables
from app.tables.ports import Clock, Dice, Listed, Lobby, NewerFormat
from app.tables.table import CLOCKS, House, Person, Table

HOUSES = (House("alma", "Alma"), House("basile", "Basile"), House("cleo", "Cléo"), House("dario", "Dario"))
"""The players of the house, in the order in which they are called to a table."""


LOOK_MS = 1_000
"""So old may a list of tables be in which another process has changed something."""


TOUCH_MS = 60_000
"""So often it is said again that somebody is at a table."""


class Board:
    """The lobby as one process sees it (port `Lobby`): looked up at most once a second, however many ask."""

    def __init__(self, lobby: Lobby, clock: Callable[[], float]) -> None:
        """`clock` tells ms, and is never set."""
        self._lobby = lobby
        self._clock = clock
        self._asked: asyncio.Task[Sequence[Listed]] | None = None
        self._when = 0.0
        self._touched: dict[str, float] = {}

    async def show(self, table: Table) -> None:
        await self._lobby.show(table)
        self._asked = None

    async def tables(self) -> Sequence[Listed]:
        now = self._clock()
        if self._asked is None or now - self._when >= LOOK_MS:
            self._when, self._asked = now, asyncio.ensure_future(self._lobby.tables())
        return await asyncio.shield(self._asked)

    async def touch(self, tables: Iterable[str]) -> None:
        now = self._clock()
        self._touched = {table: when for table, when in self._touched.items() if now - when < TOUCH_MS}
        new = [table for table in tables if table not in self._touched]
        if new:
            await self._lobby.touch(new)
            self._touched |= dict.fromkeys(new, now)

    async def seat(self, person: str, table: str) -> None:
        await self._lobby.seat(person, table)

    async def unseat(self, person: str, table: str) -> None:
        await self._lobby.unseat(person, table)

    async def seats(self, person: str) -> Sequence[str]:
        return await self._lobby.seats(person)


async def show_name(tables: Tables, seats: Sequence[str], person: Person, cid: str) -> None:
    """Show a person's new name at those of these tables where the person sits; one that cannot be asked now keeps the old."""
    for table in seats:
        with suppress(Refused, NewerFormat):
            seat = (await tables.mirror(table)).table.seat_of(person.id)
            if seat is not None:
                await tables.act(table, Actor(person.id), cid, Sit(person, seat))


async def open_table(
    tables: Tables,
    dice: Dice,
    clock: Clock,
    host: Person,
    rules: Rules,
    seconds: int | None,
    listed: bool,
    seat: Seat = Seat.FIRST,
    houses: Iterable[Seat] = (),
) -> Mirror:
    """A new table with its host on a seat and house players on others. Raises `Refused`, also for a clock not offered."""
    if seconds not in CLOCKS:
        raise Refused(Why.WRONG_VALUE, "clock")
    taken = (seat, *houses)
    if len(set(taken)) < len(taken):
        raise Refused(Why.SEAT_TAKEN, "house")
    table = Table(dice.table_id(), host.id, rules, seconds, listed, clock())
    mirror = await tables.open(table)
    await tables.act(table.id, Actor(host.id), "open", Sit(host, seat))
    for one in taken[1:]:
        await tables.act(table.id, Actor(host.id), f"open:{one}", AddHouse(HOUSES, one))
    return mirror


async def add_house(tables: Tables, table: str, by: Actor, cid: str, seat: Seat | None) -> None:
    """Let a player of the house sit down on a seat, or on the first that is free."""
    await tables.act(table, by, cid, AddHouse(HOUSES, seat))


async def start(tables: Tables, table: str, by: Actor, cid: str) -> None:
    """Let the house fill the free seats and be ready; the game begins when all are."""
    await tables.act(table, by, cid, Start(HOUSES))


async def admit(tables: Tables, limits: Limits, table: str, *quotas: tuple[Quota, str]) -> None:
    """Counts a game that is about to begin at a table. Raises `Refused` if somebody has as many running as one may have."""
    for quota, who in quotas:
        oldest = await limits.count_game(quota, who, table)
        over = [one for one in oldest if not await _is_held(tables, quota, who, one)]
        if over:
            await limits.forget_games(quota, who, over)
            oldest = await limits.count_game(quota, who, table)
        if oldest:
            raise Refused(Why.TOO_MANY_GAMES)


async def _is_held(tables: Tables, quota: Quota, who: str, table: str) -> bool:
    """Whether a game is running there, or about to begin, for this one."""
    try:
        now = (await tables.mirror(table)).table
    except NewerFormat:
        return True
    except Refused as no:
        return no.why is not Why.NO_SUCH_TABLE
    if quota is not GAMES_OF_PERSON:
        return now.is_playing
    seat = now.seat_of(who)
    return seat is not None and not now.places[seat].gone and (now.is_playing or now.places[seat].ready)
