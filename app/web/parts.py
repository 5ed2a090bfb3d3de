"""What the routes are joined with: one value, put together in `app.main` and handed to each request."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from app.tables.history import History
from app.tables.hooks import Hooks, UrlChecker
from app.tables.limits import Limits
from app.tables.play import Tables
from app.tables.ports import Clock, Company, Dice, Guests, Lobby, Server
from app.tables.tokens import Bots, Tokens
from app.web.address import PublicAddress
from app.web.hub import Hub


@dataclass(frozen=True, slots=True)
class Parts:
    """The use cases and ports that the web needs."""

    tables: Tables
    lobby: Lobby
    company: Company
    guests: Guests
    tokens: Tokens
    bots: Bots
    limits: Limits
    hooks: Hooks
    url_policy: UrlChecker
    history: History
    hub: Hub
    dice: Dice
    clock: Clock
    address: PublicAddress
    checks: dict[str, Callable[[], Awaitable[bool]]]
    """By name, whether a store answers."""
    describe: Callable[[], Awaitable[Server]]
    waiting: Callable[[], Awaitable[dict[str, int]]]
    aside: Callable[[], Awaitable[dict[str, int]]]
    """How many finished games wait for the archive, by shard."""
    wait: int
    """How many replicas must have an entry before it is acknowledged."""
    metrics_token: str | None
    """Who shows this is the operator's monitoring; None: nobody is."""


def _parts(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


PartsDep = Annotated[Parts, Depends(_parts)]
