"""The referee's answers, and what it says to questions that do not fit."""

import copy
import io
import json
import subprocess
import sys
from dataclasses import asdict
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.game.refusal import Why
from app.game.rules import OPTIONS, PRESETS
from app.wire.referee import Unreadable, answer, answer_lines, answer_text
from tests.game.test_vectors import vectors

Json = dict[str, Any]

LEGAL: Json = {
    "op": "legal",
    "rules": "announced-701",
    "trump": "S",
    "leader": 0,
    "trick": [{"seat": 0, "card": "AH"}],
    "player": 1,
    "hand": ["7S", "JS", "KD"],
}
AUCTION: Json = {
    "op": "auction",
    "rules": "announced-701",
    "dealer": 0,
    "actions": [[1, 80, "H"], [2, "pass"], [3, "pass"], [0, "pass"]],
}
MELDS: Json = {
    "op": "melds",
    "rules": "announced-701",
    "trump": "S",
    "hands": {
        "A": ["JH", "QH", "KH", "7S", "8S", "9D", "AC", "10C"],
        "B": ["JD", "QD", "KD", "AD", "7C", "8C", "9H", "10S"],
    },
}
SCORE: Json = {
    "op": "score",
    "rules": "announced-701",
    "contract": {"declarer": "A", "value": 100, "trump": "S", "level": 0},
    "trick_points": {"A": 104, "B": 58},
    "tricks_won": {"A": 5, "B": 3},
    "belote": ["A"],
    "melds": {"A": [50], "B": []},
    "melds_winner": "A",
}
DEAL: Json = next(vector for vector in vectors("deals") if vector["rules"] == "announced-701" and vector["result"]) | {
    "op": "deal"
}
REDEAL: Json = {
    "op": "redeal",
    "rules": "announced-701",
    "options": {"misere": True, "carre_of_sevens": True},
    "dealer": 0,
    "player": 1,
    "hand": ["7S", "7H", "7D", "7C", "8S", "8H", "8D", "8C"],
}
END: Json = {"op": "end", "rules": "announced-701", "totals": {"A": 710, "B": 640}, "last_deal": "A"}
QUESTIONS = {"legal": LEGAL, "auction": AUCTION, "redeal": REDEAL, "melds": MELDS, "score": SCORE, "deal": DEAL, "end": END}
every_op = pytest.mark.parametrize("op", QUESTIONS)


def ask(question: Json, **changes: object) -> Json:
    """The answer, which is JSON whatever was asked."""
    got = answer(question | changes)
    json.dumps(got, allow_nan=False)
    return got


def error(question: Json, **changes: object) -> tuple[Any, Any]:
    """Why, and the field; a question that is answered has neither."""
    got = ask(question, **changes).get("error", {})
    return got.get("why"), got.get("field")


def without(question: Json, name: str) -> Json:
    return {key: value for key, value in question.items() if key != name}


@every_op
def test_the_examples_are_answered(op: str) -> None:
    assert error(QUESTIONS[op]) == (None, None)


# --- what every question has -----------------------------------------------------------------------------------------


@every_op
@pytest.mark.parametrize("name", [None, True, 0, -7, 1.5, "", "x", "é\ud800", [], [1, [2]], {"a": {"b": None}}, 10**40])
def test_any_id_is_echoed(op: str, name: object) -> None:
    assert ask(QUESTIONS[op], id=name)["id"] == name
    assert ask({"id": name, "op": "x"})["id"] == name


def test_without_an_id_it_is_null() -> None:
    assert ask(LEGAL)["id"] is None


@pytest.mark.parametrize("question", [None, True, 0, 1.5, "legal", [], [LEGAL]])
def test_a_question_is_an_object(question: object) -> None:
    assert answer(question) == {"id": None, "error": {"why": "wrong_type"}}


@pytest.mark.parametrize(
    ("op", "why"), [("", "unknown_op"), ("Legal", "unknown_op"), (None, "wrong_type"), (1, "wrong_type"), ([], "wrong_type")]
)
def test_an_unknown_question(op: object, why: str) -> None:
    assert error(LEGAL, op=op) == (why, "op")
    assert error(without(LEGAL, "op")) == ("missing", "op")


@every_op
def test_the_rules_must_be_named(op: str) -> None:
    assert error(without(QUESTIONS[op], "rules")) == ("missing", "rules")
    assert error(QUESTIONS[op], rules="belote") == ("unknown_preset", "rules")
    for wrong in (None, True, 701, 1.5, [], ["announced-701"]):
        assert error(QUESTIONS[op], rules=wrong) == ("wrong_type", "rules")


