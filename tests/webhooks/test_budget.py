"""Deliveries that wait take a bounded part of the store, whoever floods; others keep room, and what is full heals by itself."""

import asyncio
from dataclasses import dataclass

import pytest
from redis.asyncio import Redis

from app.game.refusal import Refused, Why
from app.store import hooks as stored
from app.store.hooks import RedisDeliveryQueue, RedisHooks
from app.store.log import RedisLog
from app.tables.deliveries import Delivery, Outcome, Settlement
from app.tables.hooks import MOST_HOOKS, Hook, HookScope
from app.tables.notices import EventType, TableOpened
from app.webhooks.dispatcher import Dispatcher
from app.webhooks.sender import Sender
from app.webhooks.url_policy import UrlPolicy
from app.wire.hooks import write_notice
from tests.people import open_table, people, running_site

LONG = "https://hook.example/" + "x" * 970
MEGABYTE = 1 << 20


@dataclass
class World:
    """The hooks and the queue of a server."""

    redis: Redis
    hooks: RedisHooks
    queue: RedisDeliveryQueue
    numbers: int = 0

    async def hook(self, owner: str, url: str = LONG, scope: HookScope = HookScope.MINE) -> Hook:
        made = await self.hooks.add(owner, url, (EventType.TABLE_OPENED,), scope)
        assert made is not None
        return made[0]

    async def enqueue(self, *hooks: Hook, each: int) -> int:
        """So many deliveries of the usual size for each hook; how many were dropped."""
        body = "x" * 500
        new = [Delivery(hook.id, f"msg_{number:024}", "turn_due", body) for number in range(each) for hook in hooks]
        for place, delivery in enumerate(new):
            new[place] = Delivery(delivery.hook, f"{delivery.id}{self.numbers}", delivery.event, body)
        self.numbers += 1
        return await self.queue.enqueue(new, max(hook.created for hook in hooks))

    async def waiting(self, hook: Hook) -> int:
        return int(await self.redis.zcard(f"{{hooks}}q:{hook.id}"))

    async def all_waiting(self) -> int:
        return (await self.hooks.waiting())["waiting"]

    async def dropped(self, owner: str) -> int:
        return sum(hook.dropped for hook in await self.hooks.of(owner))

    async def memory(self) -> int:
        """What hooks and their deliveries take of the store, in bytes."""
        keys = [key async for key in self.redis.scan_iter("{hooks}*", count=1000)]
        return sum([int(await self.redis.memory_usage(key, samples=0) or 0) for key in keys])

    async def drain(self) -> None:
        """As if all receivers were back: what waits is delivered."""
        while claimed := await self.queue.claim(60_000, 1000):
            for one in claimed:
                await self.queue.settle(one, Settlement(Outcome.DELIVERED, "204"))


@pytest.fixture
async def world(valkey: Redis) -> World:
    await RedisLog(valkey).prepare()
    return World(valkey, RedisHooks(valkey), RedisDeliveryQueue(valkey))


