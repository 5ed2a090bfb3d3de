"""What a task that works for ever owes to whoever ends it, and how it is ended."""

import asyncio
from typing import Any


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
