"""How strong is a card, and what does it count, under each of the six trumps?"""

from enum import StrEnum

from app.game.cards import Card, Rank, Suit


class Trump(StrEnum):
    """What a contract is played in: a suit, sans atout (`NONE`) or tout atout (`ALL`)."""

    SPADES = "S"
    HEARTS = "H"
    DIAMONDS = "D"
    CLUBS = "C"
    NONE = "SA"
    ALL = "TA"

    @property
    def suit(self) -> Suit | None:
        """The trump suit, or None in sans atout and tout atout."""
        return _SUITS.get(self)

    def is_trump(self, card: Card) -> bool:
        """Whether the card is a trump: in tout atout each is, in sans atout none."""
        return self is Trump.ALL or card.suit == self.value


_SUITS = {trump: Suit(trump.value) for trump in Trump if len(trump.value) == 1}

PLAIN_ORDER = (Rank.SEVEN, Rank.EIGHT, Rank.NINE, Rank.JACK, Rank.QUEEN, Rank.KING, Rank.TEN, Rank.ACE)
"""Ranks from weakest to strongest in a plain suit and in sans atout."""

TRUMP_ORDER = (Rank.SEVEN, Rank.EIGHT, Rank.QUEEN, Rank.KING, Rank.TEN, Rank.ACE, Rank.NINE, Rank.JACK)
"""Ranks from weakest to strongest in the trump suit and in every suit of tout atout."""

_PLAIN_STRENGTH = {rank: place for place, rank in enumerate(PLAIN_ORDER)}
_TRUMP_STRENGTH = {rank: place for place, rank in enumerate(TRUMP_ORDER)}


def strength(card: Card, trump: Trump) -> int:
    """The card's place within its suit, 0 (weakest) to 7 (strongest)."""
    return (_TRUMP_STRENGTH if trump.is_trump(card) else _PLAIN_STRENGTH)[card.rank]
