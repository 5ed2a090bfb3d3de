"""An old process meets what a newer release has written: it sends its guests elsewhere and misreads nothing."""

import json
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from app.store.keys import Keys
from app.store.log import RedisLog
from app.store.server import connect
from app.wire.log import FORMAT
from tests.people import Line, Person, Site, open_table, person, running_site


@pytest.fixture
async def site(redis_url: str, database_url: str) -> AsyncIterator[Site]:
    async with running_site(redis_url, database_url) as one:
        yield one


@pytest.fixture
async def nina(site: Site) -> AsyncIterator[Person]:
    async with person(site.url, "Nina") as one:
        yield one


async def forge(redis: Redis, table: str) -> None:
    """What a process of a newer release does."""
    keys = Keys(table)
    async with redis.pipeline(transaction=True) as pipe:
        pipe.xadd(
            keys.log, {"entry": json.dumps({"v": FORMAT + 1, "how": "nobody here knows"}), "at": "5", "due": ""}, id="2-0"
        )
        pipe.hset(keys.meta, mapping={"seq": "2", "at": "5"})
        pipe.publish(keys.channel, "2")
        await pipe.execute()


async def goodbye(line: Line) -> None:
    bye = await line.until(lambda frame: frame["type"] == "bye")
    assert bye["why"] == "newer_release"
    assert 0 <= bye["after"] <= 2_000


async def test_guests_are_sent_elsewhere_and_nothing_is_written(site: Site, nina: Person, redis: Redis) -> None:
    table, other = await open_table(nina), await open_table(nina)
    async with nina.at(table) as line, nina.at(table, "spectator") as phone, nina.at(other) as elsewhere:
        await forge(redis, table)
        for one in (line, phone):
            await goodbye(one)
        await line.send({"type": "act", "cid": "c", "turn": 0, "action": {"kind": "pass"}})
        await goodbye(line)
        await line.send({"type": "join", "table": table})
        await goodbye(line)
        assert not [frame for one in (line, phone) for frame in one.frames if frame["type"] in ("ack", "step")]
        # Its other tables it serves on.
        await nina.post(f"/tables/{other}/ready")
        await elsewhere.until(lambda frame: frame["type"] == "step")
    assert (await nina.get(f"/tables/{table}", 503))["why"] == "newer_release"
    assert (await nina.post(f"/tables/{table}/ready", status=503))["why"] == "newer_release"
    assert (await nina.http.get(f"/api/v1/tables/{table}")).headers["connection"] == "close"
    assert await redis.xlen(Keys(table).log) == 2


async def test_as_soon_as_the_table_can_be_read_again_it_is_served_again(
    site: Site, nina: Person, redis: Redis, redis_url: str
) -> None:
    table = await open_table(nina)
    async with nina.at(table) as line:
        before = await redis.dump(Keys(table).log)
        await forge(redis, table)
        await goodbye(line)
        await redis.restore(Keys(table).log, 0, before or b"", replace=True)
        await redis.hset(Keys(table).meta, mapping={"seq": "1", "at": (await _at(redis_url, table))})
        await line.join(table)
        await nina.post(f"/tables/{table}/ready")
        await line.until(lambda frame: frame["type"] == "step")


async def _at(redis_url: str, table: str) -> str:
    async with connect(redis_url) as client:
        [entry] = await RedisLog(client).since(table, 0)
    return str(entry.at)


async def test_the_lobby_leaves_out_what_it_cannot_read(site: Site, nina: Person, redis: Redis) -> None:
    tables = {await open_table(nina), await open_table(nina)}
    newer = min(tables)
    shown = json.loads(await redis.hget("{lobby}tables", newer) or "")
    frame = json.loads(shown["frame"]) | {"v": FORMAT + 1}
    await redis.hset("{lobby}tables", newer, json.dumps(shown | {"frame": json.dumps(frame)}))
    listed = {one["id"] for one in (await nina.get("/tables"))["tables"]}
    assert tables & listed == tables - {newer}
