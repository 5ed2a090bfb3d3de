"""What does coinche cost? CPU and questions to the store for an action, memory for a socket, commands for tables at rest.

It starts a coinche of its own in a folder of its own, and counts what the system and the store say of it: figures of one run on
one machine, to be compared with those of another release on the same.
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from websockets.asyncio.client import ClientConnection, connect

from app.client import Guest, TableLine
from app.embedded import store
from app.tables.tasks import end

Json = dict[str, Any]
Tell = Callable[[str], None]

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
_SERVED = re.compile(r"ready: (http://\S+)/")
_OWN = ("info", "ping", "hello", "client|setinfo", "select")
"""Commands of this measurement and of connections, which are not counted."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured: tables where people play and the actions of all, sockets, tables at rest, seconds of rest."""

    tables: int = 10
    actions: int = 4_000
    sockets: int = 1_000
    rest: tuple[int, ...] = (10, 1_000)
    seconds: float = 10


@dataclass(frozen=True, slots=True)
class Served:
    """A running coinche: its address, its process, and a client of its store."""

    url: str
    pid: int
    redis: Redis

    @property
    def cpu_ms(self) -> float:
        """CPU that the serving process has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return 1000 * (int(fields[11]) + int(fields[12])) / TICK

    @property
    def bytes(self) -> int:
        """Memory that it holds."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * PAGE

    async def commands(self) -> dict[str, int]:
        """How often the store was asked what, up to now."""
        asked = await self.redis.info("commandstats")
        counts = {name.removeprefix("cmdstat_"): int(one["calls"]) for name, one in asked.items()}
        return {name: count for name, count in counts.items() if name not in _OWN}

    async def written(self) -> int:
        """Bytes of the store's append-only file, up to now."""
        about = await self.redis.info("persistence")
        return int(about["aof_current_size"])


