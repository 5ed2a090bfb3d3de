"""Tables on a cluster: three servers that hold a third of the keys each, and a replica of each that takes its place."""

import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any

import pytest
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import Connection
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.game.refusal import Refused
from app.game.seats import Seat
from app.store import server
from app.store.archive import Archive
from app.store.company import RedisCompany
from app.store.guests import RedisGuests
from app.store.hooks import RedisDeliveryQueue, RedisHooks
from app.store.keys import SHARDS
from app.store.limits import RedisLimits
from app.store.lobby import RedisLobby
from app.store.log import RedisLog
from app.store.models import Game
from app.store.outbox import waiting
from app.store.postgres import connect as connect_postgres
from app.store.server import Cluster, connect, describe, reply
from app.store.tokens import RedisBots, RedisTokens
from app.tables.hooks import HookScope
from app.tables.limits import GENERAL, LOOKUPS, Wish
from app.tables.mirror import Mirror
from app.tables.notices import EventType
from app.tables.ports import Said
from app.tables.tokens import Asker, Scope
from app.webhooks.dispatcher import Dispatcher
from app.webhooks.sender import Sender
from app.webhooks.url_policy import UrlPolicy
from tests.cluster import PATIENCE, Six, cluster, until
from tests.process import Nina, Process, process
from tests.receiver import receiving
from tests.seats import NINA, four_seated, opened


@pytest.fixture(scope="module")
async def six(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Six]:
    async with cluster(tmp_path_factory.mktemp("cluster")) as one:
        yield one


@pytest.fixture
async def store(six: Six) -> AsyncIterator[Cluster]:
    async with connect(six.url) as client:
        assert isinstance(client, Cluster)
        yield client


@pytest.fixture
async def processes(six: Six) -> AsyncIterator[Sequence[Process]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(process(six.url)) for _ in range(2)]


async def one_on_each(six: Six, store: Cluster, name: str) -> list[str]:
    """Ids of tables, one on each of the first servers."""
    found: dict[int, str] = {}
    for shard in SHARDS:
        node = await six.first_of(store.keyslot(f"{{s{shard}}}"))
        found.setdefault(node.port, f"{shard}-{name}")
    assert len(found) == 3
    return list(found.values())


@pytest.mark.parametrize(
    ("url", "nodes"),
    [
        ("redis+cluster://a:7000,b:7001", [("a", 7000), ("b", 7001)]),
        ("redis+cluster://a", [("a", 6379)]),
        ("rediss+cluster://me:secret@[::1]:7000,b/", [("::1", 7000), ("b", 6379)]),
    ],
)
def test_a_cluster_is_named_by_any_of_its_nodes(url: str, nodes: list[tuple[str, int]]) -> None:
    client = connect(url)
    assert isinstance(client, Cluster)
    assert [(node.host, node.port) for node in client.startup_nodes] == nodes
    kwargs = client.get_connection_kwargs()
    assert kwargs.get("password") == ("secret" if "secret" in url else None)
    assert kwargs.get("ssl", False) is url.startswith("rediss") or "ssl" not in kwargs


def test_a_cluster_without_a_node_is_refused() -> None:
    with pytest.raises(ValueError):
        connect("redis+cluster:///")


async def test_it_says_what_it_is(store: Cluster) -> None:
    about = await describe(store)
    assert (about.cluster, about.appendonly, about.appendfsync, about.evicts) == (True, "yes", "always", False)


