"""What the house owes a table, and when: it depends on whose turn it is, never on what anybody holds."""

from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest

from app.game.actions import Play, Redeal, Right, Speak
from app.game.auction import Say
from app.game.refusal import Refused
from app.game.rules import PRESETS
from app.game.seats import SEATS, Seat
from app.game.state import Bidding, Playing
from app.tables.commands import (
    CallStandIn,
    Command,
    GetReady,
    HouseDeals,
    HousePlays,
    HouseStarts,
    InGame,
    Leave,
    ReadSheet,
    Return,
    Sit,
    Start,
)
from app.tables.duty import Duty, duty, people_wait
from app.tables.lobby import HOUSES
from app.tables.play import _timer
from app.tables.table import HOUR, Person, Table
from tests.seats import (
    FOUR,
    NINA,
    OMAR,
    PAUL,
    ROSA,
    RULES,
    a_deal,
    between_deals,
    bidding,
    do,
    four_ready,
    four_seated,
    game_begun,
    in_a_trick,
    opened,
    over,
    played_on,
    played_out,
    running,
)

S0, S1, S2, S3 = SEATS
PASS = InGame(Speak(S0, Say.PASS))


RUNS_ON, STOPS = "runs on", "stops"


def clock(before: Table, after: Table) -> int | str:
    """What becomes of the clock from one table to the next: so many ms from now, or one of the words above."""
    timer = _timer(before, after)
    return RUNS_ON if timer is None else STOPS if timer.after is None else timer.after


def timer(table: Table, *steps: tuple[Person | None, Command]) -> int | str:
    """How the last of these steps moves the clock."""
    before = do(table, *steps[:-1])
    return clock(before, do(before, steps[-1]))


# --- what is owed ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [opened(), four_seated(), do(four_ready(), (PAUL, GetReady(False))), over()])
def test_a_table_that_is_not_ready_is_left_alone(table: Table) -> None:
    assert duty(table) is None
    assert not people_wait(table)


def test_a_ready_table_is_started_and_dealt_to_at_once() -> None:
    assert duty(four_ready()) == Duty(0, None, 0)
    assert duty(game_begun()) == Duty(1, None, 0)


def test_four_passes_stay_for_three_seconds_or_until_all_have_seen_them() -> None:
    table = do(bidding(), *((one, InGame(Speak(seat, Say.PASS))) for seat, one in zip(SEATS, FOUR, strict=True)))
    looked_at(table, 3_000)


def looked_at(table: Table, ms: int) -> None:
    """What lies there stays for so long, or until all who are there have said that they have seen it."""
    turn = table.turn
    for one in FOUR:
        assert duty(table) == Duty(turn, None, ms)
        assert people_wait(table)
        table = do(table, (one, ReadSheet()))
    assert duty(table) == Duty(turn, None, 0)
    assert not people_wait(table)


def test_four_of_the_house_are_not_started() -> None:
    table = do(opened(), (NINA, Sit(NINA)), (NINA, Start(HOUSES)), (NINA, Leave()))
    assert duty(table) is None
    assert duty(played_out(do(bidding(), *((one, Leave()) for one in FOUR)), Random(1))) is None


def test_a_player_of_the_house_acts_at_once() -> None:
    table = do(opened(15), (NINA, Sit(NINA, S1)), (NINA, Start(HOUSES)), (None, HouseStarts(S3)), (None, HouseDeals(a_deal())))
    assert duty(table) == Duty(2, S0, 0)


@pytest.mark.parametrize(("seconds", "after"), [(15, 15_000), (30, 30_000), (60, 60_000)])
def test_a_person_has_the_time_of_the_clock(seconds: int, after: int) -> None:
    assert duty(bidding(seconds)) == Duty(2, S0, after)
    assert people_wait(bidding(seconds))


def test_without_a_clock_a_person_has_all_the_time_there_is() -> None:
    assert duty(bidding()) is None
    assert duty(in_a_trick()) is None


@pytest.mark.parametrize("seconds", [None, 15])
def test_the_stand_in_waits_three_seconds_for_the_owner(seconds: int | None) -> None:
    table = do(bidding(seconds), (NINA, Leave()))
    assert duty(table) == Duty(2, S0, 3_000)
    assert people_wait(table)


