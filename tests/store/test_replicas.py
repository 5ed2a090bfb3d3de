"""COINCHE_REDIS_WAIT: what is acknowledged is on so many replicas."""

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.game.refusal import Refused, Why
from app.game.seats import Seat
from app.store.log import RedisLog
from app.tables.commands import Actor, GetReady, Sit
from app.tables.ports import Appended, Entry, Known
from app.tables.table import ReadyChanged
from tests.cluster import Node, nodes, until
from tests.process import Process, process
from tests.seats import NINA, opened

TABLE = opened().id
ME = Actor(NINA.id)
ENTRY = Entry(1, NINA.id, GetReady(True), (ReadyChanged(Seat.FIRST, True),))


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[tuple[Node, Node]]:
    """A server and its replica."""
    async with nodes(tmp_path, 2) as (first, replica):
        await replica.ask("REPLICAOF", "127.0.0.1", first.port)
        await until(replica.is_in_step)
        yield first, replica


@pytest.fixture
async def one(pair: tuple[Node, Node]) -> AsyncIterator[Process]:
    async with process(f"redis://{pair[0].address}", replicas=1) as made:
        await made.tables.open(opened())
        yield made


async def busy(one: Process, cid: str) -> None:
    with pytest.raises(Refused) as refused:
        await one.tables.act(TABLE, ME, cid, Sit(NINA))
    assert refused.value.why is Why.BUSY


async def test_what_the_replica_has_is_acknowledged(one: Process, pair: tuple[Node, Node]) -> None:
    assert await one.tables.act(TABLE, ME, "sit", Sit(NINA)) == (1, 1)
    assert await pair[1].client.hget(f"{{s{TABLE[:2]}}}t:{TABLE}", "seq") == "1"


async def test_what_the_replica_does_not_have_is_not_acknowledged_until_it_has(one: Process, pair: tuple[Node, Node]) -> None:
    _, replica = pair
    replica.send(signal.SIGSTOP)
    await busy(one, "sit")
    await busy(one, "sit")  # it is stored, and still on one server alone
    replica.send(signal.SIGCONT)
    assert await until(lambda: _acked(one, "sit")) == (1, 1)
    assert await one.tables.act(TABLE, ME, "sit", Sit(NINA)) == (1, 1)
    assert [entry.seq for entry in await one.log.since(TABLE, 0)] == [1]


async def _acked(one: Process, cid: str) -> tuple[int, int] | None:
    try:
        return await one.tables.act(TABLE, ME, cid, Sit(NINA))
    except Refused:
        return None


async def test_a_known_command_waits_on_any_connection(one: Process, pair: tuple[Node, Node]) -> None:
    """Whoever asks again may have another connection, on which nothing has been written yet."""
    _, replica = pair
    replica.send(signal.SIGSTOP)
    with pytest.raises(Refused):
        await one.log.append(TABLE, "g_nina:a", ENTRY, None, None, None)
    async with process(f"redis://{pair[0].address}", replicas=1) as other:
        for ask in (
            lambda: other.log.append(TABLE, "g_nina:a", ENTRY, None, None, None),
            lambda: other.log.find(TABLE, "g_nina:a"),
        ):
            with pytest.raises(Refused):
                await ask()
        replica.send(signal.SIGCONT)
        await until(replica.is_in_step)
        assert await until(lambda: _found(other.log)) == 1
        assert await other.log.append(TABLE, "g_nina:a", ENTRY, None, None, None) == Known(1)


async def _found(log: RedisLog) -> int | None:
    try:
        return await log.find(TABLE, "g_nina:a")
    except Refused:
        return None


async def test_without_the_setting_nobody_waits(pair: tuple[Node, Node]) -> None:
    pair[1].send(signal.SIGSTOP)
    async with process(f"redis://{pair[0].address}") as one:
        await one.tables.open(opened())
        assert isinstance(await one.log.append(TABLE, "g_nina:a", ENTRY, None, None, None), Appended)
