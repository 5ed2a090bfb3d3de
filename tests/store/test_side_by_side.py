"""While the store does not answer for one table, the others go on: the house plays there, and what others do is told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from redis.asyncio import Redis

from app.game.seats import Seat
from app.store.bell import RedisBell
from app.store.clock import StoreClock
from app.store.company import RedisCompany
from app.store.dice import SystemDice
from app.store.lobby import RedisLobby
from app.store.log import RedisLog
from app.tables.commands import Actor, Sit, Start
from app.tables.croupier import Croupier
from app.tables.lobby import HOUSES
from app.tables.play import Tables
from app.tables.ports import Said, Stored, Tail
from app.tables.tasks import end
from app.web import hub as hub_module
from app.web.hub import Client, Hub
from tests.people import PATIENCE
from tests.seats import NINA, PAUL, four_seated, opened

STUCK = "0f-stuck9x4wz"
OTHERS = tuple(f"0f-other{number}x4wz" for number in range(4))


class SlowLog(RedisLog):
    """A log whose store has stopped answering for one table, and counts what it was asked."""

    is_stuck = False

    def __init__(self, redis: Redis) -> None:
        super().__init__(redis)
        self.asked = 0
        self.waiting = asyncio.Event()

    async def _wait(self, table: str) -> None:
        self.asked += 1
        if self.is_stuck and table == STUCK:
            self.waiting.set()
            await asyncio.Event().wait()

    async def append(self, table: str, *args: Any) -> Any:
        await self._wait(table)
        return await super().append(table, *args)

    async def tail(self, table: str, seq: int) -> Tail | None:
        await self._wait(table)
        return await super().tail(table, seq)

    async def load(self, table: str) -> Stored | None:
        await self._wait(table)
        return await super().load(table)


@pytest.fixture
async def log(valkey: Redis) -> SlowLog:
    log = SlowLog(valkey)
    await log.prepare()
    return log


@asynccontextmanager
async def running(*loops: Any) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(loop) for loop in loops]
    yield
    assert not any(task.done() for task in tasks)
    await end(*tasks)


async def until(is_so: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while not is_so():  # noqa: ASYNC110 -- what is waited for happens in a store
            await asyncio.sleep(0.01)


async def test_the_house_plays_at_other_tables_while_one_is_stuck(log: SlowLog, valkey: Redis) -> None:
    tables = Tables(log, RedisLobby(valkey))
    async with running(Croupier(tables, log, SystemDice()).run()):
        for table in (STUCK, *OTHERS):
            await tables.open(opened(id=table))
            await tables.act(table, Actor(NINA.id), "sit", Sit(NINA))
        log.is_stuck = True
        starting = asyncio.create_task(tables.act(STUCK, Actor(NINA.id), "start", Start(HOUSES)))
        await log.waiting.wait()
        for table in OTHERS:
            await tables.act(table, Actor(NINA.id), "start", Start(HOUSES))

        def is_ninas_turn(table: str) -> bool:
            mirror = tables.at_hand(table)
            return mirror is not None and mirror.table.in_turn == mirror.table.seat_of(NINA.id)

        await until(lambda: all(map(is_ninas_turn, OTHERS)))
        await end(starting)


async def test_others_are_told_while_one_table_is_stuck(log: SlowLog, valkey: Redis) -> None:
    here, elsewhere = Tables(log, RedisLobby(valkey)), Tables(RedisLog(valkey), RedisLobby(valkey))
    bell = RedisBell(valkey)
    await bell.prepare()
    hub = Hub(here, bell, RedisCompany(valkey), StoreClock(), RedisLobby(valkey))
    async with running(hub.run()):
        clients = {}
        for table in (STUCK, *OTHERS):
            await elsewhere.open(opened(id=table))
            client = clients[table] = Client(table, None)
            await hub.join(client, table)
            while client.outbox:
                await client.outbox.take()
        log.is_stuck = True
        for table in (STUCK, *OTHERS):
            await elsewhere.act(table, Actor(PAUL.id), "sit", Sit(PAUL))
        await until(lambda: all(len(clients[table].outbox) for table in OTHERS))
        assert not len(clients[STUCK].outbox)
    await bell.close()


async def test_a_bell_for_what_this_process_has_added_itself_asks_the_store_nothing(
    log: SlowLog, valkey: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "LOOK_SECONDS", 600)
    tables = Tables(log, RedisLobby(valkey))
    bell = RedisBell(valkey)
    await bell.prepare()
    company = RedisCompany(valkey)
    hub = Hub(tables, bell, company, StoreClock(), RedisLobby(valkey))
    async with running(hub.run()):
        table = four_seated().id
        await tables.open(opened(id=table))
        await hub.join(Client("tab", None), table)
        first = log.asked
        for who in (NINA, PAUL):
            await tables.act(table, Actor(who.id), "sit", Sit(who))
        said: list[Any] = []
        room = hub._rooms[table]
        room.send = said.append  # type: ignore[method-assign, assignment]
        await company.say(table, Said(1, Seat.FIRST, "Nina", "hello", None))
        await until(lambda: said)  # so the bells before it have been heard
        assert log.asked == first + 2
    await bell.close()
