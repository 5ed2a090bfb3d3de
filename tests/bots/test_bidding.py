"""Textbook auctions: what a hand opens, when a partner raises, when one doubles, and when one keeps quiet."""

from dataclasses import replace

import pytest

from app.bots.player import choose
from app.game.actions import Redeal, Right, Speak
from app.game.auction import Bid, Say
from app.game.rules import PRESETS
from app.game.trump import Trump
from app.game.view import CallMoves
from tests.bots.positions import CLASSIC, SUITS, bidding, called, level

ANNOUNCED = PRESETS["announced-701"]
MISERE = replace(CLASSIC, misere=True, carre_of_sevens=True)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_hand_with_nothing_passes(preset: str) -> None:
    assert called(bidding("7S 8S QS 7H 8H 9D KD 7C", rules=PRESETS[preset])) == "pass"


def test_opens_low_with_the_jack_an_ace_and_little_else() -> None:
    assert level(bidding("JH 8H QH AS 9S 8D 7D AC", rules=SUITS)) in (80, 90)


def test_opens_ninety_or_so_with_jack_nine_and_an_ace() -> None:
    assert level(bidding("JH 9H 8H AS 9S 8D 7D 7C", rules=SUITS)) in (80, 90, 100)


def test_opens_higher_with_more() -> None:
    assert level(bidding("JH 9H AH 8H AS 9S AD 7C", rules=SUITS)) >= 110


def test_each_useful_thing_raises_the_opening() -> None:
    plain = level(bidding("JH 9H 8H 9S 8S 9D 7D AC", rules=SUITS))
    ace = level(bidding("JH 9H 8H AS 8S 9D 7D AC", rules=SUITS))
    trump = level(bidding("JH 9H 8H AS AH 9D 7D AC", rules=SUITS))
    assert 80 <= plain < ace < trump


def test_bids_its_best_suit() -> None:
    assert called(bidding("JH 9H AH 8H JS 9S AD 7C", rules=SUITS)).endswith("H")


def test_a_belote_counts_where_the_table_counts_it() -> None:
    hand = "JH KH QH 8H AS 9S AD 7C"
    counted = level(bidding(hand, rules=SUITS))
    assert counted > level(bidding(hand, rules=replace(SUITS, belote_counts=False)))


def test_melds_raise_the_bid_where_the_table_has_them() -> None:
    hand = "JH 10H 9H 8H AS 9S AD 7C"
    assert level(bidding(hand, rules=replace(SUITS, melds=True))) > level(bidding(hand, rules=SUITS))


def test_a_trick_floor_keeps_a_belote_from_opening_a_poor_hand() -> None:
    hand = "9H KH QH 8C AS 9S 8D 7C"
    assert level(bidding(hand, rules=replace(SUITS, trick_floor=0))) > level(
        bidding(hand, rules=replace(SUITS, trick_floor=82))
    )


def test_bids_by_the_steps_of_the_table() -> None:
    assert level(bidding("JH 9H 8H AS 9S 8D 7D AC", rules=PRESETS["arena-2000"])) % 10 == 2


def test_never_bids_above_the_highest_bid() -> None:
    hand = "JH 9H AH 10H KH AS 10S 7D"
    assert level(bidding(hand, rules=replace(SUITS, highest_bid=100))) == 100


def test_four_aces_are_sans_atout() -> None:
    assert called(bidding("AS 10S AH 10H AD 9D AC 8C")).endswith("SA")


def test_four_aces_are_a_suit_where_there_is_no_sans_atout() -> None:
    assert called(bidding("AS 10S AH 10H AD 9D AC 8C", rules=SUITS))[-2:] != "SA"


def test_jacks_and_nines_are_tout_atout() -> None:
    assert called(bidding("JS 9S JH 9H JD 8D JC 7C")).endswith("TA")


def test_raises_a_partner_with_the_missing_jack_and_aces() -> None:
    assert called(bidding("JH 8H 7H AS 9S AD 8D AC", "90H", "pass", rules=SUITS)).endswith("H")


def test_does_not_raise_a_partner_with_nothing() -> None:
    assert called(bidding("8H QS 7S 9S 9D 8D 8C 7C", "90H", "pass", rules=SUITS)) == "pass"


