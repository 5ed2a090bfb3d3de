"""`coinche load` is tried on servers that lose or double an action on purpose: it must find out, and say what."""

import asyncio
import itertools
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from app.game.actions import Speak
from app.game.auction import Say
from app.store.log import RedisLog
from app.tables.commands import InGame
from app.tables.ports import Appended, Entry, Known, Stale
from tests.people import running_site

Answer = Appended | Known | Stale
Append = Callable[..., Awaitable[Answer]]


async def load(url: str, *options: str, patience: int = 60) -> tuple[int | None, dict[str, Any]]:
    """The exit code of a short load, and its result. `patience`: seconds after which a game hangs."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "app", "load", url, "--seconds", "1", "--tables", "1", "--think", "0.02", "--target", "300"),
        *("--patience", str(patience), "--archive", "60", *options),
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    return process.returncode, json.loads(said)


async def test_on_a_sound_server_it_finds_nothing(redis_url: str, database_url: str) -> None:
    async with running_site(redis_url, database_url) as site:
        code, result = await load(site.url)
    assert result["differences"] == []
    assert code == 0
    assert result["games"] == result["archived"] >= 1
    assert result["acks"] > 0


async def acknowledged_without_storing(append: Append, entry: Entry, *args: Any) -> Answer:
    """The answer of a store that says it knew the command."""
    return Known(entry.seq - 1)


async def forgotten_at_once(append: Append, entry: Entry, *args: Any) -> Answer:
    """The answer of a store that stored it, and lost it."""
    return Appended(entry.seq, 0, None)


async def stored_twice(append: Append, entry: Entry, *args: Any) -> Answer:
    """The second time under another command id."""
    answer = await append(entry, *args)
    if isinstance(answer, Appended):
        table, cid, *rest = args
        await append(replace(entry, seq=entry.seq + 1), table, f"{cid}-again", *rest[:-2], None, None)
    return answer


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        (acknowledged_without_storing, "but there the log has"),
        (forgotten_at_once, "the log has lost its end: epoch 2"),
        (stored_twice, "is in the log"),
    ],
)
async def test_a_server_with_a_fault_is_found_out(
    fault: Callable[..., Awaitable[Answer]],
    named: str,
    redis_url: str,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The fault befalls one pass of a person, the second."""
    whole = RedisLog.append
    passes = itertools.count(1)

    async def append(log: RedisLog, table: str, cid: str, entry: Entry, *rest: Any) -> Answer:
        async def sound(entry: Entry, table: str, cid: str, *rest: Any) -> Answer:
            return await whole(log, table, cid, entry, *rest)

        match entry.command:
            case InGame(action=Speak(call=Say.PASS)) if next(passes) == 2:
                return await fault(sound, entry, table, cid, *rest)
            case _:
                return await sound(entry, table, cid, *rest)

    monkeypatch.setattr(RedisLog, "append", append)
    async with running_site(redis_url, database_url) as site:
        code, result = await load(site.url, "--people", "4", patience=16)
    assert code == 1
    assert any(named in line for line in result["differences"]), result["differences"]