@every_op
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"colour": "red"}, ("unknown_option", "colour")),
        ({"target": "701"}, ("wrong_type", "target")),
        ({"target": True}, ("wrong_type", "target")),
        ({"target": 701.0}, ("wrong_type", "target")),
        ({"target": float("nan")}, ("wrong_type", "target")),
        ({"target": None}, ("wrong_type", "target")),
        ({"melds": 1}, ("wrong_type", "melds")),
        ({"target": 0}, ("wrong_value", "target")),
        ({"undertrump": "sometimes"}, ("wrong_value", "undertrump")),
        ({"undertrump": ["free"]}, ("wrong_type", "undertrump")),
        ({"highest_bid": 80, "lowest_bid": 90}, ("senseless_options", "highest_bid")),
        ([], ("wrong_type", "options")),
        (None, ("wrong_type", "options")),
        ("", ("wrong_type", "options")),
    ],
)
def test_options_that_do_not_fit(op: str, options: object, expected: tuple[str, str]) -> None:
    assert error(QUESTIONS[op], options=options) == expected


@pytest.mark.parametrize("name", PRESETS)
def test_rules_may_be_a_whole_object(name: str) -> None:
    whole = {key: value.value if isinstance(value, StrEnum) else value for key, value in asdict(PRESETS[name]).items()}
    question = SCORE | {"melds": {}, "melds_winner": None, "contract": SCORE["contract"] | {"value": "capot"}}
    assert ask(question, rules=whole) == ask(question, rules=name)
    assert error(SCORE, rules=without(whole, "melds")) == ("missing", "melds")
    assert error(SCORE, rules=whole | {"more": 1}) == ("unknown_option", "more")
    assert error(SCORE, rules={}) == ("missing", next(iter(OPTIONS)))


def test_options_override_a_whole_object_too() -> None:
    whole = {key: value.value if isinstance(value, StrEnum) else value for key, value in asdict(PRESETS["ffb-2000"]).items()}
    assert error(LEGAL, rules=whole, trump="SA") == ("trump_not_offered", "trump")
    assert error(LEGAL, rules=whole, trump="SA", options={"sans_atout": True}) == (None, None)


@pytest.mark.parametrize("op", ["legal", "melds"])
def test_a_trump_must_be_one_and_be_offered(op: str) -> None:
    assert error(QUESTIONS[op], trump="X") == ("unknown_trump", "trump")
    assert error(QUESTIONS[op], trump="s") == ("unknown_trump", "trump")
    assert error(QUESTIONS[op], trump=None) == ("wrong_type", "trump")
    assert error(QUESTIONS[op], trump=["S"]) == ("wrong_type", "trump")
    for trump in ("SA", "TA"):
        assert error(QUESTIONS[op], rules="contree-701", trump=trump) == ("trump_not_offered", "trump")


@every_op
def test_each_part_of_a_question_must_be_there(op: str) -> None:
    optional = {"id", "options", "belote", "melds", "melds_winner", "result"}
    for name in QUESTIONS[op].keys() - optional - {"plays"}:
        assert error(without(QUESTIONS[op], name)) == ("missing", name)


def test_what_the_answer_holds_is_ignored_in_the_question() -> None:
    assert ask(SCORE, made="?", score=7, lines=None, title="x") == ask(SCORE)


# --- legal -----------------------------------------------------------------------------------------------------------


def test_legal_cards_and_why_not_the_others() -> None:
    assert ask(LEGAL, id=1) == {"id": 1, "legal": ["7S", "JS"], "reasons": {"KD": "must_trump"}}


