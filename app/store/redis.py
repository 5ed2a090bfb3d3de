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
from typing import Any

from redis.asyncio.client import PubSub

from app import metrics
from app.game.refusal import Refused, Why
from app.game.seats import Seat
from app.store.server import (
    AWAY,
    Cluster,
    Store,
    call,
    call_confirmed,
    call_each,
    load,
    reply,
    together,
)
from app.store.server import connect as connect
from app.tables.ports import (
    Appended,
    At,
    Claimed,
    Entry,
    Finished,
    Forgotten,
    Known,
    Last,
    Listed,
    NewerFormat,
    Rang,
    Said,
    Stale,
    Stored,
    Tail,
    Timer,
)
from app.tables.table import Person, Table
from app.tables.tasks import heed
from app.wire.log import read_entry, read_frame, read_said, write_entry, write_frame, write_said

SHARDS = tuple(f"{number:02x}" for number in range(16))
"""The first two letters of a table's id name its shard."""

_ID = re.compile("[0-9a-f]{2}-[0-9a-z]{1,20}")

CLAIMED_AT_ONCE = 50
TALK_KEPT = 50
PRESENT_MS = 25_000
"""How long a connection counts as present after it was last heard of."""

TABLE_DAYS = 14
"""A table at which nobody is connected and nothing happens for so long is forgotten."""

GUEST_SECONDS = 400 * 24 * 3600
"""And a guest who does not come back."""

IDLE_MS = 12 * 3600 * 1000
"""A table where nobody sat down, left or began for so long is no longer in the lobby."""

SEATS_KEPT = 30
"""At so many tables somebody is found; what there is to tell of them all at once fits into an outbox."""

WORK = "coinche:work"
"""The channel on which a duty that is due at once is announced to the workers."""

HERE = "here"
"""What the bell says when somebody came or went."""


@dataclass(frozen=True, slots=True)
class Keys:
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
    def lasting(self) -> tuple[str, ...]:
        """What is forgotten together."""
        return (self.meta, self.log, self.commands, self.talk)

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


def kept_ms(days: int) -> str:
    """So many days, as the functions are told."""
    return str(days * 24 * 3600 * 1000)


