"""How finished games come to Postgres, each of them once, from any number of processes.

A game waits in the outbox of its shard until one transaction has stored it; only then is it taken out. Whoever dies in between
leaves it there, and storing it again changes nothing.
"""

import asyncio
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from redis.exceptions import RedisError, ResponseError
from sqlalchemy import insert, select
from sqlalchemy.dialects.postgresql import insert as insert_if
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker
from sqlalchemy.orm import selectinload

from app import metrics
from app.game.refusal import Refused, Why
from app.game.seats import SEATS, Seat
from app.rating import Rating, after, is_rated, shown
from app.store.keys import SHARDS, TABLE_DAYS, Keys, dead_of, kept_ms, outboxes
from app.store.log import RedisLog
from app.store.models import Deal, Game, GameSeat, LogEntry, Player
from app.store.postgres import is_away
from app.store.rows import counted, deal_rows, entry_rows, game_row, names_of, seat_row, tallies_of
from app.store.server import AWAY, Store, call, reply, together
from app.tables.history import Ended, Tally, Told, folded, tally, tell
from app.tables.hooks import finished
from app.tables.ports import Entry, NewerFormat
from app.tables.table import Person
from app.tables.tasks import heed
from app.wire.archive import read_archived, read_rules
from app.wire.hooks import write_notice
from app.wire.log import read_frame

GROUP = "archive"
"""The consumer group, and its one consumer: a game belongs to nobody, and whoever asks gets the next."""

AT_ONCE = 8
TRIES = 5
STALE_MS = 30_000
"""How long a game that was read and not stored is left alone before it is tried again."""

LOOK_SECONDS = 0.5
BEHIND_SECONDS = 60
"""How often it is looked whether a process of an earlier release has stored something."""

LONGEST_WAIT = 8.0

_log = structlog.get_logger()


class Away(Exception):
    """Postgres could not be reached; the games wait."""


@dataclass(frozen=True, slots=True)
class _Letter:
    """A finished game in an outbox."""

    outbox: str
    id: str
    fields: Mapping[str, str]

    @property
    def dead(self) -> str:
        """The stream of letters that could not be archived."""
        return dead_of(self.outbox)

    @property
    def tries(self) -> str:
        """How often each letter has failed by its own fault."""
        return f"{self.outbox}:tries"


