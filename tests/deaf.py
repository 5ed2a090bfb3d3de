"""`python -m tests.deaf serve`: today's program, told to end at a moment at which Python drops what a signal raises."""

import os
import signal
from contextlib import suppress
from typing import Any

from app import main
from app.__main__ import main as coinche

_build = main.build


def build(*args: Any) -> Any:
    with suppress(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGTERM)
    return _build(*args)


main.build = build  # type: ignore[assignment]
coinche()
