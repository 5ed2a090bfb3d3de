"""The database's tables: the migrations make what the models say, and can be taken back."""

import asyncio

import asyncpg
from alembic import command
from sqlalchemy import make_url

from app.store.models import Base
from app.store.prepare import alembic_config


async def tables(database_url: str) -> set[str]:
    url = make_url(database_url)
    connection = await asyncpg.connect(host=str(url.query["host"]), user=url.username, database=url.database)
    try:
        rows = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return {row["tablename"] for row in rows} - {"alembic_version"}
    finally:
        await connection.close()


async def test_down_and_up_again_and_nothing_is_missing(database_url: str) -> None:
    config = alembic_config(database_url)
    every = set(Base.metadata.tables)
    assert await tables(database_url) == every
    await asyncio.to_thread(command.downgrade, config, "base")
    assert await tables(database_url) == set()
    await asyncio.to_thread(command.upgrade, config, "head")
    assert await tables(database_url) == every
    await asyncio.to_thread(command.check, config)


def test_every_constraint_and_index_has_a_name() -> None:
    for table in Base.metadata.tables.values():
        assert all(constraint.name for constraint in table.constraints)
        assert all(index.name for index in table.indexes)
