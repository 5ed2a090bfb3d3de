"""What a deal is worth. North and South declare hearts where nothing else is said; scores are told as "declarers defence"."""

from dataclasses import replace

import pytest

from app.game.auction import Contract
from app.game.rules import PRESETS, CoinchePoints, Rules
from app.game.scoring import DealScore, LineKind, Outcome, game_winner, is_made, score_deal
from app.game.seats import BySide, Side
from tests.talk import E, N, bid, rules

every_preset = pytest.mark.parametrize("played", PRESETS.values(), ids=PRESETS)


def deal(
    played: Rules,
    told: str,
    points: int,
    *,
    level: int = 0,
    tricks: int = 5,
    belotes: tuple[int, int] = (0, 0),
    melds: tuple[int, int] = (0, 0),
    der: Side | None = None,
    declarer_is_north: bool = True,
) -> DealScore:
    """A deal in which the declarers made so many points in so many tricks; pairs are told as (declarers, defence)."""

    def sides(pair: tuple[int, int]) -> BySide[int]:
        return BySide(*pair) if declarer_is_north else BySide(*reversed(pair))

    outcome = Outcome(sides((points, 162 - points)), sides((tricks, 8 - tricks)), sides(belotes), sides(melds), der)
    return score_deal(played, Contract(N if declarer_is_north else E, bid(told), level), outcome)


def told(score: DealScore) -> str:
    us = score.contract.side
    return f"{score.score[us]} {score.score[us.other]}"


# --- made or failed --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "contract", "points", "belotes", "melds", "made"),
    [
        # the bid is reached exactly, or missed by one
        ("announced-701", "100H", 100, (0, 0), (0, 0), True),
        ("announced-701", "100H", 99, (0, 0), (0, 0), False),
        ("classic-1000", "80H", 80, (0, 0), (0, 0), True),
        ("classic-1000", "80H", 79, (0, 0), (0, 0), False),
        ("arena-2000", "82H", 82, (0, 0), (0, 0), True),
        ("arena-2000", "82H", 81, (0, 0), (0, 0), False),
        ("rounded-1000", "100H", 100, (0, 0), (0, 0), True),
        # 82 in tricks are asked for in announced-701 and contree-701 only
        ("announced-701", "80H", 81, (1, 0), (0, 0), False),
        ("announced-701", "80H", 82, (0, 0), (0, 0), True),
        ("announced-701", "80H", 70, (1, 0), (100, 0), False),
        ("contree-701", "80H", 81, (1, 0), (0, 0), False),
        ("classic-1000", "80H", 60, (1, 0), (0, 0), True),
        ("arena-2000", "82H", 62, (1, 0), (0, 0), True),
        # the belote helps, but not in rounded-1000
        ("announced-701", "120H", 100, (1, 0), (0, 0), True),
        ("classic-1000", "120H", 100, (1, 0), (0, 0), True),
        ("rounded-1000", "80H", 75, (1, 0), (0, 0), False),
        ("rounded-1000", "90H", 70, (1, 0), (0, 0), False),
        # the other side's belote and melds do not help
        ("announced-701", "120H", 100, (0, 1), (0, 50), False),
        # melds help
        ("announced-701", "150H", 100, (0, 0), (50, 0), True),
        ("ffb-2000", "150H", 100, (0, 0), (50, 0), True),
        # the federation asks for more than the defence, all counted
        ("ffb-2000", "80H", 81, (0, 0), (0, 0), False),
        ("ffb-2000", "80H", 82, (0, 0), (0, 0), True),
        ("ffb-2000", "80H", 91, (0, 1), (0, 0), False),
        ("ffb-2000", "80H", 92, (0, 1), (0, 0), True),
        ("ffb-2000", "80H", 100, (0, 0), (0, 50), False),
        ("ffb-2000", "80H", 71, (1, 0), (0, 0), False),
        ("ffb-2000", "80H", 72, (1, 0), (0, 0), True),
    ],
)
def test_whether_a_number_was_made(
    name: str, contract: str, points: int, belotes: tuple[int, int], melds: tuple[int, int], made: bool
) -> None:
    for north in (True, False):
        assert deal(rules(name), contract, points, belotes=belotes, melds=melds, declarer_is_north=north).made is made


@every_preset
@pytest.mark.parametrize("points", range(95, 100))
def test_rounding_never_makes_a_contract(played: Rules, points: int) -> None:
    value = "102H" if played.lowest_bid == 82 else "100H"
    assert not deal(played, value, points).made


