"""What can a player conclude from what all have seen? Who may still hold which card, and how likely each is to.

Only the view is read: the tricks, the contract, belotes heard and melds shown. Nothing is guessed from how fast or how well
anybody plays; the auction counts only as the common sense that who names a trump has some.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from app.game.cards import PACK, Card, Rank, Suit
from app.game.melds import belote_suits
from app.game.rules import BeloteHow, Rules, Undertrump
from app.game.seats import SEATS, Seat
from app.game.tricks import scale
from app.game.trump import Trump, strength
from app.game.view import Laid, View

NOBODY = (0.0, 0.0, 0.0, 0.0)

DECLARER_HOLDS = {Rank.JACK: 3.0, Rank.NINE: 2.2}
"""How much likelier the declarer is to hold this trump than another seat with as many unknown cards; others 1.7."""


@cache
def strengths(trump: Trump) -> dict[Card, int]:
    """The place of every card within its suit, 0 to 7."""
    return {card: strength(card, trump) for card in PACK}


def beats(card: Card, top: Card, trump: Trump) -> bool:
    """Whether the card takes a trick from `top`, which is taking it now."""
    if card.suit is top.suit:
        order = strengths(trump)
        return order[card] > order[top]
    return card.suit is trump.suit


@dataclass(frozen=True, slots=True)
class Knowledge:
    """One player's picture of a deal that is being played."""

    me: Seat
    rules: Rules
    trump: Trump
    suit: Suit | None
    """The trump suit, None in sans atout and tout atout."""
    declarer: Seat
    hand: tuple[Card, ...]
    out: dict[Suit, tuple[Card, ...]]
    """The cards that the three others hold between them, in pack order."""
    odds: dict[Card, tuple[float, ...]]
    """For each card that is out, how likely each seat holds it; 0 if it cannot, 1 if it must."""
    order: dict[Card, int]
    points: dict[Card, int]

    @property
    def opponents(self) -> tuple[Seat, Seat]:
        return self.me.next, self.me.before

    @property
    def declaring(self) -> bool:
        """Whether my side plays the contract."""
        return self.declarer.side is self.me.side

    def mine(self, suit: Suit) -> tuple[Card, ...]:
        """My cards of a suit."""
        return tuple(card for card in self.hand if card.suit is suit)

    def above(self, card: Card) -> tuple[Card, ...]:
        """The cards still out that are stronger in the card's suit."""
        order = self.order
        least = order[card]
        return tuple(other for other in self.out[card.suit] if order[other] > least)

    def is_master(self, card: Card) -> bool:
        """Whether no opponent can hold a stronger card of the suit."""
        left, right = self.opponents
        return not any(self.odds[other][left] or self.odds[other][right] for other in self.above(card))

    def expected(self, cards: Iterable[Card], *seats: Seat) -> float:
        """How many of the cards these seats hold, on average."""
        return sum(self.odds[card][seat] for card in cards for seat in seats)

    def has_none(self, seat: Seat, cards: Iterable[Card]) -> float:
        """How likely the seat holds none of these cards."""
        chance = 1.0
        for card in cards:
            chance *= 1.0 - self.odds[card][seat]
        return chance

    def is_void(self, seat: Seat, suit: Suit) -> bool:
        """Whether the seat surely has no card of the suit."""
        return not any(self.odds[card][seat] for card in self.out[suit])

    @property
    def trumps_against(self) -> float:
        """How many trumps the opponents hold, on average; 0 in sans atout and tout atout."""
        return 0.0 if self.suit is None else self.expected(self.out[self.suit], *self.opponents)

    def ruffs(self, seat: Seat, suit: Suit) -> float:
        """How likely the seat has none of a plain suit, and a trump."""
        if self.suit is None or suit is self.suit:
            return 0.0
        return self.has_none(seat, self.out[suit]) * (1.0 - self.has_none(seat, self.out[self.suit]))

    def beats(self, seat: Seat, top: Card, led: Suit) -> float:
        """How likely the seat can take the trick from `top` where `led` was led."""
        order, least = self.order, self.order[top]
        chance = 0.0
        if top.suit is led:
            chance = 1.0 - self.has_none(seat, self.above(top))
            if self.suit is not None and led is not self.suit:
                chance += self.ruffs(seat, led)
        elif self.suit is not None:
            higher = [card for card in self.out[self.suit] if order[card] > least]
            chance = self.has_none(seat, self.out[led]) * (1.0 - self.has_none(seat, higher))
        return min(chance, 1.0)