def test_legal_cards_come_in_pack_order() -> None:
    got = ask(LEGAL, trick=[], leader=1, hand=["AC", "7S", "JH", "8D"])
    assert got["legal"] == ["7S", "JH", "8D", "AC"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"hand": ["7S", "7S"]}, ("card_twice", "hand")),
        ({"hand": ["AH", "7S"]}, ("card_twice", "hand")),
        ({"hand": []}, ("wrong_count", "hand")),
        ({"hand": ["7S", "8S", "9S", "10S", "JS", "QS", "KS", "AS", "7D"]}, ("wrong_count", "hand")),
        ({"hand": ["1S"]}, ("unknown_card", "hand")),
        ({"hand": ["SJ"]}, ("unknown_card", "hand")),
        ({"hand": ["js"]}, ("unknown_card", "hand")),
        ({"hand": ["S7"]}, ("unknown_card", "hand")),
        ({"hand": [""]}, ("unknown_card", "hand")),
        ({"hand": [7]}, ("wrong_type", "hand")),
        ({"hand": [["7S"]]}, ("wrong_type", "hand")),
        ({"hand": "7S"}, ("wrong_type", "hand")),
        ({"hand": None}, ("wrong_type", "hand")),
        ({"leader": 4}, ("seat_out_of_range", "leader")),
        ({"leader": -1}, ("seat_out_of_range", "leader")),
        ({"leader": True}, ("wrong_type", "leader")),
        ({"leader": 0.0}, ("wrong_type", "leader")),
        ({"leader": "0"}, ("wrong_type", "leader")),
        ({"player": 4}, ("seat_out_of_range", "player")),
        ({"player": 2}, ("inconsistent", "player")),
        ({"leader": 2}, ("inconsistent", "trick")),
        ({"trick": [{"seat": 0, "card": "AH"}, {"seat": 2, "card": "KH"}]}, ("inconsistent", "trick")),
        ({"trick": [{"seat": 0, "card": "AH"}, {"seat": 1, "card": "AH"}]}, ("card_twice", "trick")),
        ({"trick": [{"seat": seat, "card": f"{rank}H"} for seat, rank in enumerate("789J")]}, ("wrong_count", "trick")),
        ({"trick": [{"seat": 0}]}, ("missing", "card")),
        ({"trick": [{"card": "AH"}]}, ("missing", "seat")),
        ({"trick": [["AH"]]}, ("wrong_type", "trick")),
        ({"trick": [{"seat": 9, "card": "AH"}]}, ("seat_out_of_range", "trick")),
        ({"trick": {}}, ("wrong_type", "trick")),
    ],
)
def test_a_trick_or_hand_that_does_not_fit(changes: Json, expected: tuple[str, str]) -> None:
    assert error(LEGAL, **changes) == expected


# --- auction ---------------------------------------------------------------------------------------------------------


def test_a_refused_call_leaves_all_as_it_was() -> None:
    calls = [[1, 85, "H"], [2, "pass"], [1, 80, "H"], [2, "coinche"], [3, "pass"], [0, "pass"], [1, "surcoinche"]]
    got = ask(AUCTION, actions=calls)
    assert got["legal"] == [False, False, True, True, True, False, True]
    assert (got["ends"], got["level"]) == ("play", 2)
    assert got["contract"] == {"declarer": 1, "value": 80, "trump": "H"}


def test_how_an_auction_ends() -> None:
    passes = [[seat, "pass"] for seat in (1, 2, 3, 0)]
    assert ask(AUCTION, actions=[])["ends"] is None
    assert ask(AUCTION, actions=passes) == {
        "id": None,
        "legal": [True] * 4,
        "refused": [],
        "ends": "redeal",
        "contract": None,
        "level": 0,
    }
    assert ask(AUCTION, actions=[*passes, [1, 80, "H"], [1, "pass"], [1, "coinche"]])["legal"] == [True] * 4 + [False] * 3
    assert ask(AUCTION, actions=[[1, "capot", "TA"]])["contract"] == {"declarer": 1, "value": "capot", "trump": "TA"}


def test_a_trump_that_is_not_offered_is_a_refused_call() -> None:
    assert ask(AUCTION, rules="contree-701", actions=[[1, 80, "SA"], [1, 80, "S"]])["legal"] == [False, True]


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ([4, "pass"], "seat_out_of_range"),
        ([-1, 80, "H"], "seat_out_of_range"),
        ([True, "pass"], "wrong_type"),
        ([1.0, "pass"], "wrong_type"),
        (["1", "pass"], "wrong_type"),
        ([1, True, "H"], "wrong_type"),
        ([1, 80.0, "H"], "wrong_type"),
        ([1, float("nan"), "H"], "wrong_type"),
        ([1, "80", "H"], "wrong_type"),
        ([1, None, "H"], "wrong_type"),
        ([1, 80, None], "wrong_type"),
        ([1, 80, "Z"], "unknown_trump"),
        ([1, "PASS"], "wrong_value"),
        ([1, "double"], "wrong_value"),
        ([1, "capot"], "wrong_count"),
        ([1, 80], "wrong_count"),
        ([1, 80, "H", 2], "wrong_count"),
        ([1], "wrong_count"),
        ([], "wrong_count"),
        ("pass", "wrong_type"),
        ({"seat": 1}, "wrong_type"),
        (None, "wrong_type"),
    ],
)
def test_a_call_that_is_none(call: object, why: str) -> None:
    """It is told with its place; in an auction it is one refused call among the others."""
    judged = ask(AUCTION, actions=[[1, 80, "H"], call, [2, 90, "S"]])
    assert (judged["legal"], judged["refused"]) == ([True, False, True], [{"at": 1, "why": why}])
    assert judged["contract"] == {"declarer": 2, "value": 90, "trump": "S"}
    assert error(DEAL, auction=[call]) == (why, "auction")
    assert fault(DEAL, auction=[DEAL["auction"][0], call]) == (why, "auction", 1)