@every_preset
def test_a_capot_is_counted_in_tricks(played: Rules) -> None:
    assert not deal(played, "capotH", 162, tricks=7).made
    assert deal(played, "capotH", 162, tricks=8).made


@every_preset
def test_belote_and_melds_do_not_help_a_capot(played: Rules) -> None:
    assert not deal(played, "capotH", 162, tricks=7, belotes=(1, 0), melds=(100, 0)).made


def test_a_number_above_what_tricks_hold_can_be_made_with_melds() -> None:
    assert deal(rules("ffb-2000"), "250H", 120, belotes=(1, 0), melds=(150, 0)).made


def test_a_table_may_leave_the_belote_out_of_the_contract() -> None:
    assert not deal(rules("announced-701", belote_counts=False), "100H", 90, belotes=(1, 0)).made
    assert deal(rules("announced-701", belote_counts=False), "100H", 100, belotes=(1, 0)).made


def test_the_defence_s_belote_counts_against_the_declarers_even_where_theirs_does_not() -> None:
    played = rules("ffb-2000", belote_counts=False)
    contract, tricks = Contract(N, bid("80H")), BySide(5, 3)
    assert not is_made(played, contract, Outcome(BySide(85, 77), tricks, BySide(0, 1), BySide(0, 0)))
    assert not is_made(played, contract, Outcome(BySide(79, 83), tricks, BySide(1, 0), BySide(0, 0)))


# --- each preset's score ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "made", "failed"),
    [
        # 100 bid; 110 to 52 made, 90 to 72 failed; each at the factors of 1, coinche and surcoinche
        ("announced-701", ("210 52", "420 52", "840 52"), ("0 262", "0 524", "0 1048")),
        ("contree-701", ("210 52", "420 52", "840 52"), ("0 262", "0 524", "0 1048")),
        ("classic-1000", ("210 52", "420 104", "840 208"), ("0 260", "0 520", "0 1040")),
        ("rounded-1000", ("210 50", "420 50", "630 50"), ("0 260", "0 520", "0 780")),
        ("ffb-2000", ("210 50", "520 0", "1040 0"), ("0 260", "0 520", "0 1040")),
    ],
)
def test_a_hundred_made_and_failed_at_each_factor(name: str, made: tuple[str, ...], failed: tuple[str, ...]) -> None:
    for level in range(3):
        assert told(deal(rules(name), "100H", 110, level=level)) == made[level]
        assert told(deal(rules(name), "100H", 90, level=level)) == failed[level]


@pytest.mark.parametrize(
    ("level", "made", "failed"), [(0, "212 52", "0 262"), (1, "424 104", "0 524"), (2, "848 208", "0 1048")]
)
def test_arena_multiplies_both_sides(level: int, made: str, failed: str) -> None:
    assert told(deal(rules("arena-2000"), "102H", 110, level=level)) == made
    assert told(deal(rules("arena-2000"), "102H", 90, level=level)) == failed


@pytest.mark.parametrize(
    ("name", "contract", "own", "theirs", "failed"),
    [
        # 110 (made) or 60 (failed) in tricks; the declarers' belote, the defence's, the declarers' in a failed deal
        ("announced-701", "100H", "230 52", "210 72", "20 262"),
        ("contree-701", "100H", "230 52", "210 72", "20 262"),
        ("classic-1000", "100H", "230 52", "210 72", "20 260"),
        ("rounded-1000", "100H", "230 50", "210 50", "0 260"),
        ("arena-2000", "102H", "232 52", "212 72", "20 262"),
        ("ffb-2000", "100H", "230 50", "210 70", "20 260"),
    ],
)
def test_whose_the_belote_is(name: str, contract: str, own: str, theirs: str, failed: str) -> None:
    assert told(deal(rules(name), contract, 110, belotes=(1, 0))) == own
    assert told(deal(rules(name), contract, 110, belotes=(0, 1))) == theirs
    assert told(deal(rules(name), contract, 60, belotes=(1, 0))) == failed


