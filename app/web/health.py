"""Is the process alive, and can it serve? For operators and load balancers."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Literal, NotRequired

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel
from typing_extensions import TypedDict

from app import metrics
from app.game.refusal import Refused, Why
from app.web.errors import refusals
from app.web.identity import bearer_of
from app.web.parts import Parts, PartsDep

router = APIRouter(tags=["health"])

ESSENTIAL = ("redis",)
"""Without these nobody can play. With Postgres away games go on and only the history is late."""


class Live(BaseModel):
    """It lives."""

    status: Literal["live"]


class ServerTold(TypedDict):
    """The store of the tables and what it promises, null where it does not tell; `wait`: replicas that must have a move."""

    name: str | None
    version: str | None
    cluster: bool
    appendonly: str | None
    appendfsync: str | None
    maxmemory_policy: str | None
    wait: int


class Readiness(TypedDict):
    """Whether it serves, and which stores answer; what they are and promise only for the operator's monitoring."""

    status: Literal["ready", "not ready"]
    stores: dict[str, bool]
    redis: NotRequired[ServerTold]
    warnings: NotRequired[list[str]]


@router.get("/health/live")
async def is_live() -> Live:
    """The process answers."""
    return Live(status="live")


@router.get("/health/ready", responses={503: {"model": Readiness, "description": "Nobody can play, or it is about to go"}})
async def is_ready(request: Request, parts: PartsDep, response: Response) -> Readiness:
    """Which stores answer; 503 if nobody can play, or if the process is about to go. Who shows the operator's token for
    metrics is also told what the store of the tables is and promises.
    """
    answers = await asyncio.gather(*map(_is_answered, parts.checks.values()))
    stores = dict(zip(parts.checks, answers, strict=True))
    serves = all(stores[name] for name in ESSENTIAL) and not parts.hub.is_leaving
    response.status_code = 200 if serves else 503
    said: Readiness = {"status": "ready" if serves else "not ready", "stores": stores}
    if not _is_operator(request, parts):
        return said
    try:
        server = await parts.describe() if stores["redis"] else None
    except Refused:
        server = None
    if server is None:
        return said
    said["redis"] = {
        "name": server.name,
        "version": server.version,
        "cluster": server.cluster,
        "appendonly": server.appendonly,
        "appendfsync": server.appendfsync,
        "maxmemory_policy": server.maxmemory_policy,
        "wait": parts.wait,
    }
    if server.evicts:
        said["warnings"] = ["maxmemory-policy is not noeviction: games may be thrown out to make room"]
    return said


async def _is_answered(check: Callable[[], Awaitable[bool]]) -> bool:
    """Returns whether a store answers, and does so in time."""
    try:
        return await check()
    except Refused:
        return False


@router.get("/metrics", response_class=PlainTextResponse, responses=refusals(Why.NOT_SIGNED_IN, Why.BAD_TOKEN, Why.NOT_FOUND))
async def read_metrics(request: Request, parts: PartsDep) -> Response:
    """Counters and gauges for Prometheus, for who shows the operator's token for metrics; 404 where none is set."""
    if parts.metrics_token is None:
        raise Refused(Why.NOT_FOUND)
    if not _is_operator(request, parts):
        raise Refused(Why.NOT_SIGNED_IN if bearer_of(request) is None else Why.BAD_TOKEN)
    given = []
    try:
        server = asdict(await parts.describe()) | {"wait": parts.wait}
        waiting, aside, deliveries = await parts.waiting(), await parts.aside(), await parts.hooks.waiting()
    except Refused:
        pass  # what the processes counted themselves is still told
    else:
        words = {name: "" if value is None else str(value).lower() for name, value in server.items()}
        given = [
            metrics.info("coinche_redis_info", "What the store of the tables is, and what it promises", words),
            metrics.gauge("coinche_archive_waiting", "Finished games that Postgres does not have yet", "shard", waiting),
            metrics.gauge("coinche_archive_aside", "Finished games that could not be archived", "shard", aside),
            metrics.gauge("coinche_hook_queue", "Deliveries to hooks that wait, and that were given up", "state", deliveries),
        ]
    return Response(metrics.page(given), media_type="text/plain; version=0.0.4; charset=utf-8")


def _is_operator(request: Request, parts: Parts) -> bool:
    """Whether the operator's monitoring asks. Its address proves nothing: behind a proxy all have the same."""
    shown = bearer_of(request)
    if shown is None or parts.metrics_token is None:
        return False
    return secrets.compare_digest(shown.encode(), parts.metrics_token.encode())