async def test_a_server_that_hangs_is_asked_once_and_not_for_a_minute(six: Six, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ask = ClusterNode.execute_command

    async def spy(self: ClusterNode, *words: Any, **options: Any) -> Any:
        asked.append(words[0])
        return await ask(self, *words, **options)

    monkeypatch.setattr(ClusterNode, "execute_command", spy)
    monkeypatch.setitem(server._OPTIONS, "socket_timeout", 0.2)
    async with connect(six.url) as store:
        assert isinstance(store, Cluster)
        await until(lambda: store.set("hung", "1"))
        node = await six.first_of(store.keyslot("hung"))
        node.send(signal.SIGSTOP)
        try:
            with pytest.raises(Refused):
                await reply(store.get("hung"))
        finally:
            node.send(signal.SIGCONT)
        assert asked.count("GET") == 1
        assert await until(lambda: store.get("hung")) == "1"


async def test_everything_beside_the_tables_works_too(store: Cluster) -> None:
    log, lobby, guests, company = RedisLog(store), RedisLobby(store), RedisGuests(store), RedisCompany(store)
    await lobby.show(four_seated())
    assert [one.table for one in await lobby.tables()] == [four_seated()]
    person, token = await guests.welcome("Nina")
    assert await guests.by_token(token) == person
    assert await guests.rename(token, "Ninon") is not None
    said = Said(1, Seat.FIRST, "Nina", "hello", None)
    for shard in SHARDS:
        await log.open(opened(id=f"{shard}-x"))
        await company.here(f"{shard}-x", "tab", NINA.id)
        await company.say(f"{shard}-x", said)
        assert await company.present(f"{shard}-x") == (NINA.id,)
        assert await company.talk(f"{shard}-x") == (said,)
    assert await waiting(store) == dict.fromkeys(SHARDS, 0)


async def test_tokens_bots_and_limits_lie_wherever_they_lie(store: Cluster) -> None:
    tokens, bots, limits = RedisTokens(store), RedisBots(store), RedisLimits(store)
    made = [await bots.make(NINA.id, f"Robi {number}") for number in range(6)]
    for bot in made:
        assert bot is not None
        issued = await tokens.issue(bot, "first", frozenset(Scope), 1, None)
        assert issued is not None
        token, secret = issued
        assert await tokens.asker(secret) == Asker(bot, frozenset(Scope), token.id)
        verdicts = await limits.ask(Wish(GENERAL, f"t:{token.id}"), Wish(LOOKUPS, bot.id, how="look"))
        assert [one.left for one in verdicts] == [GENERAL.burst - 1, LOOKUPS.burst]
        assert await tokens.revoke(bot.id, token.id)
        assert await tokens.asker(secret) is None
    assert {one.id for one in await bots.of(NINA.id)} == {bot.id for bot in made if bot}
    for bot in made:
        assert bot is not None
        assert await bots.rename(NINA.id, bot.id, "Roba") is not None
        assert await bots.dismiss(NINA.id, bot.id)
    assert await bots.of(NINA.id) == []


async def test_hooks_hear_of_tables_on_all_servers(six: Six, store: Cluster, processes: Sequence[Process]) -> None:
    hooks = RedisHooks(store)
    async with receiving() as server, asyncio.timeout(PATIENCE):
        made = await hooks.add(NINA.id, server.url, (EventType.TABLE_OPENED,), HookScope.MINE)
        assert made is not None
        dispatcher = asyncio.create_task(Dispatcher(RedisDeliveryQueue(store), Sender(UrlPolicy(["127.0.0.0/8"]))).run())
        await asyncio.sleep(0.1)  # the clocks of two servers differ by less
        tables = await one_on_each(six, store, "told")
        for table in tables:
            await Nina(processes, table).begin()
        got = await server.until(lambda got: {one.told["data"]["table"] for one in got} >= set(tables))
        dispatcher.cancel()
    assert len({one.id for one in got}) == len(got)
    assert await hooks.remove(NINA.id, made[0].id)
    assert await hooks.waiting() == {"waiting": 0, "dead": 0}


async def test_a_server_that_has_forgotten_the_functions_is_taught_them_again(six: Six, processes: Sequence[Process]) -> None:
    for node in six.nodes[:3]:
        await node.ask("FUNCTION FLUSH")
    for table in await one_on_each(six, processes[0].redis, "taught"):  # type: ignore[arg-type]
        await Nina(processes, table).begin()
    await processes[0].log.claim(1)


async def test_a_connection_that_is_closed_before_it_is_written_to_costs_nothing(
    store: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another task has found that the servers have changed places, and closes all."""
    log, send = RedisLog(store, replicas=1), Connection._send_packed_command
    await log.prepare()
    closed: list[Connection] = []

    async def close_first(connection: Connection, command: Any) -> None:
        if not closed:
            closed.append(connection)
            await connection.disconnect()
        await send(connection, command)

    monkeypatch.setattr(Connection, "_send_packed_command", close_first)
    assert await RedisLobby(store).seats("g_nobody") == []
    assert closed
    closed.clear()
    with pytest.raises(Refused, match="busy"):
        await log.find("00-x", "g_nina:c")
    assert await log.find("00-x", "g_nina:c") is None


async def test_what_rings_on_one_server_is_heard_at_all(six: Six, store: Cluster, processes: Sequence[Process]) -> None:
    company = RedisCompany(store)
    for table in await one_on_each(six, store, "bell"):
        await processes[0].log.open(opened(id=table))
        for one in processes:
            assert await _is_heard(one, company, table)


async def _is_heard(one: Process, company: RedisCompany, table: str) -> bool:
    """Whether the process hears its table, perhaps only after a while."""

    async def ring() -> bool:
        with suppress(Refused):  # it is changing lines
            await one.bell.follow(table)
        await company.say(table, Said(1, Seat.FIRST, "Nina", "hello", None))
        await asyncio.sleep(0.05)
        return table in one.heard

    one.heard.discard(table)
    return bool(await until(ring))


async def _are_in_the_middle(ninas: Sequence[Nina]) -> bool:
    return all(len(nina.acks) >= 8 for nina in ninas)


async def test_a_first_server_is_killed_and_the_games_go_on(
    six: Six, store: Cluster, processes: Sequence[Process], database_url: str
) -> None:
    names = await one_on_each(six, store, "killed")
    ninas = [Nina(processes, name) for name in names]
    engine = connect_postgres(database_url)
    archives = [Archive(one.redis, engine, stale_ms=100) for one in processes]
    victim = await six.first_of(store.keyslot(f"{{s{names[0][:2]}}}"))
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        working = [group.create_task(one.run()) for one in archives]
        playing = [group.create_task(nina.play()) for nina in ninas]
        await until(lambda: _are_in_the_middle(ninas))
        assert not any(one.done() for one in playing)
        victim.send(signal.SIGKILL)
        await asyncio.wait(playing)

        async def are_archived() -> bool:
            async with AsyncSession(engine) as session:
                return await session.scalar(select(func.count()).select_from(Game)) == len(names)

        await until(are_archived)
        for one in working:
            one.cancel()
    await engine.dispose()
    for nina in ninas:
        stored = await processes[0].log.load(nina.table)
        assert stored is not None
        assert [entry.seq for entry in stored.entries] == list(range(stored.entries[0].seq, stored.seq + 1))
        assert not Mirror.of(stored).table.is_playing
        assert nina.kept(await processes[0].log.since(nina.table, 0), stored.epoch)
    for every in processes:
        assert await _is_heard(every, RedisCompany(store), names[0])
    # What was killed comes back, as a replica of what has taken its place.
    await victim.start()
    await until(victim.is_in_step)
    assert await victim.role() == "slave"


async def test_what_a_replica_has_confirmed_is_not_lost_with_the_first_server(six: Six, store: Cluster) -> None:
    async with AsyncExitStack() as stack:
        processes = [await stack.enter_async_context(process(six.url, replicas=1)) for _ in range(2)]
        table = (await one_on_each(six, store, "waited"))[1]
        victim = await six.first_of(store.keyslot(f"{{s{table[:2]}}}"))
        nina = Nina(processes, table)
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
            playing = group.create_task(nina.play())
            await until(lambda: _are_in_the_middle([nina]))
            assert not playing.done()
            victim.send(signal.SIGKILL)
            await until(lambda: _another_is_first(six, store, table, victim.port))
            # Nobody is left who could confirm anything, until it comes back as a replica.
            await victim.start()
        stored = await processes[0].log.load(table)
        assert stored is not None
        assert not Mirror.of(stored).table.is_playing
        # An entry of which nobody was told may be gone, and who has read it has begun an epoch: what was told is there in any.
        assert nina.kept(stored.entries)
        assert len(nina.acks) > 8


async def _another_is_first(six: Six, store: Cluster, table: str, port: int) -> bool:
    return (await six.first_of(store.keyslot(f"{{s{table[:2]}}}"))).port != port
