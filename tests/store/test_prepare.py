"""What has to be there before a process starts."""

import asyncio

import pytest
from alembic import command
from redis.asyncio import Redis
from sqlalchemy import make_url, text
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.testing import capture_logs

from app.game.rules import PRESETS
from app.store.archive import Archive
from app.store.log import RedisLog
from app.store.prepare import SCHEMA, Away, MigrationFailed, Unreachable, alembic_config, prepare
from tests.finished import played, store

NOBODY = "postgresql+asyncpg://coinche@127.0.0.1:1/coinche"


async def prepared(redis_url: str, database_url: str) -> None:
    """Prepare as the command line does, with no event loop of its own around it."""
    await asyncio.to_thread(prepare, redis_url, database_url)


async def test_a_database_that_was_never_seen_must_be_there(redis_url: str) -> None:
    with pytest.raises(Away, match="DATABASE_URL"):
        await prepared(redis_url, NOBODY)


async def test_games_begin_without_one_that_was_seen_before(redis_url: str, database_url: str) -> None:
    await prepared(redis_url, database_url)
    await prepared(redis_url, NOBODY)


async def test_but_not_if_it_would_have_to_be_brought_up_to_date(redis_url: str, database_url: str, redis: Redis) -> None:
    await prepared(redis_url, database_url)
    await redis.set(SCHEMA, "older")
    with pytest.raises(Away):
        await prepared(redis_url, NOBODY)


async def test_a_migration_that_fails_is_named_with_its_error(
    redis_url: str, database_url: str, redis: Redis, postgres: AsyncEngine
) -> None:
    """It is no outage: the database answers, and what is in its way stays there for whoever looks."""
    await asyncio.to_thread(command.downgrade, alembic_config(database_url), "caef6b31bcc6")
    async with postgres.begin() as connection:
        await connection.execute(text("CREATE TABLE ix_players_rated ()"))
    await redis.set(SCHEMA, "seen before")
    with pytest.raises(MigrationFailed) as failed:
        await prepared(redis_url, database_url)
    said = str(failed.value)
    assert "20270105_games_found_by_what_was_played" in said
    assert 'relation "ix_players_rated" already exists' in said
    assert "away" not in said
    async with postgres.begin() as connection:
        await connection.execute(text("DROP TABLE ix_players_rated"))
    await prepared(redis_url, database_url)


async def test_a_database_that_is_not_there_is_not_away(redis_url: str, database_url: str) -> None:
    await prepared(redis_url, database_url)
    other = make_url(database_url).set(database="nowhere").render_as_string(hide_password=False)
    with pytest.raises(Unreachable, match='database "nowhere" does not exist') as refused:
        await prepared(redis_url, other)
    assert not isinstance(refused.value, Away)


async def test_an_empty_store_beside_finished_games_is_said_once_and_loudly(
    redis_url: str, database_url: str, postgres: AsyncEngine, valkey: Redis
) -> None:
    await prepared(redis_url, database_url)
    await store(RedisLog(valkey), played(PRESETS["announced-701"]))
    assert await Archive(valkey, postgres).drain_once() == 1
    with capture_logs() as before:
        await prepared(redis_url, database_url)
    await valkey.flushall()
    with capture_logs() as after:
        for _ in range(2):
            await prepared(redis_url, database_url)
    assert before == []
    [said] = after
    assert said["finished_games"] == 1
    assert "is empty" in said["event"]
