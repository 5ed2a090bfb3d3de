"""Who leaves for good, who is asked to make way, and who runs the table then."""

import pytest

from app.game.actions import Speak
from app.game.auction import Say
from app.game.refusal import Why
from app.game.seats import SEATS
from app.tables.commands import CallStandIn, FreeSeat, GetReady, HouseStarts, InGame, Leave, PassOn, Return, Sit, Start
from app.tables.history import Ended, tell
from app.tables.lobby import HOUSES
from app.tables.table import (
    HOUR,
    GameAbandoned,
    HostAskedToMove,
    HostChanged,
    Place,
    SeatAway,
    SeatBack,
    SeatLeft,
    Table,
)
from tests.finished import abandoned, played, played_for
from tests.seats import (
    FOUR,
    NINA,
    OMAR,
    PAUL,
    ROSA,
    RULES,
    UMA,
    between_deals,
    bidding,
    do,
    four_ready,
    four_seated,
    game_begun,
    in_a_trick,
    opened,
    over,
    refuses,
    told,
)

S0, S1, S2, S3 = SEATS
RUNNING = {"begun": game_begun, "bidding": bidding, "in a trick": in_a_trick, "between deals": between_deals}


# --- the last one to leave -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", RUNNING)
def test_the_last_person_to_leave_a_game_ends_it(where: str) -> None:
    table = do(RUNNING[where](), *((one, Leave()) for one in FOUR[:3]))
    assert table.is_playing
    assert told(table, OMAR, Leave()) == (SeatAway(S3, gone=True), GameAbandoned())
    left = do(table, (OMAR, Leave()))
    assert left.game is None
    assert left.places == (Place(),) * 4
    assert left.turn > table.turn
    again = do(left, (PAUL, Sit(PAUL)))
    assert (again.host, again.games) == (PAUL.id, 1)


def test_with_the_house_alone_one_leaves_alone() -> None:
    table = do(opened(), (NINA, Sit(NINA)), (NINA, Start(HOUSES)), (None, HouseStarts(S0)))
    assert told(table, NINA, Leave())[-1] == GameAbandoned()
    left = do(table, (NINA, Leave()))
    assert [place.house for place in left.places] == [None, *HOUSES[:3]]


def test_who_is_only_away_has_not_left() -> None:
    """Whoever lost the connection, or missed a turn, may find the game still there."""
    table = do(bidding(), (NINA, CallStandIn(S1)), *((one, Leave()) for one in (NINA, ROSA, OMAR)))
    assert table.is_playing
    assert told(table, PAUL, Leave())[-1] == GameAbandoned()


def test_who_has_come_back_has_not_left() -> None:
    table = do(bidding(), *((one, Leave()) for one in FOUR[:3]))
    back = do(table, (PAUL, Return()))
    assert told(back, OMAR, Leave()) == (SeatAway(S3, gone=True), HostChanged(PAUL.id))
    assert told(table, PAUL, Leave()) == ()


def test_a_slow_game_is_not_ended_by_leaving_it() -> None:
    table = do(bidding(24 * HOUR), *((one, Leave()) for one in FOUR))
    assert table.is_playing
    assert table.is_deserted
    assert told(table, PAUL, Return()) == (SeatBack(S1),)


def test_the_history_tells_how_a_game_ended_and_who_took_part() -> None:
    script = played(RULES, 3)
    left = tell(script.opened, abandoned(script, 20).entries)
    assert (left.ended, left.winner, left.number, left.game.id) == (Ended.ABANDONED, None, 1, script.game.id)
    assert left.occupants == tuple(place.person for place in script.opened.places)
    assert left.acted == {one.command.action.seat for one in script.entries[:20] if isinstance(one.command, InGame)}
    whole = tell(script.opened, script.entries)
    assert whole.ended is Ended.PLAYED
    assert whole.acted == frozenset(SEATS)
    assert whole.winner is not None


def test_what_the_house_plays_for_somebody_is_no_taking_part() -> None:
    script = played_for(played(RULES, 4), S1, S2)
    assert tell(script.opened, script.entries).acted == frozenset({S0, S3})


# --- seats that are freed --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [four_seated(), four_ready(), over()], ids=["seated", "ready", "over"])
def test_the_host_frees_a_seat_before_and_between_games(table: Table) -> None:
    assert told(table, NINA, FreeSeat(S2)) == (SeatLeft(S2),)
    assert told(table, NINA, FreeSeat(S0)) == (SeatLeft(S0), HostChanged(PAUL.id))  # is to leave


