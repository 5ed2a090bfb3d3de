"""Where the parts are joined: settings, stores, use cases, web."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.settings import Settings
from app.store.dice import SystemDice, now_ms
from app.store.redis import RedisBell, RedisCompany, RedisGuests, RedisLobby, RedisLog, connect
from app.tables.croupier import Croupier
from app.tables.play import Tables
from app.web import errors, health, identity, pages, referee, rules, socket, tables
from app.web.hub import Hub
from app.web.parts import Parts


def build(settings: Settings, redis_url: str, database_url: str) -> FastAPI:
    """The application on these two servers; it connects when its lifespan begins."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
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
                hub=hub,
                dice=dice,
                clock=now_ms,
                origins=settings.origins,
                checks={"redis": lambda: _answers(redis)},
            )
            async with asyncio.TaskGroup() as group:
                work = [group.create_task(one.run()) for one in (hub, Croupier(live, log, dice))]
                yield
                for task in work:
                    task.cancel()
            await bell.close()

    app = FastAPI(title="coinche", summary="Tables, rules and games of coinche", lifespan=lifespan)
    errors.install(app)
    for part in (identity, rules, tables, referee, health, socket):
        app.include_router(part.router)
    pages.install(app, settings.origins)
    return app


async def _answers(redis: Redis) -> bool:
    try:
        return bool(await redis.ping())
    except RedisError:
        return False
