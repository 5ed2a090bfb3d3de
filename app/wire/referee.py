"""What does the referee answer? Questions about single deals as JSON objects, each answered on its own.

The questions and their answers are described in docs/rules.md. An item that does not fit gets an error of its own; only an
unreadable input is a fault of the whole.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TextIO, TypeVar

from app.game.actions import Action, Play, Speak
from app.game.auction import Auction, Bid, Contract, after_call, judge, judge_bid, opening
from app.game.cards import Card, in_pack_order
from app.game.engine import decide, declarable, evolve, evolve_all, redeal_rights
from app.game.events import HandsDealt
from app.game.melds import BELOTE, Melds, belote_suits, melds_of
from app.game.refusal import Refused, Why
from app.game.rules import Rules
from app.game.scoring import DealScore, Outcome, game_winner, score_deal
from app.game.seats import SEATS, BySide, Seat, Side
from app.game.state import Bidding, Game, Playing, new_game
from app.game.tricks import CARD_POINTS, DER, Trick, legal_cards
from app.game.trump import Trump
from app.wire.reading import (
    by_side_of,
    card_of,
    cards_of,
    check_once,
    hands_of,
    list_of,
    number_of,
    object_of,
    offered_trump,
    part_of,
    rules_of,
    seat_of,
    side_of,
    spoken_of,
    text_of,
    value_of,
)

Json = dict[str, Any]

Read = TypeVar("Read")


class Unreadable(Exception):
    """The input is not JSON at all, or deeper or longer than can be read; says which line."""


def answer(question: object) -> Json:
    """The answer to one question, its `id` echoed; an error is an answer too."""
    if not isinstance(question, dict):
        return {"id": None, "error": {"why": Why.WRONG_TYPE}}
    echoed = {"id": question.get("id")}
    try:
        op = text_of(question, "op")
        if op not in _OPS:
            raise Refused(Why.UNKNOWN_OP, "op")
        return echoed | _OPS[op](rules_of(question), question)
    except _Misplaced as fault:
        return echoed | {"error": _error(fault.refused) | {"in": fault.part, "at": fault.at}}
    except Refused as refused:
        return echoed | {"error": _error(refused)}


def answer_lines(source: Iterable[str | bytes], out: TextIO) -> None:
    """Answer JSON lines, one line each, in order; empty lines are passed over. Raises `Unreadable`."""
    for number, line in enumerate(source, start=1):
        if line.strip():
            out.write(answer_text(line, number) + "\n")
            out.flush()


def answer_text(text: str | bytes, line: int | None = None) -> str:
    """The answer to one question, both as JSON text; raises `Unreadable`.

    The answer is ASCII: an echoed `id` may hold what no encoding can carry.
    """
    question = read_json(text, line)
    try:
        return json.dumps(answer(question), allow_nan=False)
    except RecursionError:
        raise _unreadable(line) from None


def read_json(text: str | bytes, line: int | None = None) -> object:
    """The JSON value; raises `Unreadable`. NaN and numbers without end are no JSON, and could not be echoed."""
    try:
        return json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        raise _unreadable(line) from None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _unreadable(line: int | None) -> Unreadable:
    return Unreadable(f"{'' if line is None else f'line {line}: '}this cannot be read as JSON")


def _error(refused: Refused) -> Json:
    return {"why": refused.why} | ({} if refused.field is None else {"field": refused.field})


# --- the questions ---------------------------------------------------------------------------------------------------


def _legal(rules: Rules, question: Json) -> Json:
    """Which cards of a hand may be played."""
    trump = offered_trump(rules, part_of(question, "trump"))
    leader = seat_of(part_of(question, "leader"), "leader")
    laid = [object_of(one, "trick") for one in list_of(part_of(question, "trick"), "trick")]
    trick = Trick(leader, cards_of([part_of(one, "card") for one in laid], "trick", range(4)))
    if tuple(seat_of(part_of(one, "seat"), "trick") for one in laid) != trick.seats:
        raise Refused(Why.INCONSISTENT, "trick")
    if seat_of(part_of(question, "player"), "player") is not trick.turn:
        raise Refused(Why.INCONSISTENT, "player")
    hand = cards_of(part_of(question, "hand"), "hand", range(1, 9))
    check_once((*trick.cards, *hand), "hand")
    legal = legal_cards(rules, trump, trick, in_pack_order(hand))
    return {
        "legal": [card for card, why in legal.items() if why is None],
        "reasons": {card: why for card, why in legal.items() if why is not None},
    }


def _auction(rules: Rules, question: Json) -> Json:
    """Which of these calls are accepted, tried in turn, and what stands then."""
    dealer = seat_of(part_of(question, "dealer"), "dealer")
    given = list_of(part_of(question, "actions"), "actions")
    auction = opening(dealer)
    refusals = []
    for at, one in enumerate(given):
        try:
            seat, call = spoken_of(one, "actions")
            judge(rules, auction, seat, call)
        except Refused as refused:
            refusals.append({"at": at, "why": refused.why})
        else:
            auction = after_call(auction, seat, call)
    contract = auction.contract
    places = {refusal["at"] for refusal in refusals}
    return {
        "legal": [at not in places for at in range(len(given))],
        "refused": refusals,
        "ends": _ends(auction),
        "contract": None
        if contract is None
        else {"declarer": contract.declarer, "value": contract.bid.value, "trump": contract.bid.trump},
        "level": 0 if contract is None else contract.level,
    }


def _ends(auction: Auction) -> str | None:
    if not auction.is_closed:
        return None
    return "redeal" if auction.contract is None else "play"


def _redeal(rules: Rules, question: Json) -> Json:
    """By what right a player may have the cards dealt again, after these calls."""
    dealer = seat_of(part_of(question, "dealer"), "dealer")
    seat = seat_of(part_of(question, "player"), "player")
    hand = cards_of(part_of(question, "hand"), "hand")
    auction = opening(dealer)
    for at, (who, call) in enumerate(_in_place(question.get("actions", []), "actions", spoken_of)):
        try:
            judge(rules, auction, who, call)
        except Refused as refused:
            raise _Misplaced(refused, "actions", at) from None
        auction = after_call(auction, who, call)
    hands = tuple(hand if one is seat else () for one in SEATS)
    return {"rights": list(redeal_rights(rules, Bidding(dealer, hands, auction), seat))}


def _end(rules: Rules, question: Json) -> Json:
    """Whether a game is over after a deal, and who has won it."""
    given = object_of(part_of(question, "totals"), "totals")
    totals = BySide.of(lambda side: number_of(part_of(given, side), "totals"))
    if min(totals) < 0:
        raise Refused(Why.WRONG_VALUE, "totals")
    winner = game_winner(rules, totals, side_of(part_of(question, "last_deal"), "last_deal"))
    return {"over": winner is not None, "winner": winner}


def _melds(rules: Rules, question: Json) -> Json:
    """Which melds two hands (one a side) or four hold, and whose count."""
    trump = offered_trump(rules, part_of(question, "trump"))
    given = part_of(question, "hands")
    by_side = isinstance(given, dict)
    if by_side:
        pair = BySide.of(lambda side: cards_of(part_of(given, side), "hands"))
        check_once((*pair.A, *pair.B), "hands")
        melds = melds_of(rules, trump, (pair.A, pair.B, (), ()))
    else:
        melds = melds_of(rules, trump, hands_of(given))
    return {
        "values": {side: sorted((meld.points for meld in melds.of(side)), reverse=True) for side in Side},
        "winner": melds.winner,
        "scored": max(melds.points),
        "shown": _shown(melds, by_side),
    }


def _shown(melds: Melds, by_side: bool) -> list[Json]:
    return [
        {"side": seat.side}
        | ({} if by_side else {"seat": seat})
        | {"kind": meld.kind, "points": meld.points, "cards": list(meld.cards)}
        for seat in SEATS
        if seat.side is melds.winner
        for meld in melds.by_seat[seat]
    ]


def _score(rules: Rules, question: Json) -> Json:
    """What a deal scores, from what each side brought home."""
    contract = _contract(rules, object_of(part_of(question, "contract"), "contract"))
    points = by_side_of(question, "trick_points", CARD_POINTS + DER)
    tricks = by_side_of(question, "tricks_won", 8)
    if any(count == 0 and taken for count, taken in zip(tricks, points, strict=True)):
        raise Refused(Why.INCONSISTENT, "tricks_won")
    der = question.get("der")
    side = None if der is None else side_of(der, "der")
    if side is not None and points[side] < DER:
        raise Refused(Why.INCONSISTENT, "der")
    belotes = _belotes(rules, contract.bid.trump, question.get("belote", []))
    outcome = Outcome(points, tricks, belotes, _valid_melds(rules, question), side)
    score = score_deal(rules, contract, outcome)
    return {"made": score.made, "score": {one: score.score[one] for one in Side}, "lines": _lines(score)}


def _contract(rules: Rules, given: Mapping[str, Any]) -> Contract:
    side = side_of(part_of(given, "declarer"), "declarer")
    bid = Bid(value_of(part_of(given, "value"), "value"), offered_trump(rules, part_of(given, "trump")))
    try:
        judge_bid(rules, bid)
    except Refused as refused:
        raise Refused(refused.why, "value") from None
    level = number_of(given.get("level", 0), "level")
    if level not in range(3):
        raise Refused(Why.WRONG_VALUE, "level")
    return Contract(Seat.FIRST if side is Side.A else Seat.SECOND, bid, level)


def _belotes(rules: Rules, trump: Trump, given: object) -> BySide[int]:
    sides = [side_of(one, "belote") for one in list_of(given, "belote")]
    if len(sides) > len(belote_suits(rules, trump)):
        raise Refused(Why.INCONSISTENT, "belote")
    return BySide.of(sides.count)


def _valid_melds(rules: Rules, question: Json) -> BySide[int]:
    """The points of the melds that count; only the named side's do."""
    melds = question.get("melds")
    given = object_of({} if melds is None else melds, "melds")
    values = BySide.of(lambda side: [_meld_points(one) for one in list_of(given.get(side, []), "melds")])
    winner = question.get("melds_winner")
    side = None if winner is None else side_of(winner, "melds_winner")
    if any(values) and not rules.melds:
        raise Refused(Why.INCONSISTENT, "melds")
    if side is not None and not values[side]:
        raise Refused(Why.INCONSISTENT, "melds_winner")
    return BySide.of(lambda one: sum(values[one]) if one is side else 0)


