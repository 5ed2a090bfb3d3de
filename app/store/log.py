"""The tables' logs in Redis or Valkey, their lock and their timers (port `GameLog`).

One function touches all keys of a table in one piece, on a cluster too.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from app import metrics
from app.game.refusal import Refused, Why
from app.store.clock import StoreClock
from app.store.keys import SHARDS, TABLE_DAYS, Keys, kept_ms
from app.store.server import Store, call, call_confirmed, call_each, load, reply
from app.tables.notices import Notice
from app.tables.ports import Appended, At, Claimed, Entry, Finished, Forgotten, Known, Last, Stale, Stored, Tail, Timer
from app.tables.table import Table
from app.wire.hooks import write_notice
from app.wire.log import read_entry, read_frame, write_entry, write_frame

_ID = re.compile("[0-9a-f]{2}-[0-9a-z]{1,20}")

CLAIMED_AT_ONCE = 50


class RedisLog:
    """The logs of the tables (port `GameLog`).

    `replicas`: so many must have an append before it is acknowledged. `days`: how long an unused table is kept. `clock` is kept
    right by what the store answers.
    """

    def __init__(self, redis: Store, replicas: int = 0, days: int = TABLE_DAYS, clock: StoreClock | None = None) -> None:
        self._redis = redis
        self._clock = clock or StoreClock()
        self._replicas = replicas
        self._kept = kept_ms(days)

    async def prepare(self) -> None:
        """Make the store's own functions known to it, and learn its time."""
        await load(self._redis)
        sent = self._clock.monotonic()
        self._clock.observe(int(await call(self._redis, "time", [Keys.alive(SHARDS[0])])), sent)

    async def open(self, table: Table) -> int:
        return int(await call(self._redis, "open", [Keys(table.id).meta], write_frame(table), self._kept))

    async def load(self, table: str) -> Stored | None:
        if not _ID.fullmatch(table):  # or it might name something else that is kept here
            return None
        keys, sent = Keys(table), self._clock.monotonic()
        found = await call(self._redis, "load", [keys.meta, keys.log])
        if not found:
            return None
        epoch, seq, frame, due, entries, now = found
        self._clock.observe(int(now), sent)
        return Stored(int(epoch), read_frame(frame), int(seq), _due(due), _entries(entries))

    async def tail(self, table: str, seq: int) -> Tail | None:
        keys, sent = Keys(table), self._clock.monotonic()
        found = await call(self._redis, "tail", [keys.meta, keys.log], str(seq))
        if not found:
            return None
        epoch, last, base, entries, now = found
        self._clock.observe(int(now), sent)
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
        notice: Notice | None = None,
    ) -> Appended | Known | Stale:
        keys, sent = Keys(table), self._clock.monotonic()
        with metrics.append_seconds.time():
            answer = await call_confirmed(
                self._redis,
                self._replicas,
                "append",
                [*keys.lasting, keys.dues, keys.outbox, keys.notices],
                str(entry.seq - 1),
                *(("", "") if last is None else (str(last.epoch), str(last.at))),
                *(cid, write_entry(entry)),
                "keep" if timer is None else "none" if timer.after is None else str(timer.after),
                "" if timer is None or timer.seat is None else str(int(timer.seat)),
                "" if frame is None else write_frame(frame),
                "" if finished is None else finished.game,
                *(table, keys.channel, self._kept),
                "" if notice is None else write_notice(notice),
            )
        metrics.appends.labels(answer[0]).inc()
        match answer:
            case ["appended", seq, at, due]:
                self._clock.observe(int(at), sent)
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
        each = [(f"{{s{shard}}}dues", Keys.alive(shard)) for shard in SHARDS]
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