@pytest.mark.parametrize(
    ("name", "own", "theirs", "failed"),
    [
        # coinched: the belote stands within the factor in announced, rounded and arena, outside in classic and ffb
        ("announced-701", "460 52", "420 72", "20 524"),
        ("classic-1000", "440 104", "420 124", "20 520"),
        ("rounded-1000", "460 50", "420 50", "0 520"),
        ("arena-2000", "464 104", "424 144", "40 524"),
        ("ffb-2000", "540 0", "520 20", "20 520"),
    ],
)
def test_what_a_coinche_makes_of_a_belote(name: str, own: str, theirs: str, failed: str) -> None:
    contract = "102H" if name == "arena-2000" else "100H"
    assert told(deal(rules(name), contract, 110, level=1, belotes=(1, 0))) == own
    assert told(deal(rules(name), contract, 110, level=1, belotes=(0, 1))) == theirs
    assert told(deal(rules(name), contract, 60, level=1, belotes=(1, 0))) == failed


@pytest.mark.parametrize(
    ("name", "unbid", "bid_and_made", "bid_and_failed"),
    [
        # a hundred made with all eight tricks; capot made; capot failed with 152 in seven tricks
        ("announced-701", "262 0", "412 0", "0 412"),
        ("contree-701", "262 0", "412 0", "0 412"),
        ("classic-1000", "350 0", "500 0", "0 410"),
        ("rounded-1000", "350 0", "500 0", "0 410"),
        ("arena-2000", "352 0", "500 0", "0 410"),
        ("ffb-2000", "350 0", "500 0", "0 500"),
    ],
)
def test_all_eight_tricks(name: str, unbid: str, bid_and_made: str, bid_and_failed: str) -> None:
    contract = "102H" if name == "arena-2000" else "100H"
    assert told(deal(rules(name), contract, 162, tricks=8)) == unbid
    assert told(deal(rules(name), "capotH", 162, tricks=8)) == bid_and_made
    assert told(deal(rules(name), "capotH", 152, tricks=7)) == bid_and_failed


@every_preset
def test_all_eight_tricks_of_the_defence_bring_no_bonus(played: Rules) -> None:
    contract = f"{played.lowest_bid + 20}H"
    assert told(deal(played, contract, 0, tricks=0)) == told(deal(played, contract, 40, tricks=2))


@pytest.mark.parametrize(
    ("level", "unbid", "bid_and_made", "bid_and_failed"),
    [(1, "700 0", "1000 0", "0 1000"), (2, "1400 0", "2000 0", "0 2000")],
)
def test_the_federation_s_capot_when_coinched(level: int, unbid: str, bid_and_made: str, bid_and_failed: str) -> None:
    ffb = rules("ffb-2000")
    assert told(deal(ffb, "100H", 162, level=level, tricks=8)) == unbid
    assert told(deal(ffb, "capotH", 162, level=level, tricks=8)) == bid_and_made
    assert told(deal(ffb, "capotH", 152, level=level, tricks=7)) == bid_and_failed


@pytest.mark.parametrize(
    ("name", "level", "points", "melds", "score"),
    [
        # made: each its own; failed: all to the defence
        ("announced-701", 0, 110, (50, 0), "260 52"),
        ("announced-701", 0, 110, (0, 50), "210 102"),
        ("announced-701", 0, 90, (0, 50), "0 312"),
        ("announced-701", 0, 83, (0, 0), "0 262"),
        ("announced-701", 0, 70, (50, 0), "0 312"),
        ("announced-701", 1, 110, (50, 0), "520 52"),
        ("announced-701", 1, 110, (0, 50), "420 102"),
        ("announced-701", 1, 70, (50, 0), "0 624"),
        ("ffb-2000", 0, 110, (50, 0), "260 50"),
        ("ffb-2000", 0, 120, (0, 20), "220 60"),
        ("ffb-2000", 0, 40, (50, 0), "0 310"),
        # coinched, the federation's melds go to the winner, outside the factor
        ("ffb-2000", 1, 110, (50, 0), "570 0"),
        ("ffb-2000", 1, 130, (0, 50), "570 0"),
        ("ffb-2000", 1, 40, (50, 0), "0 570"),
    ],
)
def test_whose_the_melds_are(name: str, level: int, points: int, melds: tuple[int, int], score: str) -> None:
    assert told(deal(rules(name), "100H", points, level=level, melds=melds)) == score


def test_the_federation_s_melds_go_to_the_side_with_all_eight_tricks() -> None:
    assert told(deal(rules("ffb-2000"), "100H", 162, tricks=8, melds=(0, 50))) == "400 0"
    assert told(deal(rules("ffb-2000"), "capotH", 162, tricks=8, melds=(0, 50))) == "550 0"
    assert told(deal(rules("ffb-2000"), "capotH", 100, tricks=6, melds=(50, 0))) == "0 550"


