"""Finished games and their players, read from Postgres (port `History`)."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from heapq import merge
from itertools import islice
from typing import Any

import structlog
from sqlalchemy import ColumnElement, Double, Select, String, Text, cast, exists, func, or_, select, tuple_
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker
from sqlalchemy.orm import InstrumentedAttribute, selectinload

from app.game.refusal import Refused, Why
from app.game.rules import Rules
from app.game.seats import BySide, Seat, Side
from app.game.trump import Trump
from app.game.view import Row
from app.rating import Rating, shown
from app.store.models import Deal, Game, GameSeat, LogEntry, Player
from app.store.postgres import is_away
from app.tables.history import (
    Bookmark,
    CoincheCount,
    ContractCount,
    Ended,
    Filter,
    GameRecord,
    GameRow,
    GameSheet,
    PartnerCount,
    PlayerRow,
    PresetCount,
    SeatRow,
    Statistics,
    bookmark_of_game,
    record,
    tell_deals,
    with_sheet,
)
from app.tables.ports import NewerFormat
from app.tables.table import is_bot
from app.tables.tasks import Thread
from app.wire.archive import read_archived, read_row, read_rules

_log = structlog.get_logger()

FORM = 10
"""How many of the last games are a player's form."""

EXPORTED_AT_ONCE = 20
"""How many games an export holds in memory, and the loop makes of rows in one piece; between two such batches it holds no
connection either, however slow its reader."""

_LAST = "\U0010ffff"
"""No name has this letter, and it comes after all that they may have."""