def test_a_refused_call_has_its_reason_and_place() -> None:
    judged = ask(AUCTION, actions=[[1, 160, "H"], [2, 160, "S"], [1, "pass"], [2, "surcoinche"], [3, "coinche"], [2, 170, "S"]])
    assert [(one["at"], one["why"]) for one in judged["refused"]] == [
        (1, "bid_too_low"),
        (2, "not_your_turn"),
        (3, "not_coinched"),
        (4, "own_bid"),
        (5, "bid_too_high"),
    ]


@pytest.mark.parametrize(
    ("changes", "rights"),
    [
        ({}, ["misere", "sevens"]),
        ({"actions": [[1, "pass"]]}, []),
        ({"actions": [[1, "pass"], [2, 80, "H"], [3, "pass"], [0, "pass"]]}, ["sevens"]),
        ({"options": {}}, []),
        ({"options": {"misere": True}}, ["misere"]),
        ({"hand": ["7S", "7H", "7D", "7C", "AS", "AH", "8D", "8C"]}, ["sevens"]),
    ],
)
def test_a_right_to_a_redeal(changes: Json, rights: list[str]) -> None:
    assert ask(REDEAL, **changes) == {"id": None, "rights": rights}


def test_what_does_not_fit_a_question_for_a_redeal() -> None:
    assert fault(REDEAL, actions=[[1, "pass"], [3, "pass"]]) == ("not_your_turn", "actions", 1)
    assert fault(REDEAL, actions=[[1, "weiter"]]) == ("wrong_value", "actions", 0)
    assert error(REDEAL, hand=["7S"]) == ("wrong_count", "hand")
    assert error(REDEAL, player=4) == ("seat_out_of_range", "player")


@pytest.mark.parametrize(
    ("rules", "totals", "last_deal", "winner"),
    [
        ("announced-701", (700, 0), "A", None),
        ("announced-701", (701, 0), "B", "A"),
        ("announced-701", (720, 730), "A", "B"),
        ("announced-701", (720, 720), "A", "A"),
        ("classic-1000", (1000, 1000), "A", None),
        ("classic-1000", (1000, 1010), "A", "B"),
    ],
)
def test_the_end_of_a_game(rules: str, totals: tuple[int, int], last_deal: str, winner: str | None) -> None:
    question = END | {"rules": rules, "totals": dict(zip("AB", totals, strict=True)), "last_deal": last_deal}
    assert ask(question) == {"id": None, "over": winner is not None, "winner": winner}


def test_what_does_not_fit_a_question_for_the_end() -> None:
    assert error(END, totals={"A": -1, "B": 0}) == ("wrong_value", "totals")
    assert error(END, totals={"A": 1}) == ("missing", "B")
    assert error(END, totals=[1, 2]) == ("wrong_type", "totals")
    assert error(without(END, "last_deal")) == ("missing", "last_deal")
    assert error(END, last_deal="C") == ("wrong_value", "last_deal")


@pytest.mark.parametrize(
    ("dealer", "why"), [(4, "seat_out_of_range"), (True, "wrong_type"), (None, "wrong_type"), ([], "wrong_type")]
)
def test_a_dealer_that_is_no_seat(dealer: object, why: str) -> None:
    assert error(AUCTION, dealer=dealer) == (why, "dealer")
    assert error(DEAL, dealer=dealer) == (why, "dealer")


# --- melds -----------------------------------------------------------------------------------------------------------


def test_melds_of_one_hand_a_side() -> None:
    assert ask(MELDS, id="m") == {
        "id": "m",
        "values": {"A": [20], "B": [50]},
        "winner": "B",
        "scored": 50,
        "shown": [{"side": "B", "kind": "cinquante", "points": 50, "cards": ["JD", "QD", "KD", "AD"]}],
    }


def test_melds_of_four_hands_by_seat() -> None:
    four = [
        ["JH", "QH", "KH", "7S", "8S", "9D", "AC", "10C"],
        ["JD", "QD", "KD", "AD", "7C", "8C", "9H", "10S"],
        ["7H", "8H", "10H", "JS", "KS", "7D", "9C", "QC"],
        ["9S", "QS", "AS", "AH", "8D", "10D", "JC", "KC"],
    ]
    got = ask(MELDS, hands=four)
    assert (got["values"], got["winner"], got["scored"]) == ({"A": [20], "B": [50]}, "B", 50)
    assert got["shown"] == [{"side": "B", "seat": 1, "kind": "cinquante", "points": 50, "cards": ["JD", "QD", "KD", "AD"]}]
    partners = [four[0], four[2], four[1], four[3]]
    assert ask(MELDS, hands=partners)["values"] == {"A": [50, 20], "B": []}
    assert ask(MELDS, hands=partners)["scored"] == 70


