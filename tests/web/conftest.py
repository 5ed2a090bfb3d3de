"""A whole coinche in this process, one for each module."""

from collections.abc import AsyncIterator

import asyncpg
import pytest
from redis.asyncio import Redis
from sqlalchemy import make_url

from app.embedded import Servers
from tests.people import Site, running_site


@pytest.fixture(scope="module")
async def site(migrated: Servers, request: pytest.FixtureRequest) -> AsyncIterator[Site]:
    """The application on an empty Valkey and a database of its own."""
    async with Redis.from_url(migrated.redis_url) as client:
        await client.flushall()
    url = make_url(migrated.database_url)
    name = request.module.__name__.rpartition(".")[2]
    keeper = await asyncpg.connect(host=str(url.query["host"]), user=url.username, database="postgres")
    try:
        await keeper.execute(f"CREATE DATABASE {name} TEMPLATE {url.database}")
        async with running_site(migrated.redis_url, url.set(database=name).render_as_string(hide_password=False)) as one:
            yield one
        await keeper.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await keeper.close()


@pytest.fixture
def url(site: Site) -> str:
    """Where it answers."""
    return site.url
