"""Which tables may anybody find, and at which does somebody sit (port `Lobby`)?"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.store.broken import read_or_pass
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

    def __init__(self, redis: Store, clock: Callable[[], int] = now_ms) -> None:
        self._redis = redis
        self._clock = clock

    async def show(self, table: Table) -> None:
        if table.listed and table.people:
            shown = {"playing": table.is_playing, "touched": self._clock(), "frame": write_frame(table)}
            await reply(self._redis.hset(self.KEY, table.id, json.dumps(shown)))
        else:
            await reply(self._redis.hdel(self.KEY, table.id))

    async def tables(self) -> Sequence[Listed]:
        lines = await reply(self._redis.hgetall(self.KEY))
        shown = {name: read_or_pass(_line, text, self.KEY) for name, text in lines.items()}
        idle = [name for name, one in shown.items() if one is None or one.touched < self._clock() - IDLE_MS]
        if idle:
            await reply(self._redis.hdel(self.KEY, *idle))
            shown = {name: one for name, one in shown.items() if name not in idle}
        listed = [one.listed for one in shown.values() if one is not None and one.listed is not None]
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


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the index: when something last happened at the table; the table, unless only a newer release can read it."""

    touched: int
    listed: Listed | None


def _line(text: str) -> _Line:
    shown = json.loads(text)
    touched = int(shown["touched"])
    try:
        return _Line(touched, Listed(read_frame(shown["frame"]), bool(shown["playing"])))
    except NewerFormat:
        return _Line(touched, None)
