"""What can be asked, told as OpenAPI 3.1: what the routes say of themselves, and what stands before all of them."""

import json
import re
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from app.game.refusal import Why
from app.tables.tokens import Scope
from app.web.errors import Problem, refusals, refused_with
from app.web.gate import API, NEEDS, OWN
from app.web.identity import COOKIE
from app.wire.questions import Question

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
]

_REF = "#/components/{}/{}"
_METHODS = ("get", "post", "put", "patch", "delete")
_TEXT = {"type": "string"}

_HEADERS: Json = {
    "ETag": {"description": "Which answer this is, for `If-None-Match`", "schema": _TEXT},
    "Link": {"description": 'The next page, `rel="next"`, where there is one', "schema": _TEXT},
    "Location": {"description": "Where the new one is", "schema": _TEXT},
    "RateLimit": {"description": "What is left of each limit, and seconds until all of it is there again", "schema": _TEXT},
    "RateLimit-Policy": {"description": "The limits that were met", "schema": _TEXT},
    "Retry-After": {"description": "Seconds", "schema": {"type": "integer", "minimum": 1}},
    "WWW-Authenticate": {"description": "How to show who one is (RFC 6750)", "schema": _TEXT},
}

_SECURITY: Json = {
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": COOKIE,
        "description": "A guest's, set by `POST /api/v1/me`: good for what the page does",
    },
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "A program's, made by `POST /api/v1/me/tokens`. Scopes: " + ", ".join(f"`{one.value}`" for one in Scope),
    },
}

_IF_NONE_MATCH = {"name": "If-None-Match", "in": "header", "required": False, "schema": _TEXT, "description": "An `ETag`"}


def install(app: FastAPI) -> None:
    """Describe the routes of the application once all of them are there."""
    plain = app.openapi
    told: Json = {}

    def openapi() -> Json:
        if not told:
            told.update(_complete(plain()))
        return told

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
    for method, path, operation in operations(description):
        _describe(f"{method} {path}", operation)
    components = description.setdefault("components", {})
    schemas = components.setdefault("schemas", {}) | _further()
    unused = ("HTTPValidationError", "ValidationError")
    components["schemas"] = {_clean(name): schemas[name] for name in sorted(schemas) if name not in unused}
    components["headers"] = _HEADERS
    components["securitySchemes"] = _SECURITY
    begins = re.escape(_REF.format("schemas", ""))
    whole: Json = json.loads(re.sub(rf"(?<={begins})\w+", lambda found: _clean(found[0]), json.dumps(description)))
    return whole


def _clean(name: str) -> str:
    """The name of a schema without what Python has added."""
    return name.removesuffix("_int_").lstrip("_")


def _further() -> Json:
    """Schemas that routes refer to by name alone."""
    named, others = TypeAdapter.json_schemas(
        [("Problem", "serialization", TypeAdapter[Any](Problem)), ("Question", "validation", TypeAdapter[Any](Question))],
        ref_template=_REF.format("schemas", "{model}"),
    )
    schemas: Json = {name: schema for (name, _), schema in named.items()} | others["$defs"]
    return schemas


def _describe(key: str, operation: Json) -> None:
    method, _, path = key.partition(" ")
    needs_person = "security" in operation
    responses = operation["responses"]
    if "HTTPValidationError" in str(responses.get("422")):
        del responses["422"]
    reasons = set(refused_with(responses)) | {Why.INTERNAL}
    reasons |= _of_the_input(operation)
    if path.startswith(API):
        reasons |= _of_the_gate(method, path, NEEDS[key] is not None, needs_person)
        operation["security"] = _security(key, needs_person)
    for status, told in refusals(*reasons).items():
        responses[str(status)] = told
    if path.startswith(API):
        for status, response in responses.items():
            response["headers"] = _headers(status) | response.get("headers", {})
    if "304" in responses:
        operation.setdefault("parameters", []).append(_IF_NONE_MATCH)
    operation["responses"] = {status: responses[status] for status in sorted(responses)}


def _of_the_input(operation: Json) -> set[Why]:
    """Reasons that lie in what was sent, whatever is asked."""
    reasons = set()
    if "parameters" in operation:
        reasons.add(Why.WRONG_TYPE)
    if any(one["in"] == "path" for one in operation.get("parameters", ())):
        reasons.add(Why.NOT_FOUND)  # a word that makes another address of it
    if "requestBody" in operation:
        reasons |= {Why.BAD_REQUEST, Why.TOO_LARGE, Why.WRONG_MEDIA_TYPE, Why.WRONG_TYPE, Why.MISSING}
    return reasons


def _of_the_gate(method: str, path: str, needs_scope: bool, needs_person: bool) -> set[Why]:
    """Reasons that lie in who asks, from where and how often."""
    reasons = {Why.BAD_TOKEN, Why.TOO_FAST, Why.BUSY}
    if needs_scope:
        reasons.add(Why.MISSING_SCOPE)
    if needs_person:
        reasons.add(Why.NOT_SIGNED_IN)
    if method != "GET":
        reasons.add(Why.BAD_ORIGIN)
    if path.startswith(f"{API}/tables/{{table}}"):
        reasons.add(Why.NO_SUCH_TABLE)
    return reasons


def _security(key: str, needs_person: bool) -> list[Json]:
    """Who may ask: anybody, or who comes with a cookie or a token of the scope that the gate wants."""
    need = NEEDS[key]
    if need is None:
        return []
    scope = Scope.ADMIN if need == OWN else need
    known: list[Json] = [{"cookie": []}, {"token": [scope.value]}]
    return known if needs_person else [{}, *known]


def _headers(status: str) -> Json:
    names = ["RateLimit", "RateLimit-Policy"]
    names += {"401": ["WWW-Authenticate"], "429": ["Retry-After"]}.get(status, [])
    return {name: {"$ref": _REF.format("headers", name)} for name in names}