def test_without_melds_in_the_rules_there_are_none() -> None:
    assert ask(MELDS, rules="classic-1000") == {
        "id": None,
        "values": {"A": [], "B": []},
        "winner": None,
        "scored": 0,
        "shown": [],
    }


@pytest.mark.parametrize(
    ("hands", "expected"),
    [
        (None, ("wrong_type", "hands")),
        ("JH", ("wrong_type", "hands")),
        ({}, ("missing", "A")),
        ({"A": MELDS["hands"]["A"]}, ("missing", "B")),
        ({"A": MELDS["hands"]["A"], "B": MELDS["hands"]["A"]}, ("card_twice", "hands")),
        ({"A": MELDS["hands"]["A"], "B": MELDS["hands"]["B"][:7]}, ("wrong_count", "hands")),
        ({"A": MELDS["hands"]["A"], "B": []}, ("wrong_count", "hands")),
        ({"A": MELDS["hands"]["A"], "B": None}, ("wrong_type", "hands")),
        ([], ("wrong_count", "hands")),
        ([MELDS["hands"]["A"]] * 3, ("wrong_count", "hands")),
        ([MELDS["hands"]["A"]] * 4, ("card_twice", "hands")),
    ],
)
def test_hands_that_do_not_fit(hands: object, expected: tuple[str, str]) -> None:
    assert error(MELDS, hands=hands) == expected


# --- score -----------------------------------------------------------------------------------------------------------


def test_a_score_with_its_lines() -> None:
    got = ask(SCORE)
    assert (got["made"], got["score"]) == (True, {"A": 274, "B": 58})
    assert {(line["side"], line["kind"]): line["points"] for line in got["lines"]} == {
        ("A", "tricks"): 104,
        ("A", "contract"): 100,
        ("A", "melds"): 50,
        ("A", "belote"): 20,
        ("B", "tricks"): 58,
    }
    assert all(line["rule"] in OPTIONS for line in got["lines"])


@pytest.mark.parametrize("side", ["A", "B"])
def test_the_ten_of_the_last_only_splits_the_line_of_the_tricks(side: str) -> None:
    plain, split = ask(SCORE), ask(SCORE, der=side)
    assert plain["score"] == split["score"]
    of_side = {line["kind"]: line["points"] for line in split["lines"] if line["side"] == side}
    assert of_side["der"] == 10
    assert of_side["tricks"] + 10 == plain_tricks(plain, side)
    assert "der" not in {line["kind"] for line in split["lines"] if line["side"] != side}


def plain_tricks(got: Json, side: str) -> int:
    return next(int(line["points"]) for line in got["lines"] if line["side"] == side and line["kind"] == "tricks")


def test_melds_count_for_the_winner_only() -> None:
    assert ask(SCORE, melds={"A": [20], "B": [50, 20]}, melds_winner="B")["score"] == {"A": 224, "B": 128}
    assert ask(SCORE, melds={"A": [20], "B": [20]}, melds_winner=None)["score"] == {"A": 224, "B": 58}
    assert ask(without(without(SCORE, "melds"), "melds_winner"))["score"] == {"A": 224, "B": 58}
    assert ask(SCORE, melds=None, melds_winner=None)["score"] == {"A": 224, "B": 58}


def test_a_level_left_out_is_none() -> None:
    assert ask(SCORE, contract=without(SCORE["contract"], "level")) == ask(SCORE)


@pytest.mark.parametrize(
    ("contract", "expected"),
    [
        ({"declarer": "C"}, ("wrong_value", "declarer")),
        ({"declarer": 0}, ("wrong_type", "declarer")),
        ({"value": 85}, ("bid_off_step", "value")),
        ({"value": 70}, ("bid_too_low", "value")),
        ({"value": 170}, ("bid_too_high", "value")),
        ({"value": "250"}, ("wrong_type", "value")),
        ({"value": True}, ("wrong_type", "value")),
        ({"value": 100.0}, ("wrong_type", "value")),
        ({"trump": "X"}, ("unknown_trump", "trump")),
        ({"level": 3}, ("wrong_value", "level")),
        ({"level": -1}, ("wrong_value", "level")),
        ({"level": True}, ("wrong_type", "level")),
        ({"level": None}, ("wrong_type", "level")),
    ],
)
def test_a_contract_that_does_not_fit(contract: Json, expected: tuple[str, str]) -> None:
    assert error(SCORE, contract=SCORE["contract"] | contract) == expected


