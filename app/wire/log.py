"""The stored form of a table's log: one JSON object an entry, with the version of the format it was written in."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import TypeAdapter

from app.tables.commands import Command
from app.tables.ports import Entry, NewerFormat, Said
from app.tables.table import Happened, Table
from app.wire.codec import Codec

FORMAT = 1
"""The version that is written. Older ones are read by `read_entry`, a newer one is refused."""

EVENTS = Codec[Happened](Happened)
COMMANDS = Codec[Command](Command)
_TABLE = TypeAdapter(Table)
_SAID = TypeAdapter(Said)


Fields = dict[str, Any]

UPCASTS: Mapping[int, Callable[[Fields], Fields]] = {}
"""By version, what makes an entry of it one of the next version."""


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
    if fields["v"] > FORMAT:
        raise NewerFormat(f"log format {fields['v']}, this release reads up to {FORMAT}")
    for version in range(fields["v"], FORMAT):
        fields = UPCASTS[version](fields)
    events = tuple(EVENTS.read(event) for event in fields["events"])
    return Entry(fields["seq"], fields["by"], COMMANDS.read(fields["command"]), events, at, due)


def write_frame(table: Table) -> str:
    """A table without its game, from which the log of the game that begins is replayed."""
    return json.dumps({"v": FORMAT} | _TABLE.dump_python(table, mode="json", exclude={"game"}), ensure_ascii=False)


def read_frame(stored: str | bytes) -> Table:
    """The table back, no game at it. Raises `NewerFormat`."""
    fields: Fields = json.loads(stored)
    version = fields.pop("v", 1)
    if version > FORMAT:
        raise NewerFormat(f"table format {version}, this release reads up to {FORMAT}")
    return _TABLE.validate_python(fields)


def write_said(said: Said) -> str:
    """Something that was said, as it is kept beside the log."""
    stored: str = _SAID.dump_json(said).decode()
    return stored


def read_said(stored: str | bytes) -> Said:
    """What was said, back."""
    return _SAID.validate_json(stored)