def learn(view: View) -> Knowledge:
    """All that the viewer, who is playing a deal, may conclude."""
    me, contract, hand = view.viewer, view.contract, view.hand
    assert me is not None
    assert contract is not None
    assert hand is not None
    trump = contract.trump
    gone = set(hand)
    tricks = [trick.cards for trick in view.taken]
    if view.trick is not None:
        tricks.append(view.trick.cards)
    for cards in tricks:
        gone.update(laid.card for laid in cards)
    out = [card for card in PACK if card not in gone]
    may = [set() if seat is me else set(out) for seat in SEATS]
    for cards in tricks:
        _follow(view.rules, trump, cards, may)
    pinned = _pinned(view, trump, out, may)
    _settle(may, view.counts, pinned)
    by_suit: dict[Suit, tuple[Card, ...]] = {suit: tuple(card for card in out if card.suit is suit) for suit in Suit}
    odds = _odds(out, may, view.counts, pinned, trump, contract.declarer)
    points = scale(view.rules, trump).points
    return Knowledge(me, view.rules, trump, trump.suit, contract.declarer, hand, by_suit, odds, strengths(trump), points)


def _follow(rules: Rules, trump: Trump, cards: tuple[Laid, ...], may: list[set[Card]]) -> None:
    """Strike out what each seat has shown, by its card in one trick, not to hold."""
    if not cards:
        return
    order = strengths(trump)
    suit = trump.suit
    led = cards[0].card.suit
    top = cards[0]
    for laid in cards[1:]:
        seat, card = laid.seat, laid.card
        won = beats(card, top.card, trump)
        higher = top.card
        if card.suit is led:
            if (trump is Trump.ALL or led is suit) and not won:
                may[seat] = {one for one in may[seat] if one.suit is not led or order[one] < order[higher]}
        else:
            may[seat] = {one for one in may[seat] if one.suit is not led}
            if suit is not None and top.seat is not seat.partner:
                trumped = higher.suit is suit
                if card.suit is not suit and not (trumped and rules.undertrump is Undertrump.FREE):
                    may[seat] = {one for one in may[seat] if one.suit is not suit}
                elif trumped and not won:
                    may[seat] = {one for one in may[seat] if one.suit is not suit or order[one] < order[higher]}
        if won:
            top = laid


def _pinned(view: View, trump: Trump, out: list[Card], may: list[set[Card]]) -> dict[Card, Seat]:
    """Cards known to lie in one hand, by a belote heard or a meld shown; and strike out the belotes that were not heard."""
    left = set(out)
    pinned = {card: meld.seat for meld in view.melds_shown for card in meld.cards if card in left}
    heard = {(one.seat, one.suit) for one in view.belotes}
    suits = belote_suits(view.rules, trump)
    for seat, suit in heard:
        for card in (Card(f"K{suit}"), Card(f"Q{suit}")):
            if card in left:
                pinned[card] = seat
    if view.rules.belote is BeloteHow.AUTOMATIC:
        for trick in (*view.taken, *((view.trick,) if view.trick else ())):
            for laid in trick.cards:
                card = laid.card
                if card.rank in (Rank.KING, Rank.QUEEN) and card.suit in suits and (laid.seat, card.suit) not in heard:
                    other = Rank.QUEEN if card.rank is Rank.KING else Rank.KING
                    may[laid.seat].discard(Card(f"{other}{card.suit}"))
    return {card: seat for card, seat in pinned.items() if card in may[seat]}


def _settle(may: list[set[Card]], counts: tuple[int, ...], pinned: dict[Card, Seat]) -> None:
    """Draw the plain conclusions: a card that only one may hold, a hand that is known in full."""
    for card, holder in pinned.items():
        for seat in SEATS:
            if seat is not holder:
                may[seat].discard(card)
    changed = True
    while changed:
        changed = False
        for seat in SEATS:
            known = {card for card in may[seat] if pinned.get(card) is seat}
            if len(known) == counts[seat] < len(may[seat]):
                may[seat] = known
                changed = True
            elif len(may[seat]) == counts[seat] > len(known):
                _pin(may, pinned, seat, may[seat])
                changed = True
        for seat in SEATS:
            others = set().union(*(may[other] for other in SEATS if other is not seat))
            only = {card for card in may[seat] if card not in others and card not in pinned}
            if only:
                _pin(may, pinned, seat, only)
                changed = True


def _pin(may: list[set[Card]], pinned: dict[Card, Seat], seat: Seat, cards: set[Card]) -> None:
    for card in tuple(cards):
        pinned[card] = seat
        for other in SEATS:
            if other is not seat:
                may[other].discard(card)


def _odds(
    out: list[Card],
    may: list[set[Card]],
    counts: tuple[int, ...],
    pinned: dict[Card, Seat],
    trump: Trump,
    declarer: Seat,
) -> dict[Card, tuple[float, ...]]:
    """How likely each seat holds each card: by its free places, and who declares is likelier to hold trumps."""
    free = list(counts)
    for seat in pinned.values():
        free[seat] -= 1
    odds: dict[Card, tuple[float, ...]] = {}
    for card in out:
        if card in pinned:
            odds[card] = tuple(float(pinned[card] is seat) for seat in SEATS)
            continue
        weights = [float(free[seat]) if card in may[seat] else 0.0 for seat in SEATS]
        if card.suit is trump.suit:
            weights[declarer] *= DECLARER_HOLDS.get(card.rank, 1.7)
        total = sum(weights)
        odds[card] = tuple(weight / total for weight in weights) if total else NOBODY
    return odds
