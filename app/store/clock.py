"""What time is it at the store? Its clock decides when somebody's time is up, so it is the one that all processes tell."""

import time
from collections.abc import Callable


def monotonic_ms() -> float:
    """Milliseconds on a clock that nobody sets."""
    return time.monotonic() * 1000


class StoreClock:
    """The store's time in ms since 1970, carried on between its answers by a monotonic clock (port `Clock`).

    The wall clock of this machine is believed only until the store has answered for the first time.
    """

    def __init__(self, monotonic: Callable[[], float] = monotonic_ms) -> None:
        self.monotonic = monotonic
        self._offset = time.time() * 1000 - monotonic()

    def __call__(self) -> int:
        return int(self.monotonic() + self._offset)

    def observe(self, store_ms: int, sent: float) -> None:
        """Take the store's time from an answer to what was sent at that monotonic time.

        The store answered between the two moments; a time that fits is left alone, so that no delay makes the clock jump.
        """
        earliest, latest = store_ms - self.monotonic(), store_ms + 1 - sent
        self._offset = min(max(self._offset, earliest), latest)
