"""Whole examples for the description of the API: what was asked of a real server and what it answered, each under one name.

They stand in `examples.json`, which `make examples` records. One belongs to the operation that it is named after (`…_asked` to
what it is asked with, `…_503` to that status), or else to each body whose schema it is named after; what follows a dot tells
several apart. Those of streams are lists of messages.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from app.web.ear import as_event, as_line
from app.web.media import EVENTS, LINES

Json = dict[str, Any]

FILE = Path(__file__).with_name("examples.json")

_BODIES, _STREAMS = json.loads(FILE.read_text()).values()
_WRITTEN: dict[str, Callable[[Json], str]] = {EVENTS: as_event, LINES: as_line}
_REF = "#/components/{}/"


def place(operation: Json) -> None:
    """Give each body that an operation is asked with or answers with its examples; a refusal has them already."""
    name = operation["operationId"]
    _place(operation.get("requestBody", {}), f"{name}_asked")
    for status, response in operation["responses"].items():
        _place(response, name if status.startswith("2") else f"{name}_{status}")


def example(name: str) -> object:
    """The example of this name in the components of the description. Raises KeyError."""
    for kind, write in _WRITTEN.items():
        if name.endswith(_suffix(kind)):
            return "".join(map(write, _STREAMS[name.removesuffix(_suffix(kind))]))
    return _BODIES[name]


def _place(body: Json, own: str) -> None:
    for kind, content in body.get("content", {}).items():
        if "examples" in content:
            continue
        if kind in _WRITTEN:
            names = [own + _suffix(kind)] if own in _STREAMS else []
        else:
            names = _named(own) or [name for schema in _schemas(content["schema"]) for name in _named(schema)]
        if names:
            content["examples"] = {name.rpartition(".")[2]: {"$ref": _REF.format("examples") + name} for name in names}


def _suffix(kind: str) -> str:
    return "." + kind.rpartition("/")[2]


def _named(word: str) -> list[str]:
    return [name for name in _BODIES if name.partition(".")[0] == word]


def _schemas(schema: Json) -> Iterator[str]:
    """The names of the schemas of which a body may be one."""
    if "$ref" in schema:
        yield schema["$ref"].removeprefix(_REF.format("schemas"))
    for one in schema.get("anyOf", ()):
        yield from _schemas(one)
