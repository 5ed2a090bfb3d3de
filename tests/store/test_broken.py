"""What stands in the store and nobody can read stops nothing else."""

import asyncio

import pytest
from redis.asyncio import Redis

from app.game.seats import Seat
from app.store.bell import RedisBell
from app.store.company import RedisCompany
from app.store.dice import SystemDice, now_ms
from app.store.hooks import RedisDeliveryQueue, RedisHooks
from app.store.keys import VOID, WORK, Keys
from app.store.lobby import RedisLobby
from app.store.log import RedisLog
from app.tables.croupier import Croupier
from app.tables.deliveries import Delivery, Outcome, Settlement
from app.tables.hooks import HookScope
from app.tables.notices import EventType
from app.tables.play import Tables
from app.tables.ports import Rang, Said
from tests.people import PATIENCE
from tests.seats import NINA, four_seated, opened

BROKEN = [b"", b"x", b"{", b"{}", b"[]", b"7", b'"x"', b"null", b"\xff\xfe", b'{"v": 1, "touched": "x"}', b'{"v": "x"}']
TABLE = opened().id
KEYS = Keys(TABLE)
SAID = Said(1, Seat.FIRST, "Nina", "hello", None)


@pytest.fixture
async def log(valkey: Redis) -> RedisLog:
    log = RedisLog(valkey)
    await log.prepare()
    await log.open(opened())
    return log


@pytest.mark.parametrize("broken", BROKEN)
async def test_the_lobby_shows_the_other_tables(valkey: Redis, broken: bytes) -> None:
    lobby = RedisLobby(valkey)
    await lobby.show(four_seated())
    for line in (broken, b'{"playing": true, "touched": 99999999999999, "frame": "' + broken.replace(b'"', b'\\"') + b'"}'):
        await valkey.hset(RedisLobby.KEY, "00-broken", line)
        assert [one.table for one in await lobby.tables()] == [four_seated()]
        assert await valkey.hkeys(RedisLobby.KEY) == [TABLE]


@pytest.mark.parametrize("broken", BROKEN)
async def test_what_else_was_said_is_told(log: RedisLog, valkey: Redis, broken: bytes) -> None:
    company = RedisCompany(valkey)
    await valkey.rpush(KEYS.talk, broken)
    await company.say(TABLE, SAID)
    assert await company.talk(TABLE) == (SAID,)


async def test_who_else_is_here_is_told(log: RedisLog, valkey: Redis) -> None:
    company = RedisCompany(valkey)
    for broken in BROKEN:
        await valkey.zadd(KEYS.here, {broken: 9e15})
    await company.here(TABLE, "tab", NINA.id)
    assert NINA.id in await company.present(TABLE)


async def test_the_bell_goes_on_ringing(log: RedisLog, valkey: Redis) -> None:
    bell = RedisBell(valkey)
    await bell.prepare()
    await bell.follow(TABLE)
    for broken in BROKEN:
        for channel in (KEYS.channel, RedisBell.CONTROL, VOID):
            await valkey.publish(channel, broken)
    await RedisCompany(valkey).say(TABLE, SAID)
    async with asyncio.timeout(PATIENCE):
        async for rang in bell.rings():
            if rang == Rang(TABLE, said=SAID):
                break
    await bell.close()


async def test_the_workers_are_called_all_the_same(valkey: Redis) -> None:
    bell, called = RedisBell(valkey), asyncio.Event()
    await bell.prepare()

    async def listen() -> None:
        async for table in bell.work():
            if table == TABLE:
                called.set()

    listening = asyncio.create_task(listen())
    async with asyncio.timeout(PATIENCE):
        while not called.is_set():
            for word in (*BROKEN, TABLE.encode()):
                await valkey.publish(WORK, word)
            await asyncio.sleep(0.05)
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    await bell.close()


async def test_the_post_goes_on(valkey: Redis) -> None:
    for broken in BROKEN:
        await valkey.xadd(KEYS.notices, {broken: broken})
        await valkey.xadd(KEYS.notices, {"notice": broken, "at": "1", "due": ""})
    assert await RedisDeliveryQueue(valkey).notices() == []
    assert await valkey.xlen(KEYS.notices) == 0


@pytest.mark.parametrize("broken", BROKEN)
async def test_letters_behind_a_broken_one_are_carried(valkey: Redis, log: RedisLog, broken: bytes) -> None:
    hooks, queue = RedisHooks(valkey), RedisDeliveryQueue(valkey)
    made = [await hooks.add(NINA.id, "https://hook.example/", (EventType.TURN_DUE,), HookScope.MINE) for _ in range(2)]
    (bad, _), (good, _) = [one for one in made if one is not None]
    await queue.enqueue([Delivery(bad.id, "msg_1", "turn_due", "{}"), Delivery(good.id, "msg_1", "turn_due", "{}")], now_ms())
    await valkey.hset("{hooks}mail", f"{bad.id} msg_1", broken)
    assert [claimed.delivery.hook for claimed in await queue.claim(1, 10)] == [good.id]
    assert await valkey.hkeys("{hooks}mail") == [f"{good.id} msg_1"]


async def test_dead_letters_beside_a_broken_one_are_listed(valkey: Redis, log: RedisLog) -> None:
    hooks, queue = RedisHooks(valkey), RedisDeliveryQueue(valkey)
    made = await hooks.add(NINA.id, "https://hook.example/", (EventType.TURN_DUE,), HookScope.MINE)
    assert made is not None
    await queue.enqueue([Delivery(made[0].id, "msg_1", "turn_due", "{}")], now_ms())
    [claimed] = await queue.claim(1, 10)
    await queue.settle(claimed, Settlement(Outcome.DEAD, "500"))
    for number, broken in enumerate(BROKEN):
        await valkey.zadd("{hooks}dead", {f"{made[0].id} x{number}": 1})
        await valkey.hset("{hooks}mail", f"{made[0].id} x{number}", broken)
    assert [one.delivery.id for one in await queue.dead()] == ["msg_1"]


async def test_duties_beside_a_broken_shard_are_done(log: RedisLog, valkey: Redis) -> None:
    await valkey.zadd(KEYS.dues, {TABLE: 1})
    await valkey.set(Keys("00-broken").dues, "no set")
    assert (await log.claim(1_000)).tables == (TABLE,)


async def test_time_is_given_back_beside_a_broken_table(log: RedisLog, valkey: Redis) -> None:
    await log.open(opened(id="00-broken"))
    for table in ("00-broken", TABLE):
        keys, due = Keys(table), now_ms() + 60_000
        await valkey.hset(keys.meta, mapping={"waits": "1", "due": f"{due}" if table == TABLE else ""})
        await valkey.zadd(keys.dues, {table: due})
        await valkey.set(Keys.alive(table[:2]), f"{now_ms() - 10_000}")
    await valkey.xadd(Keys("00-broken").log, {"entry": "x", "at": "1", "due": ""}, id="1-0")
    await valkey.hset(Keys("00-broken").meta, "seq", "1")
    working = asyncio.create_task(Croupier(Tables(log, RedisLobby(valkey)), log, SystemDice()).run())
    async with asyncio.timeout(PATIENCE):
        while await valkey.hget(KEYS.meta, "seq") != "1" and not working.done():  # noqa: ASYNC110 -- the store has nothing to wait on
            await asyncio.sleep(0.01)
    assert await valkey.hget(KEYS.meta, "seq") == "1"
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
