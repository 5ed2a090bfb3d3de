"""The built-in servers: they start anywhere, keep what they were given, and never outlive the program."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import asyncpg
import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError
from sqlalchemy import make_url

from app.embedded import Servers, Unavailable, running
from tests.serving import PATIENCE, leave_zeros, processes_of, settled

HOLD = """
import sys
from pathlib import Path
from app.embedded import running
with running(Path(sys.argv[1])):
    print("ready", flush=True)
    sys.stdin.read()
"""


async def ask(servers: Servers, sql: str) -> object:
    url = make_url(servers.database_url)
    connection = await asyncpg.connect(host=str(url.query["host"]), user=url.username, database=url.database)
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()


async def remember(servers: Servers, word: str) -> None:
    async with Redis.from_url(servers.redis_url) as redis:
        await redis.set("word", word)
    await ask(servers, f"CREATE TABLE word AS SELECT '{word}' AS word")


async def remembered(servers: Servers) -> tuple[object, object]:
    async with Redis.from_url(servers.redis_url) as redis:
        return await redis.get("word"), await ask(servers, "SELECT word FROM word")


def killed_while_running(data: Path) -> None:
    """Start the servers from another process, and kill that so that it can clean up nothing."""
    command = [sys.executable, "-c", HOLD, str(data)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        assert parent.stdout.readline() == "ready\n"
        assert processes_of(data)
        parent.send_signal(signal.SIGKILL)


async def test_valkey_loses_nothing_it_has_acknowledged(servers: Servers) -> None:
    async with Redis.from_url(servers.redis_url, decode_responses=True) as redis:
        wanted = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}
        assert await redis.config_get(*wanted) == wanted


async def test_postgres_speaks_unicode_and_hears_no_network(servers: Servers) -> None:
    assert await ask(servers, "SHOW server_encoding") == "UTF8"
    assert await ask(servers, "SHOW listen_addresses") == ""
    assert await ask(servers, "SELECT upper('é')") == "É"


async def test_what_was_stored_is_there_at_the_next_start(tmp_path: Path) -> None:
    with running(tmp_path) as servers:
        await remember(servers, "belote")
    assert processes_of(tmp_path) == []
    with running(tmp_path) as servers:
        assert await remembered(servers) == (b"belote", "belote")


async def test_killing_the_program_ends_its_servers_and_loses_nothing(tmp_path: Path) -> None:
    with running(tmp_path) as servers:
        await remember(servers, "capot")
    killed_while_running(tmp_path)
    assert settled(tmp_path) == []
    with running(tmp_path) as servers:
        assert await remembered(servers) == (b"capot", "capot")


def test_a_start_right_after_a_kill_waits_for_the_old_servers(tmp_path: Path) -> None:
    killed_while_running(tmp_path)
    with running(tmp_path):
        assert processes_of(tmp_path)


def test_a_folder_has_one_program_at_a_time(tmp_path: Path) -> None:
    with running(tmp_path), pytest.raises(Unavailable, match="in use by another coinche"), running(tmp_path):
        pass


async def test_a_folder_only_its_owner_may_enter_is_enough(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o700)
    with running(locked / "with a space") as servers:
        assert await ask(servers, "SELECT 1") == 1
    assert locked.stat().st_mode & 0o777 == 0o700
    assert (locked / "with a space").stat().st_mode & 0o777 in (0o700, 0o711)


async def test_a_path_too_long_for_a_socket_is_no_hindrance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as short:
        monkeypatch.setattr(tempfile, "tempdir", short)
        with running(tmp_path / ("long" * 30)) as servers:
            await remember(servers, "longue")
            assert await remembered(servers) == (b"longue", "longue")
        assert list(Path(short).iterdir())


def test_a_note_left_by_a_dead_postgres_does_not_stop_the_next(tmp_path: Path) -> None:
    with running(tmp_path):
        pass
    # After a crash of the whole machine the note may name a process that is somebody else's by now: here, the test's own.
    (tmp_path / "postgres/cluster/postmaster.pid").write_text("1\n/nowhere\n0\n5432\n\n\n0 0\nready\n")
    with running(tmp_path):
        pass


def test_nor_do_the_locks_of_one_that_was_killed(tmp_path: Path) -> None:
    """Their number is somebody else's by now, or its own, who has not been waited for."""
    with running(tmp_path):
        pass
    with subprocess.Popen(["sleep", "600"]) as other:
        note = f"{other.pid}\n{tmp_path}/postgres/cluster\n0\n5432\n{tmp_path}/postgres\n\n0 0\nready\n"
        for name in ("cluster/postmaster.pid", ".s.PGSQL.5432.lock"):
            (tmp_path / "postgres" / name).write_text(note)
        (tmp_path / "valkey/pid").write_text(str(other.pid))
        with running(tmp_path):
            assert other.poll() is None
        other.kill()


