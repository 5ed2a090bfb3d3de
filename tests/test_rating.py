"""Ratings move by what happened, in proportion to how surprising it was, and only for games that count."""

from dataclasses import replace
from typing import Any

import pytest

from app.game.rules import PRESETS, Rules
from app.game.seats import SEATS, Side
from app.rating import Rating, after, is_rated, shown

NEW = Rating()
FOUR_NEW = (NEW,) * 4


def test_a_new_player_is_shown_at_1000() -> None:
    assert shown(NEW) == 1000


@pytest.mark.parametrize("winner", Side)
def test_winners_rise_losers_fall_and_partners_move_alike(winner: Side) -> None:
    rated = after(FOUR_NEW, winner)
    for seat in SEATS:
        assert (rated[seat].mu > NEW.mu) is (seat.side is winner)
        assert rated[seat] == rated[seat.partner]
    assert sum(one.mu for one in rated) == pytest.approx(4 * NEW.mu)


def test_a_game_makes_everyone_better_known() -> None:
    assert all(one.sigma < NEW.sigma for one in after(FOUR_NEW, Side.A))


def test_a_first_game_is_worth_about_twenty_points() -> None:
    won, lost, *_ = (shown(one) for one in after(FOUR_NEW, Side.A))
    assert 10 <= won - 1000 <= 30
    assert 10 <= 1000 - lost <= 30


def test_beating_stronger_players_brings_more() -> None:
    strong, weak = Rating(35.0, 2.0), Rating(20.0, 2.0)
    surprise = after((weak, strong, weak, strong), Side.A)[0].mu - weak.mu
    expected = after((strong, weak, strong, weak), Side.A)[0].mu - strong.mu
    assert surprise > 1.5 * expected > 0


def test_near_strengths_are_told_apart() -> None:
    even = after((Rating(30.0, 2.0),) * 4, Side.A)[0].mu
    slightly = after((Rating(30.0, 2.0), Rating(30.5, 2.0)) * 2, Side.A)[0].mu
    assert slightly > even


def test_who_is_well_known_moves_less_than_who_is_new() -> None:
    known = Rating(25.0, 2.0)
    rated = after((NEW, NEW, known, known), Side.A)
    assert rated[0].mu - NEW.mu > rated[2].mu - known.mu > 0


RATED: dict[str, Any] = {"people": SEATS, "acted": SEATS, "played_out": True}


@pytest.mark.parametrize("rules", PRESETS.values(), ids=PRESETS)
def test_a_game_that_four_people_have_played_to_its_end_is_rated(rules: Rules) -> None:
    assert is_rated(rules, **RATED)


@pytest.mark.parametrize(
    "lacking",
    [
        *({"people": set(SEATS) - {seat}} for seat in SEATS),
        *({"acted": set(SEATS) - {seat}} for seat in SEATS),
        {"acted": ()},
        {"played_out": False},
    ],
    ids=str,
)
def test_one_with_a_bot_or_with_somebody_who_took_no_part_or_that_was_left_is_not(lacking: dict[str, Any]) -> None:
    assert not is_rated(PRESETS["announced-701"], **(RATED | lacking))


def test_neither_is_one_under_rules_that_a_table_has_changed() -> None:
    assert not is_rated(replace(PRESETS["announced-701"], target=300), **RATED)
