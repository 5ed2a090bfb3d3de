"""Do the two servers answer, and has the database the tables of this version? Asked once, before anything is served."""

import asyncio
from pathlib import Path

import structlog
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from redis.exceptions import RedisClusterException, RedisError
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from app.store.models import Game
from app.store.postgres import connect as connect_postgres
from app.store.postgres import does_not_answer
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


class MigrationFailed(Unreachable):
    """The database answers, and could not be brought up to date; nothing in it has been changed."""


def prepare(redis_url: str, database_url: str) -> None:
    """Ask both servers and bring the database's tables up to date. Not to be called from within an event loop.

    Games need no Postgres: where it is away, but was seen with the tables of this version before, history alone waits for it.
    """
    is_new = _noted(redis_url) is None
    newest = str(ScriptDirectory(str(MIGRATIONS)).get_current_head())
    try:
        upgrade(database_url)
    except Away:
        if _noted(redis_url) != newest:
            raise
        _log.warning("Postgres is away; games go on, history waits")
        return
    _noted(redis_url, newest)
    if is_new and (games := _count_games(database_url)):
        _log.warning(
            "the Valkey or Redis is empty, though Postgres has finished games: no table, guest, token or hook of before is "
            "there. If it is not a new one, stop, and put its files back from a copy",
            finished_games=games,
        )


def _count_games(database_url: str) -> int:
    async def ask() -> int:
        engine = connect_postgres(database_url)
        try:
            async with engine.connect() as connection:
                return int(await connection.scalar(select(func.count()).select_from(Game)) or 0)
        finally:
            await engine.dispose()

    return asyncio.run(ask())


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
    """Run the migrations this database has not had. Raises Unreachable, Away where it may answer later, or MigrationFailed."""
    config = alembic_config(database_url)
    reached: list[str | None] = []
    config.attributes["reached"] = reached
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise Unreachable(f"The database is newer than this coinche, or not one of its own: {_line(error)}") from error
    except Exception as error:
        if does_not_answer(error):
            raise Away(f"The Postgres at DATABASE_URL does not answer: {_line(error)}") from error
        if reached:
            failed = f"{_next_step(reached[-1])} fails, and the database is as it was"
            raise MigrationFailed(f"The database could not be brought up to date: {failed}: {_line(error)}") from error
        if isinstance(error, SQLAlchemyError):
            raise Unreachable(f"The Postgres at DATABASE_URL does not let coinche in: {_line(error)}") from error
        raise


def _next_step(reached: str | None) -> str:
    """The migration that follows this one."""
    for script in ScriptDirectory(str(MIGRATIONS)).walk_revisions():
        if script.down_revision == reached:
            return f"migration {Path(script.path).stem}"
    return "a migration"


def alembic_config(database_url: str) -> Config:
    """What Alembic needs to know; migrations/env.py reads the URL from it."""
    config = Config(attributes={"url": database_url})
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("file_template", "%%(year)d%%(month).2d%%(day).2d_%%(slug)s")
    return config


def _line(error: BaseException) -> str:
    """Its first line, and where the driver has wrapped what the database said, that."""
    if isinstance(error, DBAPIError) and error.orig is not None:
        error = error.orig.__cause__ or error.orig
    return next(iter(str(error).splitlines()), "") or type(error).__name__