class RedisLog:
    """The logs of the tables (port `GameLog`).

    `replicas`: so many must have an append before it is acknowledged. `days`: how long an unused table is kept.
    """

    def __init__(self, redis: Store, replicas: int = 0, days: int = TABLE_DAYS) -> None:
        self._redis = redis
        self._replicas = replicas
        self._kept = kept_ms(days)

    async def prepare(self) -> None:
        """Make the store's own functions known to it."""
        await load(self._redis)

    async def open(self, table: Table) -> int:
        return int(await call(self._redis, "open", [Keys(table.id).meta], write_frame(table), self._kept))

    async def load(self, table: str) -> Stored | None:
        if not _ID.fullmatch(table):  # or it might name something else that is kept here
            return None
        keys = Keys(table)
        found = await call(self._redis, "load", [keys.meta, keys.log])
        if not found:
            return None
        epoch, seq, frame, due, entries = found
        return Stored(int(epoch), read_frame(frame), int(seq), _due(due), _entries(entries))

    async def tail(self, table: str, seq: int) -> Tail | None:
        keys = Keys(table)
        found = await call(self._redis, "tail", [keys.meta, keys.log], str(seq))
        if not found:
            return None
        epoch, last, base, entries = found
        return Tail((int(epoch), int(last)), int(base), _entries(entries))

    async def since(self, table: str, seq: int) -> Sequence[Entry]:
        """The entries after a number, in order."""
        return _entries(await reply(self._redis.xrange(Keys(table).log, min=f"({seq}-0")))

    async def between(self, table: str, first: int, last: int) -> Sequence[Entry]:
        """The entries from one number to another, both included."""
        return _entries(await reply(self._redis.xrange(Keys(table).log, min=f"{first}-0", max=f"{last}-0")))

    async def append(
        self,
        table: str,
        cid: str,
        entry: Entry,
        timer: Timer | None,
        frame: Table | None,
        finished: Finished | None,
        last: Last | None = None,
    ) -> Appended | Known | Stale:
        keys = Keys(table)
        with metrics.append_seconds.time():
            answer = await call_confirmed(
                self._redis,
                self._replicas,
                "append",
                [*keys.lasting, keys.dues, keys.outbox],
                str(entry.seq - 1),
                *(("", "") if last is None else (str(last.epoch), str(last.at))),
                *(cid, write_entry(entry)),
                "keep" if timer is None else "none" if timer.after is None else str(timer.after),
                "" if timer is None or timer.seat is None else str(int(timer.seat)),
                "" if frame is None else write_frame(frame),
                "" if finished is None else finished.game,
                *(table, keys.channel, self._kept),
            )
        metrics.appends.labels(answer[0]).inc()
        match answer:
            case ["appended", seq, at, due]:
                return Appended(int(seq), int(at), _due(due))
            case ["known", seq]:
                return Known(int(seq))
            case ["stale", seq]:
                return Stale(int(seq))
            case _:
                raise Refused(Why.NO_SUCH_TABLE)

    async def find(self, table: str, cid: str) -> int | None:
        keys = Keys(table)
        number = await call_confirmed(self._redis, self._replicas, "find", [keys.meta, keys.commands], cid)
        return None if number is None else int(number)

    async def begin_epoch(self, table: str, found: At, epoch: int) -> bool:
        keys = Keys(table)
        args = (str(found[0]), str(found[1]), str(epoch), keys.channel)
        return bool(await call(self._redis, "begin_epoch", [keys.meta], *args))

    async def forget(self, table: str, at: At) -> Forgotten:
        keys = Keys(table)
        args = (str(at[0]), str(at[1]), table, keys.channel)
        answer: Forgotten = await call_confirmed(
            self._redis, self._replicas, "forget", [*keys.lasting, keys.here, keys.dues], *args
        )
        return answer

    async def take(self, table: str, lease: int) -> bool:
        return bool(await call(self._redis, "take", [Keys(table).dues], table, str(lease)))

    async def claim(self, lease: int) -> Claimed:
        each = [(f"{{s{shard}}}dues", f"{{s{shard}}}alive") for shard in SHARDS]
        answers = await call_each(self._redis, "claim", each, str(lease), str(CLAIMED_AT_ONCE))
        # The shards answer one after the other: by the last of these clocks all that was claimed is due.
        return Claimed(
            max(int(now) for now, _, _ in answers),
            tuple(table for _, tables, _ in answers for table in tables),
            tuple(table for _, _, moved in answers for table in moved),
        )


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

    def __init__(self, redis: Store) -> None:
        self._redis = redis
        self._heard = {self.CONTROL}
        self._pubsub = self._line()

    def _line(self) -> PubSub:
        """A line to the server, or to one of a cluster: what rings at one node is heard at all."""
        at = self._redis.one() if isinstance(self._redis, Cluster) else self._redis
        return at.pubsub()

    async def prepare(self) -> None:
        """Subscribe to something, for one cannot listen to nothing."""
        await self._pubsub.subscribe(*self._heard)

    async def close(self) -> None:
        await self._hang_up(self._pubsub)

    async def _hang_up(self, pubsub: PubSub) -> None:
        await pubsub.aclose()  # type: ignore[no-untyped-call]
        if isinstance(self._redis, Cluster):
            pool: Any = pubsub.connection_pool
            await pool.aclose()

    async def follow(self, table: str) -> None:
        self._heard.add(Keys(table).channel)
        await self._change(lambda line: line.subscribe(Keys(table).channel))

    async def unfollow(self, table: str) -> None:
        self._heard.discard(Keys(table).channel)
        await self._change(lambda line: line.unsubscribe(Keys(table).channel))

    async def _change(self, change: Callable[[PubSub], Awaitable[Any]]) -> None:
        """Raises `Refused` while the line is down: the listener alone calls again, or both would tear at one connection."""
        pubsub = self._pubsub
        line: Any = pubsub.connection
        if line is None or not line.is_connected:
            raise Refused(Why.BUSY)
        try:
            await reply(change(pubsub))
        except AttributeError:  # the listener has dropped the line at this very moment; there is nothing to write to
            raise Refused(Why.BUSY) from None
        if pubsub is not self._pubsub:  # it has changed lines meanwhile
            await self._change(change)

    async def rings(self) -> AsyncIterator[Rang]:
        """Each ring, and one when a bell begins to be heard: what was written until then rang for nobody here."""
        async for channel, data in self._messages():
            table = channel.rpartition("ch:")[2]
            yield Rang(table, data == HERE, read_said(data) if data.startswith("{") else None)

    async def work(self) -> AsyncIterator[str]:
        self._heard.add(WORK)
        await self._pubsub.subscribe(WORK)
        async for _, table in self._messages():
            if table:
                yield table

    async def _messages(self) -> AsyncIterator[tuple[str, str]]:
        """Channel and data of each message, the data empty where a channel begins to be heard; the echo is left out.

        A subscription that no longer hears itself is made anew.
        """
        heard = asked = time.monotonic()
        while True:
            heed()
            try:
                if time.monotonic() - asked > self.ECHO_SECONDS:
                    asked = time.monotonic()
                    await self._redis.publish(self.CONTROL, "echo")
                message = await self._pubsub.get_message(timeout=self.ECHO_SECONDS)
                if time.monotonic() - heard > self.DEAD_SECONDS:
                    heard = time.monotonic()
                    await self._call_anew()
            except (*AWAY, OSError):
                await asyncio.sleep(0.2)
                await self._call_elsewhere()
                continue
            if message is None:
                continue
            heard = time.monotonic()
            if message["channel"] != self.CONTROL and message["type"] != "unsubscribe":
                yield str(message["channel"]), str(message["data"]) if message["type"] == "message" else ""

    async def _call_anew(self) -> None:
        if isinstance(self._redis, Cluster):
            await self._call_elsewhere()
        else:
            connection: Any = self._pubsub.connection
            await connection.disconnect()

    async def _call_elsewhere(self) -> None:
        """In a cluster any node will do, and the one that was called may be gone for good."""
        if not isinstance(self._redis, Cluster):
            return
        new, old = self._line(), self._pubsub
        try:
            await new.subscribe(*self._heard)
        except (*AWAY, OSError):
            await self._hang_up(new)
            return
        self._pubsub = new
        await self._hang_up(old)


