"""Hooks and their post in Redis or Valkey (ports `Hooks` and `Postbox`).

{hooks}h:<hook>     HASH    whose it is, where it leads, what it hears, its secret, when it may be sent something again (`free`)
{hooks}of:<person>  SET     the person's hooks
{hooks}all:<event>  SET     hooks that hear of everybody's
{hooks}q:<hook>     ZSET    letters that wait for it, by the time they are tried
{hooks}due          ZSET    hooks that something waits for, by the time they are looked at
{hooks}mail         HASH    "<hook> <letter>" → the letter, as long as it waits or is dead
{hooks}told         ZSET    "<hook> <letter>" by the time it was posted, so that it is posted once
{hooks}dead         ZSET    "<hook> <letter>" by the time it was given up
{s..}notices        STREAM  what happened at the tables of a shard and has not been made letters of
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
from app.tables.hooks import MOST_HOOKS, Attempt, Hook, Reach, hears_everybody
from app.tables.notices import Heard, Notice, audience, heard_as
from app.tables.ports import NewerFormat
from app.tables.post import SECRET, Dead, Letter, Mail, Outcome, Stamped
from app.wire.hooks import PING, read_notice, write_body

MOST_WAITING = 1_000
"""So many letters may wait for one hook; what comes then is dead at once."""

MOST_DEAD = 10_000
"""So many dead letters are kept, the newest."""

TOLD_MS = 3 * 24 * 3600 * 1000
"""So long it is known what was posted."""

AT_ONCE = 50
"""Notices of a shard that are read at once."""

_DUE, _MAIL, _TOLD, _DEAD = "{hooks}due", "{hooks}mail", "{hooks}told", "{hooks}dead"
_KEPT = str(GUEST_SECONDS)

_log = structlog.get_logger()


def _hook(hook: str) -> str:
    return f"{{hooks}}h:{hook}"


def _of(person: str) -> str:
    return f"{{hooks}}of:{person}"


def _all(event: Heard) -> str:
    return f"{{hooks}}all:{event.value}"


def _queue(hook: str) -> str:
    return f"{{hooks}}q:{hook}"


def _notices(shard: str) -> str:
    return f"{{s{shard}}}notices"


class RedisHooks:
    """Who wants to hear what. A secret is given out once, when it is made; after that only the post reads it."""

    def __init__(self, redis: Store) -> None:
        self._redis = redis

    async def add(self, owner: str, url: str, events: Sequence[Heard], scope: Reach) -> tuple[Hook, str] | None:
        hook, secret = secrets.token_hex(8), SECRET + base64.b64encode(secrets.token_bytes(32)).decode()
        keys = [_of(owner), *(_all(event) for event in events if hears_everybody(event, scope))]
        fields = {"owner": owner, "url": url, "events": " ".join(events), "scope": scope.value, "secret": secret}
        pairs = [part for pair in fields.items() for part in pair]
        created = await call(self._redis, "add_hook", keys, hook, str(MOST_HOOKS), _KEPT, *pairs)
        return None if created is None else (Hook(hook, url, tuple(events), scope, int(created)), secret)

    async def of(self, owner: str) -> Sequence[Hook]:
        names = await reply(self._redis.smembers(_of(owner)))
        found = [(name, await reply(self._redis.hgetall(_hook(name)))) for name in names]
        return sorted((_read(name, fields) for name, fields in found if fields), key=lambda one: (one.created, one.id))

    async def remove(self, owner: str, hook: str) -> bool:
        keys = [_DUE, _MAIL, _DEAD, _of(owner)]
        return bool(await call(self._redis, "remove_hook", keys, hook))

    async def ping(self, owner: str, hook: str) -> None:
        known = {one.id: one for one in await self.of(owner)}.get(hook)
        if known is None:
            raise Refused(Why.NOT_FOUND)
        if known.is_off:
            raise Refused(Why.HOOK_OFF)
        name = f"msg_{secrets.token_hex(12)}"
        letter = Letter(hook, name, PING, write_body(name, PING, now_ms(), {"hook": hook}))
        await RedisPostbox(self._redis).post([letter], known.created)

    async def waiting(self) -> dict[str, int]:
        dead = await reply(self._redis.zcard(_DEAD))
        return {"waiting": await reply(self._redis.hlen(_MAIL)) - dead, "dead": dead}


def _read(id: str, fields: Mapping[str, str]) -> Hook:
    last = None
    if "last_at" in fields:
        last = Attempt(int(fields["last_at"]), fields["last_event"], fields["last_result"])
    events = tuple(map(Heard, fields["events"].split()))
    scope, failures = Reach(fields["scope"]), int(fields.get("failures", 0))
    return Hook(id, fields["url"], events, scope, int(fields["created"]), "off" in fields, failures, last)


class RedisPostbox:
    """Notices and mail."""

    def __init__(self, redis: Store) -> None:
        self._redis = redis
        self._bots = RedisBots(redis)

    async def notices(self) -> Sequence[Stamped]:
        answers = await together(self._redis, lambda to: [to.xrange(_notices(one), count=AT_ONCE) for one in SHARDS])
        found = []
        for shard, answer in zip(SHARDS, answers, strict=True):
            if isinstance(answer, Exception):
                if not isinstance(answer, AWAY):
                    raise answer
                continue
            found += [one for place, fields in answer if (one := await self._stamped(shard, place, fields)) is not None]
        return found

    async def _stamped(self, shard: str, id: str, fields: Mapping[str, str]) -> Stamped | None:
        """What waits at this place; what can never be read waits for nobody."""
        try:
            due = int(fields["due"]) if fields["due"] else None
            return Stamped(shard, id, int(fields["at"]), read_notice(fields["notice"], due))
        except NewerFormat:
            return None
        except UNREADABLE as error:
            _log.error("a notice cannot be read and was dropped", shard=shard, id=id, error=type(error).__name__)
            await reply(self._redis.xdel(_notices(shard), id))
            return None

    async def hearing(self, notice: Notice) -> Sequence[str]:
        heard, who = heard_as(notice), audience(notice)
        owners = {await self._bots.owner(one) or one for one in who.people}
        hooks: set[str] = set()
        for owner in owners:
            for hook in await reply(self._redis.smembers(_of(owner))):
                if heard in (await reply(self._redis.hget(_hook(hook), "events")) or "").split():
                    hooks.add(hook)
        if who.everybody:
            hooks |= set(await reply(self._redis.smembers(_all(heard))))
        return sorted(hooks)

    async def post(self, letters: Sequence[Letter], at: int) -> None:
        limits = (str(TOLD_MS), str(MOST_WAITING), str(MOST_DEAD))
        for first in range(0, len(letters), AT_ONCE):
            some = [
                part for one in letters[first : first + AT_ONCE] for part in (one.hook, one.id, _record(one, 0, "too_many"))
            ]
            await call(self._redis, "post", [_DUE, _MAIL, _TOLD, _DEAD], str(at), *limits, *some)

    async def told(self, stamped: Stamped) -> None:
        await reply(self._redis.xdel(_notices(stamped.shard), stamped.id))

    async def claim(self, lease: int, most: int) -> Sequence[Mail]:
        claimed = await call(self._redis, "claim_mail", [_DUE, _MAIL], str(lease), str(most))
        found = [await self._mail(*one) for one in claimed]
        return [mail for mail in found if mail is not None]

    async def _mail(self, hook: str, name: str, record: str, url: str, secret: str) -> Mail | None:
        """What is to be carried; what can never be read is dropped."""
        try:
            told = json.loads(record)
            return Mail(_letter(hook, name, told), url, secret, int(told["tries"]))
        except UNREADABLE as error:
            _log.error("a letter cannot be read and was dropped", hook=hook, letter=name, error=type(error).__name__)
            await reply(self._redis.zrem(_queue(hook), name))
            await reply(self._redis.hdel(_MAIL, f"{hook} {name}"))
            return None

    async def settle(self, mail: Mail, outcome: Outcome) -> None:
        letter = mail.letter
        args = (letter.hook, letter.id, outcome.fate.value, _record(letter, mail.tries + 1, outcome.result))
        times = (str(outcome.wait), str(outcome.rest))
        keys = [_DUE, _MAIL, _DEAD]
        await call(self._redis, "settle_mail", keys, *args, *times, letter.event, outcome.result, _KEPT, str(MOST_DEAD))

    async def dead(self) -> Sequence[Dead]:
        names = await reply(self._redis.zrange(_DEAD, 0, -1, withscores=True))
        records = await reply(self._redis.hmget(_MAIL, [name for name, _ in names])) if names else ()
        found = []
        for (name, at), record in zip(names, records, strict=True):
            if record is not None:  # or it was sent again or removed just now
                hook, _, letter = name.partition(" ")
                dead = read_or_pass(partial(_dead, hook, letter, int(at)), record, name)
                if dead is not None:
                    found.append(dead)
        return found

    async def redeliver(self, letter: Letter) -> bool:
        args = (letter.hook, letter.id, _record(letter, 0, ""))
        return bool(await call(self._redis, "redeliver", [_DUE, _MAIL, _DEAD], *args))


def _record(letter: Letter, tries: int, result: str) -> str:
    told = {"event": letter.event, "body": letter.body, "tries": tries, "result": result}
    return json.dumps(told, separators=(",", ":"), ensure_ascii=False)


def _dead(hook: str, id: str, at: int, record: str) -> Dead:
    told = json.loads(record)
    return Dead(_letter(hook, id, told), at, told["result"])


def _letter(hook: str, id: str, told: Mapping[str, Any]) -> Letter:
    return Letter(hook, id, told["event"], told["body"])
