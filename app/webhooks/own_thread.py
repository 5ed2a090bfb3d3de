"""Runs work in a thread with an event loop of its own, so that nothing it does holds up another loop."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any


async def run_in_own_thread(name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs `work` in a new thread until it ends, and raises what it raised. Cancelled, it cancels the work and waits for it."""
    ended: Future[None] = Future()
    ended.set_running_or_notify_cancel()
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = Future()

    async def begin() -> None:
        task = asyncio.ensure_future(work())
        started.set_result((asyncio.get_running_loop(), task))
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()

    def run() -> None:
        try:
            asyncio.run(begin())
        except BaseException as error:
            ended.set_exception(error)
        else:
            ended.set_result(None)

    # As a daemon it holds up no process that ends at once.
    threading.Thread(target=run, name=name, daemon=True).start()
    waiting = asyncio.wrap_future(ended)
    try:
        await asyncio.shield(waiting)
    except asyncio.CancelledError:
        loop, task = await asyncio.wrap_future(started)
        loop.call_soon_threadsafe(task.cancel)
        await waiting
        raise