@pytest.mark.parametrize("name", ["declarer", "value", "trump"])
def test_a_contract_is_whole(name: str) -> None:
    assert error(SCORE, contract=without(SCORE["contract"], name)) == ("missing", name)
    assert error(SCORE, contract=[]) == ("wrong_type", "contract")


def test_a_contract_in_a_trump_that_is_not_offered() -> None:
    contract = SCORE["contract"] | {"trump": "TA"}
    assert error(SCORE, rules="contree-701", contract=contract, melds={}) == ("trump_not_offered", "trump")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"trick_points": {"A": 104, "B": 57}}, ("inconsistent", "trick_points")),
        ({"trick_points": {"A": 172, "B": -10}}, ("inconsistent", "trick_points")),
        ({"trick_points": {"A": 104}}, ("missing", "B")),
        ({"trick_points": {"A": 104.0, "B": 58}}, ("wrong_type", "trick_points")),
        ({"trick_points": {"A": True, "B": 161}}, ("wrong_type", "trick_points")),
        ({"trick_points": [104, 58]}, ("wrong_type", "trick_points")),
        ({"tricks_won": {"A": 5, "B": 4}}, ("inconsistent", "tricks_won")),
        ({"tricks_won": {"A": 9, "B": -1}}, ("inconsistent", "tricks_won")),
        ({"tricks_won": {"A": 8, "B": 0}}, ("inconsistent", "tricks_won")),
        ({"belote": ["A", "B"]}, ("inconsistent", "belote")),
        ({"belote": ["C"]}, ("wrong_value", "belote")),
        ({"belote": "A"}, ("wrong_type", "belote")),
        ({"belote": [0]}, ("wrong_type", "belote")),
        ({"belote": None}, ("wrong_type", "belote")),
        ({"melds": {"A": [30]}}, ("wrong_value", "melds")),
        ({"melds": {"A": [True]}}, ("wrong_type", "melds")),
        ({"melds": {"A": 50}}, ("wrong_type", "melds")),
        ({"melds": []}, ("wrong_type", "melds")),
        ({"melds": ""}, ("wrong_type", "melds")),
        ({"melds": 0}, ("wrong_type", "melds")),
        ({"melds": False}, ("wrong_type", "melds")),
        ({"melds_winner": "B"}, ("inconsistent", "melds_winner")),
        ({"melds_winner": "X"}, ("wrong_value", "melds_winner")),
        ({"melds_winner": True}, ("wrong_type", "melds_winner")),
        ({"der": "X"}, ("wrong_value", "der")),
        ({"der": 0}, ("wrong_type", "der")),
        ({"der": "B", "trick_points": {"A": 153, "B": 9}}, ("inconsistent", "der")),
        ({"rules": "classic-1000"}, ("inconsistent", "melds")),
    ],
)
def test_an_outcome_that_cannot_be(changes: Json, expected: tuple[str, str]) -> None:
    assert error(SCORE, **changes) == expected


def test_in_tout_atout_up_to_four_belotes_count_where_they_do() -> None:
    contract = SCORE["contract"] | {"trump": "TA"}
    assert ask(SCORE, contract=contract, belote=["A", "A", "B", "A"])["score"] == {"A": 314, "B": 78}
    assert error(SCORE, contract=contract, belote=["A"] * 5) == ("inconsistent", "belote")
    assert error(SCORE, contract=contract, belote=["A"], options={"belote_in_ta": False}) == ("inconsistent", "belote")
    assert error(SCORE, contract=SCORE["contract"] | {"trump": "SA"}, belote=["A"]) == ("inconsistent", "belote")


# --- deal ------------------------------------------------------------------------------------------------------------


def fault(question: Json, **changes: object) -> tuple[Any, Any, Any]:
    got = ask(question, **changes)["error"]
    return got["why"], got["in"], got["at"]


def test_a_deal_is_told_trick_by_trick() -> None:
    got = ask(DEAL)
    assert [len(trick["cards"]) for trick in got["tricks"]] == [4] * 8
    assert got["tricks"][0]["leader"] == (DEAL["dealer"] + 1) % 4
    for before, trick in zip(got["tricks"], got["tricks"][1:], strict=False):
        assert trick["leader"] == before["winner"]
    for side in "AB":
        assert sum(line["points"] for line in got["lines"] if line["side"] == side) == got["result"]["score"]["AB".index(side)]


