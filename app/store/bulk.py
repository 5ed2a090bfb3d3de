"""Many finished games at once, brought to Postgres by COPY, in one transaction: all of them, or nothing."""

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import JSONB

from app.store.models import Base, Deal, Game, GameSeat, LogEntry, Moment, Player
from app.store.postgres import connect
from app.store.rows import Values

Record = tuple[Any, ...]
PATIENCE = 600
"""Seconds that one COPY may take."""


class AlreadyThere(Exception):
    """A game or a player of this name is stored already; nothing was."""


class _Form:
    """How rows of one table are written for COPY: their columns in order, and each value as the driver wants it."""

    def __init__(self, model: type[Base]) -> None:
        table = model.__table__
        self.table = str(table.name)  # type: ignore[attr-defined]
        self.columns = [column.name for column in table.columns]
        self._moments = {column.name for column in table.columns if isinstance(column.type, Moment)}
        self._json = {column.name for column in table.columns if isinstance(column.type, JSONB)}

    def record(self, row: Values) -> Record:
        return tuple(self._value(name, row[name]) for name in self.columns)

    def _value(self, name: str, value: Any) -> Any:
        if value is None:
            return None
        if name in self._moments:
            return Moment().process_bind_param(value, None)  # type: ignore[arg-type]
        return json.dumps(value, ensure_ascii=False) if name in self._json else value


_PLAYERS, _GAMES, _SEATS, _DEALS, _ENTRIES = map(_Form, (Player, Game, GameSeat, Deal, LogEntry))


class Shelf:
    """Takes rows in, while `filling` lasts."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    async def add_players(self, rows: Iterable[Values]) -> None:
        await self._copy(_PLAYERS, [_PLAYERS.record(row) for row in rows])

    async def add_games(
        self,
        games: Iterable[Values],
        seats: Iterable[Values],
        deals: Iterable[tuple[str, Sequence[Record]]],
        entries: Iterable[Values],
    ) -> None:
        """Games with what belongs to them; the deals are told by the game and what `prepared` made of their rows."""
        await self._copy(_GAMES, [_GAMES.record(row) for row in games])
        await self._copy(_SEATS, [_SEATS.record(row) for row in seats])
        await self._copy(_DEALS, [(game, *rest) for game, rows in deals for rest in rows])
        await self._copy(_ENTRIES, [_ENTRIES.record(row) for row in entries])

    async def _copy(self, form: _Form, records: Sequence[Record]) -> None:
        if records:
            await self._connection.copy_records_to_table(form.table, records=records, columns=form.columns, timeout=PATIENCE)


async def are_there(database_url: str, players: Sequence[str]) -> bool:
    """Whether one of these players is known."""
    engine = connect(database_url)
    try:
        async with engine.connect() as connection:
            return await connection.scalar(select(Player.id).where(Player.id.in_(players)).limit(1)) is not None
    finally:
        await engine.dispose()


def prepared(deals: Iterable[Values]) -> list[Record]:
    """Rows of deals without their game, ready for any number of games in which they were dealt."""
    return [_DEALS.record(row)[1:] for row in deals]


@asynccontextmanager
async def filling(database_url: str) -> AsyncIterator[Shelf]:
    """A shelf; what was put there is kept if the context ends well, and then counted for the planner. Raises `AlreadyThere`."""
    engine = connect(database_url)
    try:
        async with engine.connect() as connection:
            driver = (await connection.get_raw_connection()).driver_connection
            assert driver is not None
            try:
                async with driver.transaction():
                    yield Shelf(driver)
            except asyncpg.UniqueViolationError as error:
                raise AlreadyThere(error.table_name or "") from None
            await driver.execute("VACUUM (ANALYZE) players, games, seats, deals, entries", timeout=PATIENCE)
    finally:
        await engine.dispose()
