"""The log in Redis against the archive in Postgres, and both against what clients were promised: entry by entry."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from sqlalchemy import select

from app.store.keys import outboxes
from app.store.models import Game, LogEntry
from app.store.postgres import connect as connect_postgres

Json = dict[str, Any]
Log = dict[int, Json]
Logs = dict[str, Log]
Archive = dict[str, dict[str, Log]]


async def compare(redis_url: str, database_url: str, promises: Path) -> list[str]:
    """What is not as it must be."""
    asked = [json.loads(line) for line in promises.read_text().splitlines()]
    logs, archive = await _read(redis_url, database_url, asked)
    async with Redis.from_url(redis_url, decode_responses=True) as redis:
        wrong = [f"{await redis.xlen(name)} games wait in {name}" for name in outboxes() if await redis.xlen(name)]
        dead: list[Any] = await redis.keys("*outbox:dead")
        wrong += [f"{name} has games that could not be archived" for name in dead]
    for table, log in logs.items():
        wrong += _compare(table, log, archive[table])
    return [*wrong, *_against_promises(_together(logs, archive), asked)]


async def broken(redis_url: str, database_url: str, asked: list[Json]) -> list[Json]:
    """What was acknowledged and stands neither in the log nor in the archive."""
    logs = _together(*await _read(redis_url, database_url, asked))
    return [one for one in asked if _is_promised(one) and not _is_kept(one, logs[one["table"]])]


async def _read(redis_url: str, database_url: str, asked: list[Json]) -> tuple[Logs, Archive]:
    """The logs of the tables, and what the archive has of their games."""
    tables = sorted({one["table"] for one in asked})
    async with Redis.from_url(redis_url, decode_responses=True) as redis:
        logs = {table: await _log(redis, table) for table in tables}
    return logs, await _archive(database_url, tables)


def _together(logs: Logs, archive: Archive) -> Logs:
    """The whole logs: what the archive has of them, and what is still kept."""
    return {
        table: {seq: entry for game in archive[table].values() for seq, entry in game.items()} | log
        for table, log in logs.items()
    }


async def _log(redis: Redis, table: str) -> Log:
    """What is still kept: the log is shortened when its games are archived."""
    rows: Any = await redis.xrange(f"{{s{table[:2]}}}t:{table}:log")
    return {int(name.partition("-")[0]): json.loads(fields["entry"]) for name, fields in rows}


async def _archive(database_url: str, tables: list[str]) -> Archive:
    """The entries of each game of each table."""
    engine = connect_postgres(database_url)
    found: Archive = {table: {} for table in tables}
    async with engine.connect() as connection:
        rows = await connection.execute(select(Game.table_id, Game.id, LogEntry.seq, LogEntry.entry).join_from(Game, LogEntry))
        for row in rows:
            found.setdefault(row.table_id, {}).setdefault(row.id, {})[row.seq] = row.entry
    await engine.dispose()
    return found


def _compare(table: str, log: Log, archive: dict[str, Log]) -> list[str]:
    """No gap in either, the same where both have an entry, and every game that the log knows the end of is archived."""
    wrong = []
    if log and sorted(log) != list(range(min(log), max(log) + 1)):
        wrong.append(f"the log of {table} has a gap")
    for game, entries in archive.items():
        if sorted(entries) != list(range(min(entries), max(entries) + 1)):
            wrong.append(f"the archive of {game} has a gap")
        wrong += [
            f"{game} {seq}: archived is {entry}, the log has {log[seq]}"
            for seq, entry in entries.items()
            if log.get(seq, entry) != entry
        ]
    ends = {max(entries) for entries in archive.values()}
    won = [seq for seq, entry in log.items() if any(event["kind"] == "game_won" for event in entry["events"])]
    return [*wrong, *(f"{table}: the game that ends with {seq} is not archived" for seq in won if seq not in ends)]


def _against_promises(logs: Logs, asked: list[Json]) -> list[str]:
    """Each acknowledged command stands where it was said to stand, done by the one who asked; and no command twice."""
    wrong = []
    people: dict[tuple[str, str], int] = {}
    stored: dict[tuple[str, int], list[str]] = defaultdict(list)
    for one in filter(_is_promised, asked):
        entry = logs[one["table"]].get(one["at"][1])
        if entry is None or not _does(entry["command"], one):
            wrong.append(f"acknowledged and not in the log: {one}, there is {entry and entry['command']}")
            continue
        if people.setdefault((one["table"], entry["by"]), one["seat"]) != one["seat"]:
            wrong.append(f"stored for somebody else: {one}")
        stored[one["table"], one["at"][1]].append(one["cid"])
    wrong += [f"{place} is the answer to several commands: {cids}" for place, cids in stored.items() if len(cids) > 1]
    wrong += [
        f"nobody was told that it is stored: {table} {seq}: {entry['command']}"
        for table, log in logs.items()
        for seq, entry in log.items()
        if entry["command"]["kind"] == "in_game" and (table, seq) not in stored
    ]
    return wrong


def _is_promised(asked: Json) -> bool:
    """Whether it was acknowledged; reading a sheet and coming back may change nothing, and then stand nowhere."""
    return asked["at"] is not None and asked["action"]["kind"] not in ("next", "return")


def _is_kept(asked: Json, log: Log) -> bool:
    entry = log.get(asked["at"][1])
    return entry is not None and _does(entry["command"], asked)


def _does(command: Json, asked: Json) -> bool:
    """Whether this stored command is the one that was sent."""
    if command["kind"] != "in_game":
        return False
    done, action = command["action"], asked["action"]
    if done["seat"] != asked["seat"]:
        return False
    match action["kind"]:
        case "play":
            return bool(done.get("card") == action["card"])
        case "bid":
            return bool(done.get("call") == {"value": action["value"], "trump": action["trump"]})
        case "redeal":
            return bool(done.get("right") == action["right"])
        case said:
            return bool(done.get("call") == said)
