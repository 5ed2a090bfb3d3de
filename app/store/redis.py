"""Live tables in Redis or Valkey: the log, its lock and its timers, the bell, who is there, the lobby's index, the guests.

All keys of a table share the hash tag of its shard, so that one Function touches them in one piece, on a cluster too.
"""

import asyncio
import hashlib
import json
import re
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import BusyLoadingError
from redis.exceptions import ConnectionError as Unconnected
from redis.exceptions import TimeoutError as TimedOut

from app.game.refusal import Refused, Why
from app.game.seats import Seat
from app.tables.ports import Appended, Claimed, Entry, Finished, Known, Listed, Rang, Said, Stale, Stored, Timer
from app.tables.table import Person, Table
from app.wire.log import read_entry, read_frame, read_said, write_entry, write_frame, write_said

SHARDS = tuple(f"{number:02x}" for number in range(16))
"""The first two letters of a table's id name its shard."""

_ID = re.compile("[0-9a-f]{2}-[0-9a-z]{1,20}")

CLAIMED_AT_ONCE = 50
TALK_KEPT = 50
PRESENT_MS = 25_000
"""How long a connection counts as present after it was last heard of."""

GUEST_SECONDS = 400 * 24 * 3600
IDLE_MS = 12 * 3600 * 1000
"""A table where nobody sat down, left or began for so long is no longer in the lobby."""

WORK = "coinche:work"
"""The channel on which a duty that is due at once is announced to the workers."""

HERE = "here"
"""What the bell says when somebody came or went."""

_LIBRARY = Path(__file__).with_name("functions.lua").read_text()


def connect(url: str) -> Redis:
    """A client of the store at this URL."""
    return Redis.from_url(url, decode_responses=True, health_check_interval=10)


@dataclass(frozen=True, slots=True)
class _Keys:
    """The names under which a table's things are kept."""

    table: str

    @property
    def shard(self) -> str:
        return f"{{s{self.table[:2]}}}"

    @property
    def meta(self) -> str:
        return f"{self.shard}t:{self.table}"

    @property
    def log(self) -> str:
        return f"{self.meta}:log"

    @property
    def commands(self) -> str:
        return f"{self.meta}:cmd"

    @property
    def here(self) -> str:
        return f"{self.meta}:here"

    @property
    def talk(self) -> str:
        return f"{self.meta}:talk"

    @property
    def dues(self) -> str:
        return f"{self.shard}dues"

    @property
    def outbox(self) -> str:
        return f"{self.shard}outbox"

    @property
    def channel(self) -> str:
        return f"{self.shard}ch:{self.table}"


def outboxes() -> tuple[str, ...]:
    """The streams in which finished games wait for the archive."""
    return tuple(f"{{s{shard}}}outbox" for shard in SHARDS)


