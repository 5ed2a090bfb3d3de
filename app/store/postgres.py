"""The connection to Postgres, and which of its failures mean that it is away rather than that a question was wrong."""

from contextlib import suppress

import asyncpg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

CONNECT_SECONDS = 5
COMMAND_SECONDS = 30
CLOSE_SECONDS = 0.5

_OF_THE_VALUES = ("22", "23")  # classes of SQLSTATE: data exception, integrity constraint violation
_AWAY = ("08", "57P", "53300")  # lost connections, shut down or not up yet, too many connections


class Connection(asyncpg.Connection):  # type: ignore[misc]
    """A connection whose close does not wait for the goodbye of a database that hangs: a process has to come to its end."""

    async def close(self, *, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Closes it; without its goodbye if that does not come in time."""
        with suppress(TimeoutError):  # it is aborted then
            await super().close(timeout=timeout or CLOSE_SECONDS)


def connect(url: str) -> AsyncEngine:
    """An engine for the database at this URL; it connects when it is asked. No value ever shows in an error of its."""
    return create_async_engine(
        url,
        hide_parameters=True,
        pool_pre_ping=True,
        pool_timeout=CONNECT_SECONDS,
        connect_args={"timeout": CONNECT_SECONDS, "command_timeout": COMMAND_SECONDS, "connection_class": Connection},
    )


def does_not_answer(error: BaseException) -> bool:
    """Whether the database could not be reached at all, whatever it would have been asked."""
    if not isinstance(error, DBAPIError):
        return isinstance(error, OSError | NoConnectionFree)
    state = getattr(error.orig, "sqlstate", None)
    return error.connection_invalidated if state is None else state.startswith(_AWAY)


def is_away(error: BaseException) -> bool:
    """Whether the database could not be reached or could not work, so that the same may succeed later."""
    if not isinstance(error, DBAPIError):
        return isinstance(error, OSError | NoConnectionFree)
    state = getattr(error.orig, "sqlstate", None)
    if state is None:  # the driver's own error: a value it could not send, or a connection that is gone
        return not isinstance(error.orig.__cause__ if error.orig else None, ValueError)
    return not state.startswith(_OF_THE_VALUES)
