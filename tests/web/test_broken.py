"""A table that cannot be read is lost; the others of those who sit there are not."""

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from app.embedded import Servers
from app.store.keys import Keys
from tests.people import Person, Site, open_table, person


@pytest.fixture
async def valkey(servers: Servers, site: Site) -> AsyncIterator[Redis]:
    async with Redis.from_url(servers.redis_url) as client:
        yield client


async def break_log(valkey: Redis, table: str) -> None:
    """Write an entry that nobody can read."""
    keys = Keys(table)
    seq = await valkey.hincrby(keys.meta, "seq", 1)
    await valkey.xadd(keys.log, {"entry": b"\xff", "at": "1", "due": ""}, id=f"{seq}-0")


@pytest.fixture
async def nina(url: str) -> AsyncIterator[Person]:
    async with person(url, "Nina") as one:
        yield one


async def test_the_other_tables_are_listed_and_go_on(valkey: Redis, nina: Person) -> None:
    broken, sound = await open_table(nina), await open_table(nina)
    await break_log(valkey, broken)
    assert [one["id"] for one in (await nina.get("/me/tables"))["tables"]] == [sound]
    assert (await nina.get(f"/tables/{broken}", 500))["why"] == "internal"
    async with nina.at(sound) as line:
        await nina.post(f"/tables/{sound}/ready")
        await line.until(lambda frame: frame["type"] == "step")
