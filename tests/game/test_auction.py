"""Who may call what, when the auction ends, and what then stands."""

import pytest

from app.game.actions import Doubled, Speak
from app.game.auction import Auction, Bids, Calls, Contract, Say, legal_calls
from app.game.refusal import Why
from app.game.rules import PRESETS, Rules
from app.game.seats import SEATS, Seat
from app.game.trump import Trump
from tests.talk import E, N, S, W, auction, bid, bidding, deal, dealt, do, hands, playing, refusal, rules, say, why_not

ANNOUNCED, CLASSIC, ARENA, FFB = (rules(name) for name in ("announced-701", "classic-1000", "arena-2000", "ffb-2000"))
every_preset = pytest.mark.parametrize("played", PRESETS.values(), ids=PRESETS)
IN_TURN = [rules(name) for name in ("announced-701", "contree-701", "rounded-1000", "ffb-2000")]
ANY_TIME = [CLASSIC, ARENA]
in_turn = pytest.mark.parametrize("played", IN_TURN)
any_time = pytest.mark.parametrize("played", ANY_TIME)


def lowest(played: Rules) -> int:
    return played.lowest_bid


# --- who speaks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dealer", SEATS)
def test_the_seat_after_the_dealer_speaks_first(dealer: Seat) -> None:
    assert auction(ANNOUNCED, "", dealer).turn is dealer.next
    assert [bool(legal_calls(ANNOUNCED, auction(ANNOUNCED, "", dealer), seat)) for seat in SEATS] == [
        seat is dealer.next for seat in SEATS
    ]


@every_preset
def test_each_speaks_in_turn(played: Rules) -> None:
    assert why_not(played, "E pass", "W pass") is Why.NOT_YOUR_TURN
    assert why_not(played, "E pass", "E pass") is Why.NOT_YOUR_TURN
    assert why_not(played, "E pass", f"N {lowest(played)}H") is Why.NOT_YOUR_TURN
    assert why_not(played, "E pass", "S pass") is None


# --- bids ------------------------------------------------------------------------------------------------------------


@every_preset
def test_who_passed_may_speak_again(played: Rules) -> None:
    low = lowest(played)
    assert why_not(played, f"E pass, S {low}S, W pass, N pass", f"E {low + 10}H") is None


@every_preset
def test_a_bid_may_raise_one_s_partner(played: Rules) -> None:
    low = lowest(played)
    assert why_not(played, f"E {low}S, S pass", f"W {low + 10}S") is None


@every_preset
def test_a_bid_may_jump(played: Rules) -> None:
    assert why_not(played, "", f"E {lowest(played) + 50}D") is None


@every_preset
def test_suits_do_not_rank(played: Rules) -> None:
    low = lowest(played)
    for first in "SHDC":
        for then in "SHDC":
            assert why_not(played, f"E {low}{first}", f"S {low}{then}") is Why.BID_TOO_LOW
            assert why_not(played, f"E {low}{first}", f"S {low + 10}{then}") is None


