"""How are the core's values written as JSON, and read back? Each class of a union has a name, known here alone."""

import re
from collections.abc import Mapping
from types import UnionType
from typing import Any, Generic, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError

from app.tables.ports import NewerFormat

T = TypeVar("T")

_UNKNOWN = {"unexpected_keyword_argument", "extra_forbidden", "enum", "literal_error"}
"""What pydantic says of a field, or of one of a choice of words, that this release does not know."""


def tag(kind: type) -> str:
    """The name of a class on the wire: `CardPlayed` is `card_played`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def read_stored(form: TypeAdapter[T], stored: object) -> T:
    """A stored value back. Raises `NewerFormat` where it has a field or a word that this release does not know.

    Nothing is left out in silence: what is judged by half of what was written would be judged by other rules.
    """
    try:
        return form.validate_python(stored, extra="forbid")
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        unknown = [one for one in errors if one["type"] in _UNKNOWN]
        is_broken = any(one["type"] == "missing" and len(one["loc"]) == 1 for one in errors)
        if is_broken or not unknown:
            raise
        where = ".".join(map(str, unknown[0]["loc"]))
        raise NewerFormat(f"{unknown[0]['type']} at {where}") from None


class Codec(Generic[T]):
    """Writes and reads the members of a union of dataclasses, each with its name as `kind`."""

    def __init__(self, union: UnionType) -> None:
        members: tuple[type, ...] = get_args(union)
        self._by_tag: Mapping[str, TypeAdapter[Any]] = {tag(member): TypeAdapter(member) for member in members}
        self._tags: Mapping[type, str] = {member: tag(member) for member in members}

    def write(self, value: T) -> dict[str, Any]:
        """The value as a JSON object."""
        name = self._tags[type(value)]
        fields: dict[str, Any] = self._by_tag[name].dump_python(value, mode="json")
        return {"kind": name} | fields

    def read(self, stored: Mapping[str, Any]) -> T:
        """The value back. Raises `NewerFormat` for what is not known here, pydantic's ValidationError for a broken value."""
        fields = dict(stored)
        kind = fields.pop("kind")
        if kind not in self._by_tag:
            raise NewerFormat(f"unknown kind {kind}")
        value: T = read_stored(self._by_tag[kind], fields)
        return value
