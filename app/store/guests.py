"""Identities that need no account (port `Guests`)."""

import hashlib
import secrets

from app.store.keys import GUEST_SECONDS
from app.store.server import Store, call
from app.tables.table import Person


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