def test_the_document_s_example() -> None:
    """100 in spades; 104 in tricks, a belote and a cinquante: 104 + 20 + 50 + 100 = 274 to 58."""
    score = deal(rules("announced-701"), "100S", 104, belotes=(1, 0), melds=(50, 0))
    assert told(score) == "274 58"


def test_in_tout_atout_each_belote_counts() -> None:
    assert told(deal(rules("announced-701"), "100TA", 110, belotes=(3, 1))) == "270 72"


# --- rounding --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "score"), [(100, "200 60"), (104, "200 60"), (105, "210 60"), (108, "210 50"), (109, "210 50"), (110, "210 50")]
)
def test_each_side_is_rounded_to_the_nearest_ten_five_up(points: int, score: str) -> None:
    assert told(deal(rules("rounded-1000"), "100H", points)) == score
    assert told(deal(rules("ffb-2000"), "100H", points)) == score


def test_rounding_comes_after_the_factor() -> None:
    """(104 + 100) * 2 = 408, and (104 + 100) * 3 = 612."""
    assert told(deal(rules("rounded-1000"), "100H", 104, level=1)) == "410 60"
    assert told(deal(rules("rounded-1000"), "100H", 104, level=2)) == "610 60"


@pytest.mark.parametrize("name", ["announced-701", "contree-701", "classic-1000", "arena-2000"])
def test_nothing_is_rounded_elsewhere(name: str) -> None:
    value = 102 if name == "arena-2000" else 100
    assert told(deal(rules(name), f"{value}H", 107)) == f"{107 + value} 55"


# --- options of a table ----------------------------------------------------------------------------------------------


def test_bid_only_leaves_the_declarers_points_out_when_made() -> None:
    arena = rules("arena-2000", bid_only=True)
    assert told(deal(arena, "102H", 110)) == "102 52"
    assert told(deal(arena, "102H", 110, belotes=(1, 0))) == "122 52"
    assert told(deal(arena, "102H", 162, tricks=8)) == "102 0"
    assert told(deal(arena, "capotH", 162, tricks=8)) == "250 0"
    assert told(deal(arena, "102H", 90)) == "0 262"
    assert told(deal(arena, "102H", 110, level=1)) == "204 104"


def test_a_belote_to_the_winner_of_the_deal() -> None:
    winner = rules("classic-1000", belote_to="winner")
    assert told(deal(winner, "100H", 110, belotes=(0, 1))) == "230 52"
    assert told(deal(winner, "100H", 60, belotes=(1, 0))) == "0 280"


def test_only_the_bid_multiplied() -> None:
    assert told(deal(rules("announced-701", coinche_multiplies="bid"), "100H", 110, level=2, belotes=(1, 0))) == "530 52"


def test_the_loser_of_a_coinched_deal_with_nothing() -> None:
    nothing = rules("announced-701", loser_when_coinched="nothing")
    assert told(deal(nothing, "100H", 110, level=1)) == "420 0"
    assert told(deal(nothing, "100H", 110)) == "210 52"


def test_flat_points_when_coinched() -> None:
    flat = rules("classic-1000", coinche_points="flat")
    assert told(deal(flat, "100H", 110, level=1)) == "520 104"
    assert told(deal(flat, "100H", 162, tricks=8, level=1)) == "700 0"
    assert told(deal(flat, "100H", 60, level=1)) == "0 520"


def test_flat_points_are_the_points_of_a_failure() -> None:
    """Whoever wins, made or failed: a table that counts 162 for a failure counts 162 where points are flat."""
    flat = rules("ffb-2000", failure=162, rounding="none")
    assert told(deal(flat, "100H", 60, level=1)) == "0 524"
    assert told(deal(flat, "100H", 110, level=1)) == "524 0"
    assert told(deal(flat, "100H", 60)) == "0 262"


@every_preset
@pytest.mark.parametrize("failure", [160, 162])
@pytest.mark.parametrize("flat", CoinchePoints)
@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_failure_counts_what_the_table_says(played: Rules, failure: int, flat: CoinchePoints, level: int) -> None:
    """No number of the law stands beside its option."""
    table = replace(played, failure=failure, coinche_points=flat)
    assert lines(deal(table, "100H", 60, level=level))[Side.B][LineKind.FAILURE] == failure


