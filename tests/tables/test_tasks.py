"""Many keys side by side, each key on its own in order, and not more at once than were allowed."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.tables.tasks import KeyedWorkers, end


class Work:
    """What workers are given, which goes on until the test lets it end."""

    def __init__(self, most: int) -> None:
        self.running: dict[str, int] = {}
        self.done: dict[str, list[int]] = defaultdict(list)
        self.workers = KeyedWorkers(self._work, most)
        self._gates: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def _work(self, key: str, item: int) -> None:
        assert key not in self.running
        self.running[key] = item
        await self._gates[key].wait()
        del self.running[key]
        self.done[key].append(item)

    def let_go(self, *keys: str) -> None:
        for key in keys:
            self._gates[key].set()

    async def settle(self) -> None:
        """Let everything happen that can."""
        for _ in range(20):
            await asyncio.sleep(0)


@asynccontextmanager
async def work(most: int = 8) -> AsyncIterator[Work]:
    made = Work(most)
    running = asyncio.create_task(made.workers.run())
    yield made
    assert not running.done()
    await end(running)


async def test_no_key_waits_for_another() -> None:
    async with work() as these:
        for key in "abc":
            these.workers.submit(key, 1)
        these.let_go("b", "c")
        await these.settle()
        assert these.running == {"a": 1}
        assert these.done == {"b": [1], "c": [1]}


async def test_one_key_has_one_piece_of_work_at_a_time_in_order() -> None:
    async with work() as these:
        for item in (1, 2, 3):
            these.workers.submit("a", item)
        await these.settle()
        assert these.running == {"a": 1}
        these.let_go("a")
        await these.settle()
        assert these.done["a"] == [1, 2, 3]


async def test_what_waits_already_is_not_added_but_what_is_under_way_may_have_come_too_early() -> None:
    async with work() as these:
        these.workers.submit("a", 1)
        await these.settle()
        for item in (1, 1, 1):
            these.workers.submit("a", item)
        these.let_go("a")
        await these.settle()
        assert these.done["a"] == [1, 1]


async def test_not_more_keys_at_once_than_were_allowed() -> None:
    async with work(most=2) as these:
        for key in "abcd":
            these.workers.submit(key, 1)
        await these.settle()
        assert sorted(these.running) == ["a", "b"]
        these.let_go("a")
        await these.settle()
        assert sorted(these.running) == ["b", "c"]


async def test_a_key_is_forgotten_when_nothing_is_left_to_do() -> None:
    async with work() as these:
        these.let_go("a")
        these.workers.submit("a", 1)
        await these.settle()
        assert these.workers._waiting == {}
