"""The power fails while people play: how much of what was acknowledged is lost, under each `appendfsync` of Valkey?

Valkey's syncs are watched (`tests.chaos.disk`). At a random moment all is killed, Valkey's files are cut back to what was
synced, and what the people were promised is looked for; every second time zeros are left behind what was synced, so that
`coinche repair` has to mend them (not with `no`, where there is nothing to mend). Then all starts again and they play on; where
tables are gone, others play at a new one. Postgres is left alone.

    python -m tests.chaos.power --cuts 10
    python -m tests.chaos.power --cuts 1 --appendfsync no --seconds 60
"""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median

from redis.asyncio import Redis

from app.embedded import running
from app.load.book import Book
from app.load.players import Habits
from app.load.run import Json, Load
from app.load.run import Plan as LoadPlan
from app.store.keys import Keys
from app.store.prepare import upgrade
from tests.chaos.books import broken
from tests.chaos.proxy import Proxy
from tests.chaos.servers import ZEROS
from tests.serving import PATIENCE, refusal, serving

SETTINGS = ("always", "everysec", "no")
STUCK = "is stuck"
"""What a load says of a game that does not go on."""

LEAST_SECONDS = 2.0
"""So long people play at all tables before the power fails: longer than `everysec` may lose."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One cut: what Valkey is told, and after how many seconds the power fails, at how many tables; what ends a game.

    `zeros`: what was on its way to the disk stands there as zeros, so that `coinche repair` has to mend it.
    """

    appendfsync: str
    seconds: float
    seed: int
    tables: int = 4
    target: int = 1000
    zeros: bool = False


@dataclass(frozen=True, slots=True)
class Loss:
    """What a cut has cost.

    `acknowledged`, `lost`: actions. `back`: the first that is lost was sent so many seconds before. `gone`: tables that are.
    `wrong`: what was not as it must be while people played on.
    """

    acknowledged: int
    lost: int
    back: float
    gone: int
    wrong: list[str]


class Valkey:
    """A running Valkey whose power can be cut."""

    def __init__(self, folder: Path, holder: subprocess.Popen[str], url: str) -> None:
        self._folder = folder
        self._holder = holder
        self.url = url

    def lose_power(self, zeros: bool) -> None:
        """It is dead, and what it had not had synced is gone; or zeros stand there, on which it does not start."""
        os.kill(int((self._folder / "valkey" / "pid").read_text()), signal.SIGKILL)
        self._holder.communicate(ZEROS if zeros else "the power is gone", PATIENCE)


@contextmanager
def valkey(folder: Path, appendfsync: str) -> Iterator[Valkey]:
    """A Valkey on what is in the folder."""
    command: list[str | Path] = [sys.executable, "-m", "tests.chaos.servers", "valkey", folder, appendfsync]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        yield Valkey(folder, holder, holder.stdout.readline().strip())


@contextmanager
def coinche(folder: Path, store: Valkey, database_url: str, proxy: Proxy) -> Iterator[subprocess.Popen[str]]:
    """A serving process behind the proxy."""
    with serving(folder, REDIS_URL=store.url, DATABASE_URL=database_url) as site:
        proxy.backends = [int(site.url.rpartition(":")[2])]
        yield site.process
        proxy.backends = []


