"""What is enqueued arrives, at least once, whatever breaks on the way; or it is given up, and can be sent again."""

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from redis.asyncio import Redis

from app.embedded import Servers
from app.game.refusal import Refused, Why
from app.store.hooks import RedisDeliveryQueue, RedisHooks
from app.store.log import RedisLog
from app.store.server import connect
from app.tables.deliveries import JITTER, LONGEST_REST, WAITS, ClaimedDelivery, Delivery, Outcome, settlement_of
from app.tables.hooks import Hook, HookScope
from app.tables.notices import EventType, TableOpened
from app.tables.tasks import end
from app.webhooks.dispatcher import Dispatcher
from app.webhooks.sender import Sender
from app.webhooks.url_policy import UrlPolicy
from app.wire.hooks import write_notice
from tests.people import people, started
from tests.ports import held
from tests.receiver import Receiver, eventually, receiving
from tests.serving import refusal, serving

LOCAL = ("127.0.0.0/8",)
OPENED = TableOpened("0b-k2m7q9x4wz", "g_nina", "Nina", "announced-701", 14_400, True)


@dataclass
class World:
    """The hooks and the queue of a server."""

    redis: Redis
    hooks: RedisHooks
    queue: RedisDeliveryQueue
    waits: Sequence[float] = (0.05,) * 3
    seconds: float = 5.0

    async def hook(self, receiver: Receiver, owner: str = "g_nina", path: str = "") -> tuple[Hook, str]:
        made = await self.hooks.add(owner, receiver.url + path, (EventType.TABLE_OPENED,), HookScope.MINE)
        assert made is not None
        return made

    async def happens(self, notice: TableOpened = OPENED, at: int | None = None) -> None:
        """Something that hooks hear of."""
        now = (await self.redis.time())[0] * 1000 + 999 if at is None else at
        await self.redis.xadd("{s0b}notices", {"notice": write_notice(notice), "at": str(now), "due": ""})

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        dispatcher = Dispatcher(self.queue, Sender(UrlPolicy(LOCAL), seconds=self.seconds), waits=self.waits)
        task = asyncio.create_task(dispatcher.run())
        try:
            yield
        finally:
            await end(task)

    async def until(self, **counts: int) -> None:
        """Waits until all notices are enqueued, and so many wait or are dead."""

        async def is_so() -> bool:
            is_enqueued = await self.redis.xlen("{s0b}notices") == 0
            return is_enqueued and await self.hooks.waiting() == {"waiting": 0, "dead": 0} | counts

        await eventually(is_so)

    async def lease_runs_out(self, hook: Hook) -> None:
        """As if so much time had passed."""
        await self.redis.hset(f"{{hooks}}h:{hook.id}", "free", "0")
        await self.redis.zadd("{hooks}due", {hook.id: 0})


@pytest.fixture
async def world(redis_url: str) -> AsyncIterator[World]:
    async with connect(redis_url) as client:
        assert isinstance(client, Redis)
        await RedisLog(client).prepare()
        yield World(client, RedisHooks(client), RedisDeliveryQueue(client))


def delivery(hook: Hook, number: int = 1) -> Delivery:
    return Delivery(hook.id, f"msg_{number}", "table_opened", json.dumps({"number": number}))


async def test_what_happens_is_told_signed_and_only_once(world: World) -> None:
    async with receiving() as server:
        _, secret = await world.hook(server)
        await world.happens()
        async with world.working(), world.working():
            [got] = await server.have(1)
            await world.until()
            await world.happens()  # a dispatcher that died had enqueued it, and not said so
            await world.until()
    assert got.path == "/hook"
    assert got.headers["content-type"] == "application/json"
    assert got.is_signed(secret)
    assert not got.is_signed("whsec_" + "QUJD" * 10)
    assert got.told["id"] == got.id
    assert got.told["event"] == "table_opened"
    assert got.told["data"]["host"] == {"id": "g_nina", "name": "Nina"}
    assert len(server.got) == 1