def test_four_passes_are_a_redeal() -> None:
    passes = [[(DEAL["dealer"] + place) % 4, "pass"] for place in (1, 2, 3, 0)]
    assert ask(DEAL, auction=passes, plays=[], id=9) == {"id": 9, "result": None, "ends": "redeal"}
    assert ask(without(DEAL, "plays"), auction=passes)["ends"] == "redeal"
    assert fault(DEAL, auction=passes) == ("not_now", "plays", 0)
    assert fault(DEAL, auction=[*passes, [0, "pass"]], plays=[]) == ("not_now", "auction", 4)


def test_a_call_that_is_refused_stops_the_deal_there() -> None:
    first = (DEAL["dealer"] + 1) % 4
    assert fault(DEAL, auction=[[first, "pass"], [first, "pass"]]) == ("not_your_turn", "auction", 1)
    assert fault(DEAL, auction=[[first, 85, "H"]]) == ("bid_off_step", "auction", 0)
    assert fault(DEAL, auction=[[first, "coinche"]]) == ("nothing_to_coinche", "auction", 0)
    assert fault(DEAL, rules="contree-701", auction=[[first, 80, "TA"]]) == ("trump_not_offered", "auction", 0)


def test_an_auction_or_a_play_that_is_not_finished() -> None:
    assert fault(DEAL, auction=[], plays=[]) == ("missing", "auction", 0)
    assert fault(DEAL, auction=DEAL["auction"][:-1]) == ("missing", "auction", len(DEAL["auction"]) - 1)
    assert fault(DEAL, plays=DEAL["plays"][:31]) == ("missing", "plays", 31)
    assert fault(without(DEAL, "plays")) == ("missing", "plays", 0)
    assert fault(DEAL, plays=[*DEAL["plays"], "7S"]) == ("not_now", "plays", 32)


def test_every_wrong_card_is_found_where_it_is() -> None:
    for at in range(0, 32, 5):
        plays = list(DEAL["plays"])
        plays[at] = DEAL["plays"][at - 1] if at else DEAL["plays"][1]
        assert fault(DEAL, plays=plays) == ("not_in_hand", "plays", at)


def test_a_card_against_the_rules_names_the_rule() -> None:
    """Each card of the deal in turn is replaced by one of the same hand that may not be played."""
    found = set()
    for at in range(31):
        left = [card for hand in DEAL["hands"] if DEAL["plays"][at] in hand for card in hand if card not in DEAL["plays"][:at]]
        for card in left:
            got = ask(DEAL, plays=[*DEAL["plays"][:at], card])["error"]
            if got["why"] != "missing":
                assert (got["in"], got["at"]) == ("plays", at)
                found.add(got["why"])
    assert {"must_follow"} < found <= {"must_follow", "must_trump", "must_overtrump", "must_go_higher"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"hands": DEAL["hands"][:3]}, ("wrong_count", "hands")),
        ({"hands": [*DEAL["hands"][:3], DEAL["hands"][3][:7]]}, ("wrong_count", "hands")),
        ({"hands": [*DEAL["hands"][:3], DEAL["hands"][0]]}, ("card_twice", "hands")),
        ({"hands": {}}, ("wrong_type", "hands")),
        ({"plays": ["ZZ"]}, ("unknown_card", "plays")),
        ({"plays": [7]}, ("wrong_type", "plays")),
        ({"plays": {}}, ("wrong_type", "plays")),
        ({"plays": None}, ("wrong_type", "plays")),
        ({"auction": None}, ("wrong_type", "auction")),
        ({"belote_declined": [4]}, ("seat_out_of_range", "belote_declined")),
        ({"belote_declined": 1}, ("wrong_type", "belote_declined")),
        ({"belote_declined": [False]}, ("wrong_type", "belote_declined")),
    ],
)
def test_a_deal_that_does_not_fit(changes: Json, expected: tuple[str, str]) -> None:
    assert error(DEAL, **changes) == expected


def with_a_belote(rules: str) -> tuple[Json, int]:
    """A deal of these rules in which a belote counts, and the seat that holds it."""
    for vector in vectors("deals"):
        if vector["rules"] == rules and vector["result"] and any(vector["result"]["belote"]):
            trump = vector["result"]["trump"]
            return vector | {"op": "deal"}, next(
                seat for seat, hand in enumerate(vector["hands"]) if f"K{trump}" in hand and f"Q{trump}" in hand
            )
    raise AssertionError


