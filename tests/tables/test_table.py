"""Who may sit down, leave, be ready, and act at a table."""

from collections.abc import Callable
from itertools import permutations
from random import Random

import pytest

from app.game.actions import Play, Speak
from app.game.auction import Bid, Say
from app.game.cards import PACK
from app.game.refusal import Refused, Why
from app.game.seats import SEATS, Seat
from app.game.trump import Trump
from app.tables.commands import (
    AddHouse,
    CallStandIn,
    Command,
    GetReady,
    HouseDeals,
    HousePlays,
    HouseStarts,
    InGame,
    Leave,
    ReadSheet,
    RemoveHouse,
    Return,
    Sit,
    Start,
)
from app.tables.judge import is_closable, may_close
from app.tables.lobby import HOUSES
from app.tables.table import (
    HostChanged,
    House,
    Person,
    Place,
    ReadyChanged,
    SeatAway,
    SeatBack,
    SeatLeft,
    SeatTaken,
    SheetRead,
    Table,
    evolve_all,
)
from tests.seats import (
    ALMA,
    BASILE,
    CLEO,
    DARIO,
    FOUR,
    NINA,
    OMAR,
    PAUL,
    ROSA,
    UMA,
    a_deal,
    between_deals,
    bidding,
    by,
    do,
    four_ready,
    four_seated,
    game_begun,
    in_a_trick,
    opened,
    over,
    played_out,
    refuses,
    running,
    told,
)

S0, S1, S2, S3 = SEATS
PASS = InGame(Speak(S0, Say.PASS))
EVERYWHERE = {
    "opened": opened,
    "seated": four_seated,
    "ready": four_ready,
    "begun": game_begun,
    "bidding": bidding,
    "in a trick": in_a_trick,
    "between deals": between_deals,
    "over": over,
}


# --- sitting down ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", SEATS)
def test_who_names_no_seat_sits_opposite_the_host_first(seat: Seat) -> None:
    table = do(opened(), (NINA, Sit(NINA, seat)), (PAUL, Sit(PAUL)), (ROSA, Sit(ROSA)))
    assert table.seat_of(PAUL.id) is seat.partner
    assert table.seat_of(ROSA.id) is next(one for one in SEATS if one not in (seat, seat.partner))


def test_bots_leave_the_seat_opposite_to_a_friend() -> None:
    table = do(opened(), (NINA, Sit(NINA, S0)), (NINA, AddHouse(HOUSES)), (NINA, AddHouse(HOUSES)), (PAUL, Sit(PAUL)))
    assert table.seat_of(PAUL.id) is S2


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_the_seat_chosen_is_the_seat_given_in_any_order_of_coming(order: tuple[int, ...]) -> None:
    table = do(opened(), *((FOUR[number], Sit(FOUR[number], Seat(number))) for number in order))
    assert table.people == FOUR
    assert table.seat_of(ROSA.id) is Seat(0).partner


def test_sitting_down_again_changes_nothing() -> None:
    table = four_seated()
    assert told(table, PAUL, Sit(PAUL)) == ()
    assert told(table, PAUL, Sit(PAUL, S1)) == ()
    assert told(bidding(), PAUL, Sit(PAUL)) == ()


def test_another_free_seat_may_be_taken_before_the_game() -> None:
    table = do(opened(), (NINA, Sit(NINA, S0)), (NINA, GetReady(True)), (NINA, Sit(NINA, S2)))
    assert [place.person for place in table.places] == [None, None, NINA, None]
    assert not table.places[S2].ready
    assert table.host == NINA.id


def test_a_taken_seat_stays_taken() -> None:
    table = do(opened(), (NINA, Sit(NINA, S0)), (NINA, AddHouse(HOUSES, S1)))
    refuses(table, PAUL, Sit(PAUL, S0), Why.SEAT_TAKEN)
    refuses(table, PAUL, Sit(PAUL, S1), Why.SEAT_TAKEN)
    refuses(four_seated(), UMA, Sit(UMA), Why.TABLE_FULL)
    refuses(four_seated(), NINA, Sit(NINA, S1), Why.SEAT_TAKEN)


@pytest.mark.parametrize("table", [game_begun(), bidding(), between_deals()])
def test_nobody_changes_seats_in_a_game(table: Table) -> None:
    refuses(table, UMA, Sit(UMA), Why.GAME_RUNNING)
    refuses(table, NINA, Sit(NINA, S1), Why.GAME_RUNNING)


def test_whoever_sits_down_at_an_empty_table_is_its_host() -> None:
    table = do(opened(), (NINA, Sit(NINA)), (NINA, Leave()), (PAUL, Sit(PAUL)))
    assert table.host == PAUL.id


