"""`python -m tests.faulty serve`: today's program, with a croupier that fails a moment after it has begun."""

import asyncio
from typing import Any

from app.__main__ import main
from app.tables.croupier import Croupier


async def fail(*_: Any) -> None:
    """Fail as a bug would."""
    await asyncio.sleep(1)
    raise ZeroDivisionError


Croupier.run = fail  # type: ignore[method-assign, assignment]
main()