class Archive:
    """Stores what is finished. It may run in every process, and in several at once."""

    def __init__(self, redis: Store, engine: AsyncEngine, stale_ms: int = STALE_MS, days: int = TABLE_DAYS) -> None:
        self._redis = redis
        self._games = RedisLog(redis)
        self._sessions = async_sessionmaker(engine)
        self._stale_ms = stale_ms
        self._kept = kept_ms(days)
        self._has_groups = False

    async def run(self) -> None:
        """Archive finished games until cancelled. While a server is away the games wait, however long."""
        failures, behind = 0, 0.0
        while True:
            heed()
            try:
                await self.drain_once()
                if time.monotonic() >= behind and not await self.catch_up():
                    behind = time.monotonic() + BEHIND_SECONDS
            except (Away, RedisError, Refused, OSError, *AWAY) as error:
                if failures == 0:
                    _log.warning("the archive waits for a server", error=type(error.__cause__ or error).__name__)
                self._has_groups = False
                await asyncio.sleep(random.uniform(0, min(LONGEST_WAIT, LOOK_SECONDS * 2**failures)))
                failures = min(failures + 1, 10)
            else:
                if failures:
                    _log.info("the archive goes on")
                failures = 0
                await asyncio.sleep(LOOK_SECONDS)

    async def drain_once(self) -> int:
        """Archive what waits now; returns how many games were taken out. Raises `Away`, and then what is left waits."""
        if not self._has_groups:
            await self._make_groups()
        return sum([await self._archive(letter) for letter in await self._letters()])

    async def catch_up(self) -> int:
        """Count some of what an earlier release has stored uncounted, then or just now; returns how many. Raises `Away`."""
        try:
            async with self._sessions.begin() as session:
                return await count_games(session, AT_ONCE) + await fold_names(session, AT_ONCE)
        except Exception as error:
            if is_away(error):
                raise Away from error
            raise

    async def _make_groups(self) -> None:
        for outbox in outboxes():
            try:
                await reply(self._redis.xgroup_create(outbox, GROUP, id="0", mkstream=True))
            except ResponseError as error:
                if "BUSYGROUP" not in str(error):
                    raise
        self._has_groups = True

    async def _letters(self) -> Sequence[_Letter]:
        """Letters nobody has read, and those that were read and left lying."""
        stale = await self._read(lambda to, outbox: to.xautoclaim(outbox, GROUP, GROUP, self._stale_ms, count=AT_ONCE))
        fresh = await self._read(lambda to, outbox: to.xreadgroup(GROUP, GROUP, {outbox: ">"}, count=AT_ONCE))
        letters = []
        for outbox, old, new in zip(outboxes(), stale, fresh, strict=True):
            rows = [*(old[1] if old else ()), *(row for _, rows in new or () for row in rows)]
            letters += [_Letter(outbox, name, fields) for name, fields in rows if fields]
        return letters

    async def _read(self, ask: Callable[[Any, str], Any]) -> Sequence[Any]:
        """What each outbox answers; in a cluster those whose server is away wait, and the others do not."""
        answers = await together(self._redis, lambda to: [ask(to, outbox) for outbox in outboxes()])
        for answer in answers:
            if isinstance(answer, Exception) and not isinstance(answer, AWAY):
                raise answer
        if all(isinstance(answer, Exception) for answer in answers):
            raise Refused(Why.BUSY)
        return [None if isinstance(answer, Exception) else answer for answer in answers]

    async def _archive(self, letter: _Letter) -> bool:
        """Store a game and take its letter out. One that cannot be stored stops no other, and goes aside in the end."""
        try:
            told = await self._store(letter.fields)
        except NewerFormat:
            return False  # a newer process will read it
        except (*AWAY, RedisError, Refused):
            raise
        except Exception as error:
            if is_away(error):
                raise Away from error
            return await self._failed(letter, error)
        await self._take_out(letter, notice=write_notice(finished(told)))
        metrics.archived.inc()
        return True

    async def _store(self, fields: Mapping[str, str]) -> Told:
        first, last = int(fields["first"]), int(fields["last"])
        entries = await self._games.between(fields["table"], first, last)
        if [entry.seq for entry in entries] != list(range(first, last + 1)):
            raise ValueError("the log has a gap")
        told = tell(read_frame(fields["frame"]), entries)
        async with self._sessions.begin() as session:
            await keep(session, told, entries)
        return told

    async def _failed(self, letter: _Letter, error: Exception) -> bool:
        tries: int = await reply(self._redis.hincrby(letter.tries, letter.id, 1))
        if tries < TRIES:
            return False
        _log.error(
            "a finished game cannot be archived and was put aside",
            game=letter.fields.get("game"),
            stream=letter.dead,
            error=type(error).__name__,
        )
        await self._take_out(letter, type(error).__name__)
        return True

    async def _take_out(self, letter: _Letter, wrong: str = "", notice: str = "") -> None:
        """An archived game frees its table, and hooks hear of it; one with which something is wrong holds its table."""
        of = Keys(letter.fields.get("table", ""))
        if of.outbox != letter.outbox:  # there is no such table, and all keys have to lie together
            of = Keys(next(shard for shard in SHARDS if Keys(shard).outbox == letter.outbox))
        keys = [*of.lasting, letter.outbox, letter.tries, letter.dead, of.notices]
        await call(self._redis, "take_out", keys, letter.id, GROUP, self._kept, wrong, notice)


