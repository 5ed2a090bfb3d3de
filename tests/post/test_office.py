"""What is posted arrives, at least once, whatever breaks on the way; or it is given up, and can be sent again."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from redis.asyncio import Redis

from app.embedded import Servers
from app.game.refusal import Refused, Why
from app.post.carrier import Carrier
from app.post.doorman import Doorman
from app.post.office import Office
from app.store import hooks as stored
from app.store.hooks import RedisHooks, RedisPostbox
from app.store.log import RedisLog
from app.store.server import connect
from app.tables.hooks import Hook, Reach
from app.tables.notices import Heard, TableOpened
from app.tables.post import JITTER, LONGEST_REST, WAITS, Fate, Letter, Mail, outcome
from app.wire.hooks import write_notice
from tests.people import people, started
from tests.ports import held
from tests.receiver import Receiver, eventually, receiving
from tests.serving import refusal, serving

LOCAL = ("127.0.0.0/8",)
OPENED = TableOpened("0b-k2m7q9x4wz", "g_nina", "Nina", "announced-701", 14_400, True)


@dataclass
class Post:
    """The post of a server."""

    redis: Redis
    hooks: RedisHooks
    box: RedisPostbox
    waits: Sequence[float] = (0.05,) * 3
    seconds: float = 5.0

    async def hook(self, receiver: Receiver, owner: str = "g_nina", path: str = "") -> tuple[Hook, str]:
        made = await self.hooks.add(owner, receiver.url + path, (Heard.TABLE_OPENED,), Reach.MINE)
        assert made is not None
        return made

    async def happens(self, notice: TableOpened = OPENED, at: int | None = None) -> None:
        """Something that hooks hear of."""
        now = (await self.redis.time())[0] * 1000 + 999 if at is None else at
        await self.redis.xadd("{s0b}notices", {"notice": write_notice(notice), "at": str(now), "due": ""})

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        office = Office(self.box, Carrier(Doorman(LOCAL), seconds=self.seconds), waits=self.waits)
        task = asyncio.create_task(office.run())
        yield
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def until(self, **counts: int) -> None:
        """Wait until all has been told, and so many wait or are dead."""

        async def is_so() -> bool:
            told = await self.redis.xlen("{s0b}notices") == 0
            return told and await self.hooks.waiting() == {"waiting": 0, "dead": 0} | counts

        await eventually(is_so)

    async def lease_runs_out(self, hook: Hook) -> None:
        """As if so much time had passed."""
        await self.redis.hset(f"{{hooks}}h:{hook.id}", "free", "0")
        await self.redis.zadd("{hooks}due", {hook.id: 0})


@pytest.fixture
async def post(redis_url: str) -> AsyncIterator[Post]:
    async with connect(redis_url) as client:
        assert isinstance(client, Redis)
        await RedisLog(client).prepare()
        yield Post(client, RedisHooks(client), RedisPostbox(client))


def letter(hook: Hook, number: int = 1) -> Letter:
    return Letter(hook.id, f"msg_{number}", "table_opened", json.dumps({"number": number}))


async def test_what_happens_is_told_signed_and_only_once(post: Post) -> None:
    async with receiving() as server:
        _, secret = await post.hook(server)
        await post.happens()
        async with post.working(), post.working():
            [got] = await server.have(1)
            await post.until()
            await post.happens()  # an office that died had made letters of it, and not said so
            await post.until()
    assert got.path == "/hook"
    assert got.headers["content-type"] == "application/json"
    assert got.is_signed(secret)
    assert not got.is_signed("whsec_" + "QUJD" * 10)
    assert got.told["id"] == got.id
    assert got.told["event"] == "table_opened"
    assert got.told["data"]["host"] == {"id": "g_nina", "name": "Nina"}
    assert len(server.got) == 1


async def test_what_a_newer_release_has_written_is_left_to_it(post: Post) -> None:
    async with receiving() as server:
        await post.hook(server)
        newer = write_notice(OPENED).replace('"v":1', '"v":99')
        await post.redis.xadd("{s0b}notices", {"notice": newer, "at": "1", "due": ""})
        await post.happens()
        async with post.working():
            await server.have(1)
    assert await post.redis.xlen("{s0b}notices") == 1


async def test_what_cannot_be_read_stops_nothing(post: Post) -> None:
    async with receiving() as server:
        await post.hook(server)
        for notice in ("{", "[]", '{"v":1,"kind":"hands_dealt"}', '{"v":1,"kind":"turn_due"}'):
            await post.redis.xadd("{s0b}notices", {"notice": notice, "at": "1", "due": ""})
        await post.happens()
        async with post.working():
            await server.have(1)
            await post.until()


async def test_each_hook_is_told_under_an_id_of_its_own(post: Post) -> None:
    async with receiving() as server:
        for owner in ("g_nina", "g_paul"):
            await post.hook(server, owner, f"/{owner}")
        await post.happens()
        async with post.working():
            got = await server.have(2)
    assert {one.path for one in got} == {"/hook/g_nina", "/hook/g_paul"}
    assert len({one.id for one in got}) == 2


async def test_what_happened_before_a_hook_was_made_it_does_not_hear(post: Post) -> None:
    async with receiving() as server:
        hook, _ = await post.hook(server)
        await post.happens(at=hook.created - 1)
        async with post.working():
            await post.happens(TableOpened("0c-k2m7q9x4wz", "g_nina", "Nina", None, None, True))
            [got] = await server.have(1)
            await post.until()
    assert got.told["data"]["table"] == "0c-k2m7q9x4wz"
    assert len(server.got) == 1


@pytest.mark.parametrize("fault", [500, 404, 301, "close", "hang"])
async def test_it_is_tried_again_until_it_arrives(post: Post, fault: int | str) -> None:
    post.waits = (0.05,) * 1000
    if fault == "hang":
        post.seconds = 0.3
    async with receiving() as server:
        hook, secret = await post.hook(server)
        server.answers.extend([fault, fault])
        await post.happens()
        async with post.working():
            got = await server.have(3)
            await post.until()
    assert len({one.id for one in got}) == 1
    assert all(one.is_signed(secret) for one in got)
    [now] = await post.hooks.of("g_nina")
    assert now.failures == 0
    assert now.last is not None
    assert (now.id, now.last.event, now.last.result) == (hook.id, "table_opened", "204")


async def test_a_server_that_is_not_there_is_told_when_it_is_back(post: Post) -> None:
    post.waits = (0.05,) * 1000

    async def has_failed() -> bool:
        [hook] = await post.hooks.of("g_nina")
        return hook.failures >= 2

    with held() as [port]:
        await post.hook(Receiver(port))
        await post.happens()
        async with post.working():
            await eventually(has_failed)
            [now] = await post.hooks.of("g_nina")
            assert now.last is not None
            assert now.last.result == "no_connection"
            async with receiving(port=port) as back:
                await back.have(1)
                await post.until()


async def test_given_up_after_the_last_try_it_can_be_sent_again(post: Post, servers: Servers, tmp_path: Path) -> None:
    async with receiving(500) as server:
        hook, secret = await post.hook(server)
        await post.happens()
        async with post.working():
            await post.until(dead=1)
        assert len(server.got) == 1 + len(post.waits)
        [dead] = await post.box.dead()
        assert (dead.letter.hook, dead.result) == (hook.id, "500")
        environment = {"REDIS_URL": servers.redis_url}
        code, said = await asyncio.to_thread(refusal, tmp_path, "hooks", "--dead", **environment)
        assert code == 0
        assert dead.letter.id in said
        assert "table_opened" in said
        assert secret not in said
        assert "Nina" not in said
        code, said = await asyncio.to_thread(refusal, tmp_path, "hooks", "--redeliver", "msg_unknown", **environment)
        assert (code, len(said.splitlines())) == (1, 1)
        code, said = await asyncio.to_thread(refusal, tmp_path, "hooks", "--redeliver", dead.letter.id, **environment)
        assert (code, said) == (0, "1 of 1 will be sent again.\n")
        server.usual = 200
        async with post.working():
            await post.until()
    assert {one.id for one in server.got} == {dead.letter.id}
    assert len(server.got) == 2 + len(post.waits)


async def test_all_that_was_given_up_can_be_sent_again_and_has_all_its_tries(
    post: Post, servers: Servers, tmp_path: Path
) -> None:
    post.waits = (0.01,)
    async with receiving(500) as server:
        hook, _ = await post.hook(server)
        await post.box.post([letter(hook, number) for number in range(3)], hook.created)
        async with post.working():
            await post.until(dead=3)
            said = await asyncio.to_thread(refusal, tmp_path, "hooks", "--redeliver", "all", REDIS_URL=servers.redis_url)
            assert said == (0, "3 of 3 will be sent again.\n")
            await server.have(12)
            await post.until(dead=3)
    assert len(server.got) == 12


async def test_a_server_that_says_it_is_gone_is_sent_nothing_more(post: Post) -> None:
    async with receiving(410) as server:
        hook, _ = await post.hook(server)
        await post.box.post([letter(hook, number) for number in range(3)], hook.created)
        async with post.working():
            await post.until()
            await post.happens()
            await post.until()
        assert len(server.got) == 1
        [now] = await post.hooks.of("g_nina")
        assert now.is_off
        with pytest.raises(Refused) as refused:
            await post.hooks.ping("g_nina", hook.id)
        assert refused.value.why is Why.HOOK_OFF


async def test_a_hook_that_was_removed_hears_nothing_of_what_waited_or_was_given_up(post: Post) -> None:
    post.waits = (0.01,)
    async with receiving(500) as server:
        hook, _ = await post.hook(server)
        await post.box.post([letter(hook)], hook.created)
        async with post.working():
            await post.until(dead=1)
        [dead] = await post.box.dead()
        await post.box.post([letter(hook, 2)], hook.created)
        assert await post.hooks.remove("g_nina", hook.id)
        assert not await post.hooks.remove("g_nina", hook.id)
        assert await post.hooks.waiting() == {"waiting": 0, "dead": 0}
        assert not await post.box.redeliver(dead.letter)
        assert [one async for one in post.redis.scan_iter("{hooks}*")] == ["{hooks}told"]


async def test_what_is_removed_while_it_is_carried_leaves_nothing_behind(post: Post) -> None:
    async with receiving("hang") as server:
        hook, _ = await post.hook(server)
        await post.box.post([letter(hook)], hook.created)
        [mail] = await post.box.claim(60_000, 10)
        await post.hooks.remove("g_nina", hook.id)
        await post.box.settle(mail, outcome(mail, 500, "500"))
        assert [one async for one in post.redis.scan_iter("{hooks}*")] == ["{hooks}told"]


async def test_of_too_many_that_wait_the_last_are_given_up_at_once(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MOST_WAITING", 3)
    monkeypatch.setattr(stored, "MOST_DEAD", 2)
    async with receiving() as server:
        hook, _ = await post.hook(server)
        await post.box.post([letter(hook, number) for number in range(8)], hook.created)
        assert await post.hooks.waiting() == {"waiting": 3, "dead": 2}
        assert [one.result for one in await post.box.dead()] == ["too_many", "too_many"]
        assert {one.letter.id for one in await post.box.dead()} == {"msg_6", "msg_7"}


async def test_a_server_that_does_not_answer_keeps_no_other_waiting(post: Post) -> None:
    async with receiving("hang") as slow, receiving() as quick:
        for number in range(5):
            hook, _ = await post.hook(slow, f"g_{number}")
            await post.box.post([letter(hook, one) for one in range(5)], hook.created)
        hook, _ = await post.hook(quick)
        await post.box.post([letter(hook, one) for one in range(20)], hook.created)
        post.seconds = 60
        async with post.working():
            await quick.have(20)
            await post.until(waiting=25)
    assert len(slow.got) == 5  # one for each hook, until it is answered


async def test_what_one_office_carries_no_other_takes_until_its_lease_has_run_out(post: Post) -> None:
    async with receiving() as server:
        hook, _ = await post.hook(server)
        await post.box.post([letter(hook, number) for number in range(2)], hook.created)
        assert len(await post.box.claim(60_000, 10)) == 1
        assert await post.box.claim(60_000, 10) == []
        await post.lease_runs_out(hook)
        [again] = await post.box.claim(60_000, 10)
        assert again.letter.id == "msg_0"


async def test_a_worker_that_is_killed_loses_nothing(post: Post, database_url: str, servers: Servers, tmp_path: Path) -> None:
    """One attempt hangs, the next letter waits, and a third has only happened: then the worker is gone."""
    environment = {"REDIS_URL": servers.redis_url, "DATABASE_URL": database_url, "COINCHE_HOOKS_INSIDE": ",".join(LOCAL)}
    async with receiving() as server:
        hook, secret = await post.hook(server)
        server.answers.append("hang")
        await post.box.post([letter(hook, number) for number in range(2)], hook.created)
        with serving(tmp_path, "worker", **environment) as worker:
            await server.have(1)
            os.kill(worker.process.pid, signal.SIGKILL)
            worker.process.wait()
        await post.happens()
        await post.lease_runs_out(hook)
        with serving(tmp_path, "worker", **environment):
            got = await server.have(4)
            await post.until()
    assert {one.id for one in got[:2]} >= {"msg_0"}
    assert len({one.id for one in got}) == 3
    assert all(one.is_signed(secret) for one in got)


def test_the_command_asks_the_built_in_store_while_coinche_runs_and_when_it_does_not(tmp_path: Path) -> None:
    with serving(tmp_path):
        assert refusal(tmp_path, "hooks") == (0, "0 to be sent, 0 given up.\n")
    assert refusal(tmp_path, "hooks", "--dead") == (0, "Nothing was given up.\n")
    code, said = refusal(tmp_path, "hooks", REDIS_URL="redis://127.0.0.1:1")
    assert (code, len(said.splitlines())) == (1, 1)


async def test_no_game_waits_for_the_post(database_url: str, servers: Servers, redis: Redis, tmp_path: Path) -> None:
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
    mail = Mail(Letter("h", "m", "ping", "{}"), "https://a.example/", "whsec_")
    waits = {outcome(mail, None, "timeout").wait for _ in range(50)}
    assert len(waits) > 10
    assert all(WAITS[0] * (1 - JITTER) <= wait / 1000 <= WAITS[0] * (1 + JITTER) for wait in waits)


def test_what_becomes_of_mail_follows_from_the_answer() -> None:
    new = Mail(Letter("h", "m", "ping", "{}"), "https://a.example/", "whsec_")
    old = Mail(new.letter, new.url, new.secret, len(WAITS))
    fates = {status: outcome(new, status, "").fate for status in (200, 204, 299, 300, 307, 400, 404, 410, 429, 500, None)}
    assert [status for status, fate in fates.items() if fate is Fate.DELIVERED] == [200, 204, 299]
    assert [status for status, fate in fates.items() if fate is Fate.GONE] == [410]
    assert set(fates.values()) == {Fate.DELIVERED, Fate.GONE, Fate.FAILED}
    assert outcome(old, 500, "").fate is Fate.DEAD
    assert outcome(old, 500, "").rest <= LONGEST_REST * 1000


def test_a_secret_is_in_no_line_that_is_logged() -> None:
    assert "hush" not in repr(Mail(Letter("h", "m", "ping", "{}"), "https://a.example/", "hush"))
