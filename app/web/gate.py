"""May this be asked, by this one, now? Who asks is looked up once; then scopes, limits and foreign pages are seen to."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from typing import Literal

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import metrics
from app.game.refusal import Refused, Why
from app.tables import limits
from app.tables import tokens as scopes
from app.tables.limits import Wish
from app.tables.tokens import Asker
from app.web.bodies import Gone, read_body
from app.web.errors import problem
from app.web.identity import bearer_of, identify
from app.web.parts import Parts
from app.web.visit import Visit, visit_of

READ, PLAY, TABLES = scopes.Scope.READ, scopes.Scope.PLAY, scopes.Scope.TABLES

OWN: Literal["own"] = "own"
"""Only for who comes with the guest's own cookie, or with the operator's leave: a token makes no tokens."""

API = "/api/v1"

NEEDS: Mapping[str, scopes.Scope | Literal["own"] | None] = {
    "GET /api/v1/me": READ,
    "POST /api/v1/me": OWN,
    "GET /api/v1/me/tokens": OWN,
    "POST /api/v1/me/tokens": OWN,
    "DELETE /api/v1/me/tokens/{token}": OWN,
    "GET /api/v1/me/bots": OWN,
    "POST /api/v1/me/bots": OWN,
    "PATCH /api/v1/me/bots/{bot}": OWN,
    "DELETE /api/v1/me/bots/{bot}": OWN,
    "GET /api/v1/me/bots/{bot}/tokens": OWN,
    "POST /api/v1/me/bots/{bot}/tokens": OWN,
    "DELETE /api/v1/me/bots/{bot}/tokens/{token}": OWN,
    "GET /api/v1/me/tables": READ,
    "GET /api/v1/me/events": READ,
    "GET /api/v1/me/hooks": OWN,
    "POST /api/v1/me/hooks": OWN,
    "DELETE /api/v1/me/hooks/{hook}": OWN,
    "POST /api/v1/me/hooks/{hook}/test": OWN,
    "GET /api/v1/rules": None,
    "GET /api/v1/i18n/{lang}": None,
    "POST /api/v1/referee": None,
    "POST /api/v1/tables": TABLES,
    "GET /api/v1/tables": READ,
    "GET /api/v1/tables/{table}": READ,
    "POST /api/v1/tables/{table}/sit": PLAY,
    "POST /api/v1/tables/{table}/leave": PLAY,
    "POST /api/v1/tables/{table}/ready": PLAY,
    "POST /api/v1/tables/{table}/start": TABLES,
    "POST /api/v1/tables/{table}/house": TABLES,
    "DELETE /api/v1/tables/{table}/house/{seat}": TABLES,
    "DELETE /api/v1/tables/{table}/seats/{seat}": TABLES,
    "POST /api/v1/tables/{table}/stand-in": TABLES,
    "POST /api/v1/tables/{table}/close": TABLES,
    "POST /api/v1/tables/{table}/actions": PLAY,
    "GET /api/v1/tables/{table}/game": READ,
    "GET /api/v1/tables/{table}/events": READ,
    "GET /api/v1/players": READ,
    "GET /api/v1/players/{player}": READ,
    "GET /api/v1/players/{player}/games": READ,
    "GET /api/v1/players/{player}/statistics": READ,
    "GET /api/v1/games": READ,
    "GET /api/v1/games/export": READ,
    "GET /api/v1/games/{table}/{number}": READ,
    "WS /ws": READ,
    "GET /": None,
    "GET /favicon.ico": None,
    "GET /t/{table}": None,
    "GET /g/{table}/{number}": None,
    "GET /health/live": None,
    "GET /health/ready": None,
    "GET /metrics": None,
    "GET /openapi.json": None,
}
"""Which scope a token needs for each route; None: none. Acting at a table over the socket needs `play` besides."""

_PATTERNS = [(key.partition(" ")[0], compile_path(key.partition(" ")[2])[0], key) for key in NEEDS]

RECHECK_SECONDS = 15.0
"""How often a token is looked at again while an answer goes on: it may have expired, or was revoked unheard."""

_EXPOSED = "ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate"
_METHODS = "GET, POST, PATCH, DELETE"
_ASKED_HEADERS = ("accept", "authorization", "content-type", "idempotency-key", "if-none-match", "last-event-id")
_PREFLIGHT_SECONDS = 600
_LIST = re.compile(r"[\s,]+")


class Gate:
    """Stands before the routes of the API and the socket."""

    def __init__(self, app: ASGIApp, cors: tuple[str, ...]) -> None:
        self._app = app
        self._cors = cors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_socket = scope["type"] == "websocket"
        if not is_socket and (scope["type"] != "http" or not scope["path"].startswith("/api/")):
            await self._app(scope, receive, send)
            return
        asking = HTTPConnection(scope)
        if not is_socket and self._is_preflight(asking):
            await self._preflight(asking)(scope, receive, send)
            return
        parts: Parts = scope["app"].state.parts
        key = route_of("WS" if is_socket else scope["method"], scope["path"])
        visit = visit_of(asking)
        answer = _Answer(send, parts, asking, visit, key, self._page(asking))
        async with AsyncExitStack() as open_socket:
            try:
                if is_socket:
                    await _admit_socket(asking, parts, visit, key)
                    await open_socket.enter_async_context(parts.limits.hold(limits.SOCKETS_OF_ADDRESS, visit.address))
                else:
                    await _admit(asking, parts, visit, key)
                    receive = await read_body(asking, receive, parts.limits, visit, key)
            except Gone:
                return
            except Refused as refused:
                metrics.refusals.labels(refused.why.value).inc()
                await problem(refused.why, refused.field)(scope, receive, answer.send)
                return
            try:
                with parts.hub.heeding(visit):
                    await self._app(scope, receive, send if is_socket else answer.send)
            except (OSError, ClientDisconnect):
                if not answer.is_cut:
                    raise

    def _page(self, asking: HTTPConnection) -> Mapping[str, str] | None:
        """What lets a foreign page read the answer, if it asks with a token and not with a cookie; None where none ever may."""
        if not self._cors:
            return None
        origin = asking.headers.get("origin")
        if origin is None or not self._lets(origin) or bearer_of(asking) is None:
            return {}
        return self._leave(origin) | {"Access-Control-Expose-Headers": _EXPOSED}

    def _lets(self, origin: str) -> bool:
        return "*" in self._cors or origin in self._cors

    def _leave(self, origin: str) -> dict[str, str]:
        return {"Access-Control-Allow-Origin": "*" if "*" in self._cors else origin}

    def _is_preflight(self, asking: HTTPConnection) -> bool:
        """Whether a browser asks if such a page may ask, in a way that may be answered with yes."""
        headers = asking.headers
        wanted = {name for name in _LIST.split(headers.get("access-control-request-headers", "").lower()) if name}
        return (
            asking.scope["method"] == "OPTIONS"
            and "access-control-request-method" in headers
            and self._lets(headers.get("origin", "null"))
            and "authorization" in wanted
            and wanted <= set(_ASKED_HEADERS)
        )

    def _preflight(self, asking: HTTPConnection) -> Response:
        return Response(
            status_code=204,
            headers=self._leave(asking.headers.get("origin", "null"))
            | {
                "Access-Control-Allow-Methods": _METHODS,
                "Access-Control-Allow-Headers": ", ".join(_ASKED_HEADERS),
                "Access-Control-Max-Age": str(_PREFLIGHT_SECONDS),
                "Vary": "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
            },
        )


def route_of(method: str, path: str) -> str | None:
    """The row of `NEEDS` for a question, if there is one."""
    return next((key for verb, pattern, key in _PATTERNS if verb == method and pattern.match(path)), None)


def methods_of(path: str) -> list[str]:
    """How one may ask at this address."""
    return [verb for verb, pattern, _ in _PATTERNS if pattern.match(path)]


async def _admit(asking: HTTPConnection, parts: Parts, visit: Visit, key: str | None) -> None:
    """Raises `Refused` if this may not be asked now, or not by this one."""
    try:
        visit.asker = await identify(asking, parts)
    except Refused as no:
        if no.why is not Why.BUSY:
            await visit.take(parts.limits, limits.GENERAL)
        elif bearer_of(asking) is None:
            return  # a stranger's questions are answered without the store; who needs to be known is looked up again, and told
        raise
    await visit.meet(parts.limits, Wish(limits.GENERAL, visit.who), *_further(visit, visit.asker.person is not None, key))
    _check_scope(visit.asker, key)


def _further(visit: Visit, is_known: bool, key: str | None) -> Iterator[Wish]:
    """What a question wants besides to be one more."""
    if key == "POST /api/v1/tables" and is_known:
        yield Wish(limits.OPENING, visit.who)
    if key == "POST /api/v1/me" and not is_known:
        yield Wish(limits.GUESTS, visit.address)
    if _is_lookup(key):
        yield Wish(limits.LOOKUPS, visit.address, how="look")


async def _admit_socket(asking: HTTPConnection, parts: Parts, visit: Visit, key: str | None) -> None:
    """The same for a socket that is about to be opened; who comes with a cookie is looked up when it is open."""
    await visit.take(parts.limits, limits.HANDSHAKES, visit.address)
    if bearer_of(asking) is not None:
        visit.asker = await identify(asking, parts)
        _check_scope(visit.asker, key)


def _check_scope(asker: Asker, key: str | None) -> None:
    need = None if key is None else NEEDS[key]
    if asker.token is None or need is None:
        return
    wanted = scopes.Scope.ADMIN if need == OWN else need
    if wanted not in asker.scopes:
        raise Refused(Why.MISSING_SCOPE, wanted.value)


def _is_lookup(key: str | None) -> bool:
    """Whether a wrong guess at a table's id would be told by the answer."""
    return key is not None and "{table}" in key and API in key


