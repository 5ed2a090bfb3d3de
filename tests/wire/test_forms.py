"""What is stored has a form with a number, and whoever changes a form gives it a new number, so that no release misreads it.

`forms.json` holds a fingerprint of each class that is stored, by the number of the form it was stored in first.
`python -m tests.wire.test_forms` adds those of a number that is not there yet; one that is there is never written again.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from app.game.rules import PRESETS, Rules
from app.game.seats import Seat
from app.game.view import Row, sheet
from app.tables.commands import Command
from app.tables.notices import Notice, TurnDue
from app.tables.ports import NewerFormat, Said
from app.tables.table import Happened, Table
from app.wire import hooks, log
from app.wire.archive import read_row, read_rules, write_row, write_rules
from app.wire.hooks import read_notice, write_notice
from app.wire.log import read_entry, read_frame, read_said, write_entry, write_frame, write_said
from tests.finished import played

RECORD = Path(__file__).with_name("forms.json")

Json = dict[str, Any]
Prints = dict[str, str]

FORMS: Mapping[str, tuple[int, tuple[Any, ...]]] = {
    "tables": (log.FORMAT, (Table, Said, Rules, Row, *get_args(Happened), *get_args(Command))),
    "notices": (hooks.FORMAT, get_args(Notice)),
}
"""What is stored, by the number that says how."""


def prints(classes: tuple[Any, ...]) -> Prints:
    """A fingerprint of each class, and of each that it holds."""
    found: Prints = {}
    for one in classes:
        schema = TypeAdapter(one).json_schema()
        if one is Table:
            del schema["properties"]["game"]  # it is stored without
        forms = schema.pop("$defs", {}) | {one.__name__: schema}
        for name, form in _reached(one.__name__, forms).items():
            found[name] = hashlib.sha256(json.dumps(_bare(form), sort_keys=True).encode()).hexdigest()[:16]
    return dict(sorted(found.items()))


def _reached(name: str, forms: dict[str, Any]) -> dict[str, Any]:
    """The form of this name and all that it refers to."""
    found, todo = dict[str, Any](), {name}
    while todo:
        one = todo.pop()
        found[one] = forms[one]
        todo |= set(re.findall(r"#/\$defs/(\w+)", json.dumps(forms[one]))) - set(found)
    return found


def _bare(schema: Any) -> Any:
    """Without what is only said of it."""
    if isinstance(schema, dict):
        return {name: _bare(part) for name, part in schema.items() if name not in ("title", "description", "$defs")}
    return [_bare(part) for part in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize("name", FORMS)
def test_what_is_stored_has_the_form_that_its_number_says(name: str) -> None:
    number, classes = FORMS[name]
    recorded = json.loads(RECORD.read_text())[name]
    assert max(map(int, recorded)) == number
    changed = set(prints(classes).items()) ^ set(recorded[str(number)].items())
    assert not changed, f"these forms have changed: give {name} a new FORMAT, and an upcast from the last one"


CHANGES: tuple[dict[str, Any], ...] = (
    {"properties": {"seat": {}, "new": {}}},
    {"properties": {"seat": {"type": "string"}}},
    {"required": []},
    {"enum": ["old", "new"]},
)


def test_a_fingerprint_tells_each_change_and_no_change_of_words() -> None:
    schema = {"properties": {"seat": {}}, "required": ["seat"], "enum": ["old"]}
    assert _bare(schema | {"title": "Other", "description": "Other words."}) == _bare(schema)
    assert all(_bare(schema | change) != _bare(schema) for change in CHANGES)


# --- what a newer release may have added without a new number ---------------------------------------------------------

SCRIPT = played(PRESETS["announced-701"])
ENTRY: Json = json.loads(write_entry(SCRIPT.entries[0]))
FRAME: Json = json.loads(write_frame(SCRIPT.opened))
SAID: Json = json.loads(write_said(Said(1, Seat.FIRST, "Nina", "hello", None)))
NOTICE: Json = json.loads(write_notice(TurnDue("0b-k2m7q9x4wz", "0b-k2m7q9x4wz/1", 1, 5, Seat.FIRST, "g_nina")))
RULES = write_rules(SCRIPT.opened.rules)
ROW = write_row(sheet(SCRIPT.game)[0])


def _with(form: Json, place: tuple[str | int, ...], value: object) -> Json:
    """The form with something in this place."""
    changed: Json = json.loads(json.dumps(form))
    part: Any = changed
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = value
    return changed


Read = Callable[[Json], object]


def _entry(form: Json) -> object:
    return read_entry(json.dumps(form), 0, None)


NEWER: Mapping[str, tuple[Read, Json, tuple[str | int, ...], object]] = {
    "field of an entry": (_entry, ENTRY, ("new",), 1),
    "field of a command": (_entry, ENTRY, ("command", "new"), 1),
    "command": (_entry, ENTRY, ("command", "kind"), "new"),
    "field of an event": (_entry, ENTRY, ("events", 0, "new"), None),
    "event": (_entry, ENTRY, ("events", 0), {"kind": "new", "seat": 1}),
    "field of a table": (lambda form: read_frame(json.dumps(form)), FRAME, ("new",), "x"),
    "option": (lambda form: read_frame(json.dumps(form)), FRAME, ("rules", "new"), False),
    "choice of an option": (lambda form: read_frame(json.dumps(form)), FRAME, ("rules", "undertrump"), "new"),
    "field of a seat": (lambda form: read_frame(json.dumps(form)), FRAME, ("places", 0, "new"), 1),
    "field of a person": (lambda form: read_frame(json.dumps(form)), FRAME, ("places", 0, "occupant", "new"), 1),
    "field of what was said": (lambda form: read_said(json.dumps(form)), SAID, ("new",), 1),
    "field of a notice": (lambda form: read_notice(json.dumps(form), None), NOTICE, ("new",), 1),
    "notice": (lambda form: read_notice(json.dumps(form), None), NOTICE, ("kind",), "new"),
    "option of an archived game": (read_rules, RULES, ("new",), False),
    "field of an archived row": (read_row, ROW, ("new",), 1),
}


@pytest.mark.parametrize("what", NEWER)
def test_what_is_not_known_is_never_left_out(what: str) -> None:
    read, form, place, value = NEWER[what]
    read(form)
    with pytest.raises(NewerFormat):
        read(_with(form, place, value))


def test_what_is_only_broken_is_not_taken_for_newer() -> None:
    with pytest.raises(ValidationError):
        read_frame(json.dumps(_with(FRAME, ("created",), "yesterday")))


if __name__ == "__main__":
    known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for form, (version, stored) in FORMS.items():
        known.setdefault(form, {}).setdefault(str(version), prints(stored))
    RECORD.write_text(json.dumps(known, indent=1) + "\n")
