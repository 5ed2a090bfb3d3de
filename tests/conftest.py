"""What every test may ask for: the real servers, a Redis emptied for it, a database made for it."""

import itertools
import signal
import socket
from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest
from redis.asyncio import Redis
from sqlalchemy import make_url
from sqlalchemy.ext.asyncio import AsyncEngine

from app.embedded import Servers, running
from app.store.postgres import connect
from app.store.prepare import upgrade
from app.store.server import connect as connect_redis

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As behind an `&` in a script: what is started here would be deaf to it as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """A Valkey and a Postgres for the whole run."""
    with running(tmp_path_factory.mktemp("servers")) as both:
        yield both


@pytest.fixture
async def redis(servers: Servers) -> AsyncIterator[Redis]:
    """A client of an empty Valkey."""
    async with Redis.from_url(servers.redis_url) as client:
        await client.flushall()
        yield client


@pytest.fixture
def redis_url(servers: Servers, redis: Redis) -> str:
    """The address of an empty Valkey."""
    return servers.redis_url


@pytest.fixture
async def valkey(redis_url: str) -> AsyncIterator[Redis]:
    """A client of an empty Valkey, as the server makes it."""
    async with connect_redis(redis_url) as client:
        assert isinstance(client, Redis)
        yield client


@pytest.fixture(scope="session")
def migrated(servers: Servers) -> Servers:
    """The servers with one database migrated, which each test's own is copied from."""
    upgrade(servers.database_url)
    return servers


@pytest.fixture
async def database_url(migrated: Servers) -> AsyncIterator[str]:
    """The address of a migrated, empty database that no other test has seen."""
    url = make_url(migrated.database_url)
    name = f"test_{next(_numbers)}"
    keeper = await asyncpg.connect(host=str(url.query["host"]), user=url.username, database="postgres")
    try:
        await keeper.execute(f"CREATE DATABASE {name} TEMPLATE {url.database}")
        yield url.set(database=name).render_as_string(hide_password=False)
        await keeper.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await keeper.close()


@pytest.fixture
async def postgres(database_url: str) -> AsyncIterator[AsyncEngine]:
    """The engine of a migrated, empty database."""
    engine = connect(database_url)
    yield engine
    await engine.dispose()


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port that somebody else listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]