class RedisLog:
    """The logs of the tables (port `GameLog`)."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def prepare(self) -> None:
        """Make the store's own functions known to it."""
        await self._redis.function_load(_LIBRARY, replace=True)

    async def open(self, table: Table) -> int:
        fields: Any = {"epoch": "1", "seq": "0", "base": "1", "frame": write_frame(table), "due": ""}
        await _reply(self._redis.hset(_Keys(table.id).meta, mapping=fields))
        return 1

    async def load(self, table: str) -> Stored | None:
        if not _ID.fullmatch(table):  # or it might name something else that is kept here
            return None
        keys = _Keys(table)
        reply = await _reply(self._redis.fcall_ro("coinche_1_load", 2, keys.meta, keys.log))
        if not reply:
            return None
        epoch, seq, frame, due, entries = reply
        return Stored(int(epoch), read_frame(frame), int(seq), _due(due), _entries(entries))

    async def since(self, table: str, seq: int) -> Sequence[Entry]:
        return _entries(await _reply(self._redis.xrange(_Keys(table).log, min=f"({seq}-0")))

    async def between(self, table: str, first: int, last: int) -> Sequence[Entry]:
        """The entries from one number to another, both included."""
        return _entries(await _reply(self._redis.xrange(_Keys(table).log, min=f"{first}-0", max=f"{last}-0")))

    async def append(
        self, table: str, cid: str, entry: Entry, timer: Timer | None, frame: Table | None, finished: Finished | None
    ) -> Appended | Known | Stale:
        keys = _Keys(table)
        reply = await _reply(
            self._redis.fcall(
                "coinche_1_append",
                5,
                *(keys.meta, keys.log, keys.commands, keys.dues, keys.outbox),
                *(str(entry.seq - 1), cid, write_entry(entry)),
                "keep" if timer is None else "none" if timer.after is None else str(timer.after),
                "" if timer is None or timer.seat is None else str(int(timer.seat)),
                "" if frame is None else write_frame(frame),
                "" if finished is None else finished.game,
                *(table, keys.channel),
            ),
        )
        match reply:
            case ["appended", seq, at, due]:
                return Appended(int(seq), int(at), _due(due))
            case ["known", seq]:
                return Known(int(seq))
            case ["stale", seq]:
                return Stale(int(seq))
            case _:
                raise Refused(Why.NO_SUCH_TABLE)

    async def find(self, table: str, cid: str) -> int | None:
        number = await _reply(self._redis.zscore(_Keys(table).commands, cid))
        return None if number is None else int(number)

    async def take(self, table: str, lease: int) -> bool:
        return bool(await _reply(self._redis.fcall("coinche_1_take", 1, _Keys(table).dues, table, str(lease))))

    async def claim(self, lease: int) -> Claimed:
        async with self._redis.pipeline(transaction=False) as pipe:
            for shard in SHARDS:
                pipe.fcall("coinche_1_claim", 2, f"{{s{shard}}}dues", f"{{s{shard}}}alive", str(lease), str(CLAIMED_AT_ONCE))
            replies = await _reply(pipe.execute())
        # The shards answer one after the other: by the last of these clocks all that was claimed is due.
        return Claimed(
            max(int(now) for now, _, _ in replies),
            tuple(table for _, tables, _ in replies for table in tables),
            tuple(table for _, _, moved in replies for table in moved),
        )


async def _reply(reply: Any) -> Any:
    """What the client answers; its own types allow for far more than the servers send.

    Raises `Refused` with `BUSY` while the store cannot be reached: the same command may be sent again.
    """
    try:
        return await reply
    except (Unconnected, TimedOut, BusyLoadingError):
        raise Refused(Why.BUSY) from None


def _due(text: str) -> int | None:
    return int(text) if text else None


def _entries(rows: Iterable[Any]) -> tuple[Entry, ...]:
    """Stream rows as entries. Inside a Function's reply the fields come as a flat list."""
    entries = []
    for _, fields in rows:
        if not isinstance(fields, dict):
            fields = dict(zip(fields[::2], fields[1::2], strict=True))
        entries.append(read_entry(fields["entry"], int(fields["at"]), _due(fields["due"])))
    return tuple(entries)


class RedisBell:
    """Pub/sub as a hint (port `Bell`). What it loses, the reader finds in the log."""

    CONTROL = "coinche:bell"
    ECHO_SECONDS = 1.0
    DEAD_SECONDS = 4.0

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._pubsub: PubSub = redis.pubsub(ignore_subscribe_messages=True)

    async def prepare(self) -> None:
        """Subscribe to something, for one cannot listen to nothing."""
        await self._pubsub.subscribe(self.CONTROL)

    async def close(self) -> None:
        await self._pubsub.aclose()  # type: ignore[no-untyped-call]

    async def follow(self, table: str) -> None:
        await self._change(self._pubsub.subscribe, table)

    async def unfollow(self, table: str) -> None:
        await self._change(self._pubsub.unsubscribe, table)

    async def _change(self, command: Callable[[str], Awaitable[Any]], table: str) -> None:
        """Raises `Refused` while the line is down: the listener alone calls again, or both would tear at one connection."""
        line: Any = self._pubsub.connection
        if line is None or not line.is_connected:
            raise Refused(Why.BUSY)
        try:
            await _reply(command(_Keys(table).channel))
        except AttributeError:  # the listener has dropped the line at this very moment; there is nothing to write to
            raise Refused(Why.BUSY) from None

    async def rings(self) -> AsyncIterator[Rang]:
        async for channel, data in self._messages():
            table = channel.rpartition("ch:")[2]
            yield Rang(table, data == HERE, read_said(data) if data.startswith("{") else None)

    async def work(self) -> AsyncIterator[str]:
        await self._pubsub.subscribe(WORK)
        async for _, table in self._messages():
            yield table

    async def _messages(self) -> AsyncIterator[tuple[str, str]]:
        """Channel and data of each message, without the echo: a subscription that no longer hears itself is made anew."""
        heard = asked = time.monotonic()
        while True:
            try:
                if time.monotonic() - asked > self.ECHO_SECONDS:
                    asked = time.monotonic()
                    await self._redis.publish(self.CONTROL, "echo")
                message = await self._pubsub.get_message(timeout=self.ECHO_SECONDS)
                if time.monotonic() - heard > self.DEAD_SECONDS:
                    heard = time.monotonic()
                    connection: Any = self._pubsub.connection
                    await connection.disconnect()
            except (Unconnected, TimedOut, BusyLoadingError, OSError):
                await asyncio.sleep(0.2)
                continue
            if message is None:
                continue
            heard = time.monotonic()
            if message["channel"] != self.CONTROL:
                yield str(message["channel"]), str(message["data"])


