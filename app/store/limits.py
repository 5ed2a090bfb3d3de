"""Token buckets in Redis or Valkey (port `Limits`): one key each, by the store's clock."""

from math import ceil

from app.game.refusal import Refused
from app.store.server import Store, call
from app.tables.limits import Policy, Verdict


class RedisLimits:
    """Buckets that all processes share. While the store is away nothing is limited: there is little left to ask for."""

    def __init__(self, redis: Store) -> None:
        self._redis = redis

    async def take(self, policy: Policy, who: str, cost: int = 1) -> Verdict | None:
        return await self._spend(policy, who, cost, "take")

    async def look(self, policy: Policy, who: str) -> Verdict | None:
        return await self._spend(policy, who, 1, "look")

    async def charge(self, policy: Policy, who: str) -> None:
        await self._spend(policy, who, 1, "charge")

    async def _spend(self, policy: Policy, who: str, cost: int, how: str) -> Verdict | None:
        bucket = f"limit:{policy.name}:{who}"
        try:
            answer = await call(self._redis, "spend", [bucket], repr(policy.rate), str(policy.burst), str(cost), how)
        except Refused:
            return None
        allowed, left, full, wait = map(int, answer)
        return Verdict(policy, bool(allowed), left, ceil(full / 1000), ceil(wait / 1000))


class NoLimits:
    """Everybody may ask as often as they like."""

    async def take(self, policy: Policy, who: str, cost: int = 1) -> Verdict | None:
        return None

    async def look(self, policy: Policy, who: str) -> Verdict | None:
        return None

    async def charge(self, policy: Policy, who: str) -> None:
        return None
