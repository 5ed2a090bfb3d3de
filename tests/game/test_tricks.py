"""What may be played, who takes the trick, and what it counts. Spades are trump where nothing else is said."""

from itertools import permutations

import pytest

from app.game.cards import PACK, Card
from app.game.refusal import Why
from app.game.rules import PRESETS, Rules
from app.game.seats import SEATS, Seat, Side
from app.game.tricks import Taken, Trick, best, legal_cards, master, plain_points, scale, taken, trick_points, tricks_won
from app.game.trump import Trump, strength
from tests.talk import E, N, S, W, cards, rules, trick

ANNOUNCED, FFB = rules("announced-701"), rules("ffb-2000", sans_atout=True, tout_atout=True)
FORCED = [name for name in PRESETS if name != "ffb-2000"]
every_preset = pytest.mark.parametrize("played", PRESETS.values(), ids=PRESETS)
every_trump = pytest.mark.parametrize("trump", list(Trump))
SPADES = Trump.SPADES


def legal(hand: str, lying: str, trump: Trump = SPADES, played: Rules = ANNOUNCED) -> str:
    """The cards that may be played."""
    judged = legal_cards(played, trump, trick(lying), cards(hand))
    assert list(judged) == list(cards(hand)), "each card of the hand is judged, in its order"
    return " ".join(card for card, why in judged.items() if why is None)


def why(hand: str, lying: str, card: str, trump: Trump = SPADES, played: Rules = ANNOUNCED) -> Why | None:
    return legal_cards(played, trump, trick(lying), cards(hand))[Card(card)]


# --- leading and following -------------------------------------------------------------------------------------------


@every_preset
@every_trump
def test_any_card_may_be_led(played: Rules, trump: Trump) -> None:
    assert legal("7S JH AD 10C", "", trump, played) == "7S JH AD 10C"


@every_preset
@every_trump
def test_the_suit_led_must_be_followed(played: Rules, trump: Trump) -> None:
    assert legal("7H JS AD", "N8H", trump, played) == "7H"
    assert why("7H JS AD", "N8H", "AD", trump, played) is Why.MUST_FOLLOW
    assert why("7H JS AD", "N8H", "JS", trump, played) is Why.MUST_FOLLOW


@every_preset
def test_a_plain_lead_need_not_be_beaten(played: Rules) -> None:
    assert legal("7H AH", "N8H", played=played) == "7H AH"


@every_preset
def test_following_a_ruffed_lead_any_card_of_the_suit_will_do(played: Rules) -> None:
    assert legal("7H AH JS", "N8H E7S", played=played) == "7H AH"
    assert legal("7H AH 9S", "N8H E7S SQH", played=played) == "7H AH"


# --- trumps led ------------------------------------------------------------------------------------------------------


@every_preset
def test_a_trump_lead_must_be_beaten(played: Rules) -> None:
    assert legal("7S KS 9S AH", "N10S", played=played) == "9S"
    assert why("7S KS 9S AH", "N10S", "KS", played=played) is Why.MUST_GO_HIGHER


@every_preset
def test_a_trump_lead_must_be_beaten_over_one_s_partner_too(played: Rules) -> None:
    assert legal("8D AD", "N10D E7D", Trump.DIAMONDS, played) == "AD"
    assert legal("9S KS", "NAS E8S", played=played) == "9S"


@every_preset
def test_who_cannot_go_higher_plays_any_trump(played: Rules) -> None:
    assert legal("7S KS 10S AH", "N9S", played=played) == "7S KS 10S"
    assert legal("7S QS", "N8S EJS", played=played) == "7S QS"


@every_preset
def test_one_must_beat_the_best_trump_of_the_trick_not_the_lead(played: Rules) -> None:
    assert legal("10S AS JS", "N7S E9S", played=played) == "JS"
    assert legal("10S AS KS", "N7S E9S", played=played) == "10S AS KS"


