"""Games that were stored by earlier releases are read by this one, as they were.

A file of `golden` is the log of a table with one game: the table as it was opened and what came of it in the first line, then
an entry a line.
`python -m tests.wire.test_golden` writes the files of the present format where there are none; a file that is there is never
written again.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest

from app.game.events import Event
from app.game.rules import PRESETS
from app.game.seats import SEATS, Seat
from app.game.shuffle import pack_of
from app.game.state import Game
from app.game.view import sheet
from app.tables.commands import (
    HOUSE,
    Actor,
    AddHouse,
    CallStandIn,
    Command,
    FreeSeat,
    GetReady,
    GiveBack,
    HouseDeals,
    HouseStarts,
    Leave,
    PassOn,
    ReadSheet,
    RemoveHouse,
    Return,
    Sit,
    Start,
)
from app.tables.history import tell
from app.tables.judge import decide
from app.tables.lobby import HOUSES
from app.tables.ports import Entry, NewerFormat
from app.tables.table import Person, Table, TableEvent, evolve_all
from app.wire import log
from app.wire.codec import tag
from app.wire.log import FORMAT, read_entry, read_frame, write_entry, write_frame
from tests.finished import FOUR, next_command, played

GOLDEN = Path(__file__).with_name("golden")
FILES = sorted(GOLDEN.glob("v*.jsonl"))


NINA, PAUL, LOU, MAX = FOUR
BEFORE: tuple[tuple[Person | None, Command], ...] = (
    (NINA, Sit(NINA, Seat.FIRST)),
    (NINA, Start(HOUSES)),
    (None, HouseStarts(Seat.FIRST)),
    (NINA, Leave()),
    (NINA, Sit(NINA, Seat.FIRST)),
    *((NINA, RemoveHouse(seat)) for seat in SEATS[1:]),
    (MAX, Sit(MAX, Seat.THIRD)),
    (None, PassOn(NINA.id, MAX.id)),
    (NINA, FreeSeat(Seat.THIRD, idle=True)),
    (PAUL, Sit(PAUL, Seat.SECOND)),
    (PAUL, Sit(PAUL, Seat.THIRD)),
    (NINA, Leave()),
    (LOU, Sit(LOU)),
    (NINA, Sit(NINA, Seat.FOURTH)),
    (PAUL, AddHouse(HOUSES)),
    (PAUL, RemoveHouse(Seat.SECOND)),
    (LOU, GetReady(True)),
    (LOU, GetReady(False)),
    (LOU, GetReady(True)),
    (NINA, GetReady(True)),
    (PAUL, Start(HOUSES)),
)
"""They begin a game and leave it, sit down, free seats, move, leave, come back, and are ready."""

MEANWHILE: Mapping[int, tuple[Person | None, Command]] = {
    30: (PAUL, CallStandIn(Seat.FIRST)),
    36: (LOU, Return()),
    40: (NINA, Leave()),
    44: (NINA, Return()),
    50: (None, GiveBack()),
}
"""What happens beside the cards, by the number of the entry."""


def written(preset: str) -> str:
    """The log of a table with a game of several deals under this preset, as this release stores it."""
    opened = Table("0b-k2m7q9x4wz", NINA.id, PRESETS[preset], None, True, 1_796_000_000_000)
    games = (_played(opened, Random(seed)) for seed in count())
    entries, game = next((entries, game) for entries, game in games if len(game.deals) >= 5)
    result = {"frame": json.loads(write_frame(opened)), "totals": list(game.totals), "deals": _deals(game)}
    return "".join(f"{line}\n" for line in (json.dumps(result), *map(write_entry, entries)))


def _played(table: Table, dice: Random) -> tuple[list[Entry], Game]:
    entries: list[Entry] = []
    before = list(BEFORE)
    while before or table.is_playing or table.games < 2:
        number = len(entries) + 1
        by: Actor
        command: Command
        if before or number in MEANWHILE:
            person, command = before.pop(0) if before else MEANWHILE[number]
            by = HOUSE if person is None else Actor(person.id)
        elif table.game is None:
            by, command = HOUSE, HouseStarts(dice.choice(SEATS))
        elif table.game.deals and table.in_turn is None and not table.read:
            by, command = Actor(PAUL.id), ReadSheet()
        else:
            by, command = next_command(table, dice)
        events = decide(table, by, command)
        entries.append(Entry(number, by.person, command, events))
        table = evolve_all(table, events)
    assert table.game is not None
    return entries, table.game


def _deals(game: Game) -> list[list[int]]:
    return [list(row.score) for row in sheet(game)]


@pytest.mark.parametrize("preset", PRESETS)
def test_the_present_format_has_a_golden_game_of_each_preset(preset: str) -> None:
    assert GOLDEN / f"v{FORMAT}-{preset}.jsonl" in FILES


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_golden_game_is_read_as_it_was_played(file: Path) -> None:
    first, *lines = file.read_text().splitlines()
    result = json.loads(first)
    entries = [read_entry(line, at=seq, due=None) for seq, line in enumerate(lines, 1)]
    game = tell(read_frame(json.dumps(result["frame"])), entries).game
    assert list(game.totals) == result["totals"]
    assert _deals(game) == result["deals"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_stored_deal_is_the_pack_of_its_secrets(file: Path) -> None:
    """Whatever its promise bound when it was stored: today's recipe makes the same cards of the same secrets."""
    entries = [read_entry(line, at=0, due=None) for line in file.read_text().splitlines()[1:]]
    deals = [entry.command.deal for entry in entries if isinstance(entry.command, HouseDeals)]
    assert deals
    for deal in deals:
        assert deal.pack == pack_of(bytes.fromhex(deal.seed), bytes.fromhex(deal.salt), deal.cut)