class SqlHistory:
    """The shelf. Raises `Refused` with `BUSY` while the database cannot be reached."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._sessions = async_sessionmaker(engine)

    async def players(self, everyone: bool, name: str | None, after: Bookmark | None, limit: int) -> Sequence[PlayerRow]:
        query = select(Player).limit(limit)
        if not everyone:
            query = query.where(Player.rated > 0)
        query = query.where(Player.games > 0)  # or all that one has played was abandoned
        if name is None:
            query = query.order_by(Player.rating.desc(), Player.id.desc())
            if after is not None:
                query = query.where(tuple_(Player.rating, Player.id) < (after.key, after.id))
        else:
            query = query.order_by(Player.folded, Player.id).where(Player.folded >= name, Player.folded < name + _LAST)
            if after is not None:
                query = query.where(tuple_(Player.folded, Player.id) > (after.key, after.id))
        async with self._reading() as session:
            return [_player(one) for one in await session.scalars(query)]

    async def player(self, id: str) -> PlayerRow | None:
        async with self._reading() as session:
            found = await session.get(Player, id)
            return None if found is None else _player(found)

    async def statistics(self, id: str) -> Statistics | None:
        async with self._reading() as session:
            player = await session.get(Player, id)
            if player is None:
                return None
            counts = (await session.execute(_counts(id))).all()
            partner = (await session.execute(_best_partner(id))).first()
            last = select(GameSeat.won).where(GameSeat.player == id, GameSeat.won.is_not(None))
            form = await session.scalars(last.order_by(GameSeat.finished.desc(), GameSeat.game.desc()).limit(FORM))
            return _statistics(player, counts, None if partner is None else PartnerCount(*partner), tuple(map(bool, form)))

    async def games(self, which: Filter, asker: str | None, after: Bookmark | None, limit: int) -> Sequence[GameRow]:
        async with self._reading() as session:
            return [_game(one, which.player) for one in await _found(session, which, asker, after, limit)]

    async def export(self, which: Filter, asker: str | None, whole: bool) -> AsyncIterator[GameSheet | GameRecord]:
        after: Bookmark | None = None
        while True:
            async with self._reading() as session:
                found = await _found(session, which, asker, after, EXPORTED_AT_ONCE, () if whole else (Game.deals,))
            for one in found:
                row = _game(one, which.player)
                after = bookmark_of_game(row)
                try:
                    told = (
                        await self._whole(one.id, which.player)
                        if whole
                        else await _thread.do(_with_sheet, row, one.rules, one.deals)
                    )
                except NewerFormat as newer:
                    _log.warning("a game of a newer release was left out of an export", game=one.id, newer=str(newer))
                    continue
                if told is not None:
                    yield told
            if len(found) < EXPORTED_AT_ONCE:
                return

    async def game(self, id: str) -> GameRecord | None:
        return await self._whole(id, None)

    async def _whole(self, id: str, of: str | None) -> GameRecord | None:
        async with self._reading() as session:
            found = await session.get(Game, id, options=[selectinload(Game.seats)])
            if found is None:
                return None
            row, rules = _game(found, of), read_rules(found.rules)
            # As text: what a log of some hundred entries says is read where it is played through once more.
            entries = select(cast(LogEntry.entry, Text), LogEntry.at, LogEntry.due).where(LogEntry.game == id)
            stored = (await session.execute(entries.order_by(LogEntry.seq))).all()
        return await _thread.do(_record, row, rules, stored)

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[AsyncSession]:
        try:
            async with self._sessions() as session:
                yield session
        except (SQLAlchemyError, OSError) as error:
            if is_away(error):
                raise Refused(Why.BUSY) from None
            raise


_thread = Thread("history")
"""Games are played through once more here, which takes its time; meanwhile others are served."""


def _record(row: GameRow, rules: Rules, stored: Sequence[Any]) -> GameRecord:
    return record(row, rules, tell_deals(rules, [read_archived(*one) for one in stored]))


def _with_sheet(row: GameRow, rules: dict[str, Any], deals: Sequence[Deal]) -> GameSheet:
    return with_sheet(row, read_rules(rules), tuple(_rows(deals)))


# --- games -----------------------------------------------------------------------------------------------------------


async def _found(
    session: AsyncSession,
    which: Filter,
    asker: str | None,
    after: Bookmark | None,
    limit: int,
    also: Sequence[InstrumentedAttribute[Any]] = (),
) -> Sequence[Game]:
    """The first games after the bookmark, with their seats. Each question is answered in the order of one index."""
    questions = [_listed(which)] if which.player is None else [_of_player(which, which.player, asker)]
    if which.player is None and asker is not None:
        questions.append(_unlisted_of(which, asker))
    answers = []
    for query, finished, game in questions:
        if which.since is not None:
            query = query.where(finished >= which.since)
        if which.until is not None:
            query = query.where(finished < which.until)
        if after is not None:
            query = query.where(tuple_(finished, game) < (after.key, after.id))
        answers.append((await session.execute(query.order_by(finished.desc(), game.desc()).limit(limit))).all())
    first = islice(merge(*answers, reverse=True), limit)
    ids = [name for _, name in first]
    if not ids:
        return ()
    options = [selectinload(Game.seats), *(selectinload(one) for one in also)]
    games = await session.scalars(select(Game).where(Game.id.in_(ids)).options(*options))
    return sorted(games, key=lambda game: (game.finished, game.id), reverse=True)


_Question = tuple[Select[int, str], InstrumentedAttribute[Any], InstrumentedAttribute[str]]
"""What is asked for, and the two columns it is in order of."""


def _listed(which: Filter) -> _Question:
    """Games that anybody may find."""
    return select(Game.finished, Game.id).where(Game.listed, *_of_game(which)), Game.finished, Game.id


def _unlisted_of(which: Filter, asker: str) -> _Question:
    """The others that somebody has played."""
    query = select(GameSeat.finished, GameSeat.game).join(Game, Game.id == GameSeat.game)
    query = query.where(GameSeat.player == asker, GameSeat.listed.is_(False), *_of_game(which))
    return query, GameSeat.finished, GameSeat.game  # type: ignore[return-value]


def _of_game(which: Filter) -> list[ColumnElement[bool]]:
    """What is asked of a game, whoever played it."""
    asked: list[ColumnElement[bool]] = []
    if which.preset is not None:
        asked.append(Game.preset == which.preset)
    if which.rated is not None:
        asked.append(Game.rated.is_(which.rated))
    if which.contract is not None:
        asked.append(_names(Game.contracts, which.contract))
    return asked


def _of_player(which: Filter, player: str, asker: str | None) -> _Question:
    """Games of one player, that anybody may find or who asks has played."""
    query = select(GameSeat.finished, GameSeat.game).where(GameSeat.player == player, GameSeat.finished.is_not(None))
    if asker is None:
        query = query.where(GameSeat.listed.is_(True))
    elif asker != player:
        too = GameSeat.__table__.alias()
        query = query.where(or_(GameSeat.listed.is_(True), exists().where(too.c.game == GameSeat.game, too.c.player == asker)))
    if which.partner is not None:
        query = query.where(GameSeat.partner == which.partner)
    if which.preset is not None:
        query = query.where(GameSeat.preset == which.preset)
    if which.won is not None:
        query = query.where(GameSeat.won.is_(which.won))
    if which.rated is not None:
        query = query.where(GameSeat.mu_before.is_not(None) if which.rated else GameSeat.mu_before.is_(None))
    if which.contract is not None:
        query = query.where(_names(GameSeat.contracts, which.contract))
    return query, GameSeat.finished, GameSeat.game  # type: ignore[return-value]


def _names(contracts: InstrumentedAttribute[list[str] | None], name: str) -> ColumnElement[bool]:
    return contracts.contains(cast([name], ARRAY(String)))


def _rows(deals: Sequence[Deal]) -> Sequence[Row]:
    """The score sheet."""
    totals, rows = BySide(0, 0), []
    for one in deals:
        totals = BySide(totals.A + one.score_a, totals.B + one.score_b)
        rows.append(
            read_row(
                {
                    "deal": one.number,
                    "dealer": one.dealer,
                    "contract": one.contract,
                    "made": one.made,
                    "trick_points": _sides(one.trick_points_a, one.trick_points_b),
                    "tricks_won": _sides(one.tricks_won_a, one.tricks_won_b),
                    "score": _sides(one.score_a, one.score_b),
                    "totals": _sides(totals.A, totals.B),
                    "lines": one.lines,
                }
            )
        )
    return rows


def _sides(a: int | None, b: int | None) -> dict[str, int | None] | None:
    return None if a is None else {"A": a, "B": b}


# --- statistics ------------------------------------------------------------------------------------------------------


def _counts(player: str) -> Select[Any]:
    """For each preset what a player has done: games, won, then the sums that `_statistics` reads by their names."""
    of_seat = ("taken", "made", "bids", "coinches", "coinches_won", "capots", "belotes")
    sums = [func.sum(getattr(GameSeat, name)).label(name) for name in of_seat]
    trumps = [func.sum(GameSeat.trumps[place]).label(trump.name) for place, trump in enumerate(Trump, 1)]
    won = func.count().filter(GameSeat.won.is_(True)).label("won")
    query = select(GameSeat.preset, func.count().label("games"), won, *sums, *trumps)
    return query.where(GameSeat.player == player, GameSeat.won.is_not(None)).group_by(GameSeat.preset)


def _best_partner(player: str) -> Select[str, str, int, int]:
    """With whom the player wins most, as far as anybody may know: by (won + 1) / (games + 2), so that luck is not all."""
    games, won = func.count(), func.count().filter(GameSeat.won.is_(True))
    together = (
        select(GameSeat.partner, games.label("games"), won.label("won"))
        .where(
            GameSeat.player == player,
            GameSeat.partner.is_not(None),
            GameSeat.listed.is_(True),
            GameSeat.won.is_not(None),
        )
        .group_by(GameSeat.partner)
        .order_by(((won + 1) / cast(games + 2, Double)).desc(), games.desc(), GameSeat.partner)
        .limit(1)
        .subquery()
    )
    return select(Player.id, Player.name, together.c.games, together.c.won).join(together, Player.id == together.c.partner)


def _statistics(player: Player, counts: Sequence[Any], partner: PartnerCount | None, form: tuple[bool, ...]) -> Statistics:
    def total(name: str) -> int:
        return sum(int(getattr(row, name)) for row in counts)

    presets = sorted(
        (PresetCount(row.preset, row.games, row.won) for row in counts), key=lambda one: (-one.games, one.preset or "")
    )
    trumps = {trump: total(trump.name) for trump in Trump}
    taken, bids = total("taken"), total("bids")
    return Statistics(
        id=player.id,
        name=player.name,
        games=total("games"),
        won=total("won"),
        presets=tuple(presets),
        contracts=ContractCount(taken, total("made"), round(bids / taken, 1) if taken else None),
        coinches=CoincheCount(total("coinches"), total("coinches_won")),
        capots=total("capots"),
        belotes=total("belotes"),
        favourite_trump=max(Trump, key=lambda trump: trumps[trump]) if taken else None,
        best_partner=partner,
        form=form,
    )


# --- rows ------------------------------------------------------------------------------------------------------------


def _player(one: Player) -> PlayerRow:
    return PlayerRow(one.id, one.name, is_bot(one.id), one.rating, one.games, one.won, one.rated, one.created, one.played)


def _game(one: Game, of: str | None) -> GameRow:
    winner = None if one.winner is None else Side(one.winner)
    return GameRow(
        id=one.id,
        table=one.table_id,
        number=one.number,
        preset=one.preset,
        rated=one.rated,
        ended=Ended(one.ended),
        started=one.started,
        finished=one.finished,
        totals=BySide(one.total_a, one.total_b),
        winner=winner,
        deal_count=one.deal_count,
        seats=tuple(_seat(seat) for seat in one.seats),
        won=None if winner is None else _has_won(one.seats, of, winner),
    )


def _has_won(seats: Sequence[GameSeat], player: str | None, winner: Side) -> bool | None:
    return next((Seat(seat.seat).side is winner for seat in seats if player is not None and seat.player == player), None)


def _seat(one: GameSeat) -> SeatRow:
    return SeatRow(
        seat=Seat(one.seat),
        kind="house" if one.player is None else "person",
        player=one.player or one.house or "",
        name=one.name,
        bot=one.player is not None and is_bot(one.player),
        rating_before=_shown(one.mu_before, one.sigma_before),
        rating_after=_shown(one.mu_after, one.sigma_after),
    )


def _shown(mu: float | None, sigma: float | None) -> int | None:
    return None if mu is None or sigma is None else shown(Rating(mu, sigma))
