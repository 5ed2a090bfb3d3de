"""Which cards may be played, who is master of a trick, and what are the cards in it worth?"""

from dataclasses import dataclass

from app.game.cards import PACK, Card, Rank
from app.game.refusal import Why
from app.game.rules import Rules, SaPoints, TaPoints, Undertrump
from app.game.seats import BySide, Seat, Side
from app.game.trump import Trump, strength

DER = 10
"""The ten of the last trick."""

CARD_POINTS = 152
"""What the thirty-two cards count together under every trump."""


@dataclass(frozen=True, slots=True)
class Trick:
    """The cards that lie on the table, in the order they were played."""

    leader: Seat
    cards: tuple[Card, ...] = ()

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The seats that have played, in order."""
        return tuple(Seat((self.leader + place) % 4) for place in range(len(self.cards)))

    @property
    def turn(self) -> Seat:
        """The seat that plays next; meaningless when the trick is full."""
        return Seat((self.leader + len(self.cards)) % 4)

    @property
    def is_full(self) -> bool:
        return len(self.cards) == 4


def best(trick: Trick, trump: Trump) -> Card | None:
    """The card that takes the trick as it lies: the highest trump, else the highest of the suit led."""
    if not trick.cards:
        return None
    led = trick.cards[0].suit

    def rank(card: Card) -> tuple[bool, int]:
        # In tout atout a card of another suit is a trump by its order, but only the suit led can take the trick.
        return (card.suit == trump.value, strength(card, trump))

    return max((card for card in trick.cards if card.suit is led or card.suit == trump.value), key=rank)


def master(trick: Trick, trump: Trump) -> Seat | None:
    """The seat that is taking the trick as it lies, or None if no card has been played."""
    card = best(trick, trump)
    return None if card is None else trick.seats[trick.cards.index(card)]


def legal_cards(rules: Rules, trump: Trump, trick: Trick, hand: tuple[Card, ...]) -> dict[Card, Why | None]:
    """For each card of the hand of the seat to play, None if it may be played, else the reason why not.

    The one enumerator of cards: the engine, the page, the referee and the bots ask it. The hand's order is kept.
    """
    top = best(trick, trump)
    if top is None:
        return dict.fromkeys(hand)
    led = trick.cards[0].suit
    following = [card for card in hand if card.suit is led]
    if following:
        # A trump led, and any lead in tout atout, must be beaten if one can, over one's partner too.
        must_rise = trump is Trump.ALL or trump.suit is led
        higher = _above(top, following, trump) if must_rise else []
        return {card: _why(card, following, Why.MUST_FOLLOW, higher, Why.MUST_GO_HIGHER) for card in hand}
    trumps = [card for card in hand if card.suit is trump.suit]
    if not trumps or master(trick, trump) is trick.turn.partner:
        return dict.fromkeys(hand)
    trumped = top.suit is trump.suit
    higher = _above(top, trumps, trump) if trumped else []
    if trumped and not higher and rules.undertrump is Undertrump.FREE:
        return dict.fromkeys(hand)
    return {card: _why(card, trumps, Why.MUST_TRUMP, higher, Why.MUST_OVERTRUMP) for card in hand}


def _above(top: Card, cards: list[Card], trump: Trump) -> list[Card]:
    """Those of the cards, all of the suit of `top`, that beat it."""
    return [card for card in cards if strength(card, trump) > strength(top, trump)]


def _why(card: Card, allowed: list[Card], wrong_suit: Why, higher: list[Card], too_low: Why) -> Why | None:
    """Why a card may not be played where `allowed` are the cards of the right suit, and `higher` those to prefer."""
    if card not in allowed:
        return wrong_suit
    return too_low if higher and card not in higher else None


_PLAIN = {Rank.ACE: 11, Rank.TEN: 10, Rank.KING: 4, Rank.QUEEN: 3, Rank.JACK: 2}
_TRUMP = {Rank.JACK: 20, Rank.NINE: 14, Rank.ACE: 11, Rank.TEN: 10, Rank.KING: 4, Rank.QUEEN: 3}
_SA = {
    SaPoints.ACE_19: {Rank.ACE: 19, Rank.TEN: 10, Rank.KING: 4, Rank.QUEEN: 3, Rank.JACK: 2},
    SaPoints.SCALED: _PLAIN,
}
_TA = {
    TaPoints.JACK_14: {Rank.JACK: 14, Rank.NINE: 9, Rank.ACE: 6, Rank.TEN: 5, Rank.KING: 3, Rank.QUEEN: 1},
    TaPoints.JACK_13: {Rank.JACK: 13, Rank.NINE: 9, Rank.ACE: 6, Rank.TEN: 5, Rank.KING: 3, Rank.QUEEN: 2},
    TaPoints.SCALED: _TRUMP,
}


@dataclass(frozen=True, slots=True)
class Scale:
    """What each card counts under one trump. `total` is the sum of the pack, which is brought to 152."""

    points: dict[Card, int]
    total: int

    def count(self, cards: tuple[Card, ...]) -> int:
        """Card points of a pile, brought to the scale and rounded to nearest (a half cannot occur)."""
        raw = sum(self.points[card] for card in cards)
        return raw if self.total == CARD_POINTS else (2 * raw * CARD_POINTS + self.total) // (2 * self.total)


def plain_points(cards: tuple[Card, ...]) -> int:
    """What the cards count where no suit is trump and an ace is 11."""
    return sum(_PLAIN.get(card.rank, 0) for card in cards)


def scale(rules: Rules, trump: Trump) -> Scale:
    """The points of each card under these rules and this trump."""
    return _SCALES[trump, rules.sa_points, rules.ta_points]


def _make_scale(trump: Trump, sa: SaPoints, ta: TaPoints) -> Scale:
    def points(card: Card) -> int:
        if trump is Trump.NONE:
            return _SA[sa].get(card.rank, 0)
        if trump is Trump.ALL:
            return _TA[ta].get(card.rank, 0)
        return (_TRUMP if trump.is_trump(card) else _PLAIN).get(card.rank, 0)

    table = {card: points(card) for card in PACK}
    return Scale(table, sum(table.values()))


_SCALES = {(trump, sa, ta): _make_scale(trump, sa, ta) for trump in Trump for sa in SaPoints for ta in TaPoints}


@dataclass(frozen=True, slots=True)
class Taken:
    """A trick that was taken, by whom, and by how much it raised the taker's points (the ten of the last included)."""

    trick: Trick
    winner: Seat
    points: int


def taken(scale: Scale, before: tuple[Taken, ...], trick: Trick, trump: Trump) -> Taken:
    """The full trick with its taker and points. Where points are scaled, a trick counts by what it adds to its side's pile."""
    winner = master(trick, trump)
    assert winner is not None
    pile = pile_of(before, winner.side)
    points = scale.count(pile + trick.cards) - scale.count(pile)
    return Taken(trick, winner, points + (DER if len(before) == 7 else 0))


def pile_of(tricks: tuple[Taken, ...], side: Side) -> tuple[Card, ...]:
    """The cards that a side has taken."""
    return tuple(card for one in tricks if one.winner.side is side for card in one.trick.cards)


def trick_points(tricks: tuple[Taken, ...]) -> BySide[int]:
    """Points in tricks of each side so far, the ten of the last trick included; 162 when all are played."""
    return BySide.of(lambda side: sum(one.points for one in tricks if one.winner.side is side))


def tricks_won(tricks: tuple[Taken, ...]) -> BySide[int]:
    """How many tricks each side has taken."""
    return BySide.of(lambda side: sum(one.winner.side is side for one in tricks))
