"""What a task that works for ever owes to whoever ends it, how it is ended, and how many pieces of work go on side by side."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Done = TypeVar("Done")


def heed() -> None:
    """Go on being cancelled. To be called in every round of an endless loop, in a task of its own, or before a long wait.

    A client of a store may swallow a cancellation that meets it while it connects; the loop would then go on for ever.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def end(*tasks: "asyncio.Task[Any]") -> None:
    """Cancel tasks, once, and wait until they have tidied up; what they raise is dropped."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class KeyedWorkers(Generic[Item]):
    """Works on items side by side, but for each key on one at a time and in order, so that no key waits for another."""

    def __init__(self, work: Callable[[str, Item], Awaitable[None]], most: int) -> None:
        """`work` is given a key and an item, and raises nothing. `most`: of so many keys at once."""
        self._work = work
        self._most = most
        self._waiting: dict[str, deque[Item]] = {}
        """What is still to be done, by key; a key that is being worked on stands here too."""
        self._ready: asyncio.Queue[str] = asyncio.Queue()

    def submit(self, key: str, item: Item) -> None:
        """Have an item worked on. One that equals the last that waits for this key adds nothing."""
        waiting = self._waiting.get(key)
        if waiting is None:
            self._waiting[key] = deque([item])
            self._ready.put_nowait(key)
        elif not waiting or waiting[-1] != item:
            waiting.append(item)

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._most):
                group.create_task(self._run())

    async def _run(self) -> None:
        while True:
            heed()
            key = await self._ready.get()
            waiting = self._waiting[key]
            await self._work(key, waiting.popleft())
            if waiting:
                self._ready.put_nowait(key)
            else:
                del self._waiting[key]


class Thread:
    """A thread for long work of one kind. All of it together never takes more of the process than this one thread."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, name)

    async def do(self, work: Callable[..., Done], *given: Any) -> Done:
        """Does the work when all that came before is done, and returns what comes of it."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *given)
