"""The stored form of a table's log: one JSON object an entry, with the version of the format it was written in."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import TypeAdapter

from app.tables.commands import Command
from app.tables.ports import Entry, NewerFormat, Said
from app.tables.table import Happened, Table
from app.wire.codec import Codec, read_stored

FORMAT = 2
"""The version that is written. Older ones are made today's step by step, a newer one is refused.

It moves whenever anything does that is stored: a field, an option, an event, a word (`tests/wire/test_forms.py`).
"""

EVENTS = Codec[Happened](Happened)
COMMANDS = Codec[Command](Command)
_TABLE = TypeAdapter(Table)
_SAID = TypeAdapter(Said)


Fields = dict[str, Any]

Upcasts = Mapping[int, Callable[[Fields], Fields]]


def _as_it_is(fields: Fields) -> Fields:
    """What is new in the next version is left out where it is as it was before."""
    return fields


UPCASTS: Upcasts = {1: _as_it_is}
"""By version, what makes an entry of it one of the next version."""

FRAME_UPCASTS: Upcasts = {1: _as_it_is}
"""The same for a table."""


_ENTRY = {"v", "seq", "by", "command", "events"}


def write_entry(entry: Entry) -> str:
    """The entry as it is stored; its times are the store's to add."""
    return json.dumps(
        {
            "v": FORMAT,
            "seq": entry.seq,
            "by": entry.by,
            "command": COMMANDS.write(entry.command),
            "events": [EVENTS.write(event) for event in entry.events],
        },
        separators=(",", ":"),
        ensure_ascii=False,
    )


def read_entry(stored: str | bytes, at: int, due: int | None) -> Entry:
    """The entry back, with its times. Raises `NewerFormat`."""
    fields: Fields = json.loads(stored)
    fields = _upcast(fields, fields["v"], UPCASTS)
    if fields.keys() != _ENTRY:
        raise NewerFormat(f"an entry of {sorted(fields)}") if fields.keys() > _ENTRY else KeyError(*_ENTRY - fields.keys())
    events = tuple(EVENTS.read(event) for event in fields["events"])
    return Entry(fields["seq"], fields["by"], COMMANDS.read(fields["command"]), events, at, due)


def write_frame(table: Table) -> str:
    """A table without its game, from which the log of the game that begins is replayed."""
    return json.dumps({"v": FORMAT} | _TABLE.dump_python(table, mode="json", exclude={"game"}), ensure_ascii=False)


def read_frame(stored: str | bytes) -> Table:
    """The table back, no game at it. Raises `NewerFormat`."""
    fields: Fields = json.loads(stored)
    fields = _upcast(fields, fields.pop("v", 1), FRAME_UPCASTS)
    return read_stored(_TABLE, fields)


def _upcast(fields: Fields, version: int, upcasts: Upcasts) -> Fields:
    """The fields in today's form. Raises `NewerFormat`."""
    if version > FORMAT:
        raise NewerFormat(f"format {version}, this release reads up to {FORMAT}")
    for older in range(version, FORMAT):
        fields = upcasts[older](fields)
    return fields


def write_said(said: Said) -> str:
    """Something that was said, as it is kept beside the log."""
    stored: str = _SAID.dump_json(said).decode()
    return stored


def read_said(stored: str | bytes) -> Said:
    """What was said, back."""
    return read_stored(_SAID, json.loads(stored))