# --- leaving ---------------------------------------------------------------------------------------------------------


def test_leaving_frees_the_seat() -> None:
    table = do(four_ready(), (PAUL, Leave()))
    assert table.places[S1] == Place()


def test_the_host_who_leaves_hands_the_table_on() -> None:
    assert told(four_seated(), NINA, Leave()) == (SeatLeft(S0), HostChanged(PAUL.id))
    assert told(four_seated(), PAUL, Leave()) == (SeatLeft(S1),)
    alone = do(opened(), (NINA, Sit(NINA)))
    assert told(alone, NINA, Leave()) == (SeatLeft(S0),)


def test_in_a_game_the_seat_is_kept_for_its_owner() -> None:
    table = do(bidding(), (PAUL, Leave()))
    assert table.places[S1].person == PAUL
    assert table.places[S1].away
    assert told(table, PAUL, Leave()) == ()
    assert told(table, PAUL, Return()) == (SeatBack(S1),)


def test_one_who_is_not_away_returns_without_a_word() -> None:
    assert told(bidding(), PAUL, Return()) == ()


def test_who_is_away_at_the_end_has_left_and_is_no_host_any_more() -> None:
    table = do(bidding(), (NINA, Leave()), (ROSA, Leave()))
    table = played_out(table, Random(1))
    assert table.people == (PAUL, OMAR)
    assert table.host == PAUL.id
    assert [place.ready for place in table.places] == [False] * 4


def test_with_everybody_away_the_next_who_sits_down_is_host() -> None:
    table = do(bidding(), *((one, Leave()) for one in FOUR))
    table = played_out(table, Random(2))
    assert table.people == ()
    assert do(table, (UMA, Sit(UMA))).host == UMA.id


@pytest.mark.parametrize("seed", range(20))
def test_coming_and_going_in_any_order_leaves_a_table_in_order(seed: int) -> None:
    """The fourth comes while another leaves: whichever is first, nobody sits twice, and a host sits there if anybody does."""
    dice, table = Random(seed), opened()
    people = (*FOUR, UMA)
    for _ in range(300):
        one = dice.choice(people)
        seat = dice.choice((None, *SEATS))
        command: Command = dice.choice(
            (Sit(one, seat), Sit(one, seat), Leave(), GetReady(dice.random() < 0.5), AddHouse(HOUSES, seat), RemoveHouse(S2))
        )
        before = table
        try:
            table = do(table, (one, command))
        except Refused:
            assert table is before
        sitting = [place.occupant for place in table.places if place.occupant is not None]
        assert len(sitting) == len(set(sitting))
        assert not table.people or table.host in {person.id for person in table.people}
        assert not any(place.ready for place in table.places if place.occupant is None)


# --- the house -------------------------------------------------------------------------------------------------------


def test_players_of_the_house_sit_down_one_by_one_and_are_ready() -> None:
    table = do(opened(), (NINA, Sit(NINA)), (NINA, AddHouse(HOUSES, S3)), (NINA, AddHouse(HOUSES)))
    assert [place.house for place in table.places] == [None, BASILE, None, ALMA]
    assert [place.ready for place in table.places] == [False, True, False, True]


def test_the_same_player_of_the_house_never_sits_twice() -> None:
    table = do(opened(), (NINA, Sit(NINA)), (NINA, AddHouse((BASILE,))))
    refuses(table, NINA, AddHouse((BASILE,)), Why.TABLE_FULL)
    assert {place.house for place in do(table, (NINA, Start(HOUSES))).places} == {None, ALMA, BASILE, CLEO}


def test_a_player_of_the_house_can_be_sent_away() -> None:
    table = do(opened(), (NINA, Sit(NINA)), (NINA, AddHouse(HOUSES, S1)))
    assert told(table, NINA, RemoveHouse(S1)) == (SeatLeft(S1),)
    refuses(table, NINA, RemoveHouse(S0), Why.NO_HOUSE_PLAYER)
    refuses(table, NINA, RemoveHouse(S2), Why.NO_HOUSE_PLAYER)


def test_a_full_table_has_no_room_for_the_house() -> None:
    refuses(four_seated(), NINA, AddHouse(HOUSES), Why.TABLE_FULL)
    refuses(four_seated(), NINA, AddHouse(HOUSES, S1), Why.SEAT_TAKEN)


