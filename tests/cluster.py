"""A cluster of real servers for tests: three first ones, a replica of each, to be killed and started again."""

import asyncio
import contextlib
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.crc import REDIS_CLUSTER_HASH_SLOTS
from redis.exceptions import RedisError

from app.embedded import valkey_program
from app.launch import launcher
from tests.ports import held

PATIENCE = 120  # seconds after which something hangs; never a measure of speed
FIRST = 3


async def until(wanted: Callable[[], Awaitable[Any]]) -> Any:
    """Ask until the answer is not false; a server that does not answer is asked again."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with contextlib.suppress(RedisError, OSError):
                if found := await wanted():
                    return found
            await asyncio.sleep(0.05)


@dataclass
class Node:
    """One server, on a port of its own."""

    home: Path
    port: int
    options: Sequence[str] = ()
    process: subprocess.Popen[bytes] | None = None
    client: Redis = field(init=False)

    def __post_init__(self) -> None:
        self.client = Redis(port=self.port, decode_responses=True, retry=Retry(NoBackoff(), 0))

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start it on the files it has, and wait until it answers. From the main thread, whose end would be its own."""
        self.home.mkdir(exist_ok=True)
        command: list[str | Path] = [valkey_program(), "--bind", "127.0.0.1", "--port", str(self.port), "--dir", self.home]
        command += ["--appendonly", "yes", "--appendfsync", "always", "--save", "", "--repl-diskless-sync-delay", "0"]
        self.process = _run([*command, *self.options], self.home / "log")
        await until(self.client.ping)

    async def ask(self, *command: Any) -> Any:
        """What it answers to a command."""
        return await self.client.execute_command(*command)  # type: ignore[no-untyped-call]

    def send(self, number: signal.Signals) -> None:
        """Kill it, stop it, let it go on."""
        assert self.process is not None
        self.process.send_signal(number)
        if number is signal.SIGKILL:
            self.process.wait()

    async def end(self) -> None:
        """Leave nothing behind."""
        if self.process is not None:
            self.send(signal.SIGKILL)
        await self.client.aclose()

    async def role(self) -> str:
        info: dict[str, Any] = await self.client.info("replication")
        return str(info["role"])

    async def is_in_step(self) -> bool:
        """Whether this replica follows what it is a replica of."""
        return (await self.client.info("replication")).get("master_link_status") == "up"


def _run(command: Sequence[str | Path], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as said:
        return subprocess.Popen(
            [*launcher(signal.SIGKILL), *command],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )


@asynccontextmanager
async def nodes(home: Path, count: int, *options: str, bus: bool = False) -> AsyncIterator[list[Node]]:
    """Servers that run; all of them end with the context."""
    with held(2 * count) as ports:
        made = [
            Node(home / str(number), port, (*options, "--cluster-port", str(other)) if bus else options)
            for number, (port, other) in enumerate(zip(ports[:count], ports[count:], strict=True))
        ]
        try:
            for node in made:
                await node.start()
            yield made
        finally:
            for node in made:
                await node.end()


@dataclass
class Six:
    """The cluster: three that hold a third of the keys each, and their replicas in the same order."""

    nodes: list[Node]

    @property
    def url(self) -> str:
        return f"redis+cluster://{','.join(node.address for node in self.nodes[:2])}/"

    async def first_of(self, slot: int) -> Node:
        """The server that holds a slot now."""
        for node in self.nodes:
            with contextlib.suppress(RedisError, OSError):
                for low, high, first, *_ in await node.ask("CLUSTER SLOTS"):
                    if low <= slot <= high:
                        return next(one for one in self.nodes if one.port == first[1])
        raise AssertionError("nobody holds it")


@asynccontextmanager
async def cluster(home: Path) -> AsyncIterator[Six]:
    """A cluster in which all is well."""
    options = ("--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--cluster-replica-validity-factor", "0")
    async with nodes(home, 2 * FIRST, *options, "--cluster-allow-replica-migration", "no", bus=True) as made:
        for number, node in enumerate(made, 1):
            await node.ask("CLUSTER SET-CONFIG-EPOCH", number)
        for number, node in enumerate(made[:FIRST]):
            low, high = (REDIS_CLUSTER_HASH_SLOTS * third // FIRST for third in (number, number + 1))
            await node.ask("CLUSTER ADDSLOTS", *range(low, high))
        for node in made[1:]:
            bus = node.options[-1]
            await made[0].ask("CLUSTER MEET", "127.0.0.1", node.port, bus)
        for node in made:
            await until(lambda node=node: _knows_all(node))  # type: ignore[misc]
        for first, replica in zip(made[:FIRST], made[FIRST:], strict=True):
            name = await first.ask("CLUSTER MYID")
            await until(lambda replica=replica, name=name: replica.ask("CLUSTER REPLICATE", name))  # type: ignore[misc]
        for replica in made[FIRST:]:
            await until(replica.is_in_step)
        for node in made:
            await until(lambda node=node: _is_well(node))  # type: ignore[misc]
        yield Six(made)


async def _knows_all(node: Node) -> bool:
    known = await node.ask("CLUSTER INFO")
    return str(_field(known, "cluster_known_nodes")) == str(2 * FIRST)


async def _is_well(node: Node) -> bool:
    slots = await node.ask("CLUSTER SLOTS")
    state = _field(await node.ask("CLUSTER INFO"), "cluster_state")
    return state == "ok" and len(slots) == FIRST and all(len(slot) == 4 for slot in slots)


def _field(info: Any, name: str) -> str:
    """The client reads some of these answers itself."""
    if isinstance(info, dict):
        return str(info[name])
    return dict(line.split(":", 1) for line in str(info).splitlines() if ":" in line)[name].strip()