def _meld_points(value: object) -> int:
    points = number_of(value, "melds")
    if points not in (20, 50, 100, 150, 200):
        raise Refused(Why.WRONG_VALUE, "melds")
    return points


def _lines(score: DealScore) -> list[Json]:
    return [{"side": line.side, "kind": line.kind, "points": line.points, "rule": line.rule} for line in score.lines]


class _Misplaced(Exception):
    """A call or a card of a list that is none, or that the rules refuse, and where it stands."""

    def __init__(self, refused: Refused, part: str, at: int) -> None:
        super().__init__(part, at)
        self.refused, self.part, self.at = refused, part, at


def _deal(rules: Rules, question: Json) -> Json:
    """A whole deal, from its hands to its score."""
    dealer = seat_of(part_of(question, "dealer"), "dealer")
    hands = hands_of(part_of(question, "hands"))
    calls = _in_place(part_of(question, "auction"), "auction", spoken_of)
    plays = _in_place(question.get("plays", []), "plays", card_of)
    declined = {seat_of(one, "belote_declined") for one in list_of(question.get("belote_declined", []), "belote_declined")}
    game = evolve(new_game("referee", rules, dealer), HandsDealt(1, dealer, hands))
    for at, (seat, call) in enumerate(calls):
        game = _step(game, Speak(seat, call), "auction", at)
    if isinstance(game.phase, Bidding):
        raise _Misplaced(Refused(Why.MISSING), "auction", len(calls))
    for at, card in enumerate(plays):
        game = _step(game, _play(rules, game, card, declined), "plays", at)
    if isinstance(game.phase, Playing):
        raise _Misplaced(Refused(Why.MISSING), "plays", len(plays))
    return _result(game)