def test_start_fills_the_free_seats_and_makes_the_host_ready() -> None:
    table = do(opened(), (NINA, Sit(NINA)), (PAUL, Sit(PAUL, S2)))
    assert told(table, NINA, Start(HOUSES)) == (
        SeatTaken(S1, ALMA),
        ReadyChanged(S1, True),
        SeatTaken(S3, BASILE),
        ReadyChanged(S3, True),
        ReadyChanged(S0, True),
    )


def test_a_host_without_a_seat_cannot_start() -> None:
    refuses(opened(), NINA, Start(HOUSES), Why.NOT_SEATED)


@pytest.mark.parametrize("command", [AddHouse(HOUSES), RemoveHouse(S1), Start(HOUSES), CallStandIn(S3)])
def test_only_the_host_calls_the_house(command: Command) -> None:
    table = in_a_trick() if isinstance(command, CallStandIn) else four_seated()
    refuses(table, PAUL, command, Why.NOT_HOST)


@pytest.mark.parametrize("command", [AddHouse(HOUSES), RemoveHouse(S1), Start(HOUSES), GetReady(True)])
def test_in_a_game_the_seats_are_as_they_are(command: Command) -> None:
    refuses(bidding(), NINA, command, Why.GAME_RUNNING)


# --- starting --------------------------------------------------------------------------------------------------------


def test_a_game_begins_when_four_are_ready() -> None:
    table = do(four_ready(), (PAUL, GetReady(False)))
    refuses(table, None, HouseStarts(S2), Why.NOT_READY)
    begun = do(table, (PAUL, GetReady(True)), (None, HouseStarts(S2)))
    assert running(begun).id == f"{table.id}/1"
    assert begun.games == 1
    refuses(begun, None, HouseStarts(S2), Why.GAME_RUNNING)


def test_being_ready_twice_is_being_ready() -> None:
    assert told(four_ready(), PAUL, GetReady(True)) == ()
    assert told(four_seated(), PAUL, GetReady(False)) == ()


def test_the_house_does_not_play_among_itself() -> None:
    table = do(opened(), *((NINA, AddHouse(HOUSES)) for _ in SEATS))
    refuses(table, None, HouseStarts(S0), Why.NOT_READY)


def test_another_game_needs_everybody_ready_again_but_the_house() -> None:
    table = do(opened(), (NINA, Sit(NINA)), (NINA, Start(HOUSES)), (None, HouseStarts(S0)))
    table = played_out(table, Random(3))
    refuses(table, None, HouseStarts(S0), Why.NOT_READY)
    again = do(table, (NINA, GetReady(True)), (None, HouseStarts(S0)))
    assert again.games == 2
    assert running(again).totals.A == running(again).totals.B == 0


# --- in a game -------------------------------------------------------------------------------------------------------


def test_a_person_acts_for_the_own_seat_only() -> None:
    table = bidding()
    refuses(table, PAUL, PASS, Why.NOT_YOUR_TURN)
    refuses(table, UMA, PASS, Why.NOT_SEATED)
    refuses(table, None, PASS, Why.NOT_SEATED)
    refuses(table, PAUL, InGame(Speak(S1, Say.PASS)), Why.NOT_YOUR_TURN)
    assert told(table, NINA, PASS)


def test_without_a_game_nothing_can_be_played() -> None:
    for table in (four_seated(), over()):
        refuses(table, NINA, PASS, Why.NO_GAME)
        refuses(table, NINA, ReadSheet(), Why.NO_GAME)
        refuses(table, None, HouseDeals(a_deal()), Why.NO_GAME)
        refuses(table, None, HousePlays(Speak(S0, Say.PASS)), Why.NOT_YOUR_TURN)
        refuses(table, NINA, CallStandIn(S1), Why.NO_GAME)


def test_the_house_plays_for_the_seat_in_turn_only_and_its_owner_is_away_from_then_on() -> None:
    table = bidding(clock=15)
    refuses(table, None, HousePlays(Speak(S1, Say.PASS)), Why.NOT_YOUR_TURN)
    events = told(table, None, HousePlays(Speak(S0, Say.PASS)))
    assert events[0] == SeatAway(S0)
    assert SeatAway not in map(type, told(do(table, (NINA, Leave())), None, HousePlays(Speak(S0, Say.PASS))))


def test_acting_takes_the_seat_back() -> None:
    table = do(bidding(), (NINA, Leave()))
    assert told(table, NINA, PASS)[0] == SeatBack(S0)


def test_a_refused_action_does_not_take_the_seat_back() -> None:
    table = do(bidding(), (NINA, Leave()))
    refuses(table, NINA, InGame(Speak(S0, Bid(170, Trump.HEARTS))), Why.BID_TOO_HIGH)
    assert table.places[S0].away


