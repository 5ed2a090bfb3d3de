"""Who is connected to a table, and what is said there (port `Company`)."""

from collections.abc import Callable, Sequence

from app.game.refusal import Refused, Why
from app.game.seats import Seat
from app.store.broken import read_or_pass
from app.store.dice import now_ms
from app.store.keys import HERE, TABLE_DAYS, Keys, kept_ms
from app.store.server import Store, call, reply, together
from app.tables.ports import Said
from app.wire.log import read_said, write_said

TALK_KEPT = 50

PRESENT_MS = 25_000
"""How long a connection counts as present after it was last heard of."""


class RedisCompany:
    """Who is connected to a table, and its talk (port `Company`)."""

    def __init__(self, redis: Store, days: int = TABLE_DAYS, clock: Callable[[], int] = now_ms) -> None:
        self._redis = redis
        self._clock = clock
        self._kept = kept_ms(days)

    async def here(self, table: str, connection: str, person: str | None) -> None:
        keys = Keys(table)
        times = (str(self._clock() + PRESENT_MS), str(2 * PRESENT_MS), self._kept)
        await call(self._redis, "here", [*keys.lasting, keys.here], f"{connection} {person or ''}", *times, keys.channel, HERE)

    async def gone(self, table: str, connection: str, person: str | None) -> None:
        keys = Keys(table)
        await reply(self._redis.zrem(keys.here, f"{connection} {person or ''}"))
        await reply(self._redis.publish(keys.channel, HERE))

    async def lag(self, table: str, seat: Seat, lag: int) -> None:
        await call(self._redis, "lag", [Keys(table).meta], f"lag{int(seat)}", str(lag))

    async def present(self, table: str) -> Sequence[str | None]:
        return _people(await reply(self._redis.zrangebyscore(Keys(table).here, self._clock(), "+inf")))

    async def present_at(self, tables: Sequence[str]) -> Sequence[Sequence[str | None]]:
        now = self._clock()
        found = await together(self._redis, lambda to: [to.zrangebyscore(Keys(one).here, now, "+inf") for one in tables])
        return [() if isinstance(members, Exception) else _people(members) for members in found]

    async def say(self, table: str, said: Said) -> None:
        keys = Keys(table)
        args = (write_said(said), str(TALK_KEPT), self._kept, keys.channel)
        if not await call(self._redis, "say", keys.lasting, *args):
            raise Refused(Why.NO_SUCH_TABLE)

    async def talk(self, table: str) -> Sequence[Said]:
        key = Keys(table).talk
        lines = [read_or_pass(read_said, line, key) for line in await reply(self._redis.lrange(key, 0, -1))]
        return tuple(said for said in lines if said is not None)


def _people(members: Sequence[str]) -> tuple[str | None, ...]:
    return tuple(member.partition(" ")[2] or None for member in members)
