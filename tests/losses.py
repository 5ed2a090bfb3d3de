"""A store that comes back without the end of a log, as after a fail-over to a replica that did not have it yet."""

from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis


@dataclass(frozen=True)
class Kept:
    """What a store held of a table at some moment."""

    table: str
    dumps: dict[Any, Any]
    due: float | None

    async def bring_back(self, redis: Redis) -> None:
        """Let the store be as it was then."""
        shard = f"{{s{self.table[:2]}}}"
        async with redis.pipeline(transaction=True) as pipe:
            for key in await _keys(redis, self.table):
                pipe.delete(key)
            for key, dump in self.dumps.items():
                pipe.restore(key, 0, dump, replace=True)
            if self.due is None:
                pipe.zrem(f"{shard}dues", self.table)
            else:
                pipe.zadd(f"{shard}dues", {self.table: self.due})
            await pipe.execute()


async def keep(redis: Redis, table: str) -> Kept:
    """Remember what the store holds of a table now; the client must not decode."""
    async with redis.pipeline(transaction=True) as pipe:
        keys = await _keys(redis, table)
        for key in keys:
            pipe.dump(key)
        pipe.zscore(f"{{s{table[:2]}}}dues", table)
        *dumps, due = await pipe.execute()
    return Kept(table, dict(zip(keys, dumps, strict=True)), due)


async def _keys(redis: Redis, table: str) -> list[Any]:
    keys: list[Any] = await redis.keys(f"{{s{table[:2]}}}t:{table}*")
    return [key for key in keys if not key.endswith(b":here")]
