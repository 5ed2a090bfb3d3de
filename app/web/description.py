"""What can be asked, told as OpenAPI 3.1: what the routes say of themselves, and what stands before all of them."""

import json
from collections.abc import Iterator
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.routing import APIRoute

from app.game.refusal import Why
from app.tables.tokens import Scope
from app.web import examples, schemas
from app.web.address import COOKIE
from app.web.errors import example_of, refusals, refused_with
from app.web.etag import tagged
from app.web.gate import API, NEEDS, OWN
from app.web.schemas import WORDS
from app.web.webhooks import webhooks

Json = dict[str, Any]

TITLE = "coinche"
SUMMARY = "Tables, rules and games of coinche"
DESCRIPTION = (
    "The French card game coinche for four, for programs: open tables, play at them, read what was played. "
    "`docs/api.md` is the guide, `docs/protocol.md` describes the socket, `docs/webhooks.md` what your servers are told."
)
TAGS = [
    {"name": "me", "description": "Who asks: guests, their tokens, bots and hooks."},
    {"name": "rules", "description": "Rules as data, and words for every code."},
    {"name": "tables", "description": "Tables and who sits at them."},
    {"name": "play", "description": "Playing without a socket."},
    {"name": "history", "description": "Players and finished games."},
    {"name": "referee", "description": "Questions about single deals."},
    {"name": "health", "description": "For operators."},
    {
        "name": "webhooks",
        "description": "What servers of yours are sent: a signed `POST` for each event, until it has arrived.",
    },
]

LICENSE = {"name": "MIT", "identifier": "MIT"}


def servers(base: str) -> list[dict[str, Any]]:
    """Where the routes are, below the base path."""
    return [{"url": base or "/", "description": "The coinche that this description comes from"}]


_METHODS = ("get", "post", "put", "patch", "delete")
_TEXT = {"type": "string"}


def _header(description: str, example: str | int, **schema: Any) -> Json:
    return {"description": description, "schema": schema or _TEXT, "example": example}


_HEADERS: Json = {
    "ETag": _header("Which answer this is, for `If-None-Match`", '"0f1e2d3c4b5a69788796a5b4"'),
    "Link": _header('The next page, `rel="next"`, where there is one', '</api/v1/games?cursor=kq0Vb3c1b2w4>; rel="next"'),
    "Location": _header("Where the new one is", "/api/v1/tables/3f-k2m7q9x4wz"),
    "RateLimit": _header("What is left of each limit, and seconds until all of it is there again", '"general";r=59;t=1'),
    "RateLimit-Policy": _header("The limits that were met: how much at once, and seconds for that", '"general";q=60;w=3'),
    "Retry-After": _header("Seconds after which to ask again", 1, type="integer", minimum=1),
    "Set-Cookie": _header(
        "The guest's cookie, to be sent with what is asked from now on", f"{COOKIE}=…; HttpOnly; SameSite=lax"
    ),
    "WWW-Authenticate": _header("How to show who one is, where that is missing (RFC 6750)", 'Bearer error="invalid_token"'),
}

_SECURITY: Json = {
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": COOKIE,
        "description": "A guest's, set by `POST /api/v1/me`: good for what the page does. The port and the path of the server, "
        "where it has such, are added to the name, as in `coinche_guest_8000`; without them it is known as well",
    },
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "A program's, made by `POST /api/v1/me/tokens`. Scopes: " + ", ".join(f"`{one.value}`" for one in Scope),
    },
}

_IF_NONE_MATCH = {"name": "If-None-Match", "in": "header", "required": False, "schema": _TEXT}
_IF_NONE_MATCH |= {"description": "The `ETag` of the answer that one has", "example": _HEADERS["ETag"]["example"]}


def install(app: FastAPI) -> None:
    """Describe the routes of the application once all of them are there."""
    plain = app.openapi

    @cache
    def openapi() -> Json:
        return _complete(plain())

    @cache
    def body() -> bytes:
        return json.dumps(openapi(), ensure_ascii=False, separators=(",", ":")).encode()

    @app.get("/openapi.json", include_in_schema=False)
    def tell(request: Request) -> Response:
        """In a thread: the first time it takes so long that the tables would notice."""
        return tagged(request, body())

    app.openapi = openapi  # type: ignore[method-assign]


def operation_id(route: APIRoute) -> str:
    """The name of the function, which is no other route's."""
    return route.name


def release() -> str:
    """The version of what runs."""
    return version("coinche")


def operations(description: Json) -> Iterator[tuple[str, str, Json]]:
    """Each operation with its method, in capitals, and its path."""
    for path, methods in description["paths"].items():
        for method in _METHODS:
            if method in methods:
                yield method.upper(), path, methods[method]