@every_preset
def test_without_trumps_a_trump_lead_takes_any_card(played: Rules) -> None:
    assert legal("7H AD 10C", "N9S", played=played) == "7H AD 10C"


def test_the_nine_of_trump_is_above_ace_and_ten_but_below_the_jack() -> None:
    assert legal("9D 7D", "NJD E10D", Trump.DIAMONDS) == "9D 7D"
    assert legal("9D 7D", "NAD E10D", Trump.DIAMONDS) == "9D"


# --- void, partner is master -----------------------------------------------------------------------------------------


@every_preset
def test_partner_is_master_so_no_duty_to_trump(played: Rules) -> None:
    assert legal("7S JD AC", "NAH E7H", played=played) == "7S JD AC"


@every_preset
def test_partner_is_master_by_a_ruff_so_no_duty_to_trump(played: Rules) -> None:
    assert legal("8S JS KH", "N7D E10S S8D", played=played) == "8S JS KH"


@every_preset
def test_partner_s_ruff_was_undertrumped_and_is_still_master(played: Rules) -> None:
    assert legal("7S JS KD", "N7H EAS S8S", played=played) == "7S JS KD"


@every_preset
def test_under_a_partner_who_is_master_any_trump_may_be_played(played: Rules) -> None:
    assert legal("7D AD KH", "N7C E10D S8C", Trump.DIAMONDS, played) == "7D AD KH"


@every_preset
def test_partner_led_and_was_beaten_so_the_duty_is_back(played: Rules) -> None:
    assert legal("7S JD AC", "N10H EAH", played=played) == "7S"
    assert legal("7S 9S AC", "N10H E8S", played=played) == "9S"


# --- void, an opponent is master -------------------------------------------------------------------------------------


@every_preset
def test_an_opponent_is_master_so_one_must_trump(played: Rules) -> None:
    assert legal("7S JS KD", "N8H", played=played) == "7S JS"
    assert why("7S JS KD", "N8H", "KD", played=played) is Why.MUST_TRUMP
    assert legal("7S JS KD", "N8H E7H SAH", played=played) == "7S JS"
    assert legal("7S JS KD", "N8H EAH S7H", played=played) == "7S JS KD"


@every_preset
def test_an_opponent_ruffed_so_one_must_overtrump(played: Rules) -> None:
    assert legal("8D AD KH", "N7C E10D", Trump.DIAMONDS, played) == "AD"
    assert why("8D AD KH", "N7C E10D", "8D", Trump.DIAMONDS, played) is Why.MUST_OVERTRUMP
    assert why("8D AD KH", "N7C E10D", "KH", Trump.DIAMONDS, played) is Why.MUST_TRUMP


@pytest.mark.parametrize("name", FORCED)
def test_who_cannot_overtrump_must_still_trump(name: str) -> None:
    assert legal("8S KS KD", "N7H E10S", played=rules(name)) == "8S KS"
    assert why("8S KS KD", "N7H E10S", "KD", played=rules(name)) is Why.MUST_TRUMP


def test_in_the_federation_s_game_nobody_must_undertrump() -> None:
    assert legal("8S KS KD", "N7H E10S", played=rules("ffb-2000")) == "8S KS KD"


@every_preset
def test_undertrump_is_an_option_of_any_table(played: Rules) -> None:
    assert legal("8S KD", "N7H E10S", played=_with(played, "free")) == "8S KD"
    assert legal("8S KD", "N7H E10S", played=_with(played, "forced")) == "8S"


def _with(played: Rules, undertrump: str) -> Rules:
    name = next(name for name, preset in PRESETS.items() if preset == played)
    return rules(name, undertrump=undertrump)


@pytest.mark.parametrize("undertrump", ["free", "forced"])
def test_partner_is_master_frees_under_both_undertrump_rules(undertrump: str) -> None:
    assert legal("7S JS KD", "N7H EAS S8S", played=rules("announced-701", undertrump=undertrump)) == "7S JS KD"


def test_free_undertrump_still_asks_to_ruff_a_lead_that_nobody_ruffed() -> None:
    assert legal("8S KD", "NAH", played=rules("ffb-2000")) == "8S"


