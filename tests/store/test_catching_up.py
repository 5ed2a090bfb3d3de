"""What an earlier release has stored without counting is counted by the archive, as if it had been stored today."""

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from app.game.rules import PRESETS
from app.store.archive import AT_ONCE, Archive
from app.store.log import RedisLog
from app.tables.table import House
from tests.finished import FOUR, played, store

SCRIPTS = (
    played(PRESETS["announced-701"], 1, table="0b-rated9x4wz"),
    played(
        PRESETS["ffb-2000"],
        3,
        table="0d-house9x4wz",
        occupants=(FOUR[0], House("alma", "Alma"), FOUR[1], House("cleo", "Cléo")),
    ),
    played(PRESETS["classic-1000"], 4, table="0e-other9x4wz", listed=False),
)
NAMES = "finished listed preset partner won taken made bids coinches coinches_won capots belotes trumps contracts"
UNCOUNTED = (
    "UPDATE games SET contracts = NULL",
    "UPDATE players SET folded = NULL",
    f"UPDATE seats SET {', '.join(f'{name} = NULL' for name in NAMES.split())}",
)


@pytest.fixture
async def archive(redis_url: str, postgres: AsyncEngine) -> AsyncIterator[Archive]:
    async with Redis.from_url(redis_url, decode_responses=True) as valkey:
        for script in SCRIPTS:
            await store(RedisLog(valkey), script)
        archive = Archive(valkey, postgres)
        assert await archive.drain_once() == len(SCRIPTS)
        yield archive


async def everything(postgres: AsyncEngine) -> list[tuple[object, ...]]:
    async with postgres.connect() as connection:
        asked = (
            "SELECT * FROM games ORDER BY id",
            "SELECT * FROM seats ORDER BY game, seat",
            "SELECT * FROM players ORDER BY id",
        )
        return [tuple(row) for sql in asked for row in await connection.execute(text(sql))]


async def do(postgres: AsyncEngine, *statements: str) -> None:
    async with postgres.begin() as connection:
        for sql in statements:
            await connection.execute(text(sql))


async def test_what_was_not_counted_is_counted_as_it_would_be_today(archive: Archive, postgres: AsyncEngine) -> None:
    today = await everything(postgres)
    assert await archive.catch_up() == 0
    await do(postgres, *UNCOUNTED)
    assert await everything(postgres) != today
    while await archive.catch_up():
        pass
    assert await everything(postgres) == today


async def test_a_game_whose_log_cannot_be_told_keeps_no_other_from_being_counted(
    archive: Archive, postgres: AsyncEngine
) -> None:
    await do(postgres, *UNCOUNTED, "UPDATE entries SET entry = '{\"v\": 1}' WHERE game = '0b-rated9x4wz/1'")
    assert len(SCRIPTS) <= AT_ONCE
    await archive.catch_up()
    async with postgres.connect() as connection:
        counted = {row.id: row.contracts for row in await connection.execute(text("SELECT id, contracts FROM games"))}
        finished = await connection.scalar(
            text("SELECT count(*) FROM seats s JOIN games g ON g.id = game AND g.finished = s.finished")
        )
    assert counted["0b-rated9x4wz/1"] == []
    assert counted["0e-other9x4wz/1"]
    assert finished == 4 * len(SCRIPTS)