def _complete(description: Json) -> Json:
    whole = schemas.complete(description)
    for method, path, operation in operations(whole):
        _describe(f"{method} {path}", operation, whole["components"]["schemas"])
    whole["webhooks"] = webhooks()
    for operation in (*(one for *_, one in operations(whole)), *(one["post"] for one in whole["webhooks"].values())):
        examples.place(operation)
    whole["components"] |= {"headers": _HEADERS, "securitySchemes": _SECURITY}
    whole["components"]["examples"] = {name: _example(name) for name in schemas.referred(whole, "examples")}
    schemas.prune(whole)
    return whole


def _example(name: str) -> Json:
    problem = example_of(name)
    if problem is None:
        return {"value": examples.example(name)}
    return {"summary": WORDS[f"reason.{problem.why}"], "value": problem.body}


def _describe(key: str, operation: Json, known: Json) -> None:
    method, _, path = key.partition(" ")
    needs_person = "security" in operation
    responses = operation["responses"]
    reasons = set(refused_with(responses)) | {Why.INTERNAL} | _of_the_input(operation)
    if "HTTPValidationError" in str(responses.get("422")):
        del responses["422"]
    faults = _faults(operation, known)
    if path.startswith(API):
        reasons |= _of_the_gate(method, path, NEEDS[key] is not None, needs_person)
        operation["security"] = _security(key, needs_person)
        faults[Why.MISSING_SCOPE] = str(_scope(key))
    for status, told in refusals(*reasons, faults=faults).items():
        responses[str(status)] = told
    for status, response in responses.items():
        if status < "400":
            response["description"] = _said(response, known) or HTTPStatus(int(status)).phrase
        if path.startswith(API):
            response["headers"] = _headers(status) | response.get("headers", {})
    if "304" in responses:
        operation.setdefault("parameters", []).append(_IF_NONE_MATCH)
    operation["responses"] = {status: responses[status] for status in sorted(responses)}


def _said(response: Json, known: Json) -> str | None:
    """What an answer is, where the schema of its body says it."""
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    told = known.get(schema.get("$ref", "").rpartition("/")[2], {})
    return None if "description" not in told else str(told["description"])


def _of_the_input(operation: Json) -> set[Why]:
    """Reasons that lie in what was sent, whatever is asked."""
    reasons = set()
    if "422" in operation["responses"]:  # else nothing is read of it, or the route reads it by itself
        reasons.add(Why.WRONG_TYPE)
    if any(one["in"] == "path" for one in operation.get("parameters", ())):
        reasons.add(Why.NOT_FOUND)  # a word that makes another address of it
    if "requestBody" in operation:
        reasons |= {Why.BAD_REQUEST, Why.TOO_LARGE, Why.WRONG_MEDIA_TYPE}
    if Why.WRONG_TYPE in reasons and operation.get("requestBody", {}).get("required"):
        reasons.add(Why.MISSING)
    return reasons


def _faults(operation: Json, known: Json) -> dict[Why, str]:
    """What the examples of refusals say is at fault."""
    asked = [known[name] for name in schemas.referred(operation.get("requestBody", {}), "schemas")]
    fields = [name for schema in asked for name in schema.get("properties", ())]
    fields += [one["name"] for one in operation.get("parameters", ())]
    needed = [name for schema in asked for name in schema.get("required", ())]
    faults = {Why.BAD_NAME: "name", Why.BAD_URL: "url", Why.BAD_CURSOR: "cursor", Why.UNKNOWN_PRESET: "preset"}
    faults |= {Why.WRONG_TYPE: fields[0]} if fields else {}
    return faults | ({Why.MISSING: needed[0]} if needed else {Why.MISSING: "player"} if "player" in fields else {})


def _of_the_gate(method: str, path: str, needs_scope: bool, needs_person: bool) -> set[Why]:
    """Reasons that lie in who asks, from where and how often."""
    reasons = {Why.UNKNOWN_HOST, Why.BAD_TOKEN, Why.TOO_FAST, Why.BUSY}
    if needs_scope:
        reasons.add(Why.MISSING_SCOPE)
    if needs_person:
        reasons.add(Why.NOT_SIGNED_IN)
    if method != "GET":
        reasons.add(Why.BAD_ORIGIN)
    if path.startswith(f"{API}/tables/{{table}}"):
        reasons.add(Why.NO_SUCH_TABLE)
    if "{table}" in path or "/games" in path:
        reasons.add(Why.NEWER_RELEASE)
    return reasons


def _scope(key: str) -> Scope | None:
    """What a token must be good for."""
    need = NEEDS[key]
    return Scope.ADMIN if need == OWN else need


def _security(key: str, needs_person: bool) -> list[Json]:
    """Who may ask: anybody, or who comes with a cookie or a token of the scope that the gate wants."""
    scope = _scope(key)
    if scope is None:
        return []
    known: list[Json] = [{"cookie": []}, {"token": [scope.value]}]
    return known if needs_person else [{}, *known]


def _headers(status: str) -> Json:
    names = ["RateLimit", "RateLimit-Policy"]
    names += {"401": ["WWW-Authenticate"], "403": ["WWW-Authenticate"], "429": ["Retry-After"]}.get(status, [])
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