def test_nobody_else_does_and_not_in_a_game() -> None:
    refuses(four_seated(), PAUL, FreeSeat(S2), Why.NOT_HOST)
    refuses(four_seated(), PAUL, FreeSeat(S0), Why.NOT_HOST)
    refuses(four_seated(), PAUL, FreeSeat(S2, idle=True), Why.NOT_HOST)
    refuses(four_seated(), UMA, FreeSeat(S0, idle=True), Why.NOT_SEATED)
    refuses(bidding(), NINA, FreeSeat(S2), Why.GAME_RUNNING)
    refuses(bidding(), PAUL, FreeSeat(S0, idle=True), Why.GAME_RUNNING)


def test_a_seat_where_no_person_sits_is_not_freed() -> None:
    table = do(opened(), (NINA, Sit(NINA)))
    refuses(table, NINA, FreeSeat(S2), Why.NOBODY_THERE)
    refuses(do(table, (NINA, Start(HOUSES))), NINA, FreeSeat(S1), Why.NOBODY_THERE)


def test_where_the_host_does_nothing_all_others_agree() -> None:
    table = do(four_seated(), (PAUL, FreeSeat(S0, idle=True)), (ROSA, FreeSeat(S0, idle=True)))
    assert table.asking == {S1, S2}
    assert told(table, ROSA, FreeSeat(S0, idle=True)) == ()
    assert told(table, OMAR, FreeSeat(S0, idle=True)) == (HostAskedToMove(S3), SeatLeft(S0), HostChanged(PAUL.id))
    freed = do(table, (OMAR, FreeSeat(S0, idle=True)))
    assert (freed.asking, freed.host) == (frozenset(), PAUL.id)


def test_whoever_has_asked_and_gone_does_not_count() -> None:
    table = do(four_seated(), (PAUL, FreeSeat(S0, idle=True)), (PAUL, Leave()), (ROSA, FreeSeat(S0, idle=True)))
    assert table.asking == {S2}
    assert told(table, OMAR, FreeSeat(S0, idle=True))[-1] == HostChanged(ROSA.id)


# --- the stand-in for who does not move ------------------------------------------------------------------------------


def test_the_host_calls_it_at_once() -> None:
    assert told(bidding(), NINA, CallStandIn(S1, idle=True)) == (SeatAway(S1),)
    refuses(bidding(), PAUL, CallStandIn(S2, idle=True), Why.NOT_HOST)


def test_for_a_host_who_does_not_move_all_others_do() -> None:
    table = do(bidding(), (PAUL, CallStandIn(S0, idle=True)), (ROSA, Leave()))
    assert table.asking == {S1}
    assert told(table, OMAR, CallStandIn(S0, idle=True)) == (HostAskedToMove(S3), SeatAway(S0))


def test_a_host_who_moves_after_all_is_no_longer_asked() -> None:
    table = do(bidding(), (PAUL, CallStandIn(S0, idle=True)))
    moved = do(table, (NINA, InGame(Speak(S0, Say.PASS))))
    assert moved.asking == frozenset()


# --- a host who is gone ----------------------------------------------------------------------------------------------


def test_the_house_lets_somebody_else_be_host() -> None:
    assert told(bidding(), None, PassOn(NINA.id, ROSA.id)) == (HostChanged(ROSA.id),)
    assert told(bidding(), None, PassOn(PAUL.id, ROSA.id)) == ()  # another process was faster
    assert told(bidding(), None, PassOn(NINA.id, UMA.id)) == ()  # who has left meanwhile
    assert told(bidding(), PAUL, PassOn(NINA.id, PAUL.id)) == ()


def test_a_host_who_leaves_a_game_hands_the_table_on() -> None:
    table = do(bidding(), (PAUL, Leave()))
    assert told(table, NINA, Leave()) == (SeatAway(S0, gone=True), HostChanged(ROSA.id))


def test_a_ready_seat_that_is_freed_is_ready_no_more() -> None:
    assert not do(four_ready(), (NINA, FreeSeat(S2)), (UMA, Sit(UMA))).places[S2].ready
    assert do(four_ready(), (NINA, FreeSeat(S2)), (UMA, Sit(UMA)), (UMA, GetReady(True))).is_ready
