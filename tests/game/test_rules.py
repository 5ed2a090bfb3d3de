"""Every cell in which presets differ, and what a table may not choose."""

from dataclasses import asdict, fields
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given, settings

from app.game.refusal import Refused, Why
from app.game.rules import OPTIONS, PRESETS, Rules, override, preset, preset_of, rules_from
from app.game.trump import Trump
from tests.game.strategies import any_rules, values

NAMES = ("announced-701", "contree-701", "classic-1000", "rounded-1000", "arena-2000", "ffb-2000")
CELLS: dict[str, tuple[Any, ...]] = {
    "direction": ("clockwise", "clockwise", "counter_clockwise", "clockwise", "clockwise", "counter_clockwise"),
    "cutter": ("before_dealer", "before_dealer", "after_dealer", "before_dealer", "before_dealer", "before_dealer"),
    "misere": (False,) * 6,
    "carre_of_sevens": (False,) * 6,
    "sans_atout": (True, False, True, False, True, False),
    "tout_atout": (True, False, True, False, True, False),
    "lowest_bid": (80, 80, 80, 80, 82, 80),
    "highest_bid": (160, 160, 180, 160, 182, 650),
    "coinche_when": ("in_turn", "in_turn", "any_time", "in_turn", "any_time", "in_turn"),
    "surcoinche": (4, 4, 4, 3, 4, 4),
    "undertrump": ("forced", "forced", "forced", "forced", "forced", "free"),
    "sa_points": ("ace_19", None, "ace_19", None, "scaled", "ace_19"),
    "ta_points": ("jack_14", None, "jack_14", None, "scaled", "jack_13"),
    "belote": ("automatic", "automatic", "automatic", "automatic", "declared", "automatic"),
    "belote_in_ta": (True, None, True, None, False, True),
    "melds": (True, False, False, False, False, True),
    "carres": ("every_rank", None, None, None, None, "federation"),
    "trick_floor": (82, 82, 0, 0, 0, 0),
    "belote_counts": (True, True, True, False, True, True),
    "beat_defence": (False, False, False, False, False, True),
    "failure": (162, 162, 160, 160, 160, 160),
    "capot_points": (0, 0, 250, 250, 250, 250),
    "capot_flat": (0, 0, 0, 0, 0, 500),
    "bid_only": (False,) * 6,
    "belote_to": ("holder", "holder", "holder", "maker", "holder", "holder"),
    "melds_to_winner": ("failed", None, None, None, None, "wide"),
    "coinche_points": ("own", "own", "own", "own", "own", "flat"),
    "coinche_multiplies": ("whole", "whole", "base", "whole", "whole", "base"),
    "coinche_for": ("winner", "winner", "both", "winner", "both", "winner"),
    "loser_when_coinched": ("keeps", "keeps", "keeps", "keeps", "keeps", "nothing"),
    "rounding": ("none", "none", "none", "score", "none", "points"),
    "target": (701, 701, 1000, 1000, 2000, 2000),
    "equal_totals": ("last_deal", "last_deal", "another_deal", "another_deal", "another_deal", "another_deal"),
}
"""What each preset plays; None where its tables leave the cell empty."""


@pytest.mark.parametrize(
    ("option", "name", "value"),
    [(option, name, value) for option, row in CELLS.items() for name, value in zip(NAMES, row, strict=True)],
)
def test_each_cell_of_the_tables(option: str, name: str, value: object) -> None:
    if value is not None:
        assert getattr(preset(name), option) == value


def test_the_table_is_whole() -> None:
    assert list(OPTIONS) == [field.name for field in fields(Rules)]
    assert CELLS.keys() == OPTIONS.keys()
    assert set(NAMES) == set(PRESETS)


def test_contree_is_announced_with_suits_only_and_no_melds() -> None:
    assert override(preset("announced-701"), {"sans_atout": False, "tout_atout": False, "melds": False}) == preset(
        "contree-701"
    )


def test_the_factors() -> None:
    assert [preset("announced-701").factor(level) for level in range(3)] == [1, 2, 4]
    assert [preset("rounded-1000").factor(level) for level in range(3)] == [1, 2, 3]


def test_trumps_in_their_order() -> None:
    assert preset("announced-701").trumps == tuple(Trump)
    assert preset("contree-701").trumps == (Trump.SPADES, Trump.HEARTS, Trump.DIAMONDS, Trump.CLUBS)


# --- what is refused -------------------------------------------------------------------------------------------------


def refused(options: dict[str, object], name: str = "announced-701") -> tuple[Why, str | None] | None:
    try:
        override(preset(name), options)
    except Refused as refusal:
        return refusal.why, refusal.field
    return None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("option", OPTIONS)
