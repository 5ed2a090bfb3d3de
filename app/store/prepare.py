"""Do the two servers answer, and has the database the tables of this version? Asked once, before anything is served."""

import asyncio
from pathlib import Path

import structlog
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from redis.exceptions import RedisClusterException, RedisError
from sqlalchemy.exc import SQLAlchemyError

from app.store.server import connect

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"


PATIENCE = 30
"""Seconds a store may take to answer."""


SCHEMA = "coinche:schema"
"""Where it is noted in the store which tables the database was last seen with."""

_log = structlog.get_logger()


class Unreachable(Exception):
    """A server does not answer; the message is one line that says which setting to look at."""


class Away(Unreachable):
    """The database does not answer now."""


def prepare(redis_url: str, database_url: str) -> None:
    """Ask both servers and bring the database's tables up to date. Not to be called from within an event loop.

    Games need no Postgres: where it is away, but was seen with the tables of this version before, history alone waits for it.
    """
    ping(redis_url)
    newest = str(ScriptDirectory(str(MIGRATIONS)).get_current_head())
    try:
        upgrade(database_url)
    except Away:
        if _noted(redis_url) != newest:
            raise
        _log.warning("Postgres is away; games go on, history waits")
    else:
        _noted(redis_url, newest)


def ping(redis_url: str) -> None:
    """Raises Unreachable."""
    _noted(redis_url)


def _noted(redis_url: str, newest: str | None = None) -> str | None:
    """The tables with which the database was last seen, if it was; notes these where they are given. Raises Unreachable."""

    async def ask() -> str | None:
        async with asyncio.timeout(PATIENCE), connect(redis_url) as store:
            if newest is not None:
                await store.set(SCHEMA, newest)
            found = await store.get(SCHEMA)
            return None if found is None else str(found)

    try:
        return asyncio.run(ask())
    except (RedisError, RedisClusterException, OSError, ValueError) as error:
        raise Unreachable(f"The Valkey or Redis at REDIS_URL does not answer: {_line(error)}") from error


def upgrade(database_url: str) -> None:
    """Run the migrations this database has not had. Raises Unreachable, or Away."""
    try:
        command.upgrade(alembic_config(database_url), "head")
    except (OSError, SQLAlchemyError) as error:
        raise Away(f"The Postgres at DATABASE_URL does not answer: {_line(error)}") from error
    except CommandError as error:
        raise Unreachable(f"The database is newer than this coinche, or not one of its own: {_line(error)}") from error


def alembic_config(database_url: str) -> Config:
    """What Alembic needs to know; migrations/env.py reads the URL from it."""
    config = Config(attributes={"url": database_url})
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("file_template", "%%(year)d%%(month).2d%%(day).2d_%%(slug)s")
    return config


def _line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__
