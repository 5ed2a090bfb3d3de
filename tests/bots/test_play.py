"""Textbook positions of the play: what a good partner does without thinking."""

from dataclasses import replace

from app.bots.player import choose
from app.game.actions import Play
from app.game.rules import PRESETS
from tests.bots.positions import BEFORE, ME, NEXT, PARTNER, SUITS, played, playing

ARENA = PRESETS["arena-2000"]


# --- trumps ----------------------------------------------------------------------------------------------------------


def test_keeps_the_nine_under_partners_jack() -> None:
    assert played(playing("9H 8H 7S 8S 9D JD 7C 8C", "2: JH 7H", declarer=PARTNER)) == "8H"


def test_gives_the_ace_and_keeps_the_nine_under_partners_jack() -> None:
    assert played(playing("9H AH 7S 8S 9D JD 7C 8C", "2: JH 7H", declarer=PARTNER)) == "AH"


def test_keeps_the_nine_under_partners_jack_as_last_to_play() -> None:
    assert played(playing("9H QH 7S 8S 9D JD 7C 8C", "1: 7H JH 8H", declarer=PARTNER)) == "QH"


def test_answers_partners_trump_lead_with_the_jack() -> None:
    assert played(playing("JH 10H 7S 8S 9D JD 7C 8C", "2: 8H QH", declarer=PARTNER)) == "JH"


def test_goes_on_drawing_trumps_after_answering_with_the_jack() -> None:
    view = playing("10H 7S 8S 9D JD 7C 8C", declarer=PARTNER, tricks=["2: 8H QH JH 7H"])
    assert played(view) == "10H"


def test_declarer_draws_trumps_from_the_top() -> None:
    assert played(playing("JH 9H AH 7H AS 8D 7D 8C")) == "JH"


def test_declarer_without_the_jack_draws_with_a_small_trump() -> None:
    assert played(playing("9H AH 8H 7H KS 8D 7D 8C")) in ("7H", "8H")


def test_declarer_stops_drawing_when_only_the_partner_may_hold_trumps() -> None:
    view = playing("9H AH 7H AS 8D 7D", tricks=["0: JH 8H QH 10H", "0: KH 7S JS 8S"], trump="H", belotes=())
    assert played(view) == "AS"


def test_one_higher_trump_outside_is_not_worth_two_of_ours() -> None:
    view = playing(
        "10H 7H AS 10S 7D",
        tricks=["1: 7C JC 8C KC", "2: 9C 8H 9H AC", "0: AH QH KH 8S"],
    )
    # Only the jack is out.
    assert played(view) in ("AS", "10S")


def test_partner_of_the_declarer_leads_a_trump() -> None:
    assert played(playing("8H 7H KS QS 8D 7D 9C 8C", declarer=PARTNER)) in ("8H", "7H")


def test_a_defender_does_not_lead_trumps() -> None:
    assert played(playing("9H 8H KS QS 8D 7D 9C 8C", declarer=NEXT))[-1] != "H"


def test_overtrumps_as_cheaply_as_it_can() -> None:
    assert played(playing("JH QH KS QS 8D 7D 9D 10D", "1: AC 7C 8H", declarer=BEFORE)) == "QH"


def test_ruffs_with_a_small_trump_when_last() -> None:
    assert played(playing("JH 8H KS QS 8D 7D 9D JD", "1: AC 7C 8C", declarer=BEFORE)) == "8H"


def test_does_not_ruff_partners_master() -> None:
    assert played(playing("AH 8H KS 7S 8D 7D 9D JD", "1: 8C AC 7C", declarer=BEFORE))[-1] != "H"


def test_does_not_undertrump_where_it_need_not() -> None:
    view = playing("8H 7H KS 7S 8D 7D 9D JD", "1: AC 7C 9H", declarer=BEFORE, rules=PRESETS["ffb-2000"])
    assert played(view) in ("7S", "7D", "8D", "9D")


# --- plain suits -----------------------------------------------------------------------------------------------------


def test_loads_the_ten_on_partners_ace() -> None:
    assert played(playing("10S 8S 7H 8D 7D 9D JD 9C", "1: 7S AS 9S", declarer=PARTNER)) == "10S"


def test_throws_points_where_partner_is_surely_master() -> None:
    assert played(playing("10D QD 7D 8D 9C QC KC 9S", "1: 7H JH 8H", declarer=PARTNER))[:-1] in ("10", "K")


def test_gives_the_opponents_the_least() -> None:
    assert played(playing("10S 7S 7H 8D 7D 9D JD 9C", "1: KS 8S AS", declarer=NEXT)) == "7S"


def test_takes_an_opponents_ten_with_the_ace() -> None:
    assert played(playing("AS 7S 7H 8D 7D 9D JD 9C", "1: KS 8S 10S", declarer=NEXT)) == "AS"