@contextmanager
def _coinche(folder: Path) -> Iterator[tuple[str, int]]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("COINCHE_", "REDIS_", "DATABASE_"))
    }
    environment |= {"COINCHE_DATA": str(folder), "COINCHE_PORT": "0", "COINCHE_LIMITS": "false", "COINCHE_LOG_LEVEL": "error"}
    command = [sys.executable, "-m", "app", "serve"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = None
            while found is None and (line := process.stdout.readline()):
                found = _SERVED.search(line)
            if found is None:
                raise ValueError("The coinche to be measured did not start; what it said is above")
            yield found[1], process.pid
        finally:
            process.terminate()


@asynccontextmanager
async def _served(folder: Path) -> AsyncIterator[Served]:
    with _coinche(folder) as (url, pid), store(folder) as redis_url:
        async with Redis.from_url(redis_url, decode_responses=True) as redis:
            yield Served(url, pid, redis)


async def measure(plan: Plan, tell: Tell) -> Json:
    """All figures of this release; `tell` is called with what is being done. Raises ValueError where it cannot be measured."""
    if sys.platform != "linux":
        raise ValueError("Measuring wants Linux, for what it says of processes in /proc")
    figures: Json = {}
    with tempfile.TemporaryDirectory(prefix="coinche-bench-") as folder:
        async with _served(Path(folder) / "play") as served:
            tell(f"{plan.actions} actions at {plan.tables} tables")
            figures["action"] = await _play(served, plan)
            tell(f"{plan.sockets} sockets at rest")
            figures["socket"] = await _sit_still(served, plan.sockets)
        for tables in plan.rest:
            async with _served(Path(folder) / f"rest{tables}") as served:
                tell(f"{tables} tables at rest for {plan.seconds:g} seconds")
                figures[f"rest_{tables}"] = await _rest(served, tables, plan.seconds)
    return figures


async def _play(served: Served, plan: Plan) -> Json:
    """Four people at each table, all connected, play what the view offers first."""
    done = 0
    async with AsyncExitStack() as stack:
        tables = [await _seated(served, stack) for _ in range(plan.tables)]
        cpu, commands, written = served.cpu_ms, await served.commands(), await served.written()

        async def play(four: list[TableLine]) -> None:
            nonlocal done
            while done < plan.actions:
                at = max(line.at for line in four)
                await asyncio.gather(*(_reaches(line, at) for line in four))
                seat, action = next(
                    ((seat, action) for seat, line in enumerate(four) if (action := _first(line, seat))), (0, None)
                )
                if action is None:
                    await four[0].news(at)
                else:
                    await four[seat].act(action, (four[seat].moment or {})["turn"])
                    done += 1

        await asyncio.gather(*map(play, tables))
        after = await served.commands()
        asked = {name: round((count - commands.get(name, 0)) / done, 2) for name, count in after.items()}
        return {
            "actions": done,
            "cpu_ms_per_action": round((served.cpu_ms - cpu) / done, 3),
            "commands_per_action": {name: number for name, number in sorted(asked.items()) if number >= 0.05},
            "stored_bytes_per_action": round((await served.written() - written) / done),
        }


async def _reaches(line: TableLine, at: tuple[int, int]) -> None:
    while line.at < at:
        await line.news(line.at)


async def _seated(served: Served, stack: AsyncExitStack) -> list[TableLine]:
    """A table whose game has begun, four people with a line each."""
    guests = [await stack.enter_async_context(Guest(served.url)) for _ in range(4)]
    for number, guest in enumerate(guests):
        await guest.sign_in(f"Guest {number}")
    order = {"preset": "contree-701", "options": {"target": 5_000}, "listed": False}
    table = (await guests[0].ask("POST", "/tables", order))["id"]
    for seat, guest in enumerate(guests):
        await guest.ask("POST", f"/tables/{table}/sit", {"seat": seat})
    lines = [await stack.enter_async_context(guest.follow(table)) for guest in guests]
    for guest in guests[1:]:
        await guest.ask("POST", f"/tables/{table}/ready", {"ready": True})
    await guests[0].ask("POST", f"/tables/{table}/start", {})
    for line in lines:
        while line.view is None:
            await line.news(line.at)
    return lines


def _first(line: TableLine, seat: int) -> Json | None:
    """The first bid of a deal and passes after it, or the first card that may be played; the sheet is read at once."""
    moment = line.moment
    if moment is None or (view := moment["view"]) is None:
        return None
    if view["phase"] == "dealing":
        return {"kind": "next"} if view["sheet"] and seat not in moment["next"] else None
    if view["turn"] != seat or (moves := view["moves"]) is None:
        return None
    if moves["kind"] == "cards":
        return {"kind": "play", "card": next(one["card"] for one in moves["cards"] if one["why"] is None)}
    if view["contract"] is None:
        return {"kind": "bid", "value": moves["bids"]["lowest"], "trump": moves["bids"]["trumps"][0]}
    return {"kind": "pass"}


async def _sit_still(served: Served, sockets: int) -> Json:
    """Watchers of one table who say and hear nothing."""
    async with AsyncExitStack() as stack:
        table = await _open(served, stack)
        before = served.bytes
        for _ in range(sockets):
            await stack.enter_async_context(_line(served, table))
        return {"sockets": sockets, "kB_per_socket": round((served.bytes - before) / sockets / 1000, 1)}


async def _rest(served: Served, tables: int, seconds: float) -> Json:
    """Tables with somebody connected at each, where nobody does anything."""
    async with AsyncExitStack() as stack:
        for _ in range(tables):
            await stack.enter_async_context(_line(served, await _open(served, stack)))
        cpu, commands = served.cpu_ms, await served.commands()
        await asyncio.sleep(seconds)
        after = await served.commands()
        asked = {name: round((count - commands.get(name, 0)) / seconds, 1) for name, count in after.items()}
        return {
            "tables": tables,
            "cpu_percent": round((served.cpu_ms - cpu) / seconds / 10, 1),
            "commands_per_second": {name: number for name, number in sorted(asked.items()) if number > 0},
        }


async def _open(served: Served, stack: AsyncExitStack) -> str:
    guest = await stack.enter_async_context(Guest(served.url))
    await guest.sign_in("Guest")
    table: str = (await guest.ask("POST", "/tables", {"listed": False}))["id"]
    return table


@asynccontextmanager
async def _line(served: Served, table: str) -> AsyncIterator[ClientConnection]:
    """A socket that watches a table; it has been welcomed."""
    address = served.url.replace("http://", "ws://") + "/ws?v=1"
    async with connect(address, compression=None, ping_interval=None) as socket:
        await socket.send(f'{{"type":"join","table":"{table}","as":"spectator"}}')
        await socket.recv()
        reading = asyncio.create_task(_read(socket))
        yield socket
        await end(reading)


async def _read(socket: ClientConnection) -> None:
    """Read what comes; who does not is sent no more."""
    async for _ in socket:
        pass
