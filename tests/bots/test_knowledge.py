"""What may be concluded from what all have seen."""

import pytest

from app.bots.knowledge import Knowledge, learn
from app.bots.player import choose
from app.game.cards import Card, Suit
from app.game.rules import PRESETS
from app.game.seats import SEATS, Seat
from app.game.state import Bidding, Playing
from app.game.view import BeloteHeard, MeldSeen, view
from tests.bots.arena import apply, dealt, packs, turn
from tests.bots.positions import BEFORE, NEXT, PARTNER, cards, playing

HAND = "7H 8S 9D 8D 9C 8C 7C"
"""Seven cards after a first trick; hearts are trumps."""


def may(know: Knowledge, seat: Seat, card: str) -> bool:
    return know.odds[Card(card)][seat] > 0


def test_who_does_not_follow_has_none_of_the_suit() -> None:
    know = learn(playing(HAND, tricks=["0: AS 7D KS 9S"]))
    assert know.is_void(NEXT, Suit.SPADES)
    assert not know.is_void(PARTNER, Suit.SPADES)


def test_who_must_trump_and_does_not_has_no_trump() -> None:
    know = learn(playing(HAND, tricks=["0: AS 7D KS 9S"]))
    assert know.is_void(NEXT, Suit.HEARTS)
    assert not know.is_void(BEFORE, Suit.HEARTS)


def test_who_throws_off_while_his_partner_is_master_may_have_trumps() -> None:
    know = learn(playing(HAND, "3: AC", tricks=["3: AS KS 7D QS"]))
    assert know.is_void(NEXT, Suit.SPADES)
    assert may(know, NEXT, "AH")


def test_who_does_not_beat_a_trump_led_has_none_higher() -> None:
    know = learn(playing(HAND, "2: AC JC", tricks=["2: 9H QH KH 8H"]))
    assert not may(know, BEFORE, "JH")
    assert not may(know, NEXT, "JH")
    assert know.odds[Card("JH")][PARTNER] == 1


def test_who_need_not_undertrump_may_keep_lower_trumps() -> None:
    tricks = ["1: AS 9H 7D 10S"]
    forced = learn(playing(HAND, "2: AC JC", tricks=tricks))
    free = learn(playing(HAND, "2: AC JC", tricks=tricks, rules=PRESETS["ffb-2000"]))
    assert forced.is_void(BEFORE, Suit.HEARTS)
    assert may(free, BEFORE, "AH")
    assert not may(free, BEFORE, "JH")


def test_a_belote_heard_shows_where_the_other_card_is() -> None:
    heard = [BeloteHeard(PARTNER, Suit.HEARTS, "belote")]
    know = learn(playing(HAND, "1: AC JC QC", tricks=["2: KH AH 8H 9H"], belotes=heard))
    assert know.odds[Card("QH")][PARTNER] == 1


@pytest.mark.parametrize(("preset", "possible"), [("classic-1000", False), ("arena-2000", True)])
def test_a_belote_not_heard_tells_only_where_it_is_automatic(preset: str, possible: bool) -> None:
    know = learn(playing(HAND, "1: AC JC QC", tricks=["2: KH AH 8H 9H"], rules=PRESETS[preset]))
    assert may(know, PARTNER, "QH") is possible


def test_a_meld_shown_shows_its_cards() -> None:
    shown = [MeldSeen(NEXT, "tierce", cards("10D JD QD"), 20)]
    know = learn(playing(HAND, tricks=["0: AS 7S KS 9S"], shown=shown))
    assert all(know.odds[card][NEXT] == 1 for card in cards("10D JD QD"))


def test_a_card_is_master_when_what_is_above_it_is_gone_or_with_the_partner() -> None:
    shown = [MeldSeen(PARTNER, "tierce", cards("QD KD AD"), 20)]
    know = learn(playing("7H 10D 9D 8D 9C 8C 7C", tricks=["0: AS 7S KS 9S"], shown=shown))
    assert know.is_master(Card("10D"))
    assert not know.is_master(Card("9C"))


@pytest.mark.parametrize("preset", PRESETS)
def test_never_rules_out_the_truth(preset: str) -> None:
    for number, pack in enumerate(packs(6, 8)):
        game = dealt(PRESETS[preset], pack, SEATS[number % 4])
        while isinstance(game.phase, Bidding | Playing):
            me = turn(game)
            seen = view(game, me)
            if isinstance(game.phase, Playing):
                know = learn(seen)
                hidden = [(card, seat) for seat in SEATS if seat is not me for card in game.phase.hands[seat]]
                assert {card for card, _ in hidden} == set(know.odds)
                for card, seat in hidden:
                    assert know.odds[card][seat] > 0
                    assert sum(know.odds[card]) == pytest.approx(1)
            action = choose(seen)
            assert action is not None
            game = apply(game, action)
