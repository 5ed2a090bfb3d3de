"""Where the parts are joined: settings, stores, use cases, web."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

import structlog
from fastapi import FastAPI
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from app import heap, metrics
from app.game.refusal import Refused
from app.settings import Settings
from app.store.archive import Archive
from app.store.bell import RedisBell
from app.store.clock import StoreClock, monotonic_ms
from app.store.company import RedisCompany
from app.store.dice import SystemDice
from app.store.guests import RedisGuests
from app.store.history import SqlHistory
from app.store.hooks import RedisDeliveryQueue, RedisHooks
from app.store.limits import NoLimits, RedisLimits
from app.store.lobby import RedisLobby
from app.store.log import RedisLog
from app.store.outbox import count_aside, waiting
from app.store.postgres import connect as connect_postgres
from app.store.server import Store, connect, describe, reply
from app.store.tokens import RedisBots, RedisTokens
from app.tables.croupier import Croupier
from app.tables.lobby import Board
from app.tables.play import Tables
from app.tables.ports import Lobby
from app.web import (
    compression,
    description,
    errors,
    gate,
    health,
    history,
    hooks,
    identity,
    own,
    pages,
    play,
    referee,
    rules,
    socket,
    tables,
    tokens,
)
from app.web.address import PublicAddress
from app.web.head import Head
from app.web.hub import Hub
from app.web.parts import Parts
from app.web.probe import Probe
from app.webhooks.dispatcher import Dispatcher
from app.webhooks.own_thread import run_in_own_thread
from app.webhooks.sender import Sender
from app.webhooks.url_policy import UrlPolicy

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Joined:
    """The stores and the use cases on them."""

    redis: Store
    clock: StoreClock
    engine: AsyncEngine
    bell: RedisBell
    tables: Tables
    lobby: Lobby
    croupier: Croupier
    archive: Archive
    url_policy: UrlPolicy


@asynccontextmanager
async def joined(settings: Settings, redis_url: str, database_url: str) -> AsyncIterator[Joined]:
    """Connect to both stores and join what stands on them."""
    engine = connect_postgres(database_url)
    async with connect(redis_url) as redis:
        clock = StoreClock()
        log = RedisLog(redis, settings.redis_wait, settings.table_days, clock)
        bell, board = RedisBell(redis), Board(RedisLobby(redis, clock), monotonic_ms)
        await log.prepare()
        await bell.prepare()
        tables = Tables(log, board)
        archive = Archive(redis, engine, days=settings.table_days)
        url_policy = UrlPolicy(settings.hooks_inside)
        croupier = Croupier(tables, log, SystemDice())
        yield Joined(redis, clock, engine, bell, tables, board, croupier, archive, url_policy)
        await bell.close()
    await engine.dispose()


def build(settings: Settings, redis_url: str, database_url: str) -> FastAPI:
    """The application on these two servers; it connects when its lifespan begins."""
    address = PublicAddress(settings.url, settings.origins, [settings.host])

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with joined(settings, redis_url, database_url) as on:
            company = RedisCompany(on.redis, settings.table_days, on.clock)
            hub = Hub(on.tables, on.bell, company, on.clock, on.lobby)
            hub.on_leaving = on.croupier.leave
            limits = RedisLimits(on.redis) if settings.limits else NoLimits()
            app.state.parts = Parts(
                tables=on.tables,
                lobby=on.lobby,
                company=company,
                guests=RedisGuests(on.redis),
                tokens=RedisTokens(on.redis),
                bots=RedisBots(on.redis),
                limits=limits,
                hooks=RedisHooks(on.redis),
                url_policy=on.url_policy,
                history=SqlHistory(on.engine),
                hub=hub,
                dice=SystemDice(),
                clock=on.clock,
                address=address,
                checks={
                    "redis": Probe(lambda: _redis_answers(on.redis)),
                    "postgres": Probe(lambda: _postgres_answers(on.engine)),
                },
                describe=Probe(lambda: describe(on.redis)),
                waiting=Probe(lambda: waiting(on.redis)),
                aside=Probe(lambda: count_aside(on.redis)),
                wait=settings.redis_wait,
                metrics_token=settings.metrics_token,
            )
            metrics.say_what_runs()
            house = (on.croupier.run(), on.archive.run(), send_webhooks(settings, redis_url)) if settings.work else ()
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(_or_leave(one, app)) for one in (hub.run(), limits.run(), *house)]
                yield
                for task in tasks:
                    task.cancel()

    app = FastAPI(
        title=description.TITLE,
        summary=description.SUMMARY,
        description=description.DESCRIPTION,
        version=description.release(),
        openapi_tags=description.TAGS,
        license_info=description.LICENSE,
        servers=description.servers(address.path),
        openapi_url=None,  # `description` answers that
        docs_url=None,  # these pages live on scripts of others, which ours forbid
        redoc_url=None,
        generate_unique_id_function=description.operation_id,
        lifespan=lifespan,
    )
    app.state.has_failed = False
    errors.install(app)
    for part in (identity, tokens, hooks, own, rules, tables, play, history, referee, health, socket):
        app.include_router(part.router)
    compression.install(app)
    gate.install(app, settings.cors)
    pages.install(app, address)
    description.install(app)
    app.add_middleware(Head)
    return app


async def send_webhooks(settings: Settings, redis_url: str) -> None:
    """Sends webhooks until cancelled, in a thread of its own: whatever a receiver does, no table waits for it."""

    async def dispatch() -> None:
        async with aclosing(connect(redis_url)) as redis:
            sender = Sender(UrlPolicy(settings.hooks_inside))
            await Dispatcher(RedisDeliveryQueue(redis), sender, settings.url or "").run()

    await run_in_own_thread("webhooks", dispatch)


async def _or_leave(running: Awaitable[None], app: FastAPI) -> None:
    """What a process cannot do without: where it fails, guests are seen off and the process ends, for another to be started."""
    try:
        await running
    except Exception:
        _log.exception("a part of this process has failed")
        app.state.has_failed = True
        signal.raise_signal(signal.SIGTERM)


def work(settings: Settings, redis_url: str, database_url: str, announce: Callable[[], None]) -> None:
    """Do the house's work until Ctrl-C or SIGTERM: all tables' duties, the archive, webhooks. A second signal ends it at once.

    `announce` is called when it works, and can be told to stop.
    """

    async def run() -> None:
        loop, told = asyncio.get_running_loop(), asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, told.set)
        async with joined(settings, redis_url, database_url) as on, asyncio.TaskGroup() as group:
            heap.freeze()
            announce()
            house = (on.croupier.run(on.bell.work()), on.archive.run(), send_webhooks(settings, redis_url))
            tasks = [group.create_task(one) for one in house]
            await told.wait()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
            # What is cut short here comes back, to another worker or to the next one.
            for task in tasks:
                task.cancel()

    asyncio.run(run())


async def _redis_answers(redis: Store) -> bool:
    try:
        return bool(await reply(redis.ping()))
    except Refused:
        return False


async def _postgres_answers(engine: AsyncEngine) -> bool:
    try:
        async with engine.connect() as connection:
            await connection.execute(text("select 1"))
    except (SQLAlchemyError, OSError):
        return False
    return True
