"""Which cards are there? Four suits, eight ranks, thirty-two cards, and the order they are named in."""

from collections.abc import Iterable
from enum import StrEnum


class Suit(StrEnum):
    """A suit, by its English letter."""

    SPADES = "S"
    HEARTS = "H"
    DIAMONDS = "D"
    CLUBS = "C"


class Rank(StrEnum):
    """A rank, in the natural order in which sequences run."""

    SEVEN = "7"
    EIGHT = "8"
    NINE = "9"
    TEN = "10"
    JACK = "J"
    QUEEN = "Q"
    KING = "K"
    ACE = "A"


class Card(StrEnum):
    """A card, written rank first: `"JH"`, `"10S"`. Its `suit` and `rank` are what is printed on it."""

    suit: Suit
    rank: Rank

    def __init__(self, name: str) -> None:
        self.suit = Suit(name[-1])
        self.rank = Rank(name[:-1])

    S7 = "7S"
    S8 = "8S"
    S9 = "9S"
    S10 = "10S"
    SJ = "JS"
    SQ = "QS"
    SK = "KS"
    SA = "AS"
    H7 = "7H"
    H8 = "8H"
    H9 = "9H"
    H10 = "10H"
    HJ = "JH"
    HQ = "QH"
    HK = "KH"
    HA = "AH"
    D7 = "7D"
    D8 = "8D"
    D9 = "9D"
    D10 = "10D"
    DJ = "JD"
    DQ = "QD"
    DK = "KD"
    DA = "AD"
    C7 = "7C"
    C8 = "8C"
    C9 = "9C"
    C10 = "10C"
    CJ = "JC"
    CQ = "QC"
    CK = "KC"
    CA = "AC"


PACK: tuple[Card, ...] = tuple(Card)
"""The thirty-two cards in pack order: spades, hearts, diamonds, clubs, each from seven to ace."""

_PLACE = {card: place for place, card in enumerate(PACK)}


def in_pack_order(cards: Iterable[Card]) -> tuple[Card, ...]:
    """The same cards, sorted as they stand in `PACK`."""
    return tuple(sorted(cards, key=_PLACE.__getitem__))
