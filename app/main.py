"""Where the parts are joined: settings, stores, use cases, web."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

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


def build(settings: Settings, redis_url: str, database_url: str) -> FastAPI:
    """The application on these two servers; it connects when its lifespan begins."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        engine = connect_postgres(database_url)
        async with connect(redis_url) as redis:
            log, bell, company, lobby = RedisLog(redis), RedisBell(redis), RedisCompany(redis), RedisLobby(redis)
            await log.prepare()
            await bell.prepare()
            live, dice = Tables(log, lobby), SystemDice()
            hub = Hub(live, bell, company, now_ms)
            app.state.parts = Parts(
                tables=live,
                lobby=lobby,
                company=company,
                guests=RedisGuests(redis),
                history=SqlHistory(engine),
                hub=hub,
                dice=dice,
                clock=now_ms,
                origins=settings.origins,
                checks={"redis": lambda: _redis_answers(redis), "postgres": lambda: _postgres_answers(engine)},
            )
            work = (hub, Croupier(live, log, dice), Archive(redis, engine))
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one.run()) for one in work]
                yield
                for task in tasks:
                    task.cancel()
            await bell.close()
        await engine.dispose()

    app = FastAPI(title="coinche", summary="Tables, rules and games of coinche", lifespan=lifespan)
    errors.install(app)
    for part in (identity, rules, tables, history, referee, health, socket):
        app.include_router(part.router)
    pages.install(app, settings.origins)
    return app


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
