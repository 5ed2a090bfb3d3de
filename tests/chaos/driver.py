"""Everything is killed while people play, and nobody may lose anything.

Two servers, two serving processes behind a proxy of ours, two workers; `coinche load` plays; at random moments processes are
killed, stopped, rolled out, servers die, hang, find the disk full and stay away, who listens is cut off, connections break,
stall and go dead. Afterwards the books are compared.

    python -m tests.chaos.driver --seconds 60 --seed 1
    python -m tests.chaos.driver --only "worker killed"
"""

import argparse
import asyncio
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx
from redis.asyncio import Redis
from redis.exceptions import RedisError
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from app.store.postgres import connect as connect_postgres
from tests.chaos.books import compare
from tests.chaos.proxy import Proxy

PATIENCE = 180  # seconds after which something hangs; never a measure of speed

Json = dict[str, Any]


@dataclass
class Report:
    """What was done to it, and what came of it."""

    counts: Counter[str] = field(default_factory=Counter)
    load: Json = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)

    def text(self) -> str:
        return json.dumps(
            {"chaos": dict(sorted(self.counts.items())), "load": self.load, "differences": self.differences},
            indent=2,
        )


@dataclass(eq=False)
class App:
    """A serving process, and the port it listens on."""

    process: asyncio.subprocess.Process
    port: int


@dataclass(frozen=True, slots=True)
class Plan:
    """How long, how much, and which blows; none named: all."""

    seconds: float
    seed: int
    apps: int = 2
    workers: int = 2
    tables: int = 3
    people: int = 2
    only: tuple[str, ...] = ()


