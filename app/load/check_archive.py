"""Is the archive what clients heard of a finished game, and what they were promised?"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.load.book import Asked, At, Book, Json

CARDS = 32


@dataclass
class Deal:
    """What was heard of one deal. `is_whole`: every entry of it."""

    calls: list[tuple[int, Any]] = field(default_factory=list)
    cards: list[tuple[int, str]] = field(default_factory=list)
    redeal: tuple[int, str] | None = None
    scored: Json | None = None
    is_whole: bool = False
    is_over: bool = False


def check_game(book: Book, number: int, record: Json) -> None:
    """What the archive tells of a finished game is what was heard, and holds what was acknowledged."""
    archived = {deal["deal"]: deal for deal in record["deals"]}
    heard = _deals(book, number)
    won = book.won.get(number)
    if won is not None and (won["side"], won["totals"]) != (record["winner"], record["totals"]):
        book.differ(f"game {number} was won with {won}, the archive says {record['winner']} {record['totals']}")
    for deal in sorted(heard.keys() - archived.keys()):
        book.differ(f"game {number}: deal {deal} is not in the archive")
    for deal, told in archived.items():
        _check_deal(book, number, told)
        _check_heard(book, f"game {number}, deal {deal}", heard.get(deal, Deal()), told)
    for asked in book.asked.values():
        if asked.game == number and asked.at is not None and not _is_archived(asked, archived.get(asked.deal)):
            book.differ(f"{asked} was acknowledged at {asked.at} and is not in the archive of game {number}")
    _check_unasked(book, number, archived)


def _check_deal(book: Book, game: int, told: Json) -> None:
    """Each card once, from the hand that held it; and the hands that clients saw."""
    where = f"game {game}, deal {told['deal']}"
    hands = [set(hand) for hand in told["hands"]]
    if len(set().union(*hands)) != CARDS or any(len(hand) != CARDS // 4 for hand in hands):
        book.differ(f"{where}: the hands are not one pack")
    cards = [(laid["seat"], laid["card"]) for trick in told["tricks"] for laid in trick["cards"]]
    if len(set(cards)) != len(cards) or any(card not in hands[seat] for seat, card in cards):
        book.differ(f"{where}: a card was played twice, or from another hand")
    if told["contract"] is not None and len(cards) != CARDS:
        book.differ(f"{where}: {len(cards)} cards were played")
    for seat, hand in enumerate(hands):
        seen = book.hands.get((game, told["deal"], seat))
        if seen is not None and seen != hand:
            book.differ(f"{where}: seat {seat} was dealt {sorted(seen)}, the archive says {sorted(hand)}")


def _check_heard(book: Book, where: str, heard: Deal, told: Json) -> None:
    calls = [(one["seat"], one["call"]) for one in told["calls"]]
    cards = [(laid["seat"], laid["card"]) for trick in told["tricks"] for laid in trick["cards"]]
    fits = _is_same if heard.is_whole else _is_within
    if not fits(heard.calls, calls):
        book.differ(f"{where}: the calls heard are {heard.calls}, in the archive {calls}")
    if not fits(heard.cards, cards):
        book.differ(f"{where}: the cards heard are {heard.cards}, in the archive {cards}")
    redeal = told["redeal"] and (told["redeal"]["seat"], told["redeal"]["right"])
    if (heard.is_whole or heard.redeal) and heard.redeal != redeal:
        book.differ(f"{where}: the redeal heard is {heard.redeal}, in the archive {redeal}")
    if heard.scored is not None and (heard.scored["made"], heard.scored["score"]) != (told["made"], told["score"]):
        book.differ(f"{where}: scored as {heard.scored}, in the archive {told['score']}")


def _check_unasked(book: Book, game: int, archived: Mapping[int, Json]) -> None:
    """Of a seat for which the stand-in never played everything was sent by its client."""
    sent = {(one.deal, one.seat, one.said) for one in book.asked.values() if one.game == game}
    for deal, told in archived.items():
        done = [(one["seat"], str(one["call"])) for one in told["calls"]]
        done += [(laid["seat"], laid["card"]) for trick in told["tricks"] for laid in trick["cards"]]
        for seat, what in done:
            if seat in book.people and (game, seat) not in book.were_away and (deal, seat, what) not in sent:
                book.differ(f"game {game}, deal {deal}: {what} of seat {seat} is in the archive, which no client sent")


def _deals(book: Book, game: int) -> dict[int, Deal]:
    """What was heard of a game's deals."""
    deals: dict[int, Deal] = defaultdict(Deal)
    last: At | None = None
    for at in sorted(at for at, told in book.steps.items() if told.game == game and told.deal > 0):
        told = book.steps[at]
        deal = deals[told.deal]
        follows = last is not None and at == (last[0], last[1] + 1)
        last = at
        if not follows and not deal.is_over:
            deal.is_whole = False
        for event in told.events:
            match event["kind"]:
                case "hands_dealt":
                    deal.is_whole = True
                case "call_made":
                    deal.calls.append((event["seat"], event["call"]))
                case "card_played":
                    deal.cards.append((event["seat"], event["card"]))
                case "redeal_claimed":
                    deal.redeal = (event["seat"], event["right"])
                    deal.is_over = True
                case "deal_scored":
                    deal.scored = event
                    deal.is_over = True
                case "deal_passed_out":
                    deal.is_over = True
    for deal in deals.values():
        deal.is_whole = deal.is_whole and deal.is_over
    return dict(deals)


def _is_archived(asked: Asked, deal: Json | None) -> bool:
    if not asked.is_of_the_game:
        return True
    if deal is None:
        return False
    seat = asked.seat
    match asked.action["kind"]:
        case "play":
            laid = [(one["seat"], one["card"]) for trick in deal["tricks"] for one in trick["cards"]]
            return (seat, asked.action["card"]) in laid
        case "redeal":
            return bool(deal["redeal"] == {"seat": seat, "right": asked.action["right"]})
        case "coinche":
            return any(one["seat"] == seat and one["call"] == "coinche" for one in deal["calls"])
        case _:
            spoken = deal["calls"][asked.spoken : asked.spoken + 1]
            return [(one["seat"], str(one["call"])) for one in spoken] == [(seat, asked.said)]


def _is_same(heard: list[Any], told: list[Any]) -> bool:
    return heard == told


def _is_within(heard: list[Any], told: list[Any]) -> bool:
    """Whether what was heard is there, in this order, perhaps with more in between."""
    rest = iter(told)
    return all(one in rest for one in heard)
