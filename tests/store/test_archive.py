"""Finished games reach Postgres, each of them once, whatever dies in between."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from structlog.testing import capture_logs

from app.embedded import running
from app.game.rules import PRESETS, Rules
from app.game.seats import SEATS
from app.game.view import sheet
from app.rating import Rating, after, shown
from app.store import outbox as outbox_store
from app.store.archive import GROUP, TRIES, Archive, Away
from app.store.history import SqlHistory
from app.store.keys import outboxes
from app.store.log import RedisLog
from app.store.models import Deal, Game, GameSeat, LogEntry, Player
from app.store.outbox import count_aside, list_aside, put_back
from app.store.postgres import connect
from app.store.prepare import upgrade
from app.tables.history import tell
from app.tables.notices import GameFinished
from app.tables.ports import Entry
from app.tables.table import House, Occupant, Person
from app.wire.archive import read_archived, write_row
from app.wire.hooks import read_notice
from tests.finished import FOUR, Script, played, store
from tests.people import PATIENCE

RULES = PRESETS["announced-701"]
OUTBOX, NOTICES = "{s0b}outbox", "{s0b}notices"
HOUSE_GAME: tuple[Occupant, ...] = (*FOUR[:2], House("alma", "Alma"), House("basil", "Basil"))
BOT_GAME: tuple[Occupant, ...] = (*FOUR[:3], Person("b_robi", "Robi"))


@pytest.fixture
def archive(valkey: Redis, postgres: AsyncEngine) -> Archive:
    """An archive that tries again at once."""
    return Archive(valkey, postgres, stale_ms=0)


async def rows(engine: AsyncEngine, model: type[Game | GameSeat | Deal | LogEntry | Player]) -> int:
    async with AsyncSession(engine) as session:
        return await session.scalar(select(func.count()).select_from(model)) or 0


async def players(engine: AsyncEngine) -> dict[str, Player]:
    async with AsyncSession(engine) as session:
        return {one.id: one for one in await session.scalars(select(Player))}


async def kept(engine: AsyncEngine, game: str) -> Sequence[Entry]:
    async with AsyncSession(engine) as session:
        found = await session.scalars(select(LogEntry).where(LogEntry.game == game).order_by(LogEntry.seq))
        return [read_archived(one.entry, one.at, one.due) for one in found]


async def waiting(valkey: Redis) -> int:
    return sum([await valkey.xlen(outbox) for outbox in outboxes()])


async def until_taken_out(valkey: Redis) -> None:
    async with asyncio.timeout(PATIENCE):
        while await waiting(valkey):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def letters(valkey: Redis, stream: str) -> Sequence[dict[Any, Any]]:
    return [dict(fields or {}) for _, fields in await valkey.xrange(stream) or ()]


@pytest.mark.parametrize("preset", PRESETS)
async def test_a_game_comes_back_as_it_was_played(preset: str, valkey: Redis, postgres: AsyncEngine, archive: Archive) -> None:
    script = played(PRESETS[preset], seed=3)
    log = await store(RedisLog(valkey), script)
    assert await archive.drain_once() == 1
    entries = await kept(postgres, script.game.id)
    assert entries == list(log)
    assert [replace(entry, at=0) for entry in entries] == list(script.entries)
    assert tell(script.opened, entries).game == script.game
    async with AsyncSession(postgres) as session:
        game = await session.get_one(Game, script.game.id)
        deals = list(await session.scalars(select(Deal).order_by(Deal.number)))
    assert (game.total_a, game.total_b) == tuple(script.game.totals)
    assert (game.preset, game.rated, game.deal_count, len(game.rules)) == (preset, True, len(deals), len(Rules.__slots__))
    assert game.started == log[0].at <= game.finished == log[-1].at
    for deal, row in zip(deals, sheet(script.game), strict=True):
        assert (deal.number, deal.dealer, deal.made) == (row.deal, row.dealer, row.made)
        assert (deal.score_a, deal.score_b) == tuple(row.score)
        assert (deal.contract, deal.lines) == (write_row(row)["contract"], write_row(row)["lines"])


async def test_read_back_each_deal_is_as_it_lay_on_the_table(valkey: Redis, postgres: AsyncEngine, archive: Archive) -> None:
    script = played(PRESETS["ffb-2000"], seed=3)
    await store(RedisLog(valkey), script)
    await archive.drain_once()
    record = await SqlHistory(postgres).game(script.game.id)
    assert record
    assert record.rules == script.game.rules
    assert len(record.deals) == len(script.game.deals)
    for deal, row in zip(record.deals, sheet(script.game), strict=True):
        assert all(getattr(deal, name) == getattr(row, name) for name in row.__slots__)
        assert {card for hand in deal.hands for card in hand} == {
            card for hand in script_hands(script, row.deal) for card in hand
        }
        laid = [{one.card for trick in deal.tricks for one in trick.cards if one.seat is seat} for seat in SEATS]
        assert len(deal.tricks) == (8 if row.contract else 0)
        assert laid == [set(hand) for hand in deal.hands] or not row.contract
        assert deal.calls
        assert deal.redeal is None or not row.contract


def script_hands(script: Script, deal: int) -> Sequence[Sequence[str]]:
    events = [event for entry in script.entries for event in entry.events]
    return next(hands for event in events if (hands := getattr(event, "hands", None)) and getattr(event, "deal", None) == deal)


async def test_archived_letters_are_taken_out(valkey: Redis, archive: Archive) -> None:
    await store(RedisLog(valkey), played(RULES))
    await archive.drain_once()
    assert await waiting(valkey) == 0
    assert (await valkey.xpending(OUTBOX, GROUP))["pending"] == 0
    assert await archive.drain_once() == 0


async def test_a_game_delivered_twice_counts_once(valkey: Redis, postgres: AsyncEngine, archive: Archive) -> None:
    script = played(RULES)
    await store(RedisLog(valkey), script)
    [letter] = await letters(valkey, OUTBOX)
    await archive.drain_once()
    once = {(one.id, one.mu, one.games) for one in (await players(postgres)).values()}
    await valkey.xadd(OUTBOX, letter)
    assert await archive.drain_once() == 1
    assert {(one.id, one.mu, one.games) for one in (await players(postgres)).values()} == once
    assert await rows(postgres, LogEntry) == len(script.entries)
    assert await waiting(valkey) == 0


async def test_a_game_that_ends_again_otherwise_keeps_its_first_end(
    valkey: Redis, postgres: AsyncEngine, archive: Archive
) -> None:
    """A Valkey brought back from a copy that was taken before the game ended, with a Postgres that knows the end."""
    script, again = played(RULES), played(RULES, 2)
    assert script.game.id == again.game.id
    first = await store(RedisLog(valkey), script)
    await archive.drain_once()
    once = {(one.id, one.mu, one.games) for one in (await players(postgres)).values()}
    await valkey.delete(*await valkey.keys(f"*t:{script.opened.id}*"))
    await store(RedisLog(valkey), again)
    assert await archive.drain_once() == 1
    assert await kept(postgres, script.game.id) == list(first)
    assert {(one.id, one.mu, one.games) for one in (await players(postgres)).values()} == once
    assert await waiting(valkey) == 0


async def test_death_between_commit_and_acknowledgement_counts_once(
    valkey: Redis, postgres: AsyncEngine, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def dies(*_: object, **__: object) -> None:
        raise asyncio.CancelledError

    await store(RedisLog(valkey), played(RULES))
    doomed = Archive(valkey, postgres)
    monkeypatch.setattr(doomed, "_take_out", dies)
    with pytest.raises(asyncio.CancelledError):
        await doomed.drain_once()
    assert await rows(postgres, Game) == 1
    assert await waiting(valkey) == 1
    assert await valkey.xlen(NOTICES) == 0
    assert await archive.drain_once() == 1
    assert {one.games for one in (await players(postgres)).values()} == {1}
    assert await waiting(valkey) == 0
    waits: Any = await valkey.xrange(NOTICES)
    [(_, notice)] = waits  # hooks hear of it once, when it is in the history
    told = read_notice(notice["notice"], None)
    assert isinstance(told, GameFinished)
    assert told.game == "0b-k2m7q9x4wz/1"


async def test_a_letter_read_by_somebody_who_died_is_not_lost(valkey: Redis, postgres: AsyncEngine, archive: Archive) -> None:
    await archive.drain_once()
    await store(RedisLog(valkey), played(RULES))
    await valkey.xreadgroup(GROUP, GROUP, {OUTBOX: ">"})
    assert await Archive(valkey, postgres).drain_once() == 0  # it may still be alive
    assert await archive.drain_once() == 1


async def test_many_archives_at_once_count_each_game_once(valkey: Redis, postgres: AsyncEngine) -> None:
    scripts = [played(RULES, seed, table=f"0{seed}-k2m7q9x4wz") for seed in range(1, 5)]
    for script in scripts:
        await store(RedisLog(valkey), script)
    await asyncio.gather(*(Archive(valkey, postgres, stale_ms=0).drain_once() for _ in range(3)))
    assert await rows(postgres, Game) == len(scripts)
    assert await rows(postgres, GameSeat) == 4 * len(scripts)
    found = (await players(postgres)).values()
    assert {(one.games, one.rated) for one in found} == {(4, 4)}
    assert sum(one.won for one in found) == 2 * len(scripts)
    assert await waiting(valkey) == 0


async def test_ratings_move_with_the_result(valkey: Redis, postgres: AsyncEngine, archive: Archive) -> None:
    script = played(RULES)
    await store(RedisLog(valkey), script)
    await archive.drain_once()
    winner = tell(script.opened, script.entries).winner
    assert winner is not None
    found = await players(postgres)
    for seat, rating in zip(SEATS, after((Rating(),) * 4, winner), strict=True):
        player = found[FOUR[seat].id]
        assert (player.mu, player.sigma, player.rating) == (rating.mu, rating.sigma, shown(rating))
        assert (player.games, player.won, player.rated) == (1, seat.side is winner, 1)
    async with AsyncSession(postgres) as session:
        for one in await session.scalars(select(GameSeat)):
            assert (one.mu_before, one.mu_after) == (Rating().mu, found[FOUR[one.seat].id].mu)


@pytest.mark.parametrize(
    ("rules", "occupants"),
    [(replace(RULES, target=300), FOUR), (RULES, HOUSE_GAME), (RULES, BOT_GAME)],
    ids=["own rules", "with the house", "with a bot"],
)
async def test_other_games_are_kept_and_not_rated(
    rules: Rules, occupants: tuple[Occupant, ...], valkey: Redis, postgres: AsyncEngine, archive: Archive
) -> None:
    await store(RedisLog(valkey), played(rules, occupants=occupants))
    await archive.drain_once()
    for player in (await players(postgres)).values():
        assert (player.games, player.rated, player.mu, player.rating) == (1, 0, Rating().mu, 1000)
    async with AsyncSession(postgres) as session:
        assert not await session.scalar(select(Game.rated))
        seats = list(await session.scalars(select(GameSeat).order_by(GameSeat.seat)))
    assert [seat.player or seat.house for seat in seats] == [
        getattr(one, "id", None) or getattr(one, "player", None) for one in occupants
    ]
    assert {seat.mu_after for seat in seats} == {None}


async def test_a_poisoned_letter_goes_aside_after_five_tries(valkey: Redis, postgres: AsyncEngine, archive: Archive) -> None:
    poisoned, sound = played(RULES), played(RULES, 2, table="0b-other9x4wz")
    await store(RedisLog(valkey), poisoned)
    await store(RedisLog(valkey), sound)
    await valkey.xdel(f"{{s0b}}t:{poisoned.opened.id}:log", "5-0")
    with capture_logs() as logs:
        taken = [await archive.drain_once() for _ in range(TRIES + 1)]
    assert taken == [1, 0, 0, 0, 1, 0]
    assert await rows(postgres, Game) == 1
    [aside] = await letters(valkey, f"{OUTBOX}:dead")
    assert (aside["game"], aside["error"]) == (poisoned.game.id, "ValueError")
    assert await valkey.exists(f"{OUTBOX}:tries") == 0
    [line] = logs
    assert line == {
        "event": "a finished game cannot be archived and was put aside",
        "log_level": "error",
        "game": poisoned.game.id,
        "stream": f"{OUTBOX}:dead",
        "error": "ValueError",
    }


@pytest.mark.parametrize(
    "poison",
    [
        {"x": "y"},
        {b"\xff": b"\xff"},
        {"table": "zz", "game": "zz/1", "frame": "{", "first": "x", "last": "y"},
        {"table": "05-elsewhere", "game": "05-elsewhere/1", "frame": "{}", "first": "1", "last": "1"},
        {"table": "", "game": "", "frame": "", "first": "", "last": ""},
    ],
)
async def test_what_is_no_letter_at_all_goes_aside(
    valkey: Redis, postgres: AsyncEngine, archive: Archive, poison: dict[Any, Any]
) -> None:
    await valkey.xadd(OUTBOX, poison)
    await store(RedisLog(valkey), played(RULES))
    assert sum([await archive.drain_once() for _ in range(TRIES + 1)]) == 2
    assert await rows(postgres, Game) == 1
    [aside] = await letters(valkey, f"{OUTBOX}:dead")
    assert "error" in aside
    assert await valkey.xlen(OUTBOX) == 0


async def test_what_was_put_aside_is_tried_anew_when_it_is_told_so(
    valkey: Redis, postgres: AsyncEngine, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = played(RULES)
    await store(RedisLog(valkey), script)
    with monkeypatch.context() as faulty:
        faulty.setattr("app.store.archive.tell", lambda *_: 1 / 0)
        for _ in range(TRIES):
            await archive.drain_once()
    [one] = await list_aside(valkey)
    assert (one.game, one.error) == (script.game.id, "ZeroDivisionError")
    assert (sum((await outbox_store.waiting(valkey)).values()), sum((await count_aside(valkey)).values())) == (0, 1)
    assert await put_back(valkey, one)
    assert not await put_back(valkey, one)
    assert await archive.drain_once() == 1
    assert await rows(postgres, Game) == 1
    assert await list_aside(valkey) == []


async def test_what_the_database_cannot_hold_is_poison_and_not_an_outage(valkey: Redis, archive: Archive) -> None:
    nameless = (replace(FOUR[0], name="a\0b"), *FOUR[1:])
    await store(RedisLog(valkey), played(RULES, occupants=nameless))
    taken = [await archive.drain_once() for _ in range(TRIES)]
    assert taken == [0, 0, 0, 0, 1]
    assert await valkey.xlen(f"{OUTBOX}:dead") == 1


async def test_a_game_of_a_newer_release_is_left_to_it(
    valkey: Redis, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store(RedisLog(valkey), played(RULES))
    with monkeypatch.context() as older:
        older.setattr("app.wire.log.FORMAT", 0)
        assert [await archive.drain_once() for _ in range(TRIES + 1)] == [0] * (TRIES + 1)
    assert await archive.drain_once() == 1


async def test_an_outage_of_postgres_poisons_nothing_and_loses_nothing(valkey: Redis, tmp_path: Path) -> None:
    """A server of its own, stopped and started again; a connection from before is still in the pool."""
    script = played(RULES)
    with running(tmp_path, redis_url="unused") as own:
        await asyncio.to_thread(upgrade, own.database_url)
        engine = connect(own.database_url)
        archive = Archive(valkey, engine, stale_ms=0)
        await store(RedisLog(valkey), played(RULES, 2, table="0b-other9x4wz"))
        assert await archive.drain_once() == 1
    await store(RedisLog(valkey), script)
    for _ in range(TRIES + 1):
        with pytest.raises(Away):
            await archive.drain_once()
    with capture_logs() as logs:
        task = asyncio.create_task(archive.run())
        async with asyncio.timeout(PATIENCE):
            while not logs:  # noqa: ASYNC110 (until it has asked in vain)
                await asyncio.sleep(0.02)
        with running(tmp_path, redis_url="unused"):
            await until_taken_out(valkey)
            assert await rows(engine, Game) == 2
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await engine.dispose()
    assert [line["event"] for line in logs][:1] == ["the archive waits for a server"]
    assert len(logs) <= 2


async def test_a_running_archive_takes_what_comes(valkey: Redis, postgres: AsyncEngine, archive: Archive) -> None:
    task = asyncio.create_task(archive.run())
    await store(RedisLog(valkey), played(RULES))
    await until_taken_out(valkey)
    assert await rows(postgres, Game) == 1
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_groups_are_made_again_when_valkey_comes_back_empty(
    valkey: Redis, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.archive.LOOK_SECONDS", 0.02)
    task = asyncio.create_task(archive.run())
    async with asyncio.timeout(PATIENCE):
        while not await valkey.exists(outboxes()[-1]):  # noqa: ASYNC110 (the last group to be made)
            await asyncio.sleep(0.02)
    await valkey.flushall()
    await store(RedisLog(valkey), played(RULES))
    await until_taken_out(valkey)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
