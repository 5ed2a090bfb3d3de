"""How is a refusal said over HTTP? As a problem document (RFC 9457) that carries the reason's code."""

from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from app import metrics
from app.game.refusal import Refused, Why
from app.tables.ports import NewerFormat

_log = structlog.get_logger()

_STATUS = {
    Why.NOT_SIGNED_IN: HTTPStatus.UNAUTHORIZED,
    Why.BAD_TOKEN: HTTPStatus.UNAUTHORIZED,
    Why.MISSING_SCOPE: HTTPStatus.FORBIDDEN,
    Why.TOO_MANY: HTTPStatus.CONFLICT,
    Why.HOOK_OFF: HTTPStatus.CONFLICT,
    Why.NOT_HOST: HTTPStatus.FORBIDDEN,
    Why.NOT_SEATED: HTTPStatus.FORBIDDEN,
    Why.BAD_ORIGIN: HTTPStatus.FORBIDDEN,
    Why.NO_SUCH_TABLE: HTTPStatus.NOT_FOUND,
    Why.NOT_FOUND: HTTPStatus.NOT_FOUND,
    Why.NOT_ALLOWED: HTTPStatus.METHOD_NOT_ALLOWED,
    Why.SEAT_TAKEN: HTTPStatus.CONFLICT,
    Why.TABLE_FULL: HTTPStatus.CONFLICT,
    Why.NOT_READY: HTTPStatus.CONFLICT,
    Why.GAME_RUNNING: HTTPStatus.CONFLICT,
    Why.NO_GAME: HTTPStatus.CONFLICT,
    Why.NO_HOUSE_PLAYER: HTTPStatus.CONFLICT,
    Why.STILL_HERE: HTTPStatus.CONFLICT,
    Why.CLOCK_RUNNING: HTTPStatus.CONFLICT,
    Why.STALE_TURN: HTTPStatus.CONFLICT,
    Why.TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Why.WRONG_MEDIA_TYPE: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    Why.TOO_FAST: HTTPStatus.TOO_MANY_REQUESTS,
    Why.BUSY: HTTPStatus.SERVICE_UNAVAILABLE,
    Why.INTERNAL: HTTPStatus.INTERNAL_SERVER_ERROR,
    Why.BAD_REQUEST: HTTPStatus.BAD_REQUEST,
}
"""Where no status stands here, the request was understood and does not fit: 422."""

_BY_STATUS = {404: Why.NOT_FOUND, 405: Why.NOT_ALLOWED, 413: Why.TOO_LARGE, 415: Why.WRONG_MEDIA_TYPE}

_CHALLENGE = {
    Why.NOT_SIGNED_IN: "Bearer",
    Why.BAD_TOKEN: 'Bearer error="invalid_token"',
    Why.MISSING_SCOPE: 'Bearer error="insufficient_scope"',
}
"""How one may show who one is, where that is what is missing (RFC 6750)."""

MEDIA_TYPE = "application/problem+json"


def problem(why: Why, field: str | None = None, headers: dict[str, str] | None = None) -> JSONResponse:
    """The problem document of a refusal."""
    status = _STATUS.get(why, HTTPStatus.UNPROCESSABLE_ENTITY)
    body: dict[str, Any] = {"type": "about:blank", "title": status.phrase, "status": status.value, "why": why.value}
    if field is not None:
        body["field"] = field.encode(errors="replace").decode()  # half a surrogate pair is JSON, but no text
    if why in _CHALLENGE:
        headers = {"WWW-Authenticate": _CHALLENGE[why]} | (headers or {})
    return JSONResponse(body, status.value, headers, MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Answer everything that goes wrong with a problem document, and log only what is a bug."""

    @app.exception_handler(Refused)
    async def refused(request: Request, error: Refused) -> JSONResponse:
        metrics.refusals.labels(error.why.value).inc()
        return problem(error.why, error.field)

    @app.exception_handler(NewerFormat)
    async def newer(request: Request, error: NewerFormat) -> JSONResponse:
        """A process of a newer release can answer; over this connection nobody would come to it."""
        return problem(Why.BUSY, headers={"Connection": "close"})

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return problem(Why.BAD_REQUEST)
        field = ".".join(str(part) for part in first["loc"][1:])
        return problem(Why.MISSING if first["type"] == "missing" else Why.WRONG_TYPE, field or None)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        return problem(_BY_STATUS.get(error.status_code, Why.BAD_REQUEST), headers=dict(error.headers or {}) or None)

    @app.exception_handler(Exception)
    async def bug(request: Request, error: Exception) -> JSONResponse:
        _log.error("request failed", path=request.url.path, exc_info=error)
        return problem(Why.INTERNAL)
