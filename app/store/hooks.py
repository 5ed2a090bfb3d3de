"""Stores hooks and their deliveries in Redis or Valkey (ports `Hooks` and `DeliveryQueue`).

{hooks}h:<hook>     HASH    whose it is, its URL, events and secret, when it may be sent something again (`free`)
{hooks}of:<person>  SET     the person's hooks
{hooks}all:<event>  SET     hooks that are sent everybody's if their scope is `all`; earlier releases have put others here too
{hooks}q:<hook>     ZSET    deliveries that wait for it, by the time they are tried
{hooks}due          ZSET    hooks that something waits for, by the time they are looked at
{hooks}mail         HASH    "<hook> <delivery>" → the delivery, as long as it waits or is dead
{hooks}told         ZSET    "<hook> <delivery>" by the time it was enqueued, so that it is enqueued once
{hooks}dead         ZSET    "<hook> <delivery>" by the time it was given up
{s..}notices        STREAM  what happened at the tables of a shard and no deliveries have been made of
"""

import base64
import json
import secrets
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import structlog

from app.game.refusal import Refused, Why
from app.store.broken import UNREADABLE, read_or_pass
from app.store.dice import now_ms
from app.store.keys import GUEST_SECONDS, SHARDS
from app.store.server import AWAY, Store, call, reply, together
from app.store.tokens import RedisBots
from app.tables.deliveries import SECRET, ClaimedDelivery, DeadDelivery, Delivery, Settlement, StoredNotice
from app.tables.hooks import MOST_HOOKS, Attempt, Hook, HookScope, covers_everybody
from app.tables.notices import EventType, Notice, audience, event_type_of
from app.tables.ports import NewerFormat
from app.wire.hooks import PING, read_notice, write_body

MOST_WAITING = 10_000
"""So many deliveries may wait in all; what comes then is dropped and counted, so that the store keeps room for the tables."""

MOST_OF_OWNER = 1_000
"""So many may wait for the hooks of one owner, but fewer the more waits in all: an eighth of it where half the room is taken.

So owners who flood, one after the other, leave room to the next. Likewise one hook may have no more than its owner has left for
others. As deliveries are sent or given up all have room again.
"""

MOST_DEAD = 10_000
"""So many dead deliveries are kept, the newest."""

KNOWN_MS = 3 * 24 * 3600 * 1000
"""So long it is known what was enqueued."""

MOST_KNOWN = 100_000
"""Of so many deliveries, the newest."""

AT_ONCE = 50
"""Notices of a shard that are read at once."""

_DUE, _RECORDS, _KNOWN, _DEAD = "{hooks}due", "{hooks}mail", "{hooks}told", "{hooks}dead"
_KEPT = str(GUEST_SECONDS)

_log = structlog.get_logger()


def _hook(hook: str) -> str:
    return f"{{hooks}}h:{hook}"


def _of(person: str) -> str:
    return f"{{hooks}}of:{person}"


def _all(event: EventType) -> str:
    return f"{{hooks}}all:{event.value}"


def _queue(hook: str) -> str:
    return f"{{hooks}}q:{hook}"


def _notices(shard: str) -> str:
    return f"{{s{shard}}}notices"


class RedisHooks:
    """Stores who subscribes to what. A secret is given out once, when it is made; after that only deliveries read it."""

    def __init__(self, redis: Store) -> None:
        self._redis = redis

    async def add(self, owner: str, url: str, events: Sequence[EventType], scope: HookScope) -> tuple[Hook, str] | None:
        hook, secret = secrets.token_hex(8), SECRET + base64.b64encode(secrets.token_bytes(32)).decode()
        keys = [_of(owner), *(_all(event) for event in events if covers_everybody(event, scope))]
        fields = {"owner": owner, "url": url, "events": " ".join(events), "scope": scope.value, "secret": secret}
        pairs = [part for pair in fields.items() for part in pair]
        created = await call(self._redis, "add_hook", keys, hook, str(MOST_HOOKS), _KEPT, *pairs)
        return None if created is None else (Hook(hook, url, tuple(events), scope, int(created)), secret)

    async def of(self, owner: str) -> Sequence[Hook]:
        names = await reply(self._redis.smembers(_of(owner)))
        found = [(name, await reply(self._redis.hgetall(_hook(name)))) for name in names]
        return sorted((_read(name, fields) for name, fields in found if fields), key=lambda hook: (hook.created, hook.id))

    async def remove(self, owner: str, hook: str) -> bool:
        keys = [_DUE, _RECORDS, _DEAD, _of(owner)]
        return bool(await call(self._redis, "remove_hook", keys, hook))

    async def ping(self, owner: str, hook: str) -> None:
        known = next((mine for mine in await self.of(owner) if mine.id == hook), None)
        if known is None:
            raise Refused(Why.NOT_FOUND)
        if known.is_off:
            raise Refused(Why.HOOK_OFF)
        name = f"msg_{secrets.token_hex(12)}"
        delivery = Delivery(hook, name, PING, write_body(name, PING, now_ms(), {"hook": hook}))
        if await RedisDeliveryQueue(self._redis).enqueue([delivery], known.created):
            raise Refused(Why.TOO_MANY)

    async def waiting(self) -> dict[str, int]:
        dead = await reply(self._redis.zcard(_DEAD))
        return {"waiting": await reply(self._redis.hlen(_RECORDS)) - dead, "dead": dead}