def _in_place(given: object, part: str, read: Callable[[object, str], Read]) -> list[Read]:
    """The calls or cards of a list; one that is none is told with its place."""
    found = []
    for at, one in enumerate(list_of(given, part)):
        try:
            found.append(read(one, part))
        except Refused as refused:
            raise _Misplaced(refused, part, at) from None
    return found


def _step(game: Game, action: Action, part: str, at: int) -> Game:
    try:
        return evolve_all(game, decide(game, action))
    except Refused as refused:
        raise _Misplaced(refused, part, at) from None


def _play(rules: Rules, game: Game, card: Card, declined: set[Seat]) -> Play:
    """The card as the seat in turn plays it; every belote is declared unless its holder declined."""
    if not isinstance(game.phase, Playing):
        return Play(Seat.FIRST, card)
    seat = game.phase.trick.turn
    return Play(seat, card, belote=seat not in declined and card in declarable(rules, game.phase, seat))


def _result(game: Game) -> Json:
    score, last = game.deals[-1].score, game.last
    if score is None or not isinstance(last, Playing):
        return {"result": None, "ends": "redeal"}
    outcome, contract = score.outcome, score.contract
    return {
        "result": {
            "declarer": contract.declarer,
            "value": contract.bid.value,
            "trump": contract.bid.trump,
            "level": contract.level,
            "trick_points": list(outcome.trick_points),
            "tricks_won": list(outcome.tricks_won),
            "belote": [BELOTE * count for count in outcome.belotes],
            "melds": list(outcome.melds),
            "made": score.made,
            "score": list(score.score),
        },
        "tricks": [
            {"leader": one.trick.leader, "cards": list(one.trick.cards), "winner": one.winner, "points": one.points}
            for one in last.taken
        ],
        "lines": _lines(score),
    }


_OPS: dict[str, Callable[[Rules, Json], Json]] = {
    "legal": _legal,
    "auction": _auction,
    "redeal": _redeal,
    "melds": _melds,
    "score": _score,
    "deal": _deal,
    "end": _end,
}
