"""The schemas of the description: under plain names, each field with its words, and each standing in one place."""

import json
import re
from collections.abc import Iterable
from typing import Any, get_args

from pydantic import TypeAdapter

from app.game.rules import OPTIONS
from app.tables.history import GameSheet
from app.web.errors import Problem
from app.web.fields import FIELDS
from app.web.rules import words_of
from app.web.webhooks import PAYLOADS
from app.wire import forms
from app.wire.questions import Question

Json = dict[str, Any]

_COMPONENT = "#/components/{}/{}"
_SCHEMA = _COMPONENT.format("schemas", "")
WORDS = words_of("en").words

_COMMON = ("Rules", "Options")
"""Schemas that stand in many places."""


def complete(description: Json) -> Json:
    """The description with all schemas that it refers to."""
    components = description.setdefault("components", {})
    components["schemas"] = components.get("schemas", {}) | _further()
    plain = re.sub(rf"(?<={re.escape(_SCHEMA)})\w+", lambda found: _plain(found[0]), json.dumps(description))
    gathered: Json = {}
    whole: Json = _gathered(json.loads(plain), gathered)
    schemas = {_plain(name): schema for name, schema in whole["components"]["schemas"].items()} | gathered
    for name, schema in schemas.items():
        _put_words(name, schema)
    whole["components"]["schemas"] = {name: schemas[name] for name in sorted(schemas)}
    return whole


def prune(description: Json) -> None:
    """Take out the schemas that nothing refers to."""
    schemas = description["components"]["schemas"]
    while unused := schemas.keys() - set(referred(description, "schemas")):
        for name in unused:
            del schemas[name]


def referred(part: Json, kind: str) -> Iterable[str]:
    """The names of all components of a kind that something in a part of the description refers to, in order."""
    return sorted(set(re.findall(re.escape(_COMPONENT.format(kind, "")) + r"([\w.-]+)", json.dumps(part))))


def _plain(name: str) -> str:
    """The name of a schema without what Python has added."""
    return name.removesuffix("_int_").lstrip("_")


def _further() -> Json:
    """Schemas that routes refer to by name alone."""
    named: list[Any] = [Problem, GameSheet, *get_args(forms.OwnMessage), *PAYLOADS.values(), *get_args(Question)]
    _, defined = TypeAdapter.json_schemas(
        [(one.__name__, "serialization", TypeAdapter[Any](one)) for one in named],
        ref_template=_COMPONENT.format("schemas", "{model}"),
    )
    any_of = [{"$ref": _SCHEMA + one.__name__} for one in get_args(Question)]
    schemas: Json = defined["$defs"]
    return schemas | {"Question": {"description": "A question for the referee.", "anyOf": any_of}}


def _gathered(value: Any, gathered: Json) -> Any:
    """The value with references where a schema stood that many have; these are put aside."""
    if isinstance(value, list):
        return [_gathered(one, gathered) for one in value]
    if not isinstance(value, dict):
        return value
    if value.get("additionalProperties") is False and value.get("properties", {}).keys() == OPTIONS.keys():
        name = _COMMON["required" not in value]
        beside = {key: one for key, one in value.items() if key in ("default", "examples")}
        gathered[name] = {key: one for key, one in value.items() if key not in beside} | {"title": name}
        return {"$ref": _SCHEMA + name} | beside
    return {name: _gathered(one, gathered) for name, one in value.items()}


def _put_words(name: str, schema: Json) -> None:
    schema["title"] = name
    for field, told in schema.get("properties", {}).items():
        said = WORDS[f"option.{field}"] if name in _COMMON else FIELDS.get(f"{name}.{field}")
        if said is None:
            said = f"Always `{told['const']}`" if "const" in told else FIELDS.get(field)
        if said is not None:
            told.setdefault("description", said)