async def keep(session: AsyncSession, told: Told, entries: Sequence[Entry]) -> bool:
    """Store a game with all that follows from it, unless it is there already; returns whether it was not."""
    game = told.game
    people = {seat: one for seat, one in zip(SEATS, told.occupants, strict=True) if isinstance(one, Person)}
    players_seats = [seat for seat, one in people.items() if not one.is_bot]
    rated = is_rated(game.rules, players_seats, told.acted, told.ended is Ended.PLAYED)
    tallies = tallies_of(game.rules, entries)
    row = game_row(told, rated, tallies)
    new = await session.scalar(insert_if(Game).values(row).on_conflict_do_nothing().returning(Game.id))
    if new is None:
        return False
    players = await _locked(session, people.values(), told.finished)
    before = {seat: Rating(players[one.id].mu, players[one.id].sigma) for seat, one in people.items()} if rated else {}
    rates: dict[Seat, Rating] = {}
    if rated and told.winner is not None:
        rates = dict(zip(SEATS, after(tuple(before[seat] for seat in SEATS), told.winner), strict=True))
    for seat, one in people.items():
        _count(players[one.id], one.name, told, seat, rates.get(seat))
    seats = [seat_row(row, told.occupants, seat, tallies[seat], before.get(seat), rates.get(seat)) for seat in SEATS]
    await session.execute(insert(GameSeat), seats)
    if deals := deal_rows(told):  # an abandoned game may have none that was finished
        await session.execute(insert(Deal), deals)
    await session.execute(insert(LogEntry), entry_rows(game.id, entries))
    return True


async def count_games(session: AsyncSession, limit: int) -> int:
    """Fill the columns that an earlier release did not know, for some games; returns how many."""
    behind = select(Game).where(Game.contracts.is_(None)).order_by(Game.id).limit(limit).with_for_update(skip_locked=True)
    games = (await session.scalars(behind.options(selectinload(Game.seats), selectinload(Game.entries)))).all()
    for one in games:
        tallies = _tallies(one)
        row = {"finished": one.finished, "listed": one.listed, "preset": one.preset, "winner": one.winner}
        players = {Seat(seat.seat): seat.player for seat in one.seats}
        for place in one.seats:
            seat = Seat(place.seat)
            for name, value in counted(row, seat, players[seat.partner], tallies[seat]).items():
                setattr(place, name, value)
        one.contracts = names_of(tallies)
    return len(games)


def _tallies(game: Game) -> Sequence[Tally]:
    """What each seat did; where the log cannot be told, nothing that is known."""
    try:
        entries = [read_archived(entry.entry, entry.at, entry.due) for entry in game.entries]
        return tallies_of(read_rules(game.rules), entries)
    except Exception as error:
        _log.error("a stored game cannot be counted", game=game.id, error=type(error).__name__)
        return [tally((), seat) for seat in SEATS]


async def fold_names(session: AsyncSession, limit: int) -> int:
    """The same for some players."""
    behind = select(Player).where(Player.folded.is_(None)).order_by(Player.id).limit(limit).with_for_update(skip_locked=True)
    players = (await session.scalars(behind)).all()
    for one in players:
        one.folded = folded(one.name)
    return len(players)


async def _locked(session: AsyncSession, people: Iterable[Person], finished: int) -> Mapping[str, Player]:
    """The players by id, new ones among them, locked in the order of their ids so that no two games wait for each other."""
    new = Rating()
    rows = [
        {
            "id": one.id,
            "name": one.name,
            "folded": folded(one.name),
            "mu": new.mu,
            "sigma": new.sigma,
            "rating": shown(new),
            "games": 0,
            "won": 0,
            "rated": 0,
            "created": finished,
            "played": finished,
        }
        for one in sorted(people, key=lambda one: one.id)
    ]
    await session.execute(insert_if(Player).values(rows).on_conflict_do_nothing())
    ids = [row["id"] for row in rows]
    found = await session.scalars(select(Player).where(Player.id.in_(ids)).order_by(Player.id).with_for_update())
    return {player.id: player for player in found}


def _count(player: Player, name: str, told: Told, seat: Seat, rating: Rating | None) -> None:
    """Add a game to what is known of a player, who goes by the name of the last one. An abandoned one is none."""
    player.games += told.winner is not None
    player.won += seat.side is told.winner
    if told.finished >= player.played:
        player.name, player.folded, player.played = name, folded(name), told.finished
    if rating is not None:
        player.rated += 1
        player.mu, player.sigma, player.rating = rating.mu, rating.sigma, shown(rating)