def _read(id: str, fields: Mapping[str, str]) -> Hook:
    last = None
    if "last_at" in fields:
        last = Attempt(int(fields["last_at"]), fields["last_event"], fields["last_result"])
    events = tuple(map(EventType, fields["events"].split()))
    failures, dropped = (int(fields.get(name, 0)) for name in ("failures", "dropped"))
    scope, created = HookScope(fields["scope"]), int(fields["created"])
    return Hook(id, fields["url"], events, scope, created, "off" in fields, failures, dropped, last)


class RedisDeliveryQueue:
    """Stores notices and deliveries."""

    def __init__(self, redis: Store) -> None:
        self._redis = redis
        self._bots = RedisBots(redis)

    async def notices(self) -> Sequence[StoredNotice]:
        answers = await together(self._redis, lambda to: [to.xrange(_notices(shard), count=AT_ONCE) for shard in SHARDS])
        found = []
        for shard, answer in zip(SHARDS, answers, strict=True):
            if isinstance(answer, Exception):
                if not isinstance(answer, AWAY):
                    raise answer
                continue
            read = [await self._stored(shard, place, fields) for place, fields in answer]
            found += [stored for stored in read if stored is not None]
        return found

    async def _stored(self, shard: str, id: str, fields: Mapping[str, str]) -> StoredNotice | None:
        """Reads the notice at this place, and drops one that can never be read."""
        try:
            due = int(fields["due"]) if fields["due"] else None
            return StoredNotice(shard, id, int(fields["at"]), read_notice(fields["notice"], due))
        except NewerFormat:
            return None
        except UNREADABLE as error:
            _log.error("a notice cannot be read and was dropped", shard=shard, id=id, error=type(error).__name__)
            await reply(self._redis.xdel(_notices(shard), id))
            return None

    async def subscribers(self, notice: Notice) -> Sequence[str]:
        event, who = event_type_of(notice), audience(notice)
        owners = {await self._bots.owner(person) or person for person in who.people}
        keys = [*map(_of, sorted(owners)), *([_all(event)] if who.everybody else [])]
        return sorted(await call(self._redis, "subscribers", keys, event, str(len(owners)))) if keys else []

    async def enqueue(self, deliveries: Sequence[Delivery], at: int) -> int:
        limits, dropped = (str(KNOWN_MS), str(MOST_KNOWN), str(MOST_WAITING), str(MOST_OF_OWNER)), 0
        for first in range(0, len(deliveries), AT_ONCE):
            some = [
                part
                for delivery in deliveries[first : first + AT_ONCE]
                for part in (delivery.hook, delivery.id, _record(delivery, 0, ""))
            ]
            dropped += await call(self._redis, "enqueue_deliveries", [_DUE, _RECORDS, _KNOWN, _DEAD], str(at), *limits, *some)
        return dropped

    async def acknowledge(self, stored: StoredNotice) -> None:
        await reply(self._redis.xdel(_notices(stored.shard), stored.id))

    async def claim(self, lease: int, most: int) -> Sequence[ClaimedDelivery]:
        rows = await call(self._redis, "claim_deliveries", [_DUE, _RECORDS], str(lease), str(most))
        found = [await self._claimed(*row) for row in rows]
        return [claimed for claimed in found if claimed is not None]

    async def _claimed(self, hook: str, id: str, record: str, url: str, secret: str) -> ClaimedDelivery | None:
        """Reads a delivery that was claimed, and drops one that can never be read."""
        try:
            fields = json.loads(record)
            return ClaimedDelivery(_delivery(hook, id, fields), url, secret, int(fields["tries"]))
        except UNREADABLE as error:
            _log.error("a delivery cannot be read and was dropped", hook=hook, delivery=id, error=type(error).__name__)
            await reply(self._redis.zrem(_queue(hook), id))
            await reply(self._redis.hdel(_RECORDS, f"{hook} {id}"))
            return None

    async def settle(self, claimed: ClaimedDelivery, settlement: Settlement) -> None:
        delivery, result = claimed.delivery, settlement.result
        args = (delivery.hook, delivery.id, settlement.outcome.value, _record(delivery, claimed.tries + 1, result))
        times = (str(settlement.wait), str(settlement.rest))
        keys = [_DUE, _RECORDS, _DEAD]
        await call(self._redis, "settle_delivery", keys, *args, *times, delivery.event, result, _KEPT, str(MOST_DEAD))

    async def dead(self) -> Sequence[DeadDelivery]:
        names = await reply(self._redis.zrange(_DEAD, 0, -1, withscores=True))
        records = await reply(self._redis.hmget(_RECORDS, [name for name, _ in names])) if names else ()
        found = []
        for (name, at), record in zip(names, records, strict=True):
            if record is not None:  # or it was sent again or removed just now
                hook, _, delivery = name.partition(" ")
                dead = read_or_pass(partial(_dead, hook, delivery, int(at)), record, name)
                if dead is not None:
                    found.append(dead)
        return found

    async def redeliver(self, delivery: Delivery) -> bool:
        args = (delivery.hook, delivery.id, _record(delivery, 0, ""))
        return bool(await call(self._redis, "redeliver", [_DUE, _RECORDS, _DEAD], *args))


def _record(delivery: Delivery, tries: int, result: str) -> str:
    fields = {"event": delivery.event, "body": delivery.body, "tries": tries, "result": result}
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False)


def _dead(hook: str, id: str, at: int, record: str) -> DeadDelivery:
    fields = json.loads(record)
    return DeadDelivery(_delivery(hook, id, fields), at, fields["result"])


def _delivery(hook: str, id: str, fields: Mapping[str, Any]) -> Delivery:
    return Delivery(hook, id, fields["event"], fields["body"])