def test_the_golden_games_have_every_kind_of_entry() -> None:
    """But for `Redeal`, which is rare: so much of what a table may hold is tried."""
    lines = [json.loads(line) for file in FILES for line in file.read_text().splitlines()[1:]]
    assert {line["command"]["kind"] for line in lines} == {tag(kind) for kind in get_args(Command)}
    kinds = {event["kind"] for line in lines for event in line["events"]}
    assert {tag(kind) for kind in get_args(TableEvent)} <= kinds
    missing = {tag(kind) for kind in get_args(Event)} - kinds
    assert missing <= {"redeal_claimed"}


@pytest.mark.parametrize("preset", PRESETS)
def test_what_this_release_writes_is_what_it_wrote_when_the_format_was_made(preset: str) -> None:
    """Whoever changes a stored form gives it a new number, so that an old process does not misread it."""
    lines = (GOLDEN / f"v{FORMAT}-{preset}.jsonl").read_text().splitlines()[1:]
    for line in lines:
        assert write_entry(read_entry(line, 0, None)) == line


ENTRY = json.loads(write_entry(played(PRESETS["announced-701"]).entries[0]))


def test_an_entry_of_a_newer_release_is_not_read() -> None:
    with pytest.raises(NewerFormat):
        read_entry(json.dumps(ENTRY | {"v": FORMAT + 1}), 0, None)


def test_neither_is_a_table_of_a_newer_release() -> None:
    frame = json.loads(write_frame(played(PRESETS["announced-701"]).opened))
    with pytest.raises(NewerFormat):
        read_frame(json.dumps(frame | {"v": FORMAT + 1}))


def test_a_table_without_a_number_is_of_the_first_format() -> None:
    script = played(PRESETS["announced-701"])
    frame = json.loads(write_frame(script.opened))
    del frame["v"]
    assert read_frame(json.dumps(frame)) == replace(script.opened, game=None)


def test_an_older_entry_is_made_one_of_today_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a format that never was the one who asked was called `who`, and before that it was a number."""

    def from_zero(fields: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in fields.items() if name != "who"} | {"v": 1, "by": fields["who"]}

    def from_before(fields: dict[str, Any]) -> dict[str, Any]:
        return fields | {"v": 0, "who": f"g_{fields['who']}"}

    monkeypatch.setattr(log, "UPCASTS", {**log.UPCASTS, 0: from_zero, -1: from_before})
    old = {name: value for name, value in ENTRY.items() if name != "by"}
    assert read_entry(json.dumps(old | {"v": 0, "who": "g_nina"}), 0, None).by == "g_nina"
    assert read_entry(json.dumps(old | {"v": -1, "who": 7}), 0, None).by == "g_7"


if __name__ == "__main__":
    for name in PRESETS:
        path = GOLDEN / f"v{FORMAT}-{name}.jsonl"
        if not path.exists():
            path.write_text(written(name))
