"""Stores that hang: stopped by SIGSTOP, they are there, take connections, and answer nothing."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
from redis.asyncio import Redis
from sqlalchemy import make_url


async def processes_of_valkey(redis: Redis) -> list[int]:
    return [int((await redis.info("server"))["process_id"])]


async def processes_of_postgres(database_url: str) -> list[int]:
    """The one that listens, and all that it has started."""
    url = make_url(database_url)
    keeper = await asyncpg.connect(host=str(url.query["host"]), user=url.username, database="postgres")
    folder = await keeper.fetchval("SHOW data_directory")
    await keeper.close()
    listener = int((Path(folder) / "postmaster.pid").read_text().split()[0])
    return [listener, *_children(listener)]


def _children(parent: int) -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                yield int(folder.name)
        except OSError:  # it ended while we looked
            continue


@contextmanager
def stopped(processes: list[int]) -> Iterator[None]:
    """None of these does anything as long as the context lasts."""
    try:
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)
