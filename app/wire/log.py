"""The stored form of a table's log: one JSON object an entry, with the version of the format it was written in."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from app.tables.ports import Entry, Said
from app.tables.table import Command, Happened, Table
from app.wire.codec import Codec

FORMAT = 1
"""The version that is written. Older ones are read by `read_entry`, a newer one is refused."""

EVENTS = Codec[Happened](Happened)
COMMANDS = Codec[Command](Command)
_TABLE = TypeAdapter(Table)
_SAID = TypeAdapter(Said)


class NewerFormat(Exception):
    """An entry written by a newer release, which this one must not misread."""


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
    fields: Mapping[str, Any] = json.loads(stored)
    if fields["v"] > FORMAT:
        raise NewerFormat(f"log format {fields['v']}, this release reads up to {FORMAT}")
    events = tuple(EVENTS.read(event) for event in fields["events"])
    return Entry(fields["seq"], fields["by"], COMMANDS.read(fields["command"]), events, at, due)


def write_frame(table: Table) -> str:
    """A table without its game, from which the log of the game that begins is replayed."""
    stored: str = _TABLE.dump_json(table, exclude={"game"}).decode()
    return stored


def read_frame(stored: str | bytes) -> Table:
    """The table back, no game at it."""
    return _TABLE.validate_json(stored)


def write_said(said: Said) -> str:
    """Something that was said, as it is kept beside the log."""
    stored: str = _SAID.dump_json(said).decode()
    return stored


def read_said(stored: str | bytes) -> Said:
    """What was said, back."""
    return _SAID.validate_json(stored)
