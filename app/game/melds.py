"""Which melds does a hand hold, and whose are worth most? Tierce, cinquante, cent, carré; and who holds a belote."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from app.game.cards import Card, Rank, Suit, in_pack_order
from app.game.rules import Carres, Rules
from app.game.seats import SEATS, BySide, Seat, Side
from app.game.trump import Trump

BELOTE = 20
"""What a belote counts."""


class Kind(StrEnum):
    """A kind of meld: three, four, five or more in a row in one suit, or four of a rank."""

    TIERCE = "tierce"
    CINQUANTE = "cinquante"
    CENT = "cent"
    CARRE = "carre"


_RUNS = {3: (Kind.TIERCE, 20), 4: (Kind.CINQUANTE, 50)}
_CENT = (Kind.CENT, 100)
_RANKS = tuple(Rank)
_CARRES = {Rank.JACK: 200, Rank.NINE: 150, Rank.ACE: 100, Rank.TEN: 100, Rank.KING: 100, Rank.QUEEN: 100}
_ALL_CARRES = _CARRES | {Rank.EIGHT: 100, Rank.SEVEN: 100}
_SA_CARRES = {Rank.ACE: 200, Rank.TEN: 150, Rank.KING: 100, Rank.QUEEN: 100, Rank.JACK: 100, Rank.NINE: 100}


@dataclass(frozen=True, slots=True)
class Meld:
    """A meld with its cards, lowest first. `height` orders melds of the same kind and points."""

    kind: Kind
    points: int
    cards: tuple[Card, ...]
    height: int
    in_trump: bool

    @property
    def rank(self) -> tuple[int, bool, int, bool]:
        """How it compares: points, then a carré over a sequence, then height, then a sequence in trumps."""
        return (self.points, self.kind is Kind.CARRE, self.height, self.in_trump)


def find(rules: Rules, trump: Trump, hand: Iterable[Card]) -> tuple[Meld, ...]:
    """The melds of a hand, best first: the choice worth most, of equals the one whose best meld ranks highest.

    A card counts in one meld only; runs are taken whole from the cards that the chosen carrés leave.
    """
    cards = frozenset(hand)
    carres = tuple(_carres(rules, trump, cards))
    choices = (
        sorted((*kept, *_sequences(trump, cards.difference(*(meld.cards for meld in kept)))), key=_rank, reverse=True)
        for count in range(len(carres) + 1)
        for kept in combinations(carres, count)
    )
    return tuple(max(choices, key=lambda melds: (sum(meld.points for meld in melds), [meld.rank for meld in melds])))


def _rank(meld: Meld) -> tuple[int, bool, int, bool]:
    return meld.rank


def _carres(rules: Rules, trump: Trump, cards: frozenset[Card]) -> Iterator[Meld]:
    federation = rules.carres is Carres.FEDERATION
    points = _SA_CARRES if federation and trump is Trump.NONE else _CARRES if federation else _ALL_CARRES
    for place, (rank, value) in enumerate(points.items()):
        four = tuple(card for card in in_pack_order(cards) if card.rank is rank)
        if len(four) == 4:
            yield Meld(Kind.CARRE, value, four, -place, False)


def _sequences(trump: Trump, cards: frozenset[Card]) -> Iterator[Meld]:
    for suit in Suit:
        run: list[Card] = []
        for rank in (*_RANKS, None):
            card = Card(rank + suit) if rank else None
            if card in cards and card is not None:
                run.append(card)
                continue
            if len(run) >= 3:
                kind, points = _RUNS.get(len(run), _CENT)
                yield Meld(kind, points, tuple(run), _RANKS.index(run[-1].rank), trump.suit is suit)
            run = []


@dataclass(frozen=True, slots=True)
class Melds:
    """The melds of the four hands by seat, and the side whose melds count, None if nobody's do."""

    by_seat: tuple[tuple[Meld, ...], ...]
    winner: Side | None

    def of(self, side: Side) -> tuple[Meld, ...]:
        """All melds of a side, by seat."""
        return tuple(meld for seat in SEATS if seat.side is side for meld in self.by_seat[seat])

    @property
    def points(self) -> BySide[int]:
        """What counts for each side: the side with the best meld scores all of its own, the other nothing."""
        return BySide.of(lambda side: sum(meld.points for meld in self.of(side)) if side is self.winner else 0)


NO_MELDS = Melds(((), (), (), ()), None)


def compare(by_seat: tuple[tuple[Meld, ...], ...]) -> Melds:
    """Whose melds count: the side with the best single meld; with a full tie nobody's."""
    tops = BySide.of(
        lambda side: max((meld.rank for seat in SEATS if seat.side is side for meld in by_seat[seat]), default=None)
    )
    if tops.A == tops.B:
        return Melds(by_seat, None)
    winner = Side.A if tops.B is None or (tops.A is not None and tops.A > tops.B) else Side.B
    return Melds(by_seat, winner)


def melds_of(rules: Rules, trump: Trump, hands: Iterable[Iterable[Card]]) -> Melds:
    """The melds of four full hands by seat, where the rules have melds."""
    if not rules.melds:
        return NO_MELDS
    return compare(tuple(find(rules, trump, hand) for hand in hands))


def belote_suits(rules: Rules, trump: Trump) -> tuple[Suit, ...]:
    """The suits whose king and queen in one hand are a belote: the trump suit; in tout atout each, where the rules say so."""
    if trump is Trump.ALL:
        return tuple(Suit) if rules.belote_in_ta else ()
    return () if trump.suit is None else (trump.suit,)


def belotes_held(rules: Rules, trump: Trump, hand: Iterable[Card]) -> tuple[Suit, ...]:
    """The suits in which a hand holds a belote."""
    cards = frozenset(hand)
    return tuple(suit for suit in belote_suits(rules, trump) if {Card(f"K{suit}"), Card(f"Q{suit}")} <= cards)


def seats_with_belote(rules: Rules, trump: Trump, hands: tuple[tuple[Card, ...], ...]) -> tuple[Seat, ...]:
    """The seat of each belote that lies in one of the four hands."""
    return tuple(seat for seat in SEATS for _ in belotes_held(rules, trump, hands[seat]))