def test_a_sheet_lies_for_ten_seconds_or_until_all_have_read_it() -> None:
    looked_at(between_deals(15), 10_000)


def test_nobody_waits_for_the_house_or_the_absent_to_read() -> None:
    table = do(between_deals(), (NINA, Leave()), (PAUL, Leave()), (ROSA, ReadSheet()))
    assert duty(table) == Duty(table.turn, None, 10_000)
    assert duty(do(table, (OMAR, Leave()))) == Duty(table.turn, None, 0)


def test_a_sheet_that_one_reads_alone_without_a_clock_stays() -> None:
    """With a clock it goes; and as soon as another comes back it is as ever. Where the reader goes too, the game is over."""
    leave = [(who, Leave()) for who in (NINA, PAUL, ROSA)]
    alone = do(between_deals(), *leave)
    assert duty(alone) is None
    assert not people_wait(alone)
    assert timer(do(between_deals(), *leave[:2]), leave[2]) == STOPS
    assert timer(alone, (ROSA, Return())) == 10_000
    assert duty(do(alone, (OMAR, ReadSheet()))) == Duty(alone.turn, None, 0)
    assert do(alone, (OMAR, Leave())).game is None
    assert duty(do(between_deals(15), *leave)) == Duty(alone.turn, None, 10_000)


def test_with_everybody_away_the_game_goes_on_to_its_end_and_no_further() -> None:
    table = do(bidding(), *((NINA, CallStandIn(seat)) for seat in (S1, S2, S3, S0)))
    for one in played_on(table, Random(8)):
        owed = duty(one)
        if not one.is_playing:
            assert owed is None
            return
        assert owed is not None
        assert owed.after == (0 if one.in_turn is None else 3_000)


def test_a_slow_game_that_all_have_left_goes_on_at_its_own_pace() -> None:
    table = do(bidding(24 * HOUR), *((one, Leave()) for one in FOUR))
    assert table.is_deserted
    assert duty(table) == Duty(table.turn, S0, 24 * HOUR * 1000)
    assert duty(do(bidding(24 * HOUR), (NINA, Leave()))) == Duty(table.turn, S0, 3_000)


@pytest.mark.parametrize("preset", PRESETS)
def test_no_card_decides_how_long_the_house_takes(preset: str) -> None:
    """The same table with the cards of two seats changed has the same duty."""
    table = bidding(15, replace(PRESETS[preset], target=500))
    for count, one in enumerate(played_on(do(table, (PAUL, Leave())), Random(9))):
        game = running(one)
        if not one.is_playing or count > 200:
            break
        if isinstance(game.phase, Bidding | Playing):
            hands = game.phase.hands
            other = replace(one, game=replace(game, phase=replace(game.phase, hands=hands[1:] + hands[:1])))
            assert duty(other) == duty(one)


# --- the clock -------------------------------------------------------------------------------------------------------


def test_a_new_turn_has_a_new_clock() -> None:
    assert timer(bidding(15), (NINA, PASS)) == 15_000
    assert timer(bidding(), (NINA, PASS)) == RUNS_ON


def test_what_is_due_at_once_is_due_at_once() -> None:
    assert timer(four_seated(), *((one, GetReady(True)) for one in FOUR)) == 0


def test_one_who_is_not_ready_after_all_stops_the_start() -> None:
    assert timer(four_ready(), (PAUL, GetReady(False))) == STOPS


@pytest.mark.parametrize(
    "step",
    [
        (NINA, Return()),
        (NINA, Sit(NINA)),
        (PAUL, Leave()),
        (PAUL, Return()),
    ],
)
def test_nothing_that_leaves_the_turn_as_it_is_moves_its_clock(step: tuple[Person, Command]) -> None:
    assert timer(bidding(15), step) == RUNS_ON
    assert timer(bidding(15), (PAUL, Leave()), step) == RUNS_ON