def test_nobody_deals_twice() -> None:
    refuses(bidding(), None, HouseDeals(a_deal()), Why.NOT_NOW)


# --- the sheet -------------------------------------------------------------------------------------------------------


def test_the_sheet_is_read_once_by_each() -> None:
    table = do(between_deals(), (PAUL, ReadSheet()))
    assert table.read == {S1}
    assert told(table, PAUL, ReadSheet()) == ()
    assert told(do(table, (ROSA, Leave())), ROSA, ReadSheet()) == (SeatBack(S2), SheetRead(S2))
    refuses(table, UMA, ReadSheet(), Why.NOT_SEATED)
    refuses(bidding(), PAUL, ReadSheet(), Why.NOT_NOW)


def test_a_new_deal_is_a_new_sheet() -> None:
    assert do(between_deals(), (PAUL, ReadSheet()), (None, HouseDeals(a_deal()))).read == frozenset()


# --- the stand-in ----------------------------------------------------------------------------------------------------


def test_without_a_clock_the_host_calls_the_stand_in() -> None:
    table = bidding()
    assert told(table, NINA, CallStandIn(S1)) == (SeatAway(S1),)
    assert told(do(table, (NINA, CallStandIn(S1))), NINA, CallStandIn(S1)) == ()


def test_with_a_clock_there_is_no_need_for_it() -> None:
    refuses(bidding(clock=15), NINA, CallStandIn(S1), Why.CLOCK_RUNNING)


def test_the_house_needs_no_stand_in() -> None:
    table = do(opened(), (NINA, Sit(NINA)), (NINA, Start(HOUSES)), (None, HouseStarts(S0)))
    refuses(table, NINA, CallStandIn(S1), Why.NOT_SEATED)


def test_a_host_who_is_gone_does_not_hold_up_the_game() -> None:
    table = bidding()
    assert told(table, PAUL, CallStandIn(S0)) == (SeatAway(S0),)
    table = do(table, (PAUL, CallStandIn(S0)))
    assert told(table, PAUL, CallStandIn(S2)) == (SeatAway(S2),)
    refuses(table, UMA, CallStandIn(S2), Why.NOT_SEATED)


# --- all of it -------------------------------------------------------------------------------------------------------


def _commands(one: Person) -> list[Command]:
    cards = [InGame(Play(seat, card)) for seat in SEATS for card in PACK]
    calls = [InGame(Speak(seat, call)) for seat in SEATS for call in (*Say, Bid(80, Trump.HEARTS), Bid("capot", Trump.NONE))]
    seats = [command(seat) for seat in SEATS for command in (RemoveHouse, CallStandIn, HouseStarts)]
    sits = [Sit(one, seat) for seat in (None, *SEATS)]
    return [
        *(*cards, *calls, *seats, *sits, *(HousePlays(each.action) for each in (*cards, *calls))),
        *(Leave(), GetReady(True), GetReady(False), AddHouse(HOUSES), AddHouse((DARIO,), S1), Start(HOUSES)),
        *(Return(), ReadSheet(), HouseDeals(a_deal())),
    ]


def close_refused(table: Table, person: Person) -> Why | None:
    try:
        may_close(table, by(person))
    except Refused as no:
        return no.why
    return None


@pytest.mark.parametrize("name", EVERYWHERE)
def test_the_host_alone_closes_a_table_and_not_under_a_running_game(name: str) -> None:
    table = EVERYWHERE[name]()
    assert close_refused(table, NINA) == (Why.GAME_RUNNING if table.is_playing else None)
    assert close_refused(table, PAUL) is Why.NOT_HOST
    assert is_closable(table, table.is_playing) == (not table.is_playing)


def test_a_game_in_which_only_the_host_sits_may_be_closed() -> None:
    table = do(opened(), (NINA, Sit(NINA)), (NINA, Start(HOUSES)), (None, HouseStarts(S3)))
    assert table.is_playing
    assert close_refused(table, NINA) is None
    assert is_closable(table, table.is_playing)


@pytest.mark.parametrize("name", EVERYWHERE)
def test_whatever_is_asked_of_any_table_is_done_or_refused(name: str) -> None:
    """No other error comes of it, and the events that are told always fit the table they were told of."""
    make: Callable[[], Table] = EVERYWHERE[name]
    table = make()
    for one in (*FOUR, UMA, None):
        for command in _commands(one or UMA):
            try:
                events = told(table, one, command)
            except Refused:
                continue
            assert evolve_all(table, events).turn >= table.turn
    assert table == make()


def test_a_house_player_and_a_person_are_told_apart() -> None:
    assert Place(House("g_nina", "Nina")).person is None
    assert Place(NINA).house is None