@every_preset
def test_a_bid_must_be_above_the_standing_one(played: Rules) -> None:
    low = lowest(played)
    assert why_not(played, f"E {low + 20}S", f"S {low + 10}H") is Why.BID_TOO_LOW
    assert why_not(played, f"E {low + 20}S", f"S {low + 20}H") is Why.BID_TOO_LOW


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ("1H", Why.BID_TOO_LOW),
        ("0H", Why.BID_TOO_LOW),
        ("-80H", Why.BID_TOO_LOW),
        ("70H", Why.BID_TOO_LOW),
        ("80H", None),
        ("82H", Why.BID_OFF_STEP),
        ("83H", Why.BID_OFF_STEP),
        ("85H", Why.BID_OFF_STEP),
        ("160H", None),
        ("161H", Why.BID_TOO_HIGH),
        ("170H", Why.BID_TOO_HIGH),
        ("250H", Why.BID_TOO_HIGH),
        ("1000000000H", Why.BID_TOO_HIGH),
        ("capotH", None),
        ("capotSA", None),
        ("80TA", None),
    ],
)
def test_a_bid_is_80_to_160_by_ten_or_capot(told: str, why: Why | None) -> None:
    assert why_not(ANNOUNCED, "", f"E {told}") is why


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("announced-701", 80, 160),
        ("contree-701", 80, 160),
        ("classic-1000", 80, 180),
        ("rounded-1000", 80, 160),
        ("arena-2000", 82, 182),
        ("ffb-2000", 80, 650),
    ],
)
def test_the_numbers_a_preset_offers(name: str, low: int, high: int) -> None:
    played = rules(name)
    legal = {number for number in range(-10, 700) if why_not(played, "", f"E {number}H") is None}
    assert legal == set(range(low, high + 1, 10))


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("announced-701", True),
        ("contree-701", False),
        ("classic-1000", True),
        ("rounded-1000", False),
        ("arena-2000", True),
        ("ffb-2000", False),
    ],
)
def test_whether_sans_atout_and_tout_atout_are_offered(name: str, offered: bool) -> None:
    for trump in ("SA", "TA"):
        assert why_not(rules(name), "", f"E {lowest(rules(name))}{trump}") is (None if offered else Why.TRUMP_NOT_OFFERED)
        assert why_not(rules(name), "", f"E capot{trump}") is (None if offered else Why.TRUMP_NOT_OFFERED)


def test_a_table_may_offer_one_of_sans_atout_and_tout_atout() -> None:
    played = rules("ffb-2000", sans_atout=True)
    assert why_not(played, "", "E 80SA") is None
    assert why_not(played, "", "E 80TA") is Why.TRUMP_NOT_OFFERED


@every_preset
def test_above_the_highest_number_only_capot_is_left(played: Rules) -> None:
    at_the_top = auction(played, f"E {played.highest_bid}H")
    assert legal_calls(played, at_the_top, S).bids == Bids(None, 10, played.highest_bid, True, played.trumps)
    assert why_not(played, f"E {played.highest_bid}H", f"S {played.highest_bid + 10}S") is Why.BID_TOO_HIGH
    assert why_not(played, f"E {played.highest_bid}H", f"S {played.highest_bid}S") is Why.BID_TOO_LOW
    assert why_not(played, f"E {played.highest_bid}H", "S capotS") is None


# --- capot -----------------------------------------------------------------------------------------------------------


@every_preset
def test_nothing_is_above_a_capot(played: Rules) -> None:
    for call in (f"S {played.highest_bid}S", "S capotS", f"S {lowest(played)}H"):
        assert why_not(played, "E capotH", call) is Why.CAPOT_STANDS
    assert legal_calls(played, auction(played, "E capotH"), S).bids is None


@every_preset
def test_a_capot_closes_like_any_bid(played: Rules) -> None:
    assert not auction(played, "E capotH, S pass, W pass").is_closed
    assert auction(played, "E capotH, S pass, W pass, N pass").is_closed


@every_preset
def test_a_capot_may_be_coinched_and_surcoinched(played: Rules) -> None:
    said = auction(played, "E capotH, S coinche, W surcoinche")
    assert said.contract == Contract(E, bid("capotH"), 2)
    assert said.is_closed


def test_capot_follows_a_number_and_takes_the_contract() -> None:
    assert auction(ANNOUNCED, "E 160H, S capotC, W pass, N pass, E pass").contract == Contract(S, bid("capotC"))


# --- the end ---------------------------------------------------------------------------------------------------------


@every_preset
@pytest.mark.parametrize("before", ["", "E pass, ", "E pass, S pass, "])
def test_three_passes_after_a_bid_close(played: Rules, before: str) -> None:
    seats = iter("ESWNESWN"[before.count("pass") :])
    told = f"{before}{next(seats)} {lowest(played)}H"
    for _ in range(3):
        assert not auction(played, told).is_closed
        told += f", {next(seats)} pass"
    assert auction(played, told).is_closed
    assert not any(legal_calls(played, auction(played, told), seat) for seat in SEATS)


@every_preset
def test_three_passes_without_a_bid_leave_the_fourth_his_word(played: Rules) -> None:
    three = "E pass, S pass, W pass"
    assert not auction(played, three).is_closed
    assert why_not(played, three, f"N {lowest(played)}H") is None


