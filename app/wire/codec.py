"""How are the core's values written as JSON, and read back? Each class of a union has a name, known here alone."""

import re
from collections.abc import Mapping
from types import UnionType
from typing import Any, Generic, TypeVar, get_args

from pydantic import TypeAdapter

T = TypeVar("T")


def tag(kind: type) -> str:
    """The name of a class on the wire: `CardPlayed` is `card_played`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


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
        """The value back. Raises KeyError for an unknown kind, pydantic's ValidationError for a broken value."""
        fields = dict(stored)
        value: T = self._by_tag[fields.pop("kind")].validate_python(fields)
        return value