def test_why_postgres_does_not_start_is_said_and_not_only_that_it_does_not(tmp_path: Path) -> None:
    with running(tmp_path, "redis://unused"):
        pass
    shutil.rmtree(tmp_path / "postgres/cluster/pg_wal")
    because = 'FATAL:  required WAL directory "pg_wal" does not exist'
    with pytest.raises(Unavailable, match=because), running(tmp_path, "redis://unused"):
        pass


async def test_a_server_that_dies_is_started_again_and_has_lost_nothing(tmp_path: Path) -> None:
    with running(tmp_path) as servers:
        await remember(servers, "generale")
        for _ in range(2):
            dead = [int((tmp_path / name / "pid").read_text()) for name in ("valkey", "postgres")]
            for pid in dead:
                os.kill(pid, signal.SIGKILL)
            async with asyncio.timeout(PATIENCE):
                while await answered(servers) != (b"generale", "generale"):  # noqa: ASYNC110 -- it happens in other processes
                    await asyncio.sleep(0.02)
            assert not {int((tmp_path / name / "pid").read_text()) for name in ("valkey", "postgres")} & set(dead)
    assert settled(tmp_path) == []


async def answered(servers: Servers) -> tuple[object, object] | None:
    """What is remembered, if both answer."""
    try:
        return await remembered(servers)
    except (RedisError, asyncpg.PostgresError, OSError):
        return None


def test_the_loss_of_one_that_cannot_be_started_again_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.daemon.MOST_FAILURES", 2)
    is_lost = threading.Event()

    def lose() -> None:
        with running(tmp_path, None, "postgresql://unused", on_loss=is_lost.set):
            leave_zeros(tmp_path)
            os.kill(int((tmp_path / "valkey/pid").read_text()), signal.SIGKILL)
            assert is_lost.wait(PATIENCE)

    with pytest.raises(Unavailable, match=r"Valkey has died, and cannot be started again.*coinche repair"):
        lose()
    assert settled(tmp_path) == []


def test_a_first_start_cut_short_is_begun_again(tmp_path: Path) -> None:
    half = tmp_path / "postgres/cluster.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    with running(tmp_path):
        pass
    assert not half.exists()


def test_servers_of_ones_own_are_left_alone(tmp_path: Path) -> None:
    mine = ("redis://example.invalid", "postgresql+asyncpg://example.invalid/coinche")
    with running(tmp_path / "unused", *mine) as servers:
        assert servers == Servers(*mine)
    assert not (tmp_path / "unused").exists()


def test_only_the_server_without_a_url_is_started(tmp_path: Path) -> None:
    with running(tmp_path, redis_url="redis://example.invalid"):
        assert {Path(line.split()[0]).name for line in processes_of(tmp_path)} == {"postgres"}


def test_a_missing_server_is_said_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.embedded.find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(Unavailable, match="REDIS_URL"), running(tmp_path):
        pass


def test_games_of_another_postgres_are_not_touched(tmp_path: Path) -> None:
    cluster = tmp_path / "postgres/cluster"
    cluster.mkdir(parents=True)
    (cluster / "PG_VERSION").write_text("7\n")
    with pytest.raises(Unavailable, match="need Postgres 7"), running(tmp_path):
        pass
    assert list(cluster.iterdir()) == [cluster / "PG_VERSION"]


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable, match="COINCHE_DATA"), running(tmp_path / "file"):
        pass