@every_preset
def test_four_passes_close_without_a_contract(played: Rules) -> None:
    said = auction(played, "E pass, S pass, W pass, N pass")
    assert said.is_closed
    assert said.contract is None


def test_a_raise_counts_the_passes_anew() -> None:
    assert not auction(ANNOUNCED, "E 80H, S pass, W pass, N 90S, E pass, S pass").is_closed


def test_the_declarer_is_the_seat_of_the_last_bid() -> None:
    said = auction(ANNOUNCED, "E 80H, S pass, W 90H, N pass, E pass, S pass")
    assert said.contract == Contract(W, bid("90H"))


# --- coinche ---------------------------------------------------------------------------------------------------------


@every_preset
def test_nobody_coinches_before_a_bid(played: Rules) -> None:
    assert why_not(played, "", "E coinche") is Why.NOTHING_TO_COINCHE
    assert why_not(played, "E pass, S pass, W pass", "N coinche") is Why.NOTHING_TO_COINCHE


@every_preset
def test_nobody_coinches_his_own_side(played: Rules) -> None:
    low = lowest(played)
    assert why_not(played, f"E {low}S, S pass", "W coinche") is Why.OWN_BID
    assert why_not(played, f"E {low}S, S pass, W pass", "E coinche") is Why.OWN_BID


@every_preset
def test_who_passed_may_still_coinche(played: Rules) -> None:
    low = lowest(played)
    assert why_not(played, f"E pass, S pass, W pass, N {low}H", "E coinche") is None
    assert why_not(played, f"E {low}H, S pass, W {low + 10}H, N pass, E pass", "S coinche") is None


@in_turn
def test_in_turn_a_coinche_waits_for_its_turn(played: Rules) -> None:
    assert why_not(played, "E 80H", "N coinche") is Why.NOT_YOUR_TURN
    assert why_not(played, "E 80H, S pass, W pass", "N coinche") is None


@any_time
def test_at_any_time_either_opponent_may_coinche(played: Rules) -> None:
    low = lowest(played)
    for told in (f"E {low}H", f"E {low}H, S pass", f"E {low}H, S pass, W pass"):
        for seat in "NS":
            assert why_not(played, told, f"{seat} coinche") is None
        for seat in "EW":
            assert why_not(played, told, f"{seat} coinche") is Why.OWN_BID


@any_time
def test_a_coinche_out_of_turn_ends_the_pending_turn(played: Rules) -> None:
    told = f"E {lowest(played)}H, N coinche"
    assert why_not(played, told, "S pass") is Why.NOT_YOUR_TURN
    assert auction(played, told).turn is E


@any_time
def test_a_coinche_that_comes_after_the_raise_is_not_moved_to_it(played: Rules) -> None:
    """The bid it names no longer stands: order of acceptance decides."""
    low = lowest(played)
    game = say(dealt(played, hands()), f"E {low}H, S pass, W {low + 10}H")
    late = Speak(N, Say.COINCHE, Doubled(game.deal, bid(f"{low}H")))
    assert refusal(game, late) is Why.OTHER_BID
    assert refusal(game, Speak(N, Say.COINCHE, Doubled(game.deal, bid(f"{low + 10}H")))) is None


@any_time
def test_a_coinche_of_the_last_deal_s_bid_is_refused(played: Rules) -> None:
    low = lowest(played)
    game = say(dealt(played, hands()), f"E {low}H")
    assert refusal(game, Speak(S, Say.COINCHE, Doubled(game.deal - 1, bid(f"{low}H")))) is Why.OTHER_BID


@pytest.mark.parametrize("told", ["", "E pass"])
def test_a_coinche_of_a_bid_where_nothing_stands(told: str) -> None:
    game = say(dealt(rules("classic-1000"), hands()), told)
    assert refusal(game, Speak(S, Say.COINCHE, Doubled(game.deal, bid("80H")))) is Why.NOTHING_TO_COINCHE


@any_time
def test_after_the_closing_pass_it_is_too_late_to_coinche(played: Rules) -> None:
    low = lowest(played)
    game = say(dealt(played, hands()), f"E {low}H, S pass, W pass, N pass")
    assert refusal(game, Speak(S, Say.COINCHE, Doubled(game.deal, bid(f"{low}H")))) is Why.NOT_NOW


