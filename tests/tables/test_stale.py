"""A process whose copy of a table is old."""

from redis.asyncio import Redis

from app.store.lobby import RedisLobby
from app.store.log import RedisLog
from app.store.server import connect
from app.tables.commands import GetReady, Sit
from app.tables.play import Tables
from tests.seats import NINA, by, opened


async def test_what_seems_done_in_an_old_copy_is_done(redis_url: str, redis: Redis) -> None:
    """Nina is ready here, not ready there, and ready here again: the last one must not pass for the first."""
    async with connect(redis_url) as store:
        log = RedisLog(store)
        await log.prepare()
        here, there = Tables(log, RedisLobby(store)), Tables(log, RedisLobby(store))
        table = (await here.open(opened())).table.id
        await here.act(table, by(NINA), "sit", Sit(NINA))
        await here.act(table, by(NINA), "c1", GetReady(True))
        await there.act(table, by(NINA), "c2", GetReady(False))
        await here.act(table, by(NINA), "c3", GetReady(True))
        assert (await there.mirror(table)).table.places[0].ready
