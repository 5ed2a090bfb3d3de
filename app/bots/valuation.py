"""What is a hand worth before a card is played? Trick points to expect under a trump, and what counts beside them.

The weights are those of linear models fitted on deals that the house player itself played out (docs/bots.md).
"""

from collections.abc import Iterable

from app.game.auction import CAPOT, Value
from app.game.cards import Card, Rank, Suit
from app.game.melds import BELOTE, belotes_held, find
from app.game.rules import Rules
from app.game.trump import PLAIN_ORDER, TRUMP_ORDER, Trump

Hand = tuple[Card, ...]

OWN_BASE = 64.0
OWN_TRUMP = {Rank.JACK: 22.5, Rank.NINE: 11.0, Rank.ACE: 5.0, Rank.TEN: 2.5, Rank.KING: 0.7, Rank.QUEEN: 0.7}
OWN_LENGTH = (-34.0, -24.0, -12.5, 0.0, 10.0, 18.0, 24.0, 30.0, 36.0)
OWN_ACE, OWN_ACE_TEN, OWN_GUARDED_TEN, OWN_SHORT = 9.8, 5.0, 4.5, 1.0
"""Declaring, the partner's hand unknown."""

PAIR_TRUMP = {Rank.JACK: 31.0, Rank.NINE: 14.0, Rank.ACE: 7.0, Rank.TEN: 5.0, Rank.KING: 1.5, Rank.QUEEN: 1.5}
PAIR_LENGTH = (-29.0, -20.5, -11.0, 0.0, 13.5, 22.0, 27.0, 30.0, 36.0)
PAIR_ACE, PAIR_ACE_TEN, PAIR_GUARDED_TEN, PAIR_SHORT = 14.5, 3.5, 5.0, 0.8
"""One of two hands that are both known; also what a hand adds to a declaring partner's."""

SUPPORT = {Trump.NONE: (-65.5, 1.39), Trump.ALL: (-68.6, 1.41)}
SUPPORT_SUIT = (-48.0, 1.37)
"""What two hands make: a constant and a factor for the declarer's own estimate, to which the partner's support is added."""


def own_estimate(hand: Hand, trump: Trump) -> float:
    """Trick points the side may expect when this hand declares, knowing nothing of the partner's."""
    if trump.suit is None:
        return 57.5 + _tops(hand, trump, first=17.5, second=8.5, third=1.0, length=3.0, guarded=6.5)
    value = OWN_BASE + _in_trump(hand, trump.suit, OWN_TRUMP, OWN_LENGTH)
    return value + _beside(hand, trump.suit, OWN_ACE, OWN_ACE_TEN, OWN_GUARDED_TEN, OWN_SHORT)


def support(hand: Hand, trump: Trump) -> float:
    """What this hand adds, in trick points, to a declaring partner's."""
    if trump.suit is None:
        return _tops(hand, trump, first=26.0, second=12.0, third=-3.0, length=1.0, guarded=10.0)
    value = _in_trump(hand, trump.suit, PAIR_TRUMP, PAIR_LENGTH)
    return value + _beside(hand, trump.suit, PAIR_ACE, PAIR_ACE_TEN, PAIR_GUARDED_TEN, PAIR_SHORT)


def together(declarer: float, partner: float, trump: Trump) -> float:
    """Trick points of both hands, from the declarer's own estimate and the partner's support."""
    constant, factor = SUPPORT.get(trump, SUPPORT_SUIT)
    return constant + factor * declarer + partner


def _in_trump(hand: Hand, suit: Suit, ranks: dict[Rank, float], lengths: tuple[float, ...]) -> float:
    trumps = [card for card in hand if card.suit is suit]
    return lengths[len(trumps)] + sum(ranks.get(card.rank, 0.0) for card in trumps)


def _beside(hand: Hand, trump: Suit, ace: float, ace_ten: float, guarded_ten: float, short: float) -> float:
    """The side suits: aces, tens behind them, guarded tens, and shortness where there are trumps to ruff with."""
    ruffing = min(sum(card.suit is trump for card in hand), 3)
    value = 0.0
    for suit in Suit:
        if suit is trump:
            continue
        ranks = [card.rank for card in hand if card.suit is suit]
        if Rank.ACE in ranks:
            value += ace + (ace_ten if Rank.TEN in ranks else 0.0)
        elif Rank.TEN in ranks:
            value += guarded_ten if len(ranks) > 1 else -2.0
        if len(ranks) < 2:
            value += short * ruffing * (3.0 if not ranks else 1.4)
    return value


