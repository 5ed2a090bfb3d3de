"""Finished games on their way to the archive: how many wait, which were put aside, and how one of those is tried anew."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.game.refusal import Refused, Why
from app.store.keys import SHARDS, dead_of, outboxes
from app.store.server import Store, call, reply, together


@dataclass(frozen=True, slots=True)
class Aside:
    """A finished game that could not be archived: since when, in ms, and what went wrong. `id`: of its letter in the outbox."""

    outbox: str
    id: str
    game: str
    error: str

    @property
    def at(self) -> int:
        return int(self.id.partition("-")[0])


async def waiting(redis: Store) -> dict[str, int]:
    """How many finished games wait for the archive, by shard. Raises `Refused`."""
    return await _lengths(redis, outboxes())


async def count_aside(redis: Store) -> dict[str, int]:
    """How many were put aside, by shard. Raises `Refused`."""
    return await _lengths(redis, [dead_of(outbox) for outbox in outboxes()])


async def list_aside(redis: Store) -> Sequence[Aside]:
    """All that were put aside, oldest first."""
    found = []
    for outbox in outboxes():
        rows = await reply(redis.xrange(dead_of(outbox)))
        found += [Aside(outbox, name, fields.get("game", ""), fields.get("error", "")) for name, fields in rows]
    return sorted(found, key=lambda one: one.at)


async def put_back(redis: Store, one: Aside) -> bool:
    """Let the archive try it anew; whether it was still aside."""
    return bool(await call(redis, "put_back", [one.outbox, dead_of(one.outbox)], one.id))


async def _lengths(redis: Store, streams: Sequence[str]) -> dict[str, int]:
    lengths = await together(redis, lambda to: [to.xlen(stream) for stream in streams])
    if any(isinstance(one, Exception) for one in lengths):
        raise Refused(Why.BUSY)
    return dict(zip(SHARDS, lengths, strict=True))