class RedisCompany:
    """Who is connected to a table, and its talk (port `Company`)."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def here(self, table: str, connection: str, person: str | None) -> None:
        keys = _Keys(table)
        member = f"{connection} {person or ''}"
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.zadd(keys.here, {member: _now() + PRESENT_MS})
            pipe.pexpire(keys.here, 2 * PRESENT_MS)
            added, _ = await _reply(pipe.execute())
        if added:
            await _reply(self._redis.publish(keys.channel, HERE))

    async def gone(self, table: str, connection: str, person: str | None) -> None:
        keys = _Keys(table)
        await _reply(self._redis.zrem(keys.here, f"{connection} {person or ''}"))
        await _reply(self._redis.publish(keys.channel, HERE))

    async def lag(self, table: str, seat: Seat, lag: int) -> None:
        await _reply(self._redis.hset(_Keys(table).meta, f"lag{int(seat)}", str(lag)))

    async def present(self, table: str) -> Sequence[str | None]:
        members = await _reply(self._redis.zrangebyscore(_Keys(table).here, _now(), "+inf"))
        return tuple(member.partition(" ")[2] or None for member in members)

    async def say(self, table: str, said: Said) -> None:
        keys = _Keys(table)
        line = write_said(said)
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.rpush(keys.talk, line)
            pipe.ltrim(keys.talk, -TALK_KEPT, -1)
            pipe.publish(keys.channel, line)
            await _reply(pipe.execute())

    async def talk(self, table: str) -> Sequence[Said]:
        lines = await _reply(self._redis.lrange(_Keys(table).talk, 0, -1))
        return tuple(read_said(line) for line in lines)


class RedisLobby:
    """The index of tables that anybody may find (port `Lobby`)."""

    KEY = "{lobby}tables"

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def show(self, table: Table) -> None:
        if table.listed and table.people:
            shown = {"playing": table.is_playing, "touched": _now(), "frame": write_frame(table)}
            await _reply(self._redis.hset(self.KEY, table.id, json.dumps(shown)))
        else:
            await _reply(self._redis.hdel(self.KEY, table.id))

    async def tables(self) -> Sequence[Listed]:
        shown = {name: json.loads(text) for name, text in (await _reply(self._redis.hgetall(self.KEY))).items()}
        idle = [name for name, one in shown.items() if one["touched"] < _now() - IDLE_MS]
        if idle:
            await _reply(self._redis.hdel(self.KEY, *idle))
        listed = [Listed(read_frame(one["frame"]), one["playing"]) for name, one in shown.items() if name not in idle]
        return sorted(listed, key=lambda one: one.table.created, reverse=True)


class RedisGuests:
    """Guests by the hash of their token (port `Guests`); the token itself is stored nowhere."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def welcome(self, name: str) -> tuple[Person, str]:
        token = secrets.token_urlsafe(32)
        person = Person(f"g_{secrets.token_hex(8)}", name)
        await self._keep(token, person)
        return person, token

    async def by_token(self, token: str) -> Person | None:
        fields = await _reply(self._redis.hgetall(self._key(token)))
        return Person(fields["id"], fields["name"]) if fields else None

    async def rename(self, token: str, name: str) -> Person | None:
        known = await self.by_token(token)
        if known is None:
            return None
        person = Person(known.id, name)
        await self._keep(token, person)
        return person

    async def _keep(self, token: str, person: Person) -> None:
        key = self._key(token)
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.hset(key, mapping={"id": person.id, "name": person.name})
            pipe.expire(key, GUEST_SECONDS)
            await _reply(pipe.execute())

    @staticmethod
    def _key(token: str) -> str:
        return f"guest:{hashlib.sha256(token.encode()).hexdigest()}"


def _now() -> int:
    return int(time.time() * 1000)
