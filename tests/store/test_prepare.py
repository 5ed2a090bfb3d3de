"""What has to be there before a process starts."""

import asyncio

import pytest
from redis.asyncio import Redis

from app.store.prepare import SCHEMA, Away, prepare

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
