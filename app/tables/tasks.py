"""What a task that works for ever owes to whoever ends it, and how it is ended."""

import asyncio
from collections.abc import Iterable
from typing import Any

AGAIN_SECONDS = 0.5
"""After so long a task that goes on is asked again to end."""


def heed() -> None:
    """Go on being cancelled. To be called in every round of an endless loop, in a task of its own.

    A client of a store may swallow a cancellation that meets it while it connects; the loop would then go on for ever.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def end(tasks: Iterable["asyncio.Task[Any]"]) -> None:
    """Cancel tasks and wait until they have ended; one that swallows it is cancelled again. What they raise is dropped."""
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        done, left = await asyncio.wait(left, timeout=AGAIN_SECONDS)
        for task in done:
            if not task.cancelled():
                task.exception()
