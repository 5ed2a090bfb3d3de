"""What stands in the store and nobody can read is passed over, so that it stops nothing else."""

from collections.abc import Callable
from typing import TypeVar

import structlog

from app.tables.ports import NewerFormat

Read = TypeVar("Read")

UNREADABLE = (ValueError, KeyError, TypeError, AttributeError)
"""What is raised by reading something that was never written so."""

_log = structlog.get_logger()


def read_or_pass(read: Callable[[str], Read], stored: str, where: str) -> Read | None:
    """What is read of it, or None where it was never written so, or only a newer release can read it."""
    try:
        return read(stored)
    except NewerFormat as error:
        _log.warning("something of a newer release in the store was passed over", where=where, newer=str(error))
        return None
    except UNREADABLE as error:
        _log.error("something in the store cannot be read and was passed over", where=where, error=type(error).__name__)
        return None