@every_preset
def test_without_suit_and_trumps_any_card(played: Rules) -> None:
    assert legal("7D KD AC", "N7H E10S", played=played) == "7D KD AC"


# --- sans atout and tout atout ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("played", [ANNOUNCED, FFB])
def test_in_sans_atout_one_follows_and_need_not_rise(played: Rules) -> None:
    assert legal("7H AH KS", "N10H", Trump.NONE, played) == "7H AH"


@pytest.mark.parametrize("played", [ANNOUNCED, FFB])
@pytest.mark.parametrize("trump", [Trump.NONE, Trump.ALL])
def test_in_sans_atout_and_tout_atout_who_cannot_follow_plays_anything(played: Rules, trump: Trump) -> None:
    assert legal("7S JS KD", "N10H", trump, played) == "7S JS KD"


@pytest.mark.parametrize("played", [ANNOUNCED, FFB])
def test_in_tout_atout_every_lead_must_be_beaten(played: Rules) -> None:
    assert legal("KH 9H JS", "NAH", Trump.ALL, played) == "9H"
    assert why("KH 9H JS", "NAH", "KH", Trump.ALL, played) is Why.MUST_GO_HIGHER
    assert legal("KH 10H JS", "NAH", Trump.ALL, played) == "KH 10H"


def test_in_tout_atout_one_s_partner_is_beaten_too() -> None:
    assert legal("KH 9H", "NAH E7H", Trump.ALL) == "9H"


def test_in_tout_atout_a_higher_card_of_another_suit_does_not_count() -> None:
    assert legal("KH 7H", "NQH EJS", Trump.ALL) == "KH"


# --- who takes it ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trump", "lying", "seat"),
    [
        (Trump.SPADES, "N7H EAH S10H WKH", E),
        (Trump.SPADES, "NAH E7S S10H WKH", E),
        (Trump.SPADES, "NAH E7S S8S WKH", S),
        (Trump.SPADES, "NAS E9S SJS W10S", S),
        (Trump.SPADES, "N7H EAD SAC W8H", W),
        (Trump.CLUBS, "NJC EKD S7C W8C", N),
        (Trump.NONE, "N9S E10S S8S W7S", E),
        (Trump.NONE, "N9S EAH SJS WKD", S),
        (Trump.ALL, "NAH E9H SJH WJS", S),
        (Trump.ALL, "N7H EJS SJD WJC", N),
        (Trump.DIAMONDS, "NJD E10D", N),
        (Trump.SPADES, "N7H", N),
    ],
)
def test_who_is_master(trump: Trump, lying: str, seat: Seat) -> None:
    assert master(trick(lying), trump) is seat


def test_nobody_is_master_of_an_empty_trick() -> None:
    assert master(Trick(N), SPADES) is None


@every_trump
def test_only_a_trump_or_the_suit_led_can_take_a_trick(trump: Trump) -> None:
    for lead, other in permutations(PACK, 2):
        top = best(Trick(N, (lead, other)), trump)
        if other.suit is lead.suit:
            assert top is max(lead, other, key=lambda card: strength(card, trump))
        else:
            assert (top is other) == (other.suit is trump.suit)


@pytest.mark.parametrize(("trump", "order"), [(Trump.HEARTS, "J 9 A 10 K Q 8 7"), (Trump.ALL, "J 9 A 10 K Q 8 7")])
def test_the_order_of_trumps(trump: Trump, order: str) -> None:
    _ordered(trump, "H", order)


@pytest.mark.parametrize("trump", [Trump.SPADES, Trump.NONE])
def test_the_order_of_plain_suits(trump: Trump) -> None:
    _ordered(trump, "H", "A 10 K Q J 9 8 7")


def _ordered(trump: Trump, suit: str, order: str) -> None:
    expected = [Card(rank + suit) for rank in order.split()]
    found = sorted((card for card in PACK if card.suit == suit), key=lambda card: strength(card, trump), reverse=True)
    assert found == expected


