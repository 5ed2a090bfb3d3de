"""What a task that works for ever owes to whoever ends it."""

import asyncio


def heed() -> None:
    """Go on being cancelled. To be called in every round of an endless loop, in a task of its own.

    A client of a store may swallow a cancellation that meets it while it connects; the loop would then go on for ever.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
