"""Which tables may anybody find, and at which does somebody sit (port `Lobby`)?"""

import json
from collections.abc import Sequence
from typing import Any

from app.store.dice import now_ms
from app.store.keys import GUEST_SECONDS
from app.store.server import Store, call, reply
from app.tables.ports import Listed, NewerFormat
from app.tables.table import Table
from app.wire.log import read_frame, write_frame

IDLE_MS = 12 * 3600 * 1000
"""A table where nobody sat down, left or began for so long is no longer in the lobby."""

SEATS_KEPT = 30
"""At so many tables somebody is found; what there is to tell of them all at once fits into an outbox."""


class RedisLobby:
    """The index of tables that anybody may find, and of those at which somebody sits (port `Lobby`)."""

    KEY = "{lobby}tables"

    def __init__(self, redis: Store) -> None:
        self._redis = redis

    async def show(self, table: Table) -> None:
        if table.listed and table.people:
            shown = {"playing": table.is_playing, "touched": now_ms(), "frame": write_frame(table)}
            await reply(self._redis.hset(self.KEY, table.id, json.dumps(shown)))
        else:
            await reply(self._redis.hdel(self.KEY, table.id))

    async def tables(self) -> Sequence[Listed]:
        shown = {name: json.loads(text) for name, text in (await reply(self._redis.hgetall(self.KEY))).items()}
        idle = [name for name, one in shown.items() if one["touched"] < now_ms() - IDLE_MS]
        if idle:
            await reply(self._redis.hdel(self.KEY, *idle))
        listed = [one for name, text in shown.items() if name not in idle and (one := _listed(text)) is not None]
        return sorted(listed, key=lambda one: (one.table.created, one.table.id), reverse=True)

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