@pytest.mark.parametrize("newer", [re.sub(r'"v":\d+', '"v":99', write_notice(OPENED)), '{"v":1,"kind":"hands_dealt"}'])
async def test_what_a_newer_release_has_written_is_left_to_it(world: World, newer: str) -> None:
    async with receiving() as server:
        await world.hook(server)
        await world.redis.xadd("{s0b}notices", {"notice": newer, "at": "1", "due": ""})
        await world.happens()
        async with world.working():
            await server.have(1)
    assert await world.redis.xlen("{s0b}notices") == 1


async def test_what_cannot_be_read_stops_nothing(world: World) -> None:
    async with receiving() as server:
        await world.hook(server)
        for notice in ("{", "[]", '{"v":1,"kind":"turn_due"}'):
            await world.redis.xadd("{s0b}notices", {"notice": notice, "at": "1", "due": ""})
        await world.happens()
        async with world.working():
            await server.have(1)
            await world.until()


async def test_each_hook_is_told_under_an_id_of_its_own(world: World) -> None:
    async with receiving() as server:
        for path in ("/first", "/second"):
            await world.hook(server, path=path)
        await world.happens()
        async with world.working():
            got = await server.have(2)
    assert {one.path for one in got} == {"/hook/first", "/hook/second"}
    assert len({one.id for one in got}) == 2


async def test_what_happened_before_a_hook_was_made_it_does_not_hear(world: World) -> None:
    async with receiving() as server:
        hook, _ = await world.hook(server)
        await world.happens(at=hook.created - 1)
        async with world.working():
            await world.happens(TableOpened("0c-k2m7q9x4wz", "g_nina", "Nina", None, None, True))
            [got] = await server.have(1)
            await world.until()
    assert got.told["data"]["table"] == "0c-k2m7q9x4wz"
    assert len(server.got) == 1


@pytest.mark.parametrize("fault", [500, 404, 301, "close", "hang"])
async def test_it_is_tried_again_until_it_arrives(world: World, fault: int | str) -> None:
    world.waits = (0.05,) * 1000
    if fault == "hang":
        world.seconds = 0.3
    async with receiving() as server:
        hook, secret = await world.hook(server)
        server.answers.extend([fault, fault])
        await world.happens()
        async with world.working():
            got = await server.have(3)
            await world.until()
    assert len({one.id for one in got}) == 1
    assert all(one.is_signed(secret) for one in got)
    [now] = await world.hooks.of("g_nina")
    assert now.failures == 0
    assert now.last is not None
    assert (now.id, now.last.event, now.last.result) == (hook.id, "table_opened", "204")


async def test_a_server_that_is_not_there_is_told_when_it_is_back(world: World) -> None:
    world.waits = (0.05,) * 1000

    async def has_failed() -> bool:
        [hook] = await world.hooks.of("g_nina")
        return hook.failures >= 2

    with held() as [port]:
        await world.hook(Receiver(port))
        await world.happens()
        async with world.working():
            await eventually(has_failed)
            [now] = await world.hooks.of("g_nina")
            assert now.last is not None
            assert now.last.result == "no_connection"
            async with receiving(port=port) as back:
                await back.have(1)
                await world.until()


async def test_given_up_after_the_last_try_it_can_be_sent_again(world: World, servers: Servers, tmp_path: Path) -> None:
    async with receiving(500) as server:
        hook, secret = await world.hook(server)
        await world.happens()
        async with world.working():
            await world.until(dead=1)
        assert len(server.got) == 1 + len(world.waits)
        [dead] = await world.queue.dead()
        assert (dead.delivery.hook, dead.result) == (hook.id, "500")
        environment = {"REDIS_URL": servers.redis_url}
        code, said = await asyncio.to_thread(refusal, tmp_path, "hooks", "--dead", **environment)
        assert code == 0
        assert dead.delivery.id in said
        assert "table_opened" in said
        assert secret not in said
        assert "Nina" not in said
        code, said = await asyncio.to_thread(refusal, tmp_path, "hooks", "--redeliver", "msg_unknown", **environment)
        assert (code, len(said.splitlines())) == (1, 1)
        code, said = await asyncio.to_thread(refusal, tmp_path, "hooks", "--redeliver", dead.delivery.id, **environment)
        assert (code, said) == (0, "1 of 1 will be sent again.\n")
        server.usual = 200
        async with world.working():
            await world.until()
    assert {one.id for one in server.got} == {dead.delivery.id}
    assert len(server.got) == 2 + len(world.waits)


