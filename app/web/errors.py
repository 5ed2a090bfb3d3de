"""How is a refusal said over HTTP? As a problem document (RFC 9457) that carries the reason's code."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
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
    Why.UNKNOWN_HOST: HTTPStatus.FORBIDDEN,
    Why.NO_SUCH_TABLE: HTTPStatus.NOT_FOUND,
    Why.NOT_FOUND: HTTPStatus.NOT_FOUND,
    Why.NOT_ALLOWED: HTTPStatus.METHOD_NOT_ALLOWED,
    Why.SEAT_TAKEN: HTTPStatus.CONFLICT,
    Why.TABLE_FULL: HTTPStatus.CONFLICT,
    Why.NOT_READY: HTTPStatus.CONFLICT,
    Why.GAME_RUNNING: HTTPStatus.CONFLICT,
    Why.NO_GAME: HTTPStatus.CONFLICT,
    Why.NO_HOUSE_PLAYER: HTTPStatus.CONFLICT,
    Why.NOBODY_THERE: HTTPStatus.CONFLICT,
    Why.TOO_MANY_GAMES: HTTPStatus.CONFLICT,
    Why.NEWER_RELEASE: HTTPStatus.SERVICE_UNAVAILABLE,
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

Responses = dict[int | str, dict[str, Any]]


class Problem(BaseModel):
    """Nothing has been done, and why (RFC 9457)."""

    type: str = Field("about:blank", description="Always `about:blank`: `why` says more")
    title: str = Field(description="The phrase of the status")
    status: int = Field(description="The status of the answer", ge=400, le=599)
    why: Why = Field(description="The reason; its words are `reason.<why>` in `GET /api/v1/i18n/{lang}`")
    field: str | None = Field(None, description="The part of the question that is at fault, where one is")

    @classmethod
    def of(cls, why: Why, field: str | None = None) -> "Problem":
        """The problem of a refusal."""
        status = _STATUS.get(why, HTTPStatus.UNPROCESSABLE_ENTITY)
        return cls(title=status.phrase, status=status.value, why=why, field=field)

    @property
    def body(self) -> dict[str, Any]:
        """As it is sent."""
        return self.model_dump(mode="json", exclude_none=True)


def refusals(*whys: Why, faults: Mapping[Why, str] = MappingProxyType({})) -> Responses:
    """What a route may refuse with, for its `responses`: a problem document for each status, with an example of each reason.

    `faults`: what the examples say is at fault. The examples stand in the description's components, by `example_name`.
    """
    by_status: dict[int, list[Problem]] = {}
    for one in sorted(set(whys)):
        problem = Problem.of(one, faults.get(one))
        by_status.setdefault(problem.status, []).append(problem)
    return {status: _refusal(by_status[status]) for status in sorted(by_status)}


def _refusal(problems: list[Problem]) -> dict[str, Any]:
    reasons = {"properties": {"status": {"const": problems[0].status}, "why": {"enum": [one.why.value for one in problems]}}}
    return {
        "description": problems[0].title,
        "content": {
            MEDIA_TYPE: {
                "schema": {"allOf": [{"$ref": "#/components/schemas/Problem"}, reasons]},
                "examples": {one.why.value: {"$ref": f"#/components/examples/{example_name(one)}"} for one in problems},
            }
        },
    }


def example_name(problem: Problem) -> str:
    """What an example is called in the description: the reason, and what is at fault."""
    return problem.why.value if problem.field is None else f"{problem.why.value}.{problem.field}"


def example_of(name: str) -> Problem | None:
    """The problem of this name back; None if it is the name of something else."""
    why, _, field = name.partition(".")
    return Problem.of(Why(why), field or None) if why in set(Why) else None


def with_headers(status: int, *names: str) -> Responses:
    """Headers of an answer of a route, for its `responses`."""
    return {status: {"headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names}}}


def refused_with(responses: Mapping[Any, Mapping[str, Any]]) -> Iterable[Why]:
    """The reasons that these `responses` name."""
    for response in responses.values():
        yield from map(Why, response.get("content", {}).get(MEDIA_TYPE, {}).get("examples", ()))


def problem(why: Why, field: str | None = None, headers: dict[str, str] | None = None) -> JSONResponse:
    """The problem document of a refusal."""
    # Half a surrogate pair is JSON, but no text.
    one = Problem.of(why, None if field is None else field.encode(errors="replace").decode())
    if why in _CHALLENGE:
        headers = {"WWW-Authenticate": _CHALLENGE[why]} | (headers or {})
    return JSONResponse(one.body, one.status, headers, MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Answer everything that goes wrong with a problem document, and log only what is a bug."""

    @app.exception_handler(Refused)
    async def refused(request: Request, error: Refused) -> JSONResponse:
        metrics.refusals.labels(error.why.value).inc()
        return problem(error.why, error.field)

    @app.exception_handler(NewerFormat)
    async def newer(request: Request, error: NewerFormat) -> JSONResponse:
        """A process of a newer release can answer; over this connection nobody would come to it."""
        return problem(Why.NEWER_RELEASE, headers={"Connection": "close"})

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return problem(Why.BAD_REQUEST)
        if isinstance(error.body, bytes) and error.body:  # it was not even tried to read this as JSON
            return problem(Why.WRONG_MEDIA_TYPE)
        return problem(Why.MISSING if first["type"] == "missing" else Why.WRONG_TYPE, _fault(first, error.body) or None)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        return problem(_BY_STATUS.get(error.status_code, Why.BAD_REQUEST), headers=dict(error.headers or {}) or None)

    @app.exception_handler(Exception)
    async def bug(request: Request, error: Exception) -> JSONResponse:
        _log.error("request failed", path=request.url.path, exc_info=error)
        return problem(Why.INTERNAL)


def _fault(error: Mapping[str, Any], body: Any) -> str:
    """Which part is at fault; of a body only what it has, or should have: pydantic also names the forms that it has tried."""
    where, *path = error["loc"]
    named = []
    for place, part in enumerate(path):
        is_there = part in body if isinstance(body, dict) else isinstance(body, list) and isinstance(part, int)
        if is_there:
            body = body[part]
        if is_there or where != "body" or (error["type"] == "missing" and place == len(path) - 1):
            named.append(str(part))
    return ".".join(named)