async def cut(plan: Plan, folder: Path, database_url: str) -> Loss:
    """Let people play, cut the power, count what is lost, and let them play on."""
    async with Proxy(Random(plan.seed)).running() as proxy, asyncio.TaskGroup() as group:
        load = _load(proxy, plan.seed, plan.tables, plan.target)
        with valkey(folder, plan.appendfsync) as store, coinche(folder, store, database_url, proxy) as process:
            playing = group.create_task(load.run())
            await _until(lambda: len(load.books) == plan.tables and all(map(_is_played, load.books)))
            await asyncio.sleep(plan.seconds)
            moment = time.monotonic()
            store.lose_power(plan.zeros)
            process.kill()
            await _until(lambda: not proxy.connections)  # what is under way to the people still arrives
        if plan.zeros:
            _repair(folder)
        acknowledged, promises = load.acks, load.promises()
        sent = {one.cid: one.sent for book in load.books for one in book.asked.values()}
        with valkey(folder, plan.appendfsync) as store:
            lost = [sent[one["cid"]] for one in await broken(store.url, database_url, promises)]
            async with Redis.from_url(store.url) as redis:
                gone = plan.tables - await redis.exists(*(Keys(book.table).meta for book in load.books))
            if gone:
                playing.cancel()
            with coinche(folder, store, database_url, proxy):
                wrong = await _ended(_load(proxy, plan.seed + 1, tables=1, target=50).run() if gone else playing)
    if lost and not gone:  # then the people's books cannot be right
        wrong = [line for line in wrong if STUCK in line]
    return Loss(acknowledged, len(lost), moment - min(lost, default=moment), gone, wrong)


def _repair(folder: Path) -> None:
    """Do what is said when it does not start."""
    code, said = refusal(folder, "token", "--list")
    assert (code, "coinche repair" in said) == (1, True), said
    code, said = refusal(folder, "repair")
    assert (code, "zeros" in said) == (0, True), said


async def _ended(playing: Awaitable[Json]) -> list[str]:
    """What a load finds wrong once its games are over, or that they do not end."""
    try:
        async with asyncio.timeout(PATIENCE):
            differences: list[str] = (await playing)["differences"]
    except TimeoutError:
        return [f"a game {STUCK}"]
    return differences


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not is_so():  # noqa: ASYNC110 -- it happens in the load and in the proxy
            await asyncio.sleep(0.05)


def _is_played(book: Book) -> bool:
    return any(one.at for one in book.asked.values())


def _load(proxy: Proxy, seed: int, tables: int, target: int) -> Load:
    """Two people and two players of the house play one game at each table."""
    url, presets = f"http://127.0.0.1:{proxy.port}", ("announced-701", "ffb-2000")
    return Load(LoadPlan(url, tables, 0, seed, 2, presets, target, (30,), PATIENCE, PATIENCE, Habits(think=0.05)))


def summary(appendfsync: str, losses: list[Loss]) -> str:
    """What this setting has cost: least, median, most."""
    lost, back = [loss.lost for loss in losses], [loss.back for loss in losses]
    return (
        f"{appendfsync}: {len(losses)} cuts, {sum(loss.acknowledged for loss in losses)} actions acknowledged, "
        f"{sum(loss.gone for loss in losses)} tables gone; lost by a cut: {min(lost)}, {median(lost):g}, {max(lost)} actions, "
        f"the first of them sent {min(back):.1f}, {median(back):.1f}, {max(back):.1f} s before it"
    )


def main() -> None:
    """Run from the command line; exit 1 if anything is wrong, or `always` has lost something."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuts", type=int, default=3, help="So many for each setting.")
    parser.add_argument("--appendfsync", action="append", choices=SETTINGS, help="This one; may be given several times.")
    parser.add_argument("--seconds", type=float, default=5, help="People play so long at most before a cut.")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    asked = parser.parse_args()
    dice = Random(asked.seed)
    losses: dict[str, list[Loss]] = {setting: [] for setting in asked.appendfsync or SETTINGS}
    with tempfile.TemporaryDirectory(prefix="coinche-power-") as folder, running(Path(folder), "redis://unused") as servers:
        upgrade(servers.database_url)
        for number in range(asked.cuts):
            for setting, mine in losses.items():
                plan = Plan(
                    setting,
                    dice.uniform(LEAST_SECONDS, asked.seconds),
                    asked.seed + number,
                    zeros=number % 2 == 1 and setting != "no",
                )
                mine.append(asyncio.run(cut(plan, Path(folder, f"{number}-{setting}"), servers.database_url)))
                print(setting, mine[-1], flush=True)
    print(*(summary(setting, mine) for setting, mine in losses.items()), sep="\n")
    sys.exit(any(loss.wrong or (loss.lost and setting == "always") for setting, mine in losses.items() for loss in mine))


if __name__ == "__main__":
    main()