def test_leaving_in_ones_turn_leaves_the_stand_in_its_three_seconds() -> None:
    assert timer(bidding(30), (NINA, Leave())) == 3_000
    assert timer(bidding(), (NINA, CallStandIn(S1))) == RUNS_ON
    assert timer(bidding(), (PAUL, CallStandIn(S0))) == 3_000


def test_leaving_and_coming_back_does_not_wind_the_clock_up() -> None:
    table = do(bidding(15), (NINA, Leave()))
    assert timer(table, (NINA, Return())) == RUNS_ON
    assert timer(table, (NINA, Return()), (NINA, Leave())) == RUNS_ON
    assert timer(table, (NINA, Return()), (NINA, Leave()), (NINA, Return())) == RUNS_ON


def test_in_the_next_turn_one_who_came_back_has_the_whole_clock_again() -> None:
    table = do(bidding(15), (NINA, Leave()), (NINA, Return()), (NINA, PASS))
    for seat, one in ((S1, PAUL), (S2, ROSA), (S3, OMAR)):
        table = do(table, (one, InGame(Speak(seat, Say.PASS))))
    table = do(table, (None, HouseDeals(a_deal())))
    while table.in_turn is not S0:
        assert table.in_turn is not None
        table = do(table, (FOUR[table.in_turn], InGame(Speak(table.in_turn, Say.PASS))))
    assert duty(table) == Duty(table.turn, S0, 15_000)


def test_one_who_returns_after_the_stand_in_has_played_has_the_clock_of_the_turn() -> None:
    table = do(bidding(15), (PAUL, Leave()), (NINA, PASS))
    assert duty(table) == Duty(3, S1, 3_000)
    assert timer(table, (PAUL, Return())) == 15_000


def test_without_a_clock_one_who_returns_has_all_the_time_again() -> None:
    assert timer(do(bidding(), (NINA, Leave())), (NINA, Return())) == STOPS


def test_reading_the_sheet_does_not_move_its_time_until_all_have() -> None:
    table = between_deals()
    for one in FOUR[:3]:
        assert timer(table, (one, ReadSheet())) == RUNS_ON
        table = do(table, (one, ReadSheet()))
    assert timer(table, (OMAR, ReadSheet())) == 0


def test_the_last_card_of_a_deal_lays_the_sheet_down_for_ten_seconds() -> None:
    for table in played_on(bidding(15, replace(RULES, target=10_000)), Random(10)):
        phase = running(table).phase
        if isinstance(phase, Playing) and len(phase.taken) == 7 and len(phase.trick.cards) == 3:
            card = phase.hands[phase.trick.turn][0]
            assert timer(table, (FOUR[phase.trick.turn], InGame(Play(phase.trick.turn, card)))) == 10_000
            return


def test_a_belote_that_is_declared_costs_and_gives_no_time() -> None:
    """The turn is the next one's, with its own clock, whether anything was declared or not."""
    rules, found = replace(PRESETS["arena-2000"], target=10_000), 0
    before = bidding(30, rules)
    for after in played_on(before, Random(11)):
        if before.in_turn is not None and isinstance(running(before).phase, Playing):
            seat = before.in_turn
            phase = running(before).phase
            assert isinstance(phase, Playing)
            for card in phase.hands[seat]:
                command = InGame(Play(seat, card, belote=True))
                with suppress(Refused):
                    declared = do(before, (FOUR[seat], command))
                    plain = do(before, (FOUR[seat], InGame(Play(seat, card))))
                    assert clock(before, declared) == clock(before, plain)
                    found += 1
        before = after
        if found > 2:
            break
    assert found > 2


def test_a_hand_that_is_shown_stays_like_a_sheet_before_it_is_dealt_again() -> None:
    for seed in range(2_000):
        table = do(game_begun(15, replace(RULES, misere=True)), (None, HouseDeals(a_deal(seed))))
        with suppress(Refused):
            claimed = do(table, (NINA, InGame(Redeal(Seat(0), Right.MISERE))))
            looked_at(claimed, 10_000)
            return
    raise AssertionError("no poor hand in two thousand")


def test_the_stand_in_that_plays_goes_on_to_the_next_turn() -> None:
    assert timer(bidding(15), (None, HousePlays(Speak(S0, Say.PASS)))) == 15_000
