"""What does a question to the referee hold? Each part is read by itself.

All raise `Refused` with the name of the part that is missing or does not fit.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from app.game.auction import Bid, Call, Say, Value
from app.game.cards import Card
from app.game.refusal import Refused, Why
from app.game.rules import Rules, override, preset, rules_from
from app.game.seats import BySide, Seat, Side
from app.game.trump import Trump

Json = dict[str, Any]


def part_of(question: Mapping[str, Any], name: str) -> Any:
    if name not in question:
        raise Refused(Why.MISSING, name)
    return question[name]


def text_of(question: Mapping[str, Any], name: str) -> str:
    value = part_of(question, name)
    if not isinstance(value, str):
        raise Refused(Why.WRONG_TYPE, name)
    return value


def list_of(value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise Refused(Why.WRONG_TYPE, name)
    return value


def object_of(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Refused(Why.WRONG_TYPE, name)
    return value


def number_of(value: object, name: str) -> int:
    if type(value) is not int:
        raise Refused(Why.WRONG_TYPE, name)
    return value


def rules_of(question: Mapping[str, Any]) -> Rules:
    named = part_of(question, "rules")
    if isinstance(named, str):
        rules = preset(named)
    else:
        rules = rules_from(object_of(named, "rules"))
    return override(rules, object_of(question.get("options", {}), "options"))


def trump_of(value: object, name: str = "trump") -> Trump:
    if not isinstance(value, str):
        raise Refused(Why.WRONG_TYPE, name)
    if value not in list(Trump):
        raise Refused(Why.UNKNOWN_TRUMP, name)
    return Trump(value)


def offered_trump(rules: Rules, value: object, name: str = "trump") -> Trump:
    trump = trump_of(value, name)
    if trump not in rules.trumps:
        raise Refused(Why.TRUMP_NOT_OFFERED, name)
    return trump


def seat_of(value: object, name: str) -> Seat:
    number = number_of(value, name)
    if number not in range(4):
        raise Refused(Why.SEAT_OUT_OF_RANGE, name)
    return Seat(number)


def side_of(value: object, name: str) -> Side:
    if not isinstance(value, str):
        raise Refused(Why.WRONG_TYPE, name)
    if value not in list(Side):
        raise Refused(Why.WRONG_VALUE, name)
    return Side(value)


def card_of(value: object, name: str) -> Card:
    if not isinstance(value, str):
        raise Refused(Why.WRONG_TYPE, name)
    try:
        return Card(value)
    except ValueError:
        raise Refused(Why.UNKNOWN_CARD, name) from None


def cards_of(value: object, name: str, counts: Iterable[int] = (8,)) -> tuple[Card, ...]:
    cards = tuple(card_of(one, name) for one in list_of(value, name))
    if len(set(cards)) != len(cards):
        raise Refused(Why.CARD_TWICE, name)
    if len(cards) not in counts:
        raise Refused(Why.WRONG_COUNT, name)
    return cards


def check_once(cards: Iterable[Card], name: str) -> None:
    seen = list(cards)
    if len(set(seen)) != len(seen):
        raise Refused(Why.CARD_TWICE, name)


def by_side_of(question: Mapping[str, Any], name: str, total: int) -> BySide[int]:
    """Two numbers, none negative, that together make the total."""
    value = object_of(part_of(question, name), name)
    numbers = BySide.of(lambda side: number_of(part_of(value, side), name))
    if min(numbers) < 0 or total != numbers.A + numbers.B:
        raise Refused(Why.INCONSISTENT, name)
    return numbers


def value_of(value: object, name: str) -> Value:
    return "capot" if value == "capot" else number_of(value, name)


def spoken_of(value: object, name: str) -> tuple[Seat, Call]:
    """[seat, "pass" / "coinche" / "surcoinche"] or [seat, value or "capot", trump]."""
    parts = list_of(value, name)
    match parts:
        case [seat, str(word)] if word in list(Say):
            return seat_of(seat, name), Say(word)
        case [seat, number, trump]:
            return seat_of(seat, name), Bid(value_of(number, name), trump_of(trump, name))
        case [_, str()]:
            raise Refused(Why.WRONG_COUNT if parts[1] == "capot" else Why.WRONG_VALUE, name)
        case _:
            raise Refused(Why.WRONG_COUNT, name)


def hands_of(value: object) -> tuple[tuple[Card, ...], ...]:
    lists = list_of(value, "hands")
    if len(lists) != 4:
        raise Refused(Why.WRONG_COUNT, "hands")
    hands = tuple(cards_of(one, "hands") for one in lists)
    check_once((card for hand in hands for card in hand), "hands")
    return hands