class _Answer:
    """What is sent back: with the limits that were met and, for a foreign page, leave to read it."""

    def __init__(
        self, send: Send, parts: Parts, asking: HTTPConnection, visit: Visit, key: str | None, page: Mapping[str, str] | None
    ) -> None:
        self._send = send
        self._parts = parts
        self._asking = asking
        self._visit = visit
        self._key = key
        self._page = page
        self._looked = time.monotonic()
        self.is_cut = False

    async def send(self, message: Message) -> None:
        if message["type"].endswith("http.response.start"):
            if message["status"] == 404 and _is_lookup(self._key):
                await self._parts.limits.ask(Wish(limits.LOOKUPS, self._visit.address, how="charge"))
            self._tell(MutableHeaders(scope=message), message["status"])
        elif message.get("more_body") and await self._is_void():
            self.is_cut = True  # and not ended, or a list that is cut short would look whole
            raise OSError("the token is void")
        await self._send(message)

    def _tell(self, headers: MutableHeaders, status: int) -> None:
        verdicts = self._visit.verdicts
        if verdicts:
            policies = (f'"{one.policy.name}";q={one.policy.burst};w={one.policy.window}' for one in verdicts)
            headers["RateLimit-Policy"] = ", ".join(policies)
            headers["RateLimit"] = ", ".join(f'"{one.policy.name}";r={one.left};t={one.full}' for one in verdicts)
        if status == 405:
            headers["Allow"] = ", ".join(methods_of(self._asking.url.path))
        if status == 429:
            headers["Retry-After"] = str(max([1, *(one.wait for one in verdicts)]))
        if self._page is not None:
            headers.update(self._page)
            headers.add_vary_header("Origin")

    async def _is_void(self) -> bool:
        """Whether the token of this question has been revoked or has expired since."""
        asker = self._visit.asker
        if self._visit.void.is_set():
            return True
        if asker is None or asker.token is None or time.monotonic() - self._looked < RECHECK_SECONDS:
            return False
        self._looked = time.monotonic()
        return await is_void(self._asking, self._parts)


async def is_void(asking: HTTPConnection, parts: Parts) -> bool:
    """Whether the token that came along is good no more; while the store is away it stays what it was."""
    try:
        await identify(asking, parts)
    except Refused as no:
        return no.why is Why.BAD_TOKEN
    return False


def install(app: FastAPI, cors: tuple[str, ...]) -> None:
    """Put the gate before all routes."""
    app.add_middleware(Gate, cors=cors)