@every_preset
def test_after_a_coinche_there_are_no_more_bids(played: Rules) -> None:
    told = f"E {lowest(played)}H, S coinche"
    for seat in "NESW":
        assert why_not(played, told, f"{seat} {lowest(played) + 10}S") is Why.COINCHED
        assert why_not(played, told, f"{seat} coinche") is Why.COINCHED


@every_preset
def test_after_a_coinche_only_the_declarers_speak_the_next_seat_first(played: Rules) -> None:
    low = lowest(played)
    said = auction(played, f"E {low}H, S coinche")
    assert said.turn is W
    assert [bool(legal_calls(played, said, seat)) for seat in SEATS] == [False, False, False, True]
    assert auction(played, f"E {low}H, S coinche, W pass").turn is E
    assert auction(played, f"E {low}H, S pass, W pass, N coinche").turn is E
    assert auction(played, f"E {low}H, S pass, W pass, N coinche, E pass").turn is W


@every_preset
def test_two_declines_start_the_play(played: Rules) -> None:
    assert not auction(played, f"E {lowest(played)}H, S coinche, W pass").is_closed
    said = auction(played, f"E {lowest(played)}H, S coinche, W pass, E pass")
    assert said.is_closed
    assert said.contract == Contract(E, bid(f"{lowest(played)}H"), 1)


@every_preset
@pytest.mark.parametrize("answers", ["W surcoinche", "W pass, E surcoinche"])
def test_a_surcoinche_starts_the_play(played: Rules, answers: str) -> None:
    said = auction(played, f"E {lowest(played)}H, S coinche, {answers}")
    assert said.is_closed
    assert said.contract == Contract(E, bid(f"{lowest(played)}H"), 2)


@every_preset
def test_nobody_surcoinches_what_is_not_coinched(played: Rules) -> None:
    assert why_not(played, f"E {lowest(played)}H", "S surcoinche") is Why.NOT_COINCHED
    assert why_not(played, f"E {lowest(played)}H, S pass", "W surcoinche") is Why.NOT_COINCHED
    assert why_not(played, "", "E surcoinche") is Why.NOT_COINCHED


@every_preset
def test_only_the_coinched_side_surcoinches(played: Rules) -> None:
    for seat in "NS":
        assert why_not(played, f"E {lowest(played)}H, S coinche", f"{seat} surcoinche") is Why.NOT_YOUR_TURN


def test_passes_before_the_coinche_do_not_count_as_declines() -> None:
    said = auction(ANNOUNCED, "E 80H, S pass, W pass, N coinche, E pass")
    assert not said.is_closed


@every_preset
def test_a_coinched_contract_keeps_its_bid_and_declarer_at_each_level(played: Rules) -> None:
    told = f"E {lowest(played)}C"
    for level, more in enumerate(("", ", S coinche", ", W surcoinche")):
        told += more
        assert auction(played, told).contract == Contract(E, bid(f"{lowest(played)}C"), level)


# --- the range that players are sent ---------------------------------------------------------------------------------


def test_bids_are_offered_as_a_range() -> None:
    assert legal_calls(ANNOUNCED, auction(ANNOUNCED, "E 90H"), S) == Calls(
        may_pass=True, bids=Bids(100, 10, 160, True, tuple(Trump)), coinche=bid("90H")
    )


def test_out_of_turn_only_a_coinche_is_offered() -> None:
    said = auction(CLASSIC, "E 90H")
    assert legal_calls(CLASSIC, said, N) == Calls(coinche=bid("90H"))
    assert legal_calls(CLASSIC, said, W) == Calls()


def test_each_deal_has_an_auction_of_its_own() -> None:
    game = say(dealt(ANNOUNCED, hands()), "E pass, S pass, W pass, N pass")
    again = bidding(do(game, deal(hands(), E)))
    assert again.auction == Auction(turn=S)


def test_a_coinche_and_two_passes_play_the_coinched_contract() -> None:
    game = say(dealt(ANNOUNCED, hands()), "E 80H, S coinche, W pass, E pass")
    assert playing(game).contract == Contract(E, bid("80H"), 1)
