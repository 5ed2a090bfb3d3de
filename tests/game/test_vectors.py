"""Worked facts, each a question to the referee with its answer; and the spelled-out formulas against the one law."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings

from app.game.auction import Bid, Contract, Value
from app.game.engine import decide, evolve, evolve_all
from app.game.events import HandsDealt
from app.game.rules import PRESETS, Rules, override
from app.game.scoring import Outcome, score_deal
from app.game.seats import SEATS, BySide, Seat, Side
from app.game.state import Playing, new_game
from app.game.trump import Trump
from app.game.view import CardMoves, moves
from app.wire.referee import answer
from tests.game import formulas
from tests.game.strategies import seeds
from tests.talk import cards, do, plays, spoken

Json = dict[str, Any]
FOLDER = Path(__file__).parent / "vectors"


def vectors(name: str) -> list[Json]:
    found: list[Json] = json.loads((FOLDER / f"{name}.json").read_text())
    return found


def by_id(vector: Json) -> str:
    return str(vector["id"])


LEGAL = [
    pytest.param(vector, name, expected, id=f"{vector['id']}-{name}")
    for vector in vectors("legal")
    for name, expected in vector["expected"].items()
]


@pytest.mark.parametrize(("vector", "name", "expected"), LEGAL)
def test_legal_cards(vector: Json, name: str, expected: list[str] | None) -> None:
    both = {"sans_atout": True, "tout_atout": True}
    options = both if name == "ffb-2000" and vector["trump"] in ("SA", "TA") else {}
    got = answer(vector | {"op": "legal", "rules": name, "options": options})
    if expected is None:
        assert got["error"] == {"why": "trump_not_offered", "field": "trump"}
    else:
        assert sorted(got["legal"]) == sorted(expected)
        assert sorted([*got["legal"], *got["reasons"]]) == sorted(vector["hand"])


@pytest.mark.parametrize("vector", vectors("auction"), ids=by_id)
def test_auctions(vector: Json) -> None:
    got = answer(vector | {"op": "auction"})
    assert {key: got[key] for key in ("legal", "ends", "contract", "level")} == {
        key: vector[key] for key in ("legal", "ends", "contract", "level")
    }


@pytest.mark.parametrize("vector", vectors("melds"), ids=by_id)
def test_melds(vector: Json) -> None:
    got = answer(vector | {"op": "melds"})
    assert (got["winner"], got["scored"]) == (vector["winner"], vector["scored"])
    for side in "AB":
        assert sorted(got["values"][side]) == sorted(vector["values"][side])
    assert sum(meld["points"] for meld in got["shown"]) == vector["scored"]


@pytest.mark.parametrize("vector", vectors("scoring"), ids=by_id)
def test_scores(vector: Json) -> None:
    got = answer(vector | {"op": "score"})
    assert (got["made"], got["score"]) == (vector["made"], vector["expected"])
    lines_make_the_score(got["lines"], vector["expected"])


def lines_make_the_score(lines: list[Json], score: Json) -> None:
    for side in "AB":
        assert sum(line["points"] for line in lines if line["side"] == side) == score[side]


@pytest.mark.parametrize("vector", vectors("deals"), ids=by_id)
def test_deals(vector: Json) -> None:
    got = answer(vector | {"op": "deal"})
    result = vector["result"]
    if result is None:
        assert got == {"id": vector["id"], "result": None, "ends": "redeal"}
        return
    assert {key: got["result"][key] for key in result} == result
    assert [card for trick in got["tricks"] for card in trick["cards"]] == vector["plays"]
    assert sum(trick["points"] for trick in got["tricks"]) == 162
    lines_make_the_score(got["lines"], dict(zip("AB", result["score"], strict=True)))


@pytest.mark.parametrize("vector", vectors("deals")[::4], ids=by_id)
def test_deals_in_the_engine_itself(vector: Json) -> None:
    """The same deals without the referee: the engine's own actions, every card out of what is offered."""
    rules = override(PRESETS[vector["rules"]], vector.get("options", {}))
    hands = tuple(cards(" ".join(hand)) for hand in vector["hands"])
    game = evolve(new_game("vector", rules, Seat(vector["dealer"])), HandsDealt(1, Seat(vector["dealer"]), hands))
    told = ", ".join(f"{seat} {''.join(str(part) for part in said)}" for seat, *said in vector["auction"])
    game = do(game, *spoken(told))
    for card in vector["plays"]:
        assert isinstance(game.phase, Playing)
        seat = game.phase.trick.turn
        mine = moves(game, seat)
        assert isinstance(mine, CardMoves)
        [play] = plays(f"{seat.value}{card}{'!' if card in mine.belote else ''}")
        game = evolve_all(game, decide(game, play))
    score = game.deals[-1].score
    if vector["result"] is None:
        assert score is None
    else:
        assert score is not None
        assert list(score.score) == vector["result"]["score"]
        assert score.made == vector["result"]["made"]