def test_each_option_takes_its_values_and_no_other_type(name: str, option: str) -> None:
    one = OPTIONS[option]
    for value in values(one):
        read = one.read(value)
        assert read == value
        assert type(read) is one.type
    wrong: list[object] = [None, [], {}, 1.5, 80.0, float("nan")]
    wrong += [] if one.type is bool else [True, False]
    wrong += [] if one.type is int else [0, 1, 80]
    wrong += [] if issubclass(one.type, StrEnum) else ["", "yes", "80", "true"]
    for value in wrong:
        assert refused({option: value}, name) == (Why.WRONG_TYPE, option)


@pytest.mark.parametrize("option", [name for name, option in OPTIONS.items() if issubclass(option.type, StrEnum)])
@pytest.mark.parametrize("value", ["", "nonsense", "FORCED", "In_Turn", " none"])
def test_a_choice_takes_one_of_its_words(option: str, value: str) -> None:
    assert refused({option: value}) == (Why.WRONG_VALUE, option)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("lowest_bid", 78),
        ("lowest_bid", 81),
        ("lowest_bid", 162),
        ("highest_bid", 70),
        ("highest_bid", 660),
        ("highest_bid", 161),
        ("surcoinche", 2),
        ("surcoinche", 5),
        ("trick_floor", -1),
        ("trick_floor", 163),
        ("failure", 161),
        ("failure", 0),
        ("capot_points", 100),
        ("capot_flat", 250),
        ("target", 0),
        ("target", -701),
        ("target", 10_001),
        ("target", 10**30),
    ],
)
def test_a_number_stays_within_its_range(option: str, value: int) -> None:
    assert refused({option: value}) == (Why.WRONG_VALUE, option)


@pytest.mark.parametrize("name", ["", "Target", "target ", "melds_on", "générale", "__class__", "trumps"])
def test_an_unknown_option_is_refused(name: str) -> None:
    assert refused({name: 1}) == (Why.UNKNOWN_OPTION, name)


@pytest.mark.parametrize(
    ("name", "options", "field"),
    [
        ("announced-701", {"lowest_bid": 160, "highest_bid": 150}, "highest_bid"),
        ("announced-701", {"lowest_bid": 82}, "highest_bid"),
        ("announced-701", {"highest_bid": 162}, "highest_bid"),
        ("arena-2000", {"bid_only": True, "coinche_points": "flat"}, "coinche_points"),
        ("arena-2000", {"bid_only": True, "capot_flat": 500}, "capot_flat"),
        ("ffb-2000", {"bid_only": True}, "coinche_points"),
    ],
)
def test_options_that_do_not_go_together_are_refused(name: str, options: dict[str, object], field: str) -> None:
    assert refused(options, name) == (Why.SENSELESS_OPTIONS, field)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("announced-701", {"lowest_bid": 82, "highest_bid": 182}),
        ("announced-701", {"lowest_bid": 90, "highest_bid": 90}),
        ("arena-2000", {"bid_only": True}),
        ("arena-2000", {"sans_atout": False, "tout_atout": False}),
        ("arena-2000", {"target": 1000}),
        ("classic-1000", {"target": 2000}),
        ("ffb-2000", {"sans_atout": True, "tout_atout": True}),
        ("ffb-2000", {"misere": True, "carre_of_sevens": True}),
        ("announced-701", {}),
    ],
)
def test_what_the_documents_leave_to_a_table(name: str, options: dict[str, object]) -> None:
    assert refused(options, name) is None


@pytest.mark.parametrize("name", ["", "announced", "ANNOUNCED-701", "ffb-2000 ", "belote"])
def test_an_unknown_preset_is_refused(name: str) -> None:
    with pytest.raises(Refused) as refusal:
        preset(name)
    assert (refusal.value.why, refusal.value.field) == (Why.UNKNOWN_PRESET, "rules")


# --- a whole object --------------------------------------------------------------------------------------------------


@settings(max_examples=200)
@given(any_rules())
def test_rules_told_as_an_object_are_the_same_rules(rules: Rules) -> None:
    told = {name: value.value if isinstance(value, StrEnum) else value for name, value in asdict(rules).items()}
    assert rules_from(told) == rules
    assert all(type(getattr(rules_from(told), name)) is option.type for name, option in OPTIONS.items())


@pytest.mark.parametrize("option", OPTIONS)
def test_a_whole_object_misses_nothing(option: str) -> None:
    told = asdict(preset("ffb-2000"))
    del told[option]
    with pytest.raises(Refused) as refusal:
        rules_from(told)
    assert (refusal.value.why, refusal.value.field) == (Why.MISSING, option)


def test_a_whole_object_has_nothing_more() -> None:
    with pytest.raises(Refused) as refusal:
        rules_from(asdict(preset("ffb-2000")) | {"colour": "red"})
    assert (refusal.value.why, refusal.value.field) == (Why.UNKNOWN_OPTION, "colour")


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_is_known_again_until_something_is_changed(name: str) -> None:
    assert preset_of(override(preset(name), {})) == name
    assert preset_of(override(preset(name), {"target": 1234})) is None