class Chaos:
    """One run. Everything it starts is a child of it and ends with it."""

    def __init__(self, plan: Plan, folder: Path, report: Report, say: Callable[[str], None]) -> None:
        self._plan = plan
        self._folder = folder
        self._report = report
        self._say = say
        self._dice = Random(plan.seed)
        self._began = time.monotonic()
        self._log = (folder / "log").open("wb")
        self.proxy = Proxy(Random(plan.seed + 1))
        self.apps: list[App] = []
        self.workers: list[asyncio.subprocess.Process] = []
        self.holders: dict[str, asyncio.subprocess.Process] = {}
        self.urls: dict[str, str] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Chaos"]:
        """Both servers, all processes and the proxy, ready to be played at."""
        try:
            async with self.proxy.running():
                for which in ("valkey", "postgres"):
                    await self._start_server(which)
                for _ in range(self._plan.apps):
                    await self._start_app()
                for _ in range(self._plan.workers):
                    await self._start_worker()
                yield self
        finally:
            await self._end()
            self._log.close()

    # --- what runs -------------------------------------------------------------------------------------------------------

    async def _spawn(self, *words: str, **environment: str) -> asyncio.subprocess.Process:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("COINCHE_")}
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            *words,
            env=kept | environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
        )

    async def _start_server(self, which: str) -> None:
        process = await self._spawn("tests.chaos.servers", which, str(self._folder / which))
        self.holders[which] = process
        self.urls[which] = await self._first_line(process, "://")

    async def _start_app(self) -> None:
        process = await self._spawn("app", "serve", **self._settings(COINCHE_PORT="0"))
        address = await self._first_line(process, "coinche is ready")
        app = App(process, int(address.rstrip("/").rpartition(":")[2]))
        self.apps.append(app)
        self.proxy.backends.append(app.port)

    async def _start_worker(self) -> None:
        worker = await self._spawn("app", "worker", **self._settings())
        self.workers.append(worker)
        await self._first_line(worker, "coinche works")

    def _settings(self, **more: str) -> dict[str, str]:
        return {
            "REDIS_URL": self.urls["valkey"],
            "DATABASE_URL": self.urls["postgres"],
            "COINCHE_WORK": "false",
            "COINCHE_LOG_LEVEL": "warning",
        } | more

    async def _first_line(self, process: asyncio.subprocess.Process, wanted: str) -> str:
        """What it says when it is ready; what it says later is thrown away."""
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            while line := (await process.stdout.readline()).decode():
                if wanted in line:
                    return line.strip()
        raise RuntimeError(f"a process did not start, code {await process.wait()}: see {self._folder / 'log'}")

    async def _end(self) -> None:
        players = [*(app.process for app in self.apps), *self.workers]
        for process in players:
            if process.returncode is None:
                process.kill()
        for process in self.holders.values():
            if process.stdin is not None:
                process.stdin.close()
        for process in [*players, *self.holders.values()]:
            await process.wait()

    # --- what happens to it ------------------------------------------------------------------------------------------------

    async def torment(self, seconds: float) -> None:
        """One blow after the other until the time is up; at the end everything runs again."""
        blows: list[tuple[str, Callable[[], Awaitable[None]], int]] = [
            ("serving process killed", self.kill_app, 4),
            ("worker killed", self.kill_worker, 3),
            ("serving process rolled out", self.roll_out, 2),
            ("serving process stopped", self.stop_app, 2),
            ("Valkey killed", self.kill_valkey, 2),
            ("built-in servers killed", self.kill_servers, 2),
            ("Valkey hung", self.hang_valkey, 1),
            ("Postgres hung", self.hang_postgres, 1),
            ("disk full", self.fill_disk, 1),
            ("pub/sub killed", self.kill_pubsub, 1),
            ("Postgres away", self.outage_of_postgres, 1),
            ("connections dropped", self.drop, 3),
            ("connections delayed", self.delay, 2),
            ("connections dead", self.freeze, 2),
        ]
        names = [name for name, _, weight in blows for _ in range(weight) if name in self._plan.only or not self._plan.only]
        ways = {name: way for name, way, _ in blows}
        until = time.monotonic() + seconds
        bag = self._dice.sample(sorted(set(names)), len(set(names)))  # first one of each kind, so that a short run has them all
        while time.monotonic() < until:
            if not bag:  # each kind comes as often as it should, in any order
                bag = self._dice.sample(names, len(names))
            name = bag.pop()
            await asyncio.sleep(self._dice.uniform(0.2, 2.0))
            self._note(name)
            await ways[name]()

    def _note(self, what: str) -> None:
        self._report.counts[what] += 1
        self._say(f"{time.monotonic() - self._began:7.1f} s  {what}")

    async def _pause(self, least: float, most: float) -> None:
        await asyncio.sleep(self._dice.uniform(least, most))

    async def kill_app(self) -> None:
        """One serving process is killed, and another is started after a moment."""
        app = self.apps.pop(self._dice.randrange(len(self.apps)))
        app.process.kill()
        await app.process.wait()
        self.proxy.backends.remove(app.port)
        await self._pause(0, 2)
        await self._start_app()

    async def stop_app(self) -> None:
        """A serving process gets no processor for some seconds, and goes on as if nothing had happened."""
        await self._hang([self._dice.choice(self.apps).process.pid])

    async def kill_worker(self) -> None:
        """A worker is killed, and another is started after a moment."""
        worker = self.workers.pop(self._dice.randrange(len(self.workers)))
        worker.kill()
        await worker.wait()
        await self._pause(0, 2)
        await self._start_worker()

    async def roll_out(self) -> None:
        """A new process serves first, then an old one is asked to leave."""
        await self._start_app()
        app = self.apps.pop(0)
        self.proxy.backends.remove(app.port)
        app.process.terminate()
        async with asyncio.timeout(PATIENCE):
            await app.process.wait()

    async def kill_valkey(self) -> None:
        """Valkey is killed, and started again on what it had written."""
        os.kill(int((self._folder / "valkey" / "valkey" / "pid").read_text()), signal.SIGKILL)
        await self._stop_server("valkey")
        await self._pause(0, 1)
        await self._start_server("valkey")

    async def kill_servers(self) -> None:
        """Both servers are killed under a living coinche, which starts them again by itself."""
        dead = {which: self._pid(which) for which in ("valkey", "postgres")}
        for pid in dead.values():
            os.kill(pid, signal.SIGKILL)
        await self._are_back(dead)

    async def hang_valkey(self) -> None:
        """Valkey takes what it is sent, and answers nobody."""
        await self._hang([self._pid("valkey")])

    async def hang_postgres(self) -> None:
        """Postgres and all its processes."""
        await self._hang(family(self._pid("postgres")))

    async def fill_disk(self) -> None:
        """For some seconds nothing more can be written; whatever dies of that is started again, when there is room."""
        before = {which: self._pid(which) for which in ("valkey", "postgres")}
        processes = {pid for which, pid in before.items() for pid in (self.holders[which].pid, *family(pid))}
        for pid in processes:
            _limit(pid, 0)
        await self._pause(1, 3)
        for pid in {*processes, *(young for holder in self.holders.values() for young in family(holder.pid))}:
            _limit(pid, resource.RLIM_INFINITY)
        await self._are_back({})

    async def kill_pubsub(self) -> None:
        """Who listens is cut off, again and again."""
        async with Redis.from_url(self.urls["valkey"]) as redis:
            for _ in range(self._dice.randint(5, 15)):
                await redis.client_kill_filter(_type="pubsub")
                await asyncio.sleep(0.2)

    def _pid(self, which: str) -> int:
        """The pid of a server, which its parent may be writing anew."""
        return int((self._folder / which / which / "pid").read_text() or 0)

    async def _hang(self, pids: Sequence[int]) -> None:
        for pid in pids:
            _send(pid, signal.SIGSTOP)
        await self._pause(1, 4)
        for pid in pids:
            _send(pid, signal.SIGCONT)

    async def _are_back(self, dead: dict[str, int]) -> None:
        """Until both servers answer, and none of these is one of them."""
        engine = connect_postgres(self.urls["postgres"])
        try:
            async with asyncio.timeout(PATIENCE), Redis.from_url(self.urls["valkey"]) as redis:
                while any(self._pid(which) == pid for which, pid in dead.items()):  # noqa: ASYNC110 -- others do it
                    await asyncio.sleep(0.05)
                while not await _answers(redis, engine):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        finally:
            await engine.dispose()

    async def outage_of_postgres(self) -> None:
        """Postgres is away for some seconds; others start without it."""
        await self._stop_server("postgres")
        await self.kill_app()
        await self.kill_worker()
        await self._pause(0, 4)
        await self._start_server("postgres")

    async def _stop_server(self, which: str) -> None:
        holder = self.holders.pop(which)
        assert holder.stdin is not None
        holder.stdin.close()
        await holder.wait()

    async def drop(self) -> None:
        """A third of all connections break off."""
        for connection in self.proxy.some(0.3):
            connection.drop()

    async def delay(self) -> None:
        """For some seconds a third of the connections are slow."""
        slow = self.proxy.some(0.3)
        for connection in slow:
            connection.delay = self._dice.uniform(0.05, 0.4)
        await self._pause(1, 3)
        for connection in slow:
            connection.delay = 0

    async def freeze(self) -> None:
        """Some connections go dead without a word, as when a phone changes its network."""
        for connection in self.proxy.some(0.2):
            connection.frozen.set()


