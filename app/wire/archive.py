"""The JSON forms in which the archive keeps what it does not keep in columns of its own."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from app.game.rules import Rules
from app.game.view import Row
from app.tables.ports import Entry
from app.wire.codec import read_stored
from app.wire.log import read_entry, write_entry

_RULES = TypeAdapter(Rules)
_ROW = TypeAdapter(Row)


def write_rules(rules: Rules) -> dict[str, Any]:
    """Every option of the rules."""
    written: dict[str, Any] = _RULES.dump_python(rules, mode="json")
    return written


def read_rules(stored: Mapping[str, Any]) -> Rules:
    """The rules back. Raises `NewerFormat` where they have an option that this release does not know."""
    return read_stored(_RULES, stored)


def write_row(row: Row) -> dict[str, Any]:
    """A row of the score sheet, as the page is sent it."""
    written: dict[str, Any] = _ROW.dump_python(row, mode="json")
    return written


def read_row(stored: Mapping[str, Any]) -> Row:
    """The row back. Raises `NewerFormat`."""
    return read_stored(_ROW, stored)


def write_archived(entry: Entry) -> dict[str, Any]:
    """An entry in the form of the log; its times are kept beside it."""
    written: dict[str, Any] = json.loads(write_entry(entry))
    return written


def read_archived(stored: Mapping[str, Any] | str, at: int, due: int | None) -> Entry:
    """The entry back, also from its JSON text. Raises `NewerFormat`."""
    return read_entry(stored if isinstance(stored, str) else json.dumps(stored), at, due)