async def test_all_that_was_given_up_can_be_sent_again_and_has_all_its_tries(
    world: World, servers: Servers, tmp_path: Path
) -> None:
    world.waits = (0.01,)
    async with receiving(500) as server:
        hook, _ = await world.hook(server)
        await world.queue.enqueue([delivery(hook, number) for number in range(3)], hook.created)
        async with world.working():
            await world.until(dead=3)
            said = await asyncio.to_thread(refusal, tmp_path, "hooks", "--redeliver", "all", REDIS_URL=servers.redis_url)
            assert said == (0, "3 of 3 will be sent again.\n")
            await server.have(12)
            await world.until(dead=3)
    assert len(server.got) == 12


async def test_a_server_that_says_it_is_gone_is_sent_nothing_more(world: World) -> None:
    async with receiving(410) as server:
        hook, _ = await world.hook(server)
        await world.queue.enqueue([delivery(hook, number) for number in range(3)], hook.created)
        async with world.working():
            await world.until()
            await world.happens()
            await world.until()
        assert len(server.got) == 1
        [now] = await world.hooks.of("g_nina")
        assert now.is_off
        with pytest.raises(Refused) as refused:
            await world.hooks.ping("g_nina", hook.id)
        assert refused.value.why is Why.HOOK_OFF


async def test_a_hook_that_was_removed_hears_nothing_of_what_waited_or_was_given_up(world: World) -> None:
    world.waits = (0.01,)
    async with receiving(500) as server:
        hook, _ = await world.hook(server)
        await world.queue.enqueue([delivery(hook)], hook.created)
        async with world.working():
            await world.until(dead=1)
        [dead] = await world.queue.dead()
        await world.queue.enqueue([delivery(hook, 2)], hook.created)
        assert await world.hooks.remove("g_nina", hook.id)
        assert not await world.hooks.remove("g_nina", hook.id)
        assert await world.hooks.waiting() == {"waiting": 0, "dead": 0}
        assert not await world.queue.redeliver(dead.delivery)
        assert [one async for one in world.redis.scan_iter("{hooks}*")] == ["{hooks}told"]


async def test_what_is_removed_while_it_is_sent_leaves_nothing_behind(world: World) -> None:
    async with receiving("hang") as server:
        hook, _ = await world.hook(server)
        await world.queue.enqueue([delivery(hook)], hook.created)
        [claimed] = await world.queue.claim(60_000, 10)
        await world.hooks.remove("g_nina", hook.id)
        await world.queue.settle(claimed, settlement_of(claimed, 500, "500"))
        assert [one async for one in world.redis.scan_iter("{hooks}*")] == ["{hooks}told"]


async def test_a_server_that_does_not_answer_keeps_no_other_waiting(world: World) -> None:
    async with receiving("hang") as slow, receiving() as quick:
        for number in range(5):
            hook, _ = await world.hook(slow, f"g_{number}")
            await world.queue.enqueue([delivery(hook, one) for one in range(5)], hook.created)
        hook, _ = await world.hook(quick)
        await world.queue.enqueue([delivery(hook, one) for one in range(20)], hook.created)
        world.seconds = 60
        async with world.working():
            await quick.have(20)
            await world.until(waiting=25)
    assert len(slow.got) == 5  # one for each hook, until it is answered


async def test_what_one_dispatcher_has_claimed_no_other_takes_until_its_lease_has_run_out(world: World) -> None:
    async with receiving() as server:
        hook, _ = await world.hook(server)
        await world.queue.enqueue([delivery(hook, number) for number in range(2)], hook.created)
        assert len(await world.queue.claim(60_000, 10)) == 1
        assert await world.queue.claim(60_000, 10) == []
        await world.lease_runs_out(hook)
        [again] = await world.queue.claim(60_000, 10)
        assert again.delivery.id == "msg_0"