class RedisCompany:
    """Who is connected to a table, and its talk (port `Company`)."""

    def __init__(self, redis: Store, days: int = TABLE_DAYS) -> None:
        self._redis = redis
        self._kept = kept_ms(days)

    async def here(self, table: str, connection: str, person: str | None) -> None:
        keys = Keys(table)
        times = (str(_now() + PRESENT_MS), str(2 * PRESENT_MS), self._kept)
        await call(self._redis, "here", [*keys.lasting, keys.here], f"{connection} {person or ''}", *times, keys.channel, HERE)

    async def gone(self, table: str, connection: str, person: str | None) -> None:
        keys = Keys(table)
        await reply(self._redis.zrem(keys.here, f"{connection} {person or ''}"))
        await reply(self._redis.publish(keys.channel, HERE))

    async def lag(self, table: str, seat: Seat, lag: int) -> None:
        await call(self._redis, "lag", [Keys(table).meta], f"lag{int(seat)}", str(lag))

    async def present(self, table: str) -> Sequence[str | None]:
        members = await reply(self._redis.zrangebyscore(Keys(table).here, _now(), "+inf"))
        return tuple(member.partition(" ")[2] or None for member in members)

    async def say(self, table: str, said: Said) -> None:
        keys = Keys(table)
        await call(self._redis, "say", keys.lasting, write_said(said), str(TALK_KEPT), self._kept, keys.channel)

    async def talk(self, table: str) -> Sequence[Said]:
        lines = await reply(self._redis.lrange(Keys(table).talk, 0, -1))
        return tuple(read_said(line) for line in lines)


