"""What has happened in a game. The game is the fold of these, and nothing else is the truth."""

from dataclasses import dataclass
from enum import StrEnum

from app.game.actions import Right
from app.game.auction import Call, Contract
from app.game.cards import Card, Suit
from app.game.melds import Kind, Meld
from app.game.scoring import DealScore
from app.game.seats import BySide, Seat, Side


class Word(StrEnum):
    """What is said with the first and with the second card of a belote."""

    BELOTE = "belote"
    REBELOTE = "rebelote"


@dataclass(frozen=True, slots=True)
class DealCommitted:
    """The promise of a deal's secrets, before any card of it."""

    deal: int
    commitment: str


@dataclass(frozen=True, slots=True)
class HandsDealt:
    """Four hands of eight, by seat."""

    deal: int
    dealer: Seat
    hands: tuple[tuple[Card, ...], ...]


@dataclass(frozen=True, slots=True)
class CallMade:
    seat: Seat
    call: Call


@dataclass(frozen=True, slots=True)
class RedealClaimed:
    """A hand was shown and the cards are dealt again by the same dealer."""

    seat: Seat
    right: Right
    hand: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class DealPassedOut:
    """Four passes: no score, the next seat deals."""


@dataclass(frozen=True, slots=True)
class ContractSet:
    contract: Contract


@dataclass(frozen=True, slots=True)
class CardPlayed:
    seat: Seat
    card: Card


@dataclass(frozen=True, slots=True)
class BeloteSaid:
    seat: Seat
    suit: Suit
    word: Word


@dataclass(frozen=True, slots=True)
class MeldsAnnounced:
    """The kinds of a seat's melds, said with its first card; no rank, suit or height."""

    seat: Seat
    kinds: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class ShownMeld:
    seat: Seat
    meld: Meld


@dataclass(frozen=True, slots=True)
class MeldsShown:
    """The melds that count, with their cards, when the second trick begins."""

    melds: tuple[ShownMeld, ...]


@dataclass(frozen=True, slots=True)
class TrickTaken:
    seat: Seat
    points: int


@dataclass(frozen=True, slots=True)
class DealScored:
    score: DealScore


@dataclass(frozen=True, slots=True)
class GameWon:
    side: Side
    totals: BySide[int]


PublicEvent = (
    DealCommitted
    | CallMade
    | RedealClaimed
    | DealPassedOut
    | ContractSet
    | CardPlayed
    | BeloteSaid
    | MeldsAnnounced
    | MeldsShown
    | TrickTaken
    | DealScored
    | GameWon
)
"""What all may see, whoever looks (`app.game.view.redact`)."""

Event = HandsDealt | PublicEvent