async def test_a_worker_that_is_killed_loses_nothing(world: World, database_url: str, servers: Servers, tmp_path: Path) -> None:
    """One attempt hangs, the next delivery waits, and a third has only happened: then the worker is gone."""
    environment = {"REDIS_URL": servers.redis_url, "DATABASE_URL": database_url, "COINCHE_HOOKS_INSIDE": ",".join(LOCAL)}
    async with receiving() as server:
        hook, secret = await world.hook(server)
        server.answers.append("hang")
        await world.queue.enqueue([delivery(hook, number) for number in range(2)], hook.created)
        with serving(tmp_path, "worker", **environment) as worker:
            await server.have(1)
            os.kill(worker.process.pid, signal.SIGKILL)
            worker.process.wait()
        await world.happens()
        await world.lease_runs_out(hook)
        with serving(tmp_path, "worker", module="tests.webhooks.spied", **environment) as worker:
            got = await server.have(4)
            await world.until()
            said = await asyncio.to_thread(worker.stop, signal.SIGTERM)
    assert worker.process.returncode == 0, said
    assert re.findall(r"sent by thread (\w+)", worker.all_said) == ["webhooks"] * 3
    assert {one.id for one in got[:2]} >= {"msg_0"}
    assert len({one.id for one in got}) == 3
    assert all(one.is_signed(secret) for one in got)


def test_the_command_asks_the_built_in_store_while_coinche_runs_and_when_it_does_not(tmp_path: Path) -> None:
    with serving(tmp_path):
        assert refusal(tmp_path, "hooks") == (0, "0 to be sent, 0 given up.\n")
    assert refusal(tmp_path, "hooks", "--dead") == (0, "Nothing was given up.\n")
    code, said = refusal(tmp_path, "hooks", REDIS_URL="redis://127.0.0.1:1")
    assert (code, len(said.splitlines())) == (1, 1)


async def test_no_game_waits_for_webhooks(database_url: str, servers: Servers, redis: Redis, tmp_path: Path) -> None:
    """What hooks have in the store is broken, and the tables do not even notice."""
    for key in ("{hooks}due", "{hooks}mail", "{hooks}told", "{hooks}dead", "{hooks}all:table_opened"):
        await redis.set(key, "nonsense")
    await redis.xadd("{s0b}notices", {"notice": "{", "at": "1", "due": ""})
    with serving(tmp_path, REDIS_URL=servers.redis_url, DATABASE_URL=database_url) as coinche:
        async with people(coinche.url, "Nina", "Paul", "Rosa", "Omar") as four:
            table = await started(four, clock=14_400)
            async with four[0].at(table) as line:
                await line.until_state(lambda line: line.view is not None and line.view["phase"] == "bidding")
        said = coinche.stop(signal.SIGTERM)
    assert coinche.process.returncode == 0, said


def test_the_waits_grow_to_about_a_day_and_never_come_together() -> None:
    assert 24 * 3600 <= sum(WAITS) <= 26 * 3600
    assert list(WAITS) == sorted(WAITS)
    claimed = ClaimedDelivery(Delivery("h", "m", "ping", "{}"), "https://a.example/", "whsec_")
    waits = {settlement_of(claimed, None, "timeout").wait for _ in range(50)}
    assert len(waits) > 10
    assert all(WAITS[0] * (1 - JITTER) <= wait / 1000 <= WAITS[0] * (1 + JITTER) for wait in waits)


def test_what_becomes_of_a_delivery_follows_from_the_answer() -> None:
    new = ClaimedDelivery(Delivery("h", "m", "ping", "{}"), "https://a.example/", "whsec_")
    old = ClaimedDelivery(new.delivery, new.url, new.secret, len(WAITS))
    outcomes = {
        status: settlement_of(new, status, "").outcome for status in (200, 204, 299, 300, 307, 400, 404, 410, 429, 500, None)
    }
    assert [status for status, outcome in outcomes.items() if outcome is Outcome.DELIVERED] == [200, 204, 299]
    assert [status for status, outcome in outcomes.items() if outcome is Outcome.GONE] == [410]
    assert set(outcomes.values()) == {Outcome.DELIVERED, Outcome.GONE, Outcome.FAILED}
    assert settlement_of(old, 500, "").outcome is Outcome.DEAD
    assert settlement_of(old, 500, "").rest <= LONGEST_REST * 1000


def test_a_secret_is_in_no_line_that_is_logged() -> None:
    assert "hush" not in repr(ClaimedDelivery(Delivery("h", "m", "ping", "{}"), "https://a.example/", "hush"))