async def _answers(redis: Redis, engine: AsyncEngine) -> bool:
    try:
        await redis.set("chaos", "is over")
        async with engine.begin() as connection:
            await connection.execute(text("CREATE TEMPORARY TABLE chaos ON COMMIT DROP AS SELECT 'over'"))
    except (RedisError, SQLAlchemyError, OSError):
        return False
    return True


def family(pid: int) -> list[int]:
    """A process and its descendants."""
    found = [pid]
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                found += family(int(folder.name))
    return found


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _limit(pid: int, size: int) -> None:
    """No file may grow beyond this, for this process and the children it will have. To them it is as if the disk were full."""
    with suppress(ProcessLookupError):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def run(plan: Plan, folder: Path, say: Callable[[str], None]) -> Report:
    """Play and torment for so long, compare, and report."""
    report = Report()
    promises = folder / "promises"
    async with Chaos(plan, folder, report, say).running() as chaos, AsyncExitStack() as stack:
        load = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app", "load", f"http://127.0.0.1:{chaos.proxy.port}"),
            *("--seconds", str(plan.seconds), "--seed", str(plan.seed)),
            *("--tables", str(plan.tables), "--people", str(plan.people)),
            *("--promises", str(promises), "--patience", str(PATIENCE), "--archive", str(PATIENCE)),
            *("--preset", "announced-701", "--preset", "ffb-2000", "--target", "200"),
            stdout=asyncio.subprocess.PIPE,
        )
        stack.callback(lambda: load.kill() if load.returncode is None else None)
        await chaos.torment(plan.seconds)
        say("           all runs again; the last games end")
        assert load.stdout is not None
        report.load = json.loads(await load.stdout.read())
        await load.wait()
        report.differences = [
            *report.load["differences"],
            *await compare(chaos.urls["valkey"], chaos.urls["postgres"], promises),
        ]
        await _check_health(chaos, report)
    return report


async def _check_health(chaos: Chaos, report: Report) -> None:
    """Every process that is left says that it can serve."""
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        for app in chaos.apps:
            answer = await client.get(f"http://127.0.0.1:{app.port}/health/ready")
            if answer.status_code != httpx.codes.OK:
                report.differences.append(f"a serving process is not ready: {answer.text}")


def main() -> None:
    """Run from the command line; exit 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    for name, default in (("apps", 2), ("workers", 2), ("tables", 3), ("people", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--only", action="append", default=[], help="This blow; may be given several times.")
    parser.add_argument("--keep", type=Path, help="Use this folder and leave it, with all logs.")
    asked = vars(parser.parse_args())
    kept = asked.pop("keep")
    plan = Plan(**asked | {"only": tuple(asked["only"])})
    with tempfile.TemporaryDirectory(prefix="coinche-chaos-") as folder:
        used = kept or Path(folder)
        used.mkdir(parents=True, exist_ok=True)
        report = asyncio.run(run(plan, used, print))
    print(report.text())
    sys.exit(1 if report.differences else 0)


if __name__ == "__main__":
    main()
