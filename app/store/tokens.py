"""Tokens and bots in Redis or Valkey (ports `Tokens` and `Bots`), so that programs play on while Postgres is away.

{<person>}tokens  HASH    id → the hash of the secret and what is told of the token; one that is not here is void
{<person>}used    HASH    id → when it was last used, in ms
{<person>}me      HASH    the person's name, and of a bot whose it is
{<person>}bots    SET     the person's bots

A secret tells whose it is and which one, so that all there is to know of it lies under one hash tag.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Sequence

from app.game.refusal import Refused, Why
from app.store.keys import GUEST_SECONDS, VOID
from app.store.server import Store, call, reply, together
from app.tables.table import BOT, Person
from app.tables.tokens import MOST_BOTS, MOST_TOKENS, Asker, Scope, Token

PREFIX = "coinche_"
"""What a secret begins with, so that one that has got out is known for what it is."""

_SECRET = re.compile(PREFIX + "([a-z]_[a-z0-9]{1,32})_([0-9a-f]{16})_[A-Za-z0-9_-]{43}")

KEPT = str(GUEST_SECONDS)
"""Seconds for which the tokens of a person are kept while none of them is used, like a guest."""


def _tokens(person: str) -> str:
    return f"{{{person}}}tokens"


def _used(person: str) -> str:
    return f"{{{person}}}used"


def _me(person: str) -> str:
    return f"{{{person}}}me"


def _bots(person: str) -> str:
    return f"{{{person}}}bots"


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


class RedisTokens:
    """Tokens by their owner. A secret is 256 bits of chance; only its hash is kept, so there is nothing to read back."""

    def __init__(self, redis: Store) -> None:
        self._redis = redis

    async def issue(
        self, owner: Person, name: str, scopes: frozenset[Scope], created: int, expires: int | None
    ) -> tuple[Token, str] | None:
        token = Token(secrets.token_hex(8), name, scopes, created, expires)
        secret = f"{PREFIX}{owner.id}_{token.id}_{secrets.token_urlsafe(32)}"
        told = {"hash": _hash(secret), "name": name, "scopes": sorted(scopes), "created": created, "expires": expires}
        must_be_there = "1" if owner.is_bot else ""  # or a token would outlive a bot that is dismissed meanwhile
        args = (token.id, json.dumps(told), str(MOST_TOKENS), KEPT, owner.name, must_be_there)
        return (token, secret) if await call(self._redis, "keep_token", self._keys(owner.id), *args) else None

    async def asker(self, secret: str) -> Asker | None:
        parts = _SECRET.fullmatch(secret)
        if parts is None:
            return None
        person, token_id = parts.groups()
        known = await call(self._redis, "use_token", self._keys(person), token_id, _hash(secret), KEPT)
        if not known:
            return None
        record, name, owner, is_new = known
        if is_new and owner:
            await reply(self._redis.expire(_bots(owner), GUEST_SECONDS))
        return Asker(Person(person, name), _read(token_id, record, None).scopes, token_id)

    async def of(self, owner: str) -> Sequence[Token]:
        records = await reply(self._redis.hgetall(_tokens(owner)))
        used = await reply(self._redis.hgetall(_used(owner)))
        tokens = (_read(one, record, used.get(one)) for one, record in records.items())
        return sorted(tokens, key=lambda one: (one.created, one.id), reverse=True)

    async def revoke(self, owner: str, token: str) -> bool:
        said = f"{owner} {token}"
        return bool(await call(self._redis, "void_token", (_tokens(owner), _used(owner)), token, VOID, said))

    async def rename(self, person: Person) -> None:
        if await reply(self._redis.exists(_me(person.id))):
            await reply(self._redis.hset(_me(person.id), "name", person.name))

    @staticmethod
    def _keys(person: str) -> Sequence[str]:
        return (_tokens(person), _used(person), _me(person))


def _read(id: str, record: str, used: str | None) -> Token:
    told = json.loads(record)
    scopes = frozenset(one for one in Scope if one in told["scopes"])  # a newer release may know more of them
    return Token(id, told["name"], scopes, told["created"], told["expires"], None if used is None else int(used))


class RedisBots:
    """Bots by their owner. Whoever is not the owner learns nothing, not even that there is such a bot."""

    def __init__(self, redis: Store) -> None:
        self._redis = redis

    async def make(self, owner: str, name: str) -> Person | None:
        bot = Person(f"{BOT}{secrets.token_hex(8)}", name)
        await reply(self._redis.hset(_me(bot.id), mapping={"name": name, "owner": owner}))
        await reply(self._redis.expire(_me(bot.id), GUEST_SECONDS))
        if not await call(self._redis, "keep_bot", [_bots(owner)], bot.id, str(MOST_BOTS), KEPT):
            await reply(self._redis.delete(_me(bot.id)))
            return None
        return bot

    async def of(self, owner: str) -> Sequence[Person]:
        bots = sorted(await reply(self._redis.smembers(_bots(owner))))
        names = await together(self._redis, lambda to: [to.hget(_me(bot), "name") for bot in bots])
        if any(isinstance(name, Exception) for name in names):
            raise Refused(Why.BUSY)
        gone = [bot for bot, name in zip(bots, names, strict=True) if name is None]  # nobody has used them for so long
        if gone:
            await reply(self._redis.srem(_bots(owner), *gone))
        return [Person(bot, name) for bot, name in zip(bots, names, strict=True) if name is not None]

    async def owner(self, bot: str) -> str | None:
        """Whose bot it is, if it is one that somebody has."""
        owner: str | None = await reply(self._redis.hget(_me(bot), "owner"))
        return owner

    async def find(self, owner: str, bot: str) -> Person | None:
        if not await reply(self._redis.sismember(_bots(owner), bot)):
            return None
        name = await reply(self._redis.hget(_me(bot), "name"))
        return None if name is None else Person(bot, name)

    async def rename(self, owner: str, bot: str, name: str) -> Person | None:
        if await self.find(owner, bot) is None:
            return None
        await reply(self._redis.hset(_me(bot), "name", name))
        return Person(bot, name)

    async def dismiss(self, owner: str, bot: str) -> bool:
        had = bool(await reply(self._redis.sismember(_bots(owner), bot)))
        if had:
            await reply(self._redis.delete(_tokens(bot), _used(bot), _me(bot)))
            await reply(self._redis.publish(VOID, bot))
            await reply(self._redis.srem(_bots(owner), bot))
        return had
