"""Runs the migrations over asyncpg, on the database that the caller's configuration names."""

import asyncio

from alembic import context
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from app.store.models import Base
from app.store.postgres import CONNECT_SECONDS

ONE_AT_A_TIME = 7_260_232  # an advisory lock of our own, for processes that start together


def migrate(connection: Connection) -> None:
    """Apply what is missing, in one transaction; `reached` in the attributes is told what the database had, and each step."""
    reached = context.config.attributes.get("reached", [])
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        compare_type=True,
        compare_server_default=True,
        on_version_apply=lambda step, **_: reached.append(step.up_revision_id),
    )
    with context.begin_transaction():
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": ONE_AT_A_TIME})
        reached.append(context.get_context().get_current_revision())
        context.run_migrations()


async def main() -> None:
    """Connect and migrate."""
    connecting = {"timeout": CONNECT_SECONDS}
    engine = create_async_engine(context.config.attributes["url"], poolclass=NullPool, connect_args=connecting)
    try:
        async with engine.connect() as connection:
            await connection.run_sync(migrate)
    finally:
        await engine.dispose()


asyncio.run(main())