# --- the lines -------------------------------------------------------------------------------------------------------


def lines(score: DealScore) -> dict[Side, dict[LineKind, int]]:
    found: dict[Side, dict[LineKind, int]] = {side: {} for side in Side}
    for line in score.lines:
        assert line.kind not in found[line.side]
        found[line.side][line.kind] = line.points
    return found


def test_the_lines_of_a_plain_deal() -> None:
    score = deal(rules("announced-701"), "100S", 104, belotes=(1, 0), melds=(50, 0), der=Side.A)
    assert lines(score) == {
        Side.A: {LineKind.TRICKS: 94, LineKind.DER: 10, LineKind.CONTRACT: 100, LineKind.MELDS: 50, LineKind.BELOTE: 20},
        Side.B: {LineKind.TRICKS: 58},
    }


def test_the_lines_of_a_coinched_failure() -> None:
    score = deal(rules("announced-701"), "100S", 60, belotes=(1, 0), melds=(50, 0), level=1)
    assert lines(score) == {
        Side.A: {LineKind.BELOTE: 20},
        Side.B: {LineKind.FAILURE: 162, LineKind.CONTRACT: 100, LineKind.MELDS: 50, LineKind.FACTOR: 312},
    }


def test_the_lines_of_a_rounded_deal() -> None:
    score = deal(rules("rounded-1000"), "100S", 104)
    assert lines(score)[Side.A] == {LineKind.TRICKS: 104, LineKind.CONTRACT: 100, LineKind.ROUNDING: -4}
    assert lines(score)[Side.B] == {LineKind.TRICKS: 58, LineKind.ROUNDING: 2}


def test_the_lines_of_a_capot() -> None:
    assert lines(deal(rules("ffb-2000"), "capotS", 162, tricks=8, der=Side.A)) == {
        Side.A: {LineKind.CAPOT: 250, LineKind.CONTRACT: 250},
        Side.B: {},
    }


def test_the_ten_of_the_last_stands_apart_where_it_is_known_whose_it_is() -> None:
    split = lines(deal(rules("announced-701"), "100S", 104, der=Side.B))
    assert split[Side.B] == {LineKind.TRICKS: 48, LineKind.DER: 10}
    assert lines(deal(rules("announced-701"), "100S", 104))[Side.B] == {LineKind.TRICKS: 58}


@every_preset
def test_the_same_outcome_scores_alike_whichever_side_declares(played: Rules) -> None:
    value = f"{played.lowest_bid + 20}H"
    for level in range(3):
        one = deal(played, value, 110, level=level, belotes=(0, 1))
        other = deal(played, value, 110, level=level, belotes=(0, 1), declarer_is_north=False)
        assert told(one) == told(other)


# --- the game --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "totals", "last", "winner"),
    [
        ("announced-701", (700, 650), Side.A, None),
        ("announced-701", (701, 650), Side.A, Side.A),
        ("announced-701", (701, 650), Side.B, Side.A),
        ("announced-701", (720, 730), Side.A, Side.B),
        ("announced-701", (720, 720), Side.A, Side.A),
        ("announced-701", (720, 720), Side.B, Side.B),
        ("announced-701", (650, 650), Side.B, None),
        ("contree-701", (720, 720), Side.B, Side.B),
        ("classic-1000", (999, 0), Side.A, None),
        ("classic-1000", (1000, 0), Side.B, Side.A),
        ("classic-1000", (1000, 1000), Side.A, None),
        ("classic-1000", (1100, 1090), Side.B, Side.A),
        ("rounded-1000", (1000, 1000), Side.A, None),
        ("rounded-1000", (990, 1000), Side.A, Side.B),
        ("arena-2000", (1999, 1998), Side.A, None),
        ("arena-2000", (2000, 2000), Side.A, None),
        ("arena-2000", (2001, 2000), Side.B, Side.A),
        ("ffb-2000", (2000, 1990), Side.B, Side.A),
        ("ffb-2000", (2010, 2010), Side.B, None),
    ],
)
def test_who_has_won(name: str, totals: tuple[int, int], last: Side, winner: Side | None) -> None:
    assert game_winner(rules(name), BySide(*totals), last) is winner


def test_a_table_may_choose_its_target() -> None:
    assert game_winner(rules("classic-1000", target=2000), BySide(1000, 0), Side.A) is None
    assert game_winner(rules("arena-2000", target=1000), BySide(1000, 0), Side.A) is Side.A
