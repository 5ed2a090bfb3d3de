"""`python -m tests.releases.before serve`: today's program, but it reads and writes entries as the release before did."""

import json

from app.__main__ import main
from app.tables.ports import Entry, NewerFormat
from app.wire import log
from tests.releases.form import BEFORE, downcast, upcast

_read, _write = log.read_entry, log.write_entry


def read_entry(stored: str | bytes, at: int, due: int | None) -> Entry:
    """Only what that release knows. Raises `NewerFormat`."""
    fields = json.loads(stored)
    if fields["v"] > BEFORE:
        raise NewerFormat(f"log format {fields['v']}, that release reads up to {BEFORE}")
    return _read(json.dumps(upcast(fields)), at, due)


def write_entry(entry: Entry) -> str:
    """As that release stores it."""
    return json.dumps(downcast(json.loads(_write(entry))))


log.read_entry, log.write_entry = read_entry, write_entry
main()
