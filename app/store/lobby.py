"""Which tables may anybody find, and at which does somebody sit (port `Lobby`)?"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from app.store.broken import read_or_pass
from app.store.dice import now_ms
from app.store.keys import GUEST_SECONDS
from app.store.server import Store, call, reply
from app.tables.ports import Listed, NewerFormat
from app.tables.table import Table
from app.wire.log import read_frame, write_frame

IDLE_MS = 12 * 3600 * 1000
"""A table at which nobody was for so long is taken out of the index."""

DEAD_MS = 5 * 60 * 1000
"""And after so long it is not shown, until somebody is there again."""

SEATS_KEPT = 30
"""At so many tables somebody is found; what there is to tell of them all at once fits into an outbox."""


class RedisLobby:
    """The index of tables that anybody may find, and of those at which somebody sits (port `Lobby`)."""

    KEY = "{lobby}tables"
    ALIVE = "{lobby}alive"
    """When somebody was last known to be at a table, in ms."""

    def __init__(self, redis: Store, clock: Callable[[], int] = now_ms) -> None:
        self._redis = redis
        self._clock = clock

    async def show(self, table: Table) -> None:
        if table.listed and table.people:
            shown = {"playing": table.is_playing, "touched": self._clock(), "frame": write_frame(table)}
            await reply(self._redis.hset(self.KEY, table.id, json.dumps(shown)))
        else:
            await reply(self._redis.hdel(self.KEY, table.id))

    async def touch(self, tables: Sequence[str]) -> None:
        if tables:
            await reply(self._redis.zadd(self.ALIVE, dict.fromkeys(tables, self._clock())))
            await reply(self._redis.zremrangebyscore(self.ALIVE, "-inf", self._clock() - IDLE_MS))

    async def tables(self) -> Sequence[Listed]:
        now = self._clock()
        lines = await reply(self._redis.hgetall(self.KEY))
        alive = dict(await reply(self._redis.zrange(self.ALIVE, 0, -1, withscores=True)))
        shown = {name: read_or_pass(partial(_line, alive.get(name, 0)), text, self.KEY) for name, text in lines.items()}
        idle = [name for name, one in shown.items() if one is None or one.touched < now - IDLE_MS]
        if idle:
            await reply(self._redis.hdel(self.KEY, *idle))
            shown = {name: one for name, one in shown.items() if name not in idle}
        listed = [one.listed for one in shown.values() if one is not None and one.listed is not None and one.is_alive(now)]
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
    """A line of the index: when somebody was last at the table; the table, unless only a newer release can read it."""

    touched: int
    listed: Listed | None

    def is_alive(self, now: int) -> bool:
        """Whether somebody was there lately, or it is a slow game, at which nobody need stay."""
        is_slow_game = self.listed is not None and self.listed.playing and self.listed.table.is_slow
        return is_slow_game or self.touched > now - DEAD_MS


def _line(alive: float, text: str) -> _Line:
    shown = json.loads(text)
    touched = max(int(shown["touched"]), int(alive))
    try:
        return _Line(touched, Listed(read_frame(shown["frame"]), bool(shown["playing"])))
    except NewerFormat:
        return _Line(touched, None)