def test_a_belote_is_declared_unless_its_holder_declined() -> None:
    question, holder = with_a_belote("announced-701")
    question["options"] = {"belote": "declared"}
    assert sum(ask(question)["result"]["belote"]) == 20
    assert sum(ask(question, belote_declined=[holder])["result"]["belote"]) == 0
    assert sum(ask(question, belote_declined=[(holder + 1) % 4])["result"]["belote"]) == 20


def test_where_belotes_count_by_themselves_nobody_declines() -> None:
    question, holder = with_a_belote("announced-701")
    assert ask(question, belote_declined=[holder]) == ask(question)


# --- garbage ---------------------------------------------------------------------------------------------------------

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 200),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from(["7S", "S", "A", "pass", "capot"]),
)
GARBAGE = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
)


@every_op
@settings(max_examples=80)
@given(data=st.data())
def test_garbage_anywhere_gets_an_answer(op: str, data: st.DataObject) -> None:
    """One part of a good question, at any depth, is replaced by anything: an answer or an error, never an exception."""
    question = copy.deepcopy(QUESTIONS[op])
    place: Any = question
    key: Any = data.draw(st.sampled_from(sorted(question.keys() - {"op", "id"})))
    while isinstance(place[key], list | dict) and place[key] and data.draw(st.booleans()):
        place = place[key]
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
    place[key] = data.draw(GARBAGE)
    got = ask(question)
    assert "error" not in got or got["error"]["why"] in list(Why)


# --- lines -----------------------------------------------------------------------------------------------------------


def lines(text: str | bytes) -> list[Json]:
    out = io.StringIO()
    answer_lines(text.splitlines(keepends=True), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_lines_are_answered_in_order_and_empty_ones_passed_over() -> None:
    told = "\n\n".join(json.dumps(LEGAL | {"id": number}) for number in range(5)) + "\n  \n"
    assert [one["id"] for one in lines(told)] == [0, 1, 2, 3, 4]
    assert lines("") == lines("\n\n") == []


@pytest.mark.parametrize(
    "line",
    [
        "nope",
        "{",
        '{"id": 1',
        "{'id': 1}",
        '{"id": NaN}',
        '{"id": Infinity}',
        '{"id": -1e999}',
        '{"id": 1} {"id": 2}',
        "[" * 100_000,
        '{"id": ' + "9" * 5000 + "}",
    ],
)
def test_what_is_no_json_is_told_with_its_line(line: str) -> None:
    with pytest.raises(Unreadable, match="line 2: "):
        lines('{"id": 1}\n' + line + "\n")


def test_bytes_that_are_no_text_are_no_json() -> None:
    with pytest.raises(Unreadable, match="line 1: "):
        lines(b'{"id": "\xff\xfe"}\n')


def test_an_id_that_no_encoding_carries_is_echoed_as_it_came() -> None:
    assert answer_text('{"id": "\\ud800\\u00e9"}') == '{"id": "\\ud800\\u00e9", "error": {"why": "missing", "field": "op"}}'


@pytest.mark.parametrize("depth", [10, 500, 900, 950, 980, 990, 995, 999, 2000])
def test_depth_is_answered_or_refused(depth: int) -> None:
    line = '{"id": ' + "[" * depth + "]" * depth + "}"
    try:
        assert answer_text(line).startswith('{"id": ' + "[" * depth)
    except Unreadable:
        assert depth > 500


# --- the command -----------------------------------------------------------------------------------------------------


def run(told: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "app", "referee"], input=told, capture_output=True, timeout=60, check=False)


def test_the_command_answers_ten_thousand_lines_in_order() -> None:
    told = "".join(json.dumps(LEGAL | {"id": number}) + "\n" for number in range(10_000))
    done = run(told.encode())
    assert (done.returncode, done.stderr) == (0, b"")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["id"] for one in answers] == [*range(10_000)]
    assert all(one["legal"] == ["7S", "JS"] for one in answers)


def test_the_command_takes_an_empty_input() -> None:
    done = run(b"")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("bad", [b"nope", b'{"id": "\xff"}', b"\x00", b'{"id": NaN}'])
def test_the_command_stops_at_an_unreadable_line_with_one_line(bad: bytes) -> None:
    done = run(b'{"id": 1}\n' + bad + b'\n{"id": 3}\n')
    assert done.returncode != 0
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1]
    assert done.stderr.decode().splitlines() == ["line 2: this cannot be read as JSON"]


def test_an_error_of_an_item_is_no_error_of_the_command() -> None:
    done = run(b'{"id": 1}\n[]\n7\n')
    assert (done.returncode, done.stderr) == (0, b"")
    assert [json.loads(line)["error"]["why"] for line in done.stdout.splitlines()] == ["missing", "wrong_type", "wrong_type"]