def test_raises_a_partner_over_the_opponents_with_less() -> None:
    hand = "9H 8H 7H AS 9S AD 8D 8C"
    assert called(bidding(hand, "90H", "100C", rules=SUITS)) == "110H"


def test_does_not_outbid_its_own_partner_after_the_raise() -> None:
    hand = "JH 9H 8H AS 9S AD 7D 7C"
    assert called(bidding(hand, "90H", "pass", "110H", "pass", rules=SUITS)) == "pass"


def test_raises_only_once() -> None:
    hand = "JH 8H 7H AS 9S AD 8D AC"
    assert called(bidding(hand, "90H", "pass", "120H", "pass", "130H", "pass", rules=SUITS)) == "pass"


def test_does_not_bid_its_own_hand_twice() -> None:
    hand = "JH 9H 8H AS 9S 8D 7D 7C"
    assert called(bidding(hand, "90H", "pass", "pass", "120S", rules=SUITS)) == "pass"


def test_bids_over_the_opponents_with_a_good_hand() -> None:
    assert called(bidding("JH 9H AH 8H AS 9S AD 7C", "90S", rules=SUITS)).endswith("H")


def test_coinches_with_the_opponents_trumps() -> None:
    assert called(bidding("JH 9H AH 8H AS 9S AD 7C", "110H", rules=SUITS)) == "coinche"


def test_a_coinche_names_the_bid() -> None:
    action = choose(bidding("JH 9H AH 8H AS 9S AD 7C", "110H"))
    assert isinstance(action, Speak)
    assert action.on is not None
    assert action.on.bid == Bid(110, Trump.HEARTS)


def test_does_not_coinche_without_tricks() -> None:
    assert called(bidding("8H QS 7S 9S 9D 8D 8C 7C", "140H", rules=SUITS)) == "pass"


def test_coinches_a_capot_that_it_stops() -> None:
    assert called(bidding("JH 8S 7S 9S 9D 8D 8C 7C", "capotH", rules=SUITS)) == "coinche"


def test_bids_capot_with_eight_tricks_in_hand() -> None:
    assert called(bidding("JH 9H AH 10H KH QH AS AC", rules=SUITS)) == "capotH"


def test_does_not_bid_capot_with_seven() -> None:
    assert called(bidding("JH 9H AH 10H KH QH AS 7C", rules=SUITS)) != "capotH"


def test_does_not_bid_capot_on_aces_alone() -> None:
    assert "capot" not in called(bidding("AS 10S KS AD 10D KD AH 10H", rules=SUITS))


def test_passes_a_coinche_on_an_ordinary_hand() -> None:
    assert called(bidding("8H 7H QS AS 9S 8D 7D 7C", "90H", "coinche", rules=SUITS)) == "pass"
    assert called(bidding("JH 9H 8H AS 9S 8D 7D 7C", "90H", "pass", "pass", "coinche", rules=SUITS)) == "pass"


def test_surcoinches_a_contract_that_cannot_fail() -> None:
    hand = "JH 9H AH 10H 8H AS AD 7C"
    assert called(bidding(hand, "90H", "pass", "pass", "coinche", rules=SUITS)) == "surcoinche"


def test_a_hand_with_nothing_is_dealt_again() -> None:
    view = bidding("7S 8S QS 7H 8H 9D KD 7C", rules=MISERE, redeal=(Right.MISERE,))
    action = choose(view)
    assert isinstance(action, Redeal)
    assert action.right is Right.MISERE


def test_a_redeal_does_not_undo_partners_bid() -> None:
    view = bidding("7S 8S QS 7H 8H 9D KD 7C", "100H", "pass", rules=MISERE, redeal=(Right.MISERE,))
    assert called(view) == "pass"


def test_out_of_turn_it_says_nothing() -> None:
    view = bidding("JH 9H AH 8H AS 9S AD 7C", "110H")
    moves = view.moves
    assert isinstance(moves, CallMoves)
    out_of_turn = replace(view, moves=replace(moves, may_pass=False, bids=None))
    assert choose(out_of_turn) is None
    assert choose(replace(view, moves=None)) is None


def test_says_pass_not_none_in_its_turn() -> None:
    action = choose(bidding("7S 8S QS 7H 8H 9D KD 7C", "capotH"))
    assert isinstance(action, Speak)
    assert action.call is Say.PASS