@pytest.fixture
def smaller(monkeypatch: pytest.MonkeyPatch) -> int:
    """A tenth of the room, and how many may wait in all."""
    for name in ("MOST_WAITING", "MOST_OF_OWNER", "MOST_KNOWN"):
        monkeypatch.setattr(stored, name, getattr(stored, name) // 10)
    return stored.MOST_WAITING


async def test_twenty_guests_with_ten_hooks_each_and_many_tables_leave_the_store_bounded(world: World, smaller: int) -> None:
    guests = [f"g_{number}" for number in range(20)]
    hooks = {guest: [await world.hook(guest) for _ in range(MOST_HOOKS)] for guest in guests}
    everybody = await world.hook("g_operator", scope=HookScope.ALL)
    for number in range(100):
        host = guests[number % 20]
        notice = write_notice(TableOpened(f"0b-{number:010}", host, "Nina", "announced-701", 14_400, True))
        await world.redis.xadd("{s0b}notices", {"notice": notice, "at": str(everybody.created), "due": ""})
    dispatcher = Dispatcher(world.queue, Sender(UrlPolicy()))
    while await world.redis.xlen("{s0b}notices"):
        await dispatcher._enqueue()
    made = await world.all_waiting() + sum([await world.dropped(guest) for guest in (*guests, "g_operator")])
    assert made == 100 * (MOST_HOOKS + 1)  # each table for its host's hooks and the operator's, not for those of all guests

    refused = sum([await world.enqueue(*hooks[guest], each=30) for guest in guests])
    waiting = await world.all_waiting()
    assert refused > 20 * MOST_HOOKS * 30 - smaller
    assert waiting < smaller
    assert await world.memory() / waiting * 10_000 < 64 * MEGABYTE


async def test_who_floods_leaves_room_to_others_and_to_his_other_hooks(world: World, smaller: int) -> None:
    flooders = [[await world.hook(f"g_{number}") for _ in range(3)] for number in range(20)]
    for hooks in flooders:
        assert await world.enqueue(*hooks[1:], each=60) > 0
        assert await world.enqueue(hooks[0], each=1) == 0
    honest = await world.hook("g_honest")
    assert await world.enqueue(honest, each=3) == 0
    assert await world.dropped("g_honest") == 0
    assert all([await world.dropped(f"g_{number}") > 0 for number in range(20)])


async def test_one_hook_that_takes_nothing_leaves_room_to_the_others_of_its_owner(world: World, smaller: int) -> None:
    hook, other = await world.hook("g_nina"), await world.hook("g_nina")
    dropped = await world.enqueue(hook, each=stored.MOST_OF_OWNER)
    assert await world.waiting(hook) == stored.MOST_OF_OWNER - dropped <= stored.MOST_OF_OWNER // 2
    assert await world.enqueue(other, each=10) == 0
    assert {one.id: one.dropped for one in await world.hooks.of("g_nina")} == {hook.id: dropped, other.id: 0}


async def test_what_was_full_heals_by_itself(world: World, smaller: int) -> None:
    hook = await world.hook("g_nina")
    await world.enqueue(hook, each=stored.MOST_OF_OWNER)
    with pytest.raises(Refused) as refused:
        await world.hooks.ping("g_nina", hook.id)
    assert refused.value.why is Why.TOO_MANY
    dropped = await world.dropped("g_nina")
    await world.drain()
    assert await world.all_waiting() == 0
    assert await world.enqueue(hook, each=10) == 0
    await world.hooks.ping("g_nina", hook.id)
    assert await world.dropped("g_nina") == dropped


async def test_what_is_given_up_makes_room(world: World, smaller: int) -> None:
    hook = await world.hook("g_nina")
    await world.enqueue(hook, each=stored.MOST_OF_OWNER)
    [claimed] = await world.queue.claim(60_000, 1)
    await world.queue.settle(claimed, Settlement(Outcome.DEAD, "500"))
    assert await world.enqueue(hook, each=2) == 1


async def test_what_is_known_to_be_enqueued_is_bounded(world: World, smaller: int) -> None:
    hook = await world.hook("g_nina")
    for _ in range(12):
        await world.enqueue(hook, each=1000)
    assert await world.redis.zcard("{hooks}told") <= stored.MOST_KNOWN + 50


async def test_notices_that_nobody_takes_are_bounded(redis_url: str, database_url: str, valkey: Redis) -> None:
    async with running_site(redis_url, database_url, work=False) as site, people(site.url, "Nina") as [nina]:
        shards = {(await open_table(nina)).partition("-")[0] for _ in range(3)}
        for shard in shards:
            async with valkey.pipeline(transaction=False) as pipe:
                for _ in range(3000):
                    pipe.xadd(f"{{s{shard}}}notices", {"notice": "{}", "at": "1", "due": ""})
                await pipe.execute()
        await asyncio.gather(*(open_table(nina) for _ in range(100)))
        lengths = [await valkey.xlen(f"{{s{shard}}}notices") for shard in shards]
    assert all(2000 <= length <= 2200 for length in lengths)
