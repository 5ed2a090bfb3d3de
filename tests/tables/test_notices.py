"""When is there something to tell, and whom does it concern?"""

from dataclasses import replace
from random import Random

import pytest

from app.game.rules import PRESETS
from app.game.seats import SEATS, Seat
from app.tables.commands import GiveBack, Leave, Return, Sit
from app.tables.history import tell
from app.tables.hooks import finished
from app.tables.notices import Audience, GameFinished, Notice, TableOpened, TurnDue, audience, key_of, notice_of
from app.tables.table import HOUR, House, Table, evolve_all
from tests.finished import FOUR as PEOPLE
from tests.finished import played
from tests.seats import NINA, PAUL, bidding, do, game_begun, opened, played_on, told

SLOW = 4 * HOUR


def between(before: Table, after: Table) -> Notice | None:
    return notice_of(before, after, 7, 1)


def test_the_first_entry_of_a_table_opens_it() -> None:
    table = replace(opened(SLOW), listed=True)
    sitting = evolve_all(table, told(table, NINA, Sit(NINA, Seat.FIRST)))
    notice = notice_of(table, sitting, 1, 1)
    assert isinstance(notice, TableOpened)
    assert (notice.table, notice.host, notice.host_name, notice.clock) == (table.id, NINA.id, NINA.name, SLOW)
    assert audience(notice) == Audience((NINA.id,), everybody=True)
    assert audience(replace(notice, listed=False)) == Audience((NINA.id,), everybody=False)
    assert notice_of(sitting, evolve_all(sitting, told(sitting, PAUL, Sit(PAUL))), 2, 1) is None


def test_in_a_slow_game_each_turn_is_told_once_to_whom_it_is() -> None:
    before = bidding(SLOW)
    turns = []
    for _, after in zip(range(100), played_on(before, Random(3)), strict=False):
        notice = between(before, after)
        seat = after.in_turn
        assert (notice is None) == (seat is None or before.turn == after.turn)
        if notice is not None:
            assert isinstance(notice, TurnDue)
            assert seat is not None
            person = after.places[seat].person
            assert person is not None
            assert (notice.seat, notice.player, notice.turn) == (seat, person.id, after.turn)
            assert audience(notice) == Audience((person.id,), everybody=False)
            turns.append(notice.turn)
        before = after
    assert len(set(turns)) == len(turns) > 50


@pytest.mark.parametrize("clock", [None, 15, 60])
def test_where_people_sit_and_play_no_turn_is_told(clock: int | None) -> None:
    before = game_begun(clock)
    for _, after in zip(range(60), played_on(before, Random(3)), strict=False):
        assert between(before, after) is None
        before = after


def test_a_turn_that_the_house_plays_is_told_to_nobody() -> None:
    before = bidding(SLOW)
    gone = do(before, (NINA, Leave()))
    assert before.in_turn is Seat.FIRST
    assert between(before, gone) is None
    back = do(gone, (NINA, Return()))
    assert between(gone, back) is None  # whoever comes back in his own turn knows of it
    house = replace(before, places=(replace(before.places[0], occupant=House("alma", "Alma")), *before.places[1:]))
    assert between(game_begun(SLOW), house) is None


def test_a_turn_that_an_epoch_has_lost_is_told_again() -> None:
    before, after = game_begun(SLOW), bidding(SLOW)
    told_at = [notice_of(before, after, 7, epoch) for epoch in (1, 1, 2)]
    keys = [key_of(one) for one in told_at if one is not None]
    assert len(keys) == 3
    assert keys[0] == keys[1] != keys[2]


def test_time_given_back_tells_nothing_again() -> None:
    table = bidding(SLOW)
    assert between(table, do(table, (None, GiveBack()))) is None


@pytest.mark.parametrize("listed", [True, False])
def test_a_game_that_is_over_is_told_to_those_who_played_and_of_a_listed_table_to_all_who_asked(listed: bool) -> None:
    occupants = (*PEOPLE[:3], House("alma", "Alma"))
    script = played(PRESETS["contree-701"], 4, occupants=occupants, listed=listed)
    notice = finished(tell(script.opened, script.entries))
    assert isinstance(notice, GameFinished)
    assert audience(notice) == Audience(tuple(one.id for one in PEOPLE[:3]), everybody=listed)
    assert notice.totals == script.game.totals
    assert [one.seat for one in notice.seats] == list(SEATS)
    assert [one.kind for one in notice.seats] == ["person"] * 3 + ["house"]
