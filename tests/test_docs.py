"""What the pages say is what the program does: each row and each example of docs/rules.md is asked of it."""

import json
import re
from enum import StrEnum
from pathlib import Path
from random import Random

import pytest

from app.game.auction import Say
from app.game.melds import Kind
from app.game.refusal import Why
from app.game.rules import OPTIONS, PRESETS, Option, override
from app.game.scoring import LineKind
from app.wire.referee import answer
from tests.game import formulas
from tests.game.test_vectors import outcome_of, spelled_out

DOCS = Path(__file__).parent.parent / "docs"
RULES = (DOCS / "rules.md").read_text()
GLOSSARY = (DOCS / "glossary.md").read_text()


def rows(text: str) -> list[list[str]]:
    """The cells of each line of a table."""
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("|")]


# --- the options -----------------------------------------------------------------------------------------------------

HEADS = [row for row in rows(RULES) if row[:3] == ["option", "values", "decides"]]
CELLS = {row[0].strip("`"): row for row in rows(RULES) if len(row) == len(PRESETS) + 3 and row[0].startswith("`")}


def told(value: object) -> str:
    """A value as the page tells it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.value if isinstance(value, StrEnum) else str(value)


def values(option: Option) -> str:
    """The values of an option as the page tells them."""
    if option.type is bool:
        return "yes, no"
    if issubclass(option.type, StrEnum):
        return ", ".join(option.type)
    assert option.least is not None
    assert option.most is not None
    assert option.step is not None
    if option.most - option.least <= option.step:
        return f"{option.least}, {option.most}"
    return f"{option.least} to {option.most}" + (f" by {option.step}" if option.step > 1 else "")


def test_the_tables_have_a_column_for_each_preset() -> None:
    assert HEADS
    for head in HEADS:
        assert head[3:] == list(PRESETS)


def test_each_option_has_its_row_in_the_order_of_the_form() -> None:
    assert list(CELLS) == list(OPTIONS)


@pytest.mark.parametrize("name", OPTIONS)
def test_the_row_of_an_option_is_right(name: str) -> None:
    _, offered, decides, *of_presets = CELLS[name]
    assert offered == values(OPTIONS[name])
    assert decides
    assert of_presets == [told(getattr(rules, name)) for rules in PRESETS.values()]


# --- the scores ------------------------------------------------------------------------------------------------------


def test_the_formulas_on_the_page_are_the_scores() -> None:
    """Each row of the table is computed as it is written, for many deals, and compared."""
    written: dict[tuple[str, str], tuple[str, str]] = {}
    preset = ""
    table = RULES.split("### The same, preset by preset")[1].split("## The end of the game")[0]
    for first, when, *pair in rows(table)[2:]:
        preset = first or preset
        written[preset, when] = (pair[0], pair[1])
    checked = set()
    dice = Random(1)
    for name in PRESETS:
        bid_only = [{}, {"bid_only": True}] if name == "arena-2000" else [{}]
        for options in bid_only:
            rules = override(PRESETS[name], dict(options))
            formula = formulas.arena_bid_only if options else formulas.FORMULAS[name]
            for _ in range(500):
                deal = spelled_out(*outcome_of(rules, dice))
                made, *scores = formula(deal)
                row = row_of(name, deal, made, bid_only=bool(options))
                checked.add(row)
                factor = rules.factor(deal.level)
                assert [computed(expression, deal, factor, made=made) for expression in written[row]] == scores, row
    assert checked == written.keys()


def row_of(name: str, deal: formulas.Deal, made: bool, *, bid_only: bool) -> tuple[str, str]:
    """Which row of the table tells this deal's score."""
    when = "made" if made else "failed"
    if name == "ffb-2000":
        if deal.level == 0 and deal.bid != "capot" and not (made and deal.eight):
            return "ffb-2000, a number without coinche", "made, not all eight" if made else "failed"
        return "ffb-2000, any other deal", when
    if bid_only and made:
        return "arena-2000 with `bid_only`", when
    return "announced-701, contree-701" if name.endswith("701") else name, when


def computed(expression: str, deal: formulas.Deal, factor: int, *, made: bool) -> int:
    names = {name: getattr(deal, name) for name in ("t", "d", "bt", "bd", "at", "ad", "v", "c")}
    b = 500 if deal.bid == "capot" else 250 + deal.v if made and deal.eight else 160 + deal.v
    scope = {"__builtins__": {}, "r": formulas.near_ten, "m": factor, "b": b} | names
    return int(eval(expression.replace("×", "*"), scope))


# --- the referee -----------------------------------------------------------------------------------------------------

EXAMPLES = re.findall(r"```json ask\n(.*?)```\n\n```json answer\n(.*?)```\n", RULES, re.DOTALL)


@pytest.mark.parametrize(("question", "expected"), EXAMPLES)
def test_the_referee_answers_as_the_page_says(question: str, expected: str) -> None:
    assert json.loads(json.dumps(answer(json.loads(question)))) == json.loads(expected)


def test_each_question_has_an_example_and_each_example_an_answer() -> None:
    assert {json.loads(question)["op"] for question, _ in EXAMPLES} == {
        "legal",
        "auction",
        "redeal",
        "melds",
        "score",
        "deal",
        "end",
    }
    assert len(EXAMPLES) == RULES.count("```json ask") == RULES.count("```json answer")


# --- the words -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "word", [*Say, *LineKind, *(kind for kind in Kind if kind is not Kind.CARRE), "carré", "belote", "rebelote"]
)
def test_the_glossary_has_the_words_of_the_game(word: str) -> None:
    heads = {name for row in rows(GLOSSARY) for name in row[0].split(", ")}
    assert word in heads


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_reason_has_words(language: str) -> None:
    words = json.loads((DOCS.parent / "static" / "i18n" / f"{language}.json").read_text())
    assert [why for why in Why if not words.get(f"reason.{why}")] == []


def test_no_link_between_the_two_pages_is_broken() -> None:
    for text in (RULES, GLOSSARY):
        for page, anchor in re.findall(r"\]\(([\w.]*)#([\w-]+)\)", text):
            heads = re.findall(r"^#+ (.*)$", (DOCS / page).read_text() if page else text, re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-") for head in heads}