def _order(trump: Trump) -> tuple[Rank, ...]:
    """Ranks of a suit from the strongest, in sans atout and tout atout."""
    return tuple(reversed(TRUMP_ORDER if trump is Trump.ALL else PLAIN_ORDER))


def _tops(hand: Hand, trump: Trump, *, first: float, second: float, third: float, length: float, guarded: float) -> float:
    """Sans atout and tout atout: runs from the top of each suit, their length, and guarded seconds."""
    order = _order(trump)
    value = 0.0
    for suit in Suit:
        ranks = [card.rank for card in hand if card.suit is suit]
        run = _run(ranks, order)
        if run:
            value += first + (second if run > 1 else 0.0) + third * max(run - 2, 0) + length * max(len(ranks) - 3, 0)
        elif order[1] in ranks:
            value += guarded if len(ranks) > 1 else 1.0
    return value


def _run(ranks: Iterable[Rank], order: tuple[Rank, ...]) -> int:
    """How many of the highest ranks are held without a gap."""
    held = set(ranks)
    return next((place for place, rank in enumerate(order) if rank not in held), len(order))


def bonus(rules: Rules, hand: Hand, trump: Trump) -> float:
    """What counts towards a number beside the tricks: this hand's belote, and its melds by the chance that they are best."""
    value = float(BELOTE * len(belotes_held(rules, trump, hand))) if rules.belote_counts else 0.0
    if rules.melds:
        melds = find(rules, trump, hand)
        if melds:
            best = melds[0].points
            chance = 0.95 if best >= 100 else 0.8 if best >= 50 else 0.5
            value += chance * sum(meld.points for meld in melds)
    return value


def needed(rules: Rules, value: Value, beside: float) -> float:
    """The trick points that make a bid where `beside` counts with them."""
    if value == CAPOT:
        return 162.0
    need = max(float(rules.trick_floor), value - beside)
    if rules.beat_defence:
        need = max(need, (163.0 - beside) / 2)
    return max(need, 0.0)


def sure_tricks(hand: Hand, trump: Trump) -> int:
    """Tricks the hand takes by itself against any ordinary lie of the cards, when its trumps are drawn first."""
    if trump.suit is None:
        return sum(_running([card.rank for card in hand if card.suit is suit], _order(trump), 4) for suit in Suit)
    order = tuple(reversed(TRUMP_ORDER))
    trumps = [card.rank for card in hand if card.suit is trump.suit]
    run = _running(trumps, order, 4)
    if run < len(trumps) or len(trumps) < 5:
        return run
    plain = tuple(reversed(PLAIN_ORDER))
    return run + sum(
        _running([card.rank for card in hand if card.suit is suit], plain, 5) for suit in Suit if suit is not trump.suit
    )


def _running(ranks: list[Rank], order: tuple[Rank, ...], runs: int) -> int:
    """The top cards of a suit; all of it once so many top cards have drawn what the others hold."""
    run = _run(ranks, order)
    outside = 8 - len(ranks)
    return len(ranks) if run >= min(runs, (outside + 1) // 2 + 1) else run


def against(hand: Hand, trump: Trump) -> float:
    """How many trick points this hand takes from declarers, compared with an average one."""
    if trump.suit is None:
        return _tops(hand, trump, first=17.0, second=8.0, third=4.0, length=3.0, guarded=6.0) - 24.0
    trumps = [card for card in hand if card.suit is trump.suit]
    ranks = [card.rank for card in trumps]
    value = -12.0
    if Rank.JACK in ranks:
        value += 24.0
    if Rank.NINE in ranks:
        value += 13.0 if len(ranks) > 1 else 2.0
    if Rank.ACE in ranks and len(ranks) > 2:
        value += 6.0
    value += (0.0, 0.0, 2.0, 7.0, 16.0, 24.0, 30.0, 36.0, 40.0)[len(ranks)]
    return value + _beside(hand, trump.suit, 10.0, 4.0, 4.5, 0.7)