def test_the_ace_takes_a_suit_led_by_an_opponent() -> None:
    assert played(playing("AS 7S 7H 8D 7D 9D JD 9C", "3: KS", declarer=NEXT)) == "AS"


def test_plays_low_where_nothing_can_be_won() -> None:
    assert played(playing("KS QS 8S 8D 7D 9D JD 9C", "3: AS", declarer=NEXT)) == "8S"


def test_a_defender_leads_an_ace() -> None:
    assert played(playing("8H 7H AS 8S 8D KD 9C QC", declarer=NEXT)) == "AS"


def test_leads_the_ace_before_the_ten() -> None:
    assert played(playing("8H 7H AS 10S 8D KD 9C QC", declarer=NEXT)) == "AS"


def test_a_defender_leads_a_singleton_to_ruff() -> None:
    assert played(playing("8H 7H 8S KD QD 8D 9C QC", declarer=NEXT)) == "8S"


def test_leads_the_suit_that_partner_has_bid() -> None:
    calls = [(ME, "pass"), (NEXT, "80H"), (PARTNER, "90C"), (BEFORE, "100H"), (ME, "pass"), (NEXT, "pass"), (PARTNER, "pass")]
    assert played(playing("8H 7H KS 8S 8D KD 9C 8C", declarer=BEFORE, value="100", calls=calls)) in ("9C", "8C")


def test_does_not_lead_from_a_guarded_ten() -> None:
    assert played(playing("8H 7H 10S 8S QD 8D 9C 7C", declarer=NEXT))[-1] != "S"


def test_cashes_its_masters_when_trumps_are_gone() -> None:
    view = playing(
        "7H AS 10S KS 7D",
        tricks=["0: JH 8H QH 10H", "0: 9H KH 8D 7C", "0: AH 8C 9D 9C"],
    )
    assert played(view) == "AS"


def test_keeps_an_ace_when_discarding_on_an_opponents_trick() -> None:
    assert played(playing("AS 9D 8D JD KC 8C 7C 7S", "3: JH", declarer=BEFORE)) in ("7S", "8D", "9D", "7C", "8C")


def test_keeps_the_guard_of_a_ten() -> None:
    assert played(playing("10S 7S 9D 8D JD 9C 8C 7C", "3: JH", declarer=BEFORE)) not in ("10S", "7S")


def test_keeps_a_master_against_a_capot_rather_than_load_it() -> None:
    tricks = ["3: JH 8D 7H 8H", "3: 9H 9D 10H 7D", "3: AH JD QH 7C", "3: KH QD 8C 9C", "3: AD KD 7S 10D", "3: AC 8S KC JC"]
    view = playing("AS 9S", "3: KS", declarer=BEFORE, value="capot", tricks=tricks)
    assert played(view) == "AS"


def test_throws_a_loser_and_keeps_the_master_that_may_break_a_capot() -> None:
    tricks = ["3: JH 8D 7H 8H", "3: 9H 9D 10H 7D", "3: AH JD QH 7C", "3: AC QD 8C 9C", "3: 10C KD 7S QC", "3: KC 8S 9S JC"]
    assert played(playing("AS KS", "3: KH", declarer=BEFORE, value="capot", tricks=tricks)) == "KS"


# --- sans atout, tout atout, belote ----------------------------------------------------------------------------------


def test_leads_aces_in_sans_atout() -> None:
    assert played(playing("AS 10S KS 7S 8D 7D 9C 8H", trump="SA")) == "AS"


def test_leads_jacks_in_tout_atout() -> None:
    assert played(playing("JS 9S 8S 7S 8D 7D 9C 8H", trump="TA")) == "JS"


def test_does_not_lead_a_nine_in_tout_atout_under_the_jack() -> None:
    assert played(playing("9S 8S 9H 8H 8D KD QC 7C", trump="TA", declarer=PARTNER))[0] != "9"


def test_takes_with_the_jack_in_tout_atout() -> None:
    assert played(playing("JS 7S 9H 8H 8D KD QC 7C", "1: AS 8S 9S", trump="TA", declarer=NEXT)) == "JS"


def test_declares_a_belote_whenever_it_may() -> None:
    view = playing("KH QH 8S 7S 8D 7D 9C 8C", "1: 7H 8H 9H", declarer=PARTNER, declarable="KH QH", rules=ARENA)
    action = choose(view)
    assert isinstance(action, Play)
    assert action.belote


def test_declares_nothing_where_belotes_are_automatic() -> None:
    action = choose(playing("KH QH 8S 7S 8D 7D 9C 8C", "1: 7H 8H 9H", declarer=PARTNER))
    assert isinstance(action, Play)
    assert not action.belote


def test_undertrumping_is_forced_or_free_as_the_table_says() -> None:
    forced = replace(SUITS, undertrump=PRESETS["classic-1000"].undertrump)
    assert played(playing("8H 7H KS 7S 8D 7D 9D JD", "1: AC 7C 9H", declarer=BEFORE, rules=forced)) == "7H"
