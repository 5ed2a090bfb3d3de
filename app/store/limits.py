"""Token buckets in Redis or Valkey (port `Limits`): one key each, by the store's clock."""

from collections.abc import Sequence
from math import ceil
from typing import Any

from app.game.refusal import Refused
from app.store.server import Store, call_all
from app.tables.limits import Verdict, Wish


class RedisLimits:
    """Buckets that all processes share. While the store is away nothing is limited: there is little left to ask for."""

    def __init__(self, redis: Store) -> None:
        self._redis = redis

    async def ask(self, *wishes: Wish) -> Sequence[Verdict]:
        try:
            answers = await call_all(self._redis, "spend", [_call(wish) for wish in wishes])
        except Refused:
            return ()
        both = zip(wishes, answers, strict=True)
        return [_verdict(wish, answer) for wish, answer in both if not isinstance(answer, Exception)]


def _call(wish: Wish) -> tuple[Sequence[str], Sequence[str]]:
    policy = wish.policy
    return [f"limit:{policy.name}:{wish.who}"], [repr(policy.rate), str(policy.burst), str(wish.cost), wish.how]


def _verdict(wish: Wish, answer: Any) -> Verdict:
    allowed, left, full, wait = map(int, answer)
    return Verdict(wish.policy, bool(allowed), left, ceil(full / 1000), ceil(wait / 1000))


class NoLimits:
    """Everybody may ask as often as they like."""

    async def ask(self, *wishes: Wish) -> Sequence[Verdict]:
        return ()
