"""Finished games and their players, read from Postgres (port `History`)."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from sqlalchemy import ColumnElement, exists, or_, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker
from sqlalchemy.orm import selectinload

from app.game.refusal import Refused, Why
from app.game.seats import BySide, Seat, Side
from app.rating import Rating, shown
from app.store.models import Game, GameSeat, Player
from app.store.postgres import is_away
from app.tables.history import GameRecord, GameRow, PlayerRow, SeatRow, record, tell_deals
from app.wire.archive import read_archived, read_rules


class SqlHistory:
    """The shelf. Raises `Refused` with `BUSY` while the database cannot be reached."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._sessions = async_sessionmaker(engine)

    async def players(self, everyone: bool, limit: int, offset: int) -> Sequence[PlayerRow]:
        query = select(Player).order_by(Player.rating.desc(), Player.id.desc()).limit(limit).offset(offset)
        if not everyone:
            query = query.where(Player.rated > 0)
        async with self._reading() as session:
            return [_player(one) for one in await session.scalars(query)]

    async def player(self, id: str) -> PlayerRow | None:
        async with self._reading() as session:
            found = await session.get(Player, id)
            return None if found is None else _player(found)

    async def games(
        self, player: str | None, preset: str | None, asker: str | None, limit: int, offset: int
    ) -> Sequence[GameRow]:
        query = select(Game).options(selectinload(Game.seats)).order_by(Game.finished.desc(), Game.id.desc())
        query = query.where(Game.listed if asker is None else or_(Game.listed, _played(asker)))
        if player is not None:
            query = query.where(_played(player))
        if preset is not None:
            query = query.where(Game.preset == preset)
        async with self._reading() as session:
            return [_game(one, player) for one in await session.scalars(query.limit(limit).offset(offset))]

    async def game(self, id: str) -> GameRecord | None:
        async with self._reading() as session:
            found = await session.get(Game, id, options=[selectinload(Game.seats), selectinload(Game.entries)])
            if found is None:
                return None
            rules = read_rules(found.rules)
            entries = [read_archived(one.entry, one.at, one.due) for one in found.entries]
            return record(_game(found, None), rules, tell_deals(rules, entries))

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[AsyncSession]:
        try:
            async with self._sessions() as session:
                yield session
        except (SQLAlchemyError, OSError) as error:
            if is_away(error):
                raise Refused(Why.BUSY) from None
            raise


def _played(player: str) -> ColumnElement[bool]:
    """Whether a player sat in a game."""
    return exists().where(GameSeat.game == Game.id, GameSeat.player == player)


def _player(one: Player) -> PlayerRow:
    return PlayerRow(one.id, one.name, one.rating, one.games, one.won, one.rated, one.created, one.played)


def _game(one: Game, of: str | None) -> GameRow:
    winner = Side(one.winner)
    return GameRow(
        id=one.id,
        table=one.table_id,
        number=one.number,
        preset=one.preset,
        rated=one.rated,
        started=one.started,
        finished=one.finished,
        totals=BySide(one.total_a, one.total_b),
        winner=winner,
        deal_count=one.deal_count,
        seats=tuple(_seat(seat) for seat in one.seats),
        won=next((Seat(seat.seat).side is winner for seat in one.seats if of is not None and seat.player == of), None),
    )


def _seat(one: GameSeat) -> SeatRow:
    return SeatRow(
        seat=Seat(one.seat),
        kind="house" if one.player is None else "person",
        player=one.player or one.house or "",
        name=one.name,
        rating_before=_shown(one.mu_before, one.sigma_before),
        rating_after=_shown(one.mu_after, one.sigma_after),
    )


def _shown(mu: float | None, sigma: float | None) -> int | None:
    return None if mu is None or sigma is None else shown(Rating(mu, sigma))
