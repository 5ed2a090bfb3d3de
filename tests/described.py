"""Is every answer what the API's description says? Each status must be declared, and each body fit its schema."""

import json
import re
from functools import cache
from typing import Any

from httpx2 import Response
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from app.main import build
from app.settings import Settings
from app.web.description import operations
from app.web.errors import MEDIA_TYPE
from app.web.media import LINES

_ROOT = "urn:coinche"


@cache
def description() -> dict[str, Any]:
    """The description of the API, whatever it is connected to."""
    return build(Settings(), "redis://none", "postgresql+asyncpg://none/none").openapi()


@cache
def _registry() -> Registry[Any]:
    """The description, read strictly: what is not declared may not be sent."""
    whole = description()
    schemas = {name: _closed(schema) for name, schema in whole["components"]["schemas"].items()}
    strict = whole | {"components": whole["components"] | {"schemas": schemas}}
    registry: Registry[Any] = Registry().with_resource(_ROOT, DRAFT202012.create_resource(strict))
    return registry


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    return {"additionalProperties": False} | schema if "properties" in schema else schema


@cache
def _operations() -> list[tuple[str, re.Pattern[str], str]]:
    """Those without a place to be filled in come first, as they are found first."""
    found = sorted(operations(description()), key=lambda one: one[1].count("{"))
    return [(method, re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), path) for method, path, _ in found]


@cache
def _validator(path: str, method: str, status: str, kind: str) -> Draft202012Validator:
    steps = ("paths", path, method, "responses", status, "content", kind, "schema")
    pointer = "/".join(step.replace("~", "~0").replace("/", "~1") for step in steps)
    return Draft202012Validator({"$ref": f"{_ROOT}#/{pointer}"}, registry=_registry())


def fits(schema: dict[str, Any], value: object) -> bool:
    """Whether a value is as a schema of the description wants it."""
    rooted = json.loads(json.dumps(schema).replace('"#/', f'"{_ROOT}#/'))
    return bool(Draft202012Validator(rooted, registry=_registry()).is_valid(value))


def shown(example: dict[str, Any]) -> Any:
    """The value of an example that is referred to."""
    return description()["components"]["examples"][example["$ref"].rpartition("/")[2]]["value"]


def told_in_lines(path: str) -> dict[str, Any]:
    """The schema of the messages that the route for this path may answer with, one a line."""
    lines = description()["paths"][operation_of("GET", path)]["get"]["responses"]["200"]["content"][LINES]
    schema: dict[str, Any] = lines["schema"]["contentSchema"]["items"]
    return schema


def operation_of(method: str, path: str) -> str | None:
    """The path, as it is described, of the operation that this asks for."""
    return next((told for verb, pattern, told in _operations() if verb == method and pattern.fullmatch(path)), None)


async def as_described(response: Response) -> None:
    """Fails where an answer is not as described; for a client's hook."""
    method, path = response.request.method, operation_of(response.request.method, response.request.url.path)
    if path is None:
        return
    asked = f"{method} {path} answered {response.status_code}"
    declared = description()["paths"][path][method.lower()]["responses"]
    status = str(response.status_code)
    assert status in declared, f"{asked}, which is not declared"
    content = declared[status].get("content", {})
    kind = response.headers.get("content-type", "").partition(";")[0]
    if not content:
        assert not await response.aread(), f"{asked} with a body, which is not declared"
        return
    assert kind in content, f"{asked} as {kind!r}, which is not declared"
    if kind in ("application/json", MEDIA_TYPE):
        await response.aread()
        wrong = next(_validator(path, method.lower(), status, kind).iter_errors(response.json()), None)
        assert wrong is None, f"{asked}: {wrong}"