@pytest.mark.parametrize("leader", SEATS)
def test_seats_follow_one_another_from_the_leader(leader: Seat) -> None:
    assert Trick(leader, cards("7H 8H 9H 10H")).seats == (leader, leader.next, leader.partner, leader.before)
    assert Trick(leader, cards("7H 8H")).turn is leader.partner


# --- points ----------------------------------------------------------------------------------------------------------

PLAIN = {"A": 11, "10": 10, "K": 4, "Q": 3, "J": 2}
TRUMPS = {"J": 20, "9": 14, "A": 11, "10": 10, "K": 4, "Q": 3}
ACE_19 = {"A": 19, "10": 10, "K": 4, "Q": 3, "J": 2}
JACK_14 = {"J": 14, "9": 9, "A": 6, "10": 5, "K": 3, "Q": 1}
JACK_13 = {"J": 13, "9": 9, "A": 6, "10": 5, "K": 3, "Q": 2}


@pytest.mark.parametrize(
    ("name", "trump", "points"),
    [
        *((name, "S", TRUMPS) for name in PRESETS),
        *((name, "H", PLAIN) for name in PRESETS),
        ("announced-701", "SA", ACE_19),
        ("announced-701", "TA", JACK_14),
        ("classic-1000", "SA", ACE_19),
        ("classic-1000", "TA", JACK_14),
        ("arena-2000", "SA", PLAIN),
        ("arena-2000", "TA", TRUMPS),
        ("ffb-2000", "SA", ACE_19),
        ("ffb-2000", "TA", JACK_13),
    ],
)
def test_what_each_card_counts(name: str, trump: str, points: dict[str, int]) -> None:
    """Of the suit of spades, under this trump."""
    found = scale(rules(name), Trump(trump)).points
    assert {card.rank.value: found[card] for card in PACK if card.suit == "S" and found[card]} == points


@every_preset
@every_trump
def test_the_pack_counts_152(played: Rules, trump: Trump) -> None:
    assert scale(played, trump).count(PACK) == 152


@pytest.mark.parametrize(
    ("trump", "pile", "points"),
    [
        ("SA", "AS", 14),  # 11 * 152/120 = 13.93
        ("SA", "AS 10S", 27),  # 26.6
        ("SA", "JS", 3),  # 2.53
        ("SA", "7S 8S", 0),
        ("TA", "JS", 12),  # 20 * 152/248 = 12.26
        ("TA", "JS JH", 25),  # 24.52
        ("TA", "QS", 2),  # 1.84
        ("S", "JS 9S", 34),
    ],
)
def test_scaled_points_are_rounded_once_for_the_pile(trump: str, pile: str, points: int) -> None:
    assert scale(rules("arena-2000"), Trump(trump)).count(cards(pile)) == points


def test_the_ten_of_the_last_goes_to_the_eighth_trick_only() -> None:
    counted = scale(ANNOUNCED, SPADES)
    before: tuple[Taken, ...] = ()
    for rank in ("A", "10", "K", "Q", "J", "9", "8", "7"):
        told = f"N{rank}H E{rank}D S{rank}C W{rank}S"
        one = taken(counted, before, trick(told), SPADES)
        assert one.winner is W
        assert one.points == counted.count(one.trick.cards) + (10 if len(before) == 7 else 0)
        before = (*before, one)
    assert (trick_points(before)[Side.B], trick_points(before)[Side.A]) == (162, 0)
    assert (tricks_won(before)[Side.B], tricks_won(before)[Side.A]) == (8, 0)


def test_plain_points_take_no_suit_for_trump() -> None:
    assert plain_points(cards("AS 10S KS QS JS 9S 8S 7S")) == 30


def test_a_trick_can_hold_no_points_at_all() -> None:
    """So seven tricks can hold all 162, and a capot is counted in tricks."""
    assert scale(ANNOUNCED, SPADES).count(cards("7H 8H 9H 7D")) == 0
