"""Asks a store something and never waits for it for long, so that who watches this process hears of a store that hangs."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from app.game.refusal import Refused, Why

SECONDS = 1.0
"""How long a probe waits for an answer."""

T = TypeVar("T")


class Probe(Generic[T]):
    """Asks one question, and not again while it has no answer: of a store that hangs no more is asked."""

    def __init__(self, ask: Callable[[], Awaitable[T]], seconds: float = SECONDS) -> None:
        self._ask = ask
        self._seconds = seconds
        self._asking: asyncio.Task[T] | None = None

    async def __call__(self) -> T:
        """Returns the answer. Raises `Refused` with `BUSY` if there is none in time, and what asking raises."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.ensure_future(self._asked())
            self._asking.add_done_callback(_look_at)
        await asyncio.wait([self._asking], timeout=self._seconds)
        if not self._asking.done():
            raise Refused(Why.BUSY)
        return self._asking.result()

    async def _asked(self) -> T:
        return await self._ask()


def _look_at(asked: "asyncio.Task[Any]") -> None:
    """Drops an error that came too late for anybody to be told of it."""
    if not asked.cancelled():
        asked.exception()