class RedisLobby:
    """The index of tables that anybody may find, and of those at which somebody sits (port `Lobby`)."""

    KEY = "{lobby}tables"

    def __init__(self, redis: Store) -> None:
        self._redis = redis

    async def show(self, table: Table) -> None:
        if table.listed and table.people:
            shown = {"playing": table.is_playing, "touched": _now(), "frame": write_frame(table)}
            await reply(self._redis.hset(self.KEY, table.id, json.dumps(shown)))
        else:
            await reply(self._redis.hdel(self.KEY, table.id))

    async def tables(self) -> Sequence[Listed]:
        shown = {name: json.loads(text) for name, text in (await reply(self._redis.hgetall(self.KEY))).items()}
        idle = [name for name, one in shown.items() if one["touched"] < _now() - IDLE_MS]
        if idle:
            await reply(self._redis.hdel(self.KEY, *idle))
        listed = [one for name, text in shown.items() if name not in idle and (one := _listed(text)) is not None]
        return sorted(listed, key=lambda one: one.table.created, reverse=True)

    async def seat(self, person: str, table: str) -> None:
        await call(self._redis, "seat", [self._seats(person)], table, str(SEATS_KEPT), str(GUEST_SECONDS))

    async def unseat(self, person: str, table: str) -> None:
        await reply(self._redis.zrem(self._seats(person), table))

    async def seats(self, person: str) -> Sequence[str]:
        found: Sequence[str] = await reply(self._redis.zrevrange(self._seats(person), 0, -1))
        return found

    @staticmethod
    def _seats(person: str) -> str:
        return f"{{{person}}}tables"


def _listed(shown: dict[str, Any]) -> Listed | None:
    """A table as the index has it, or None if only a newer release can read that."""
    try:
        return Listed(read_frame(shown["frame"]), shown["playing"])
    except NewerFormat:
        return None


class RedisGuests:
    """Guests by the hash of their token (port `Guests`); the token itself is stored nowhere."""

    def __init__(self, redis: Store) -> None:
        self._redis = redis

    async def welcome(self, name: str) -> tuple[Person, str]:
        token = secrets.token_urlsafe(32)
        person = Person(f"g_{secrets.token_hex(8)}", name)
        await self._keep(token, person)
        return person, token

    async def by_token(self, token: str) -> Person | None:
        found = await call(self._redis, "guest", [self._key(token)], str(GUEST_SECONDS))
        return Person(*found) if found else None

    async def rename(self, token: str, name: str) -> Person | None:
        known = await self.by_token(token)
        if known is None:
            return None
        person = Person(known.id, name)
        await self._keep(token, person)
        return person

    async def _keep(self, token: str, person: Person) -> None:
        await call(self._redis, "keep_guest", [self._key(token)], person.id, person.name, str(GUEST_SECONDS))

    @staticmethod
    def _key(token: str) -> str:
        return f"guest:{hashlib.sha256(token.encode()).hexdigest()}"


async def waiting(redis: Store) -> dict[str, int]:
    """How many finished games wait for the archive, by outbox. Raises `Refused`."""
    lengths = await together(redis, lambda to: [to.xlen(outbox) for outbox in outboxes()])
    if any(isinstance(one, Exception) for one in lengths):
        raise Refused(Why.BUSY)
    return dict(zip(SHARDS, lengths, strict=True))


def _now() -> int:
    return int(time.time() * 1000)
