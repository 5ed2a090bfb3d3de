"""Token buckets and quotas in Redis or Valkey (port `Limits`): one key each, by the store's clock."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from math import ceil
from typing import Any

import structlog

from app.game.refusal import Refused, Why
from app.store.keys import GUEST_SECONDS
from app.store.server import Store, call, call_all, reply
from app.tables.limits import LOOKED_AT, Quota, Verdict, Wish
from app.tables.tasks import heed

GAMES_KEPT = str(GUEST_SECONDS)

LEASE_MS = 90_000
"""What is open counts for so long; so long also what a dead process had open."""

RENEW_SECONDS = 30.0
"""How often a process says what it still has open."""

_log = structlog.get_logger()


class RedisLimits:
    """Buckets that all processes share. While the store is away nothing is limited: there is little left to ask for."""

    are_lifted = False

    def __init__(self, redis: Store) -> None:
        self._redis = redis
        self._leases: dict[str, set[str]] = {}
        """What is open in this process, by the key under which it is counted."""

    async def ask(self, *wishes: Wish) -> Sequence[Verdict]:
        try:
            answers = await call_all(self._redis, "spend", [_call(wish) for wish in wishes])
        except Refused:
            return ()
        both = zip(wishes, answers, strict=True)
        return [_verdict(wish, answer) for wish, answer in both if not isinstance(answer, Exception)]

    @asynccontextmanager
    async def hold(self, quota: Quota, who: str) -> AsyncIterator[None]:
        key, lease = f"open:{quota.name}:{who}", secrets.token_hex(8)
        try:
            is_held = await call(self._redis, "hold", [key], str(quota.most), str(LEASE_MS), lease)
        except Refused:
            is_held = True
        if not is_held:
            raise Refused(Why.TOO_FAST)
        self._leases.setdefault(key, set()).add(lease)
        try:
            yield
        finally:
            self._leases[key].discard(lease)
            if not self._leases[key]:
                del self._leases[key]
            with suppress(Refused):  # and is forgotten by itself
                await reply(self._redis.zrem(key, lease))

    async def run(self) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            heed()
            try:
                await self.renew()
            except Refused:
                continue  # the store is away
            except Exception:
                _log.exception("what is open could not be counted")

    async def renew(self) -> None:
        """Says what is still open. Raises `Refused`."""
        if self._leases:
            calls = [([key], ["", str(LEASE_MS), *leases]) for key, leases in self._leases.items()]
            await call_all(self._redis, "hold", calls)

    async def count_game(self, quota: Quota, who: str, table: str) -> Sequence[str]:
        try:
            held = await call(
                self._redis, "count_game", [_games(quota, who)], table, str(quota.most), str(LOOKED_AT), GAMES_KEPT
            )
        except Refused:
            return ()
        return tuple(held)

    async def forget_games(self, quota: Quota, who: str, tables: Sequence[str]) -> None:
        await reply(self._redis.zrem(_games(quota, who), *tables))


def _games(quota: Quota, who: str) -> str:
    return f"{quota.name}:{who}"


def _call(wish: Wish) -> tuple[Sequence[str], Sequence[str]]:
    policy = wish.policy
    return [f"limit:{policy.name}:{wish.who}"], [repr(policy.rate), str(policy.burst), str(wish.cost), wish.how]


def _verdict(wish: Wish, answer: Any) -> Verdict:
    allowed, left, full, wait = map(int, answer)
    return Verdict(wish.policy, bool(allowed), left, ceil(full / 1000), ceil(wait / 1000))


class NoLimits:
    """Everybody may ask as often as they like."""

    are_lifted = True

    async def ask(self, *wishes: Wish) -> Sequence[Verdict]:
        return ()

    @asynccontextmanager
    async def hold(self, quota: Quota, who: str) -> AsyncIterator[None]:
        yield

    async def run(self) -> None:
        """There is nothing to count."""

    async def count_game(self, quota: Quota, who: str, table: str) -> Sequence[str]:
        return ()

    async def forget_games(self, quota: Quota, who: str, tables: Sequence[str]) -> None:
        pass
