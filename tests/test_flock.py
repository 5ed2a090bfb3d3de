"""`coinche serve --processes N` and `coinche worker`: real processes that die, are renewed, are told to stop, under a game."""

import asyncio
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from os import kill
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.party import PATIENCE, party
from tests.ports import held
from tests.serving import Serving, members, refusal, serving, settled, start

TWO = ("serve", "--processes", "2")
LAST_WORDS = "coinche has stopped; games are kept."


def lives(pid: int) -> bool:
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def eventually(happens: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not happens():  # noqa: ASYNC110 -- what happens is in other processes
            await asyncio.sleep(0.05)


async def ended(coinche: Serving) -> str:
    """The rest of what it says, once it has ended."""
    return await asyncio.to_thread(coinche.rest)


async def test_a_killed_process_is_replaced_and_the_game_goes_on(tmp_path: Path) -> None:
    with serving(tmp_path, *TWO) as coinche:
        await eventually(lambda: len(members(coinche)) == 2)
        async with party(coinche.url) as four:
            for _ in range(2):
                await four.more()
                for victim in (before := members(coinche)):
                    kill(victim, signal.SIGKILL)
                await eventually(lambda before=before: len(members(coinche) - before) == 2)  # type: ignore[misc]
                await four.more()
        assert four.refused == []
        assert coinche.stop(signal.SIGTERM).splitlines()[-1] == LAST_WORDS


async def test_a_process_that_is_killed_before_it_can_serve_is_replaced_too(tmp_path: Path) -> None:
    with serving(tmp_path, *TWO) as coinche:
        await eventually(lambda: len(members(coinche)) == 2)
        for _ in range(3):  # of each no more is there than its first moments
            gone = members(coinche)
            kill(gone.pop(), signal.SIGKILL)
            stays = gone
            await eventually(lambda stays=stays: len(members(coinche) - stays) == 1)  # type: ignore[misc]
            [young] = members(coinche) - stays
            kill(young, signal.SIGKILL)
            await eventually(lambda stays=stays, young=young: len(members(coinche) - stays - {young}) == 1)  # type: ignore[misc]
        async with httpx2.AsyncClient(base_url=coinche.url, timeout=PATIENCE) as http:
            assert (await http.get("/health/live")).status_code == 200
        assert coinche.process.poll() is None


async def test_renewed_under_a_game_it_refuses_no_connection(tmp_path: Path) -> None:
    with serving(tmp_path, *TWO) as coinche:
        async with httpx2.AsyncClient(base_url=coinche.url, timeout=PATIENCE) as http, party(coinche.url) as four:
            await four.more()
            before = members(coinche)
            assert len(before) == 2
            coinche.process.send_signal(signal.SIGHUP)
            while any(map(lives, before)):
                answer = await http.get("/health/live", headers={"Connection": "close"})
                assert answer.status_code == 200
            assert len(members(coinche)) == 2
            await four.more()
        assert four.refused == []
        coinche.process.send_signal(signal.SIGTERM)
        assert (await ended(coinche)).splitlines()[-1] == LAST_WORDS
        assert coinche.process.returncode == 0


@pytest.mark.parametrize(
    ("store", "way", "goodbyes"),
    [("own", signal.SIGTERM, 0), ("shared", signal.SIGTERM, 4), ("shared", signal.SIGINT, 0)],
    ids=["own-term", "shared-term", "shared-int"],
)
async def test_told_to_stop_under_a_game_all_processes_end_and_the_game_is_kept(
    tmp_path: Path, redis_url: str, database_url: str, store: str, way: signal.Signals, goodbyes: int
) -> None:
    """Guests are sent elsewhere, and waited for, only where there may be an elsewhere and nobody is in a hurry."""
    urls = {} if store == "own" else {"REDIS_URL": redis_url, "DATABASE_URL": database_url}
    with ExitStack() as stack:
        [port] = stack.enter_context(held())
        urls["COINCHE_PORT"] = str(port)
        coinche = stack.enter_context(serving(tmp_path, *TWO, **urls))
        async with party(coinche.url) as four:
            await four.more()
            before = members(coinche)
            parted: set[int] = set()

            def hear(seat: int, message: dict[str, Any]) -> None:
                if message["type"] == "bye":  # again where one comes to the other process before that goes too
                    parted.add(seat)

            for seat, line in enumerate(four.lines):
                line.on_message = partial(hear, seat)
            coinche.process.send_signal(way)
            if goodbyes:
                await eventually(lambda: len(parted) == goodbyes)
                coinche.process.send_signal(way)  # these four find nobody else: it need not wait for them
            said = await ended(coinche)
            assert said.splitlines()[-1] == LAST_WORDS
            assert "guests are still here" not in said
            assert len(parted) == goodbyes
            assert not any(map(lives, before))
            assert settled(tmp_path) == []
            stack.enter_context(serving(tmp_path, *TWO, **urls))
            await four.more()
        assert four.refused == []


async def test_its_parent_killed_no_process_is_left(tmp_path: Path) -> None:
    with serving(tmp_path, *TWO) as coinche:
        before = members(coinche)
        coinche.process.kill()
        await eventually(lambda: not any(map(lives, before)))
    assert settled(tmp_path) == []


@pytest.mark.parametrize("processes", ["1", "2"])
@pytest.mark.parametrize("way", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_at_any_moment_of_its_start_it_leaves_nothing(tmp_path: Path, processes: str, way: int) -> None:
    for eighths in range(1, 12, 3):
        with start(tmp_path, "serve", "--processes", processes) as process:
            time.sleep(eighths / 8)
            process.send_signal(way)
            try:
                said, _ = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        before_us = process.returncode == 1 and "Traceback" in said  # Python itself was not up yet
        assert before_us or process.returncode in (0, 130, -way), said
        assert "/app/" not in said  # no trace of where it was
        assert settled(tmp_path) == []


def test_a_worker_without_servers_says_so_in_one_line(tmp_path: Path) -> None:
    code, said = refusal(tmp_path, "worker")
    assert code == 1
    assert said.splitlines() == ["A worker has no servers of its own: set REDIS_URL and DATABASE_URL to those of the tables"]


async def test_a_worker_told_to_stop_says_goodbye(tmp_path: Path, redis_url: str, database_url: str) -> None:
    with serving(tmp_path, "worker", REDIS_URL=redis_url, DATABASE_URL=database_url) as worker:
        assert worker.stop(signal.SIGTERM).splitlines() == [LAST_WORDS]
        assert worker.process.returncode == 0


async def test_beside_apps_that_do_no_work_a_worker_plays_the_house(tmp_path: Path, redis_url: str, database_url: str) -> None:
    urls = {"REDIS_URL": redis_url, "DATABASE_URL": database_url}
    with ExitStack() as stack:
        first, _ = (stack.enter_context(serving(tmp_path, COINCHE_WORK="false", **urls)) for _ in range(2))
        stack.enter_context(serving(tmp_path, "worker", **urls))
        async with party(first.url, people=1) as one:
            await one.more(4)
        assert one.games == 1
        assert one.refused == []
