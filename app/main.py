"""Where the parts are joined: settings, stores, use cases, web."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fastapi import FastAPI
from redis.asyncio import Redis
from redis.exceptions import RedisError
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from app.settings import Settings
from app.store.archive import Archive
from app.store.dice import SystemDice, now_ms
from app.store.history import SqlHistory
from app.store.postgres import connect as connect_postgres
from app.store.redis import RedisBell, RedisCompany, RedisGuests, RedisLobby, RedisLog, connect
from app.tables.croupier import Croupier
from app.tables.play import Tables
from app.web import errors, health, history, identity, pages, referee, rules, socket, tables
from app.web.hub import Hub
from app.web.parts import Parts


@dataclass(frozen=True, slots=True)
class Joined:
    """The stores and the use cases on them."""

    redis: Redis
    engine: AsyncEngine
    bell: RedisBell
    tables: Tables
    lobby: RedisLobby
    croupier: Croupier
    archive: Archive


@asynccontextmanager
async def joined(redis_url: str, database_url: str) -> AsyncIterator[Joined]:
    """Connect to both stores and join what stands on them."""
    engine = connect_postgres(database_url)
    async with connect(redis_url) as redis:
        log, bell, lobby = RedisLog(redis), RedisBell(redis), RedisLobby(redis)
        await log.prepare()
        await bell.prepare()
        tables = Tables(log, lobby)
        yield Joined(redis, engine, bell, tables, lobby, Croupier(tables, log, SystemDice()), Archive(redis, engine))
        await bell.close()
    await engine.dispose()


def build(settings: Settings, redis_url: str, database_url: str) -> FastAPI:
    """The application on these two servers; it connects when its lifespan begins."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with joined(redis_url, database_url) as on:
            company = RedisCompany(on.redis)
            hub = Hub(on.tables, on.bell, company, now_ms)
            hub.on_leaving = on.croupier.leave
            app.state.parts = Parts(
                tables=on.tables,
                lobby=on.lobby,
                company=company,
                guests=RedisGuests(on.redis),
                history=SqlHistory(on.engine),
                hub=hub,
                dice=SystemDice(),
                clock=now_ms,
                origins=settings.origins,
                checks={"redis": lambda: _redis_answers(on.redis), "postgres": lambda: _postgres_answers(on.engine)},
            )
            house = (on.croupier.run(), on.archive.run()) if settings.work else ()
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one) for one in (hub.run(), *house)]
                yield
                for task in tasks:
                    task.cancel()

    app = FastAPI(title="coinche", summary="Tables, rules and games of coinche", lifespan=lifespan)
    errors.install(app)
    for part in (identity, rules, tables, history, referee, health, socket):
        app.include_router(part.router)
    pages.install(app, settings.origins)
    return app


def work(settings: Settings, redis_url: str, database_url: str) -> None:
    """Do the house's work until interrupted: duties of all tables, and the archive."""

    async def run() -> None:
        async with joined(redis_url, database_url) as on, asyncio.TaskGroup() as group:
            group.create_task(on.croupier.run(on.bell.work()))
            group.create_task(on.archive.run())

    asyncio.run(run())


async def _redis_answers(redis: Redis) -> bool:
    try:
        return bool(await redis.ping())
    except RedisError:
        return False


async def _postgres_answers(engine: AsyncEngine) -> bool:
    try:
        async with engine.connect() as connection:
            await connection.execute(text("select 1"))
    except (SQLAlchemyError, OSError):
        return False
    return True