# --- the formulas ----------------------------------------------------------------------------------------------------

MELD_SUMS = (0, 0, 20, 40, 50, 70, 100, 120, 150, 200, 250, 300)


def outcome_of(rules: Rules, dice: Random) -> tuple[Contract, Outcome]:
    """A contract these rules offer, and what a deal could have brought: often close to the bid, often all eight tricks."""
    trump = dice.choice(rules.trumps)
    numbers = range(rules.lowest_bid, rules.highest_bid + 1, 10)
    value: Value = dice.choice((dice.choice(numbers), dice.choice(numbers[:10]), "capot"))
    contract = Contract(dice.choice(SEATS), Bid(value, trump), dice.choice((0, 0, 1, 2)))
    ours = dice.choice((*range(9), 8, 8))
    near = value if isinstance(value, int) and value <= 162 else 81
    points = dice.choice((dice.randint(0, 162), dice.randint(max(near - 45, 0), min(near + 5, 162))))
    points = {0: 0, 8: 162}.get(ours, points)
    pairs = {Trump.NONE: 0, Trump.ALL: 4 if rules.belote_in_ta else 0}.get(trump, 1)
    holders = [dice.choice(list(Side)) for _ in range(dice.randint(0, pairs))]
    melds, holder = dice.choice(MELD_SUMS) if rules.melds else 0, dice.choice(list(Side))
    us = contract.side
    return contract, Outcome(
        trick_points=BySide.of(lambda side: points if side is us else 162 - points),
        tricks_won=BySide.of(lambda side: ours if side is us else 8 - ours),
        belotes=BySide.of(holders.count),
        melds=BySide.of(lambda side: melds if side is holder else 0),
        der=dice.choice((None, us if points >= 10 else us.other)),
    )


def spelled_out(contract: Contract, outcome: Outcome) -> formulas.Deal:
    us, them = contract.side, contract.side.other
    return formulas.Deal(
        t=outcome.trick_points[us],
        d=outcome.trick_points[them],
        bt=20 * outcome.belotes[us],
        bd=20 * outcome.belotes[them],
        at=outcome.melds[us],
        ad=outcome.melds[them],
        bid=contract.bid.value,
        level=contract.level,
        eight=outcome.tricks_won[us] == 8,
    )


def agrees(rules: Rules, formula: Callable[[formulas.Deal], tuple[bool, int, int]], seed: int) -> None:
    """The law and the formula say the same of many deals."""
    dice = Random(seed)
    for _ in range(200):
        contract, outcome = outcome_of(rules, dice)
        score = score_deal(rules, contract, outcome)
        us = contract.side
        assert (score.made, score.score[us], score.score[us.other]) == formula(spelled_out(contract, outcome))


@pytest.mark.parametrize("name", sorted(PRESETS))
@settings(max_examples=20)
@given(seed=seeds)
def test_the_law_gives_what_the_formula_of_the_preset_gives(name: str, seed: int) -> None:
    agrees(PRESETS[name], formulas.FORMULAS[name], seed)


@settings(max_examples=10)
@given(seed=seeds)
def test_the_law_gives_what_the_formula_of_bid_only_gives(seed: int) -> None:
    agrees(override(PRESETS["arena-2000"], {"bid_only": True}), formulas.arena_bid_only, seed)


def test_every_preset_has_a_formula_and_a_vector() -> None:
    assert formulas.FORMULAS.keys() == PRESETS.keys()
    assert {vector["rules"] for vector in vectors("deals")} <= PRESETS.keys()
