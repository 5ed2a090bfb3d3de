"""Tokens and bots in Redis or Valkey (ports `Tokens` and `Bots`), so that programs play on while Postgres is away.

token:<hash>      STRING  "<person> <id>": where the token with this secret is
{<person>}tokens  HASH    id → what is told of the token; a token that is not here is void
{<person>}used    HASH    id → when it was last used, in ms
{<person>}me      HASH    the person's name, and of a bot whose it is
{<person>}bots    SET     the person's bots
"""

import hashlib
import json
import re
import secrets
from collections.abc import Sequence

from app.store.redis import GUEST_SECONDS
from app.store.server import Store, call, reply
from app.tables.table import BOT, Person
from app.tables.tokens import MOST_BOTS, MOST_TOKENS, Asker, Scope, Token

PREFIX = "coinche_"
"""What a secret begins with, so that one that has got out is known for what it is."""

_SECRET = re.compile(PREFIX + r"[A-Za-z0-9_-]{43}", re.ASCII)

KEPT = str(GUEST_SECONDS)
"""Seconds for which a token that never expires is kept unused, like a guest."""


def _tokens(person: str) -> str:
    return f"{{{person}}}tokens"


def _used(person: str) -> str:
    return f"{{{person}}}used"


def _me(person: str) -> str:
    return f"{{{person}}}me"


def _bots(person: str) -> str:
    return f"{{{person}}}bots"


def _pointer(secret: str) -> str:
    return f"token:{hashlib.sha256(secret.encode()).hexdigest()}"


class RedisTokens:
    """Tokens by the hash of their secret: there is nothing to compare, and nothing to read back."""

    def __init__(self, redis: Store) -> None:
        self._redis = redis

    async def issue(
        self, owner: Person, name: str, scopes: frozenset[Scope], created: int, expires: int | None
    ) -> tuple[Token, str] | None:
        token = Token(secrets.token_hex(8), name, scopes, created, expires)
        secret = PREFIX + secrets.token_urlsafe(32)
        keys = [_tokens(owner.id), _used(owner.id)]
        record = json.dumps({"name": name, "scopes": sorted(scopes), "created": created, "expires": expires})
        if not await call(self._redis, "keep_token", keys, token.id, record, str(MOST_TOKENS), KEPT):
            return None
        await self._name(owner)
        life = GUEST_SECONDS if expires is None else max(1, (expires - created) // 1000 + 1)
        await reply(self._redis.set(_pointer(secret), f"{owner.id} {token.id}", ex=life))
        return token, secret

    async def asker(self, secret: str) -> Asker | None:
        if not _SECRET.fullmatch(secret):
            return None
        found = await reply(self._redis.get(_pointer(secret)))
        if found is None:
            return None
        person, _, token_id = found.partition(" ")
        known = await call(self._redis, "use_token", [_tokens(person), _used(person), _me(person)], token_id, KEPT)
        if not known:
            return None
        record, name, is_new = known
        token = _read(token_id, record, None)
        if is_new and token.expires is None:
            await reply(self._redis.expire(_pointer(secret), GUEST_SECONDS))
        return Asker(Person(person, name), token.scopes, token_id)

    async def of(self, owner: str) -> Sequence[Token]:
        records = await reply(self._redis.hgetall(_tokens(owner)))
        used = await reply(self._redis.hgetall(_used(owner)))
        tokens = (_read(one, record, used.get(one)) for one, record in records.items())
        return sorted(tokens, key=lambda one: (one.created, one.id), reverse=True)

    async def revoke(self, owner: str, token: str) -> bool:
        had = bool(await reply(self._redis.hdel(_tokens(owner), token)))
        await reply(self._redis.hdel(_used(owner), token))
        return had

    async def rename(self, person: Person) -> None:
        if await reply(self._redis.exists(_me(person.id))):
            await self._name(person)

    async def _name(self, person: Person) -> None:
        await reply(self._redis.hset(_me(person.id), "name", person.name))
        await reply(self._redis.expire(_me(person.id), GUEST_SECONDS))


def _read(id: str, record: str, used: str | None) -> Token:
    told = json.loads(record)
    scopes = frozenset(map(Scope, told["scopes"]))
    return Token(id, told["name"], scopes, told["created"], told["expires"], None if used is None else int(used))


class RedisBots:
    """Bots by their owner. Whoever is not the owner learns nothing, not even that there is such a bot."""

    def __init__(self, redis: Store) -> None:
        self._redis = redis

    async def make(self, owner: str, name: str) -> Person | None:
        bot = Person(f"{BOT}{secrets.token_hex(8)}", name)
        if not await call(self._redis, "keep_bot", [_bots(owner)], bot.id, str(MOST_BOTS)):
            return None
        await reply(self._redis.hset(_me(bot.id), mapping={"name": name, "owner": owner}))
        await reply(self._redis.expire(_me(bot.id), GUEST_SECONDS))
        return bot

    async def of(self, owner: str) -> Sequence[Person]:
        bots = sorted(await reply(self._redis.smembers(_bots(owner))))
        names = [await reply(self._redis.hget(_me(bot), "name")) for bot in bots]
        gone = [bot for bot, name in zip(bots, names, strict=True) if name is None]  # nobody has used them for so long
        if gone:
            await reply(self._redis.srem(_bots(owner), *gone))
        return [Person(bot, name) for bot, name in zip(bots, names, strict=True) if name is not None]

    async def owner(self, bot: str) -> str | None:
        """Whose bot it is, if it is one that somebody has."""
        owner: str | None = await reply(self._redis.hget(_me(bot), "owner"))
        return owner

    async def rename(self, owner: str, bot: str, name: str) -> Person | None:
        if not await reply(self._redis.sismember(_bots(owner), bot)):
            return None
        await reply(self._redis.hset(_me(bot), "name", name))
        return Person(bot, name)

    async def dismiss(self, owner: str, bot: str) -> bool:
        had = bool(await reply(self._redis.sismember(_bots(owner), bot)))
        if had:
            await reply(self._redis.delete(_tokens(bot), _used(bot), _me(bot)))
            await reply(self._redis.srem(_bots(owner), bot))
        return had
