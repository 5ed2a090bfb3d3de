"""What may be asked of a game. Dice enter as data: a deal carries the secrets it was shuffled from."""

from dataclasses import dataclass
from enum import StrEnum

from app.game.auction import Bid, Call
from app.game.cards import Card
from app.game.seats import Seat
from app.game.shuffle import pack_of


class Right(StrEnum):
    """Why a hand may be dealt again: at most nine plain points, or the four sevens."""

    MISERE = "misere"
    SEVENS = "sevens"


@dataclass(frozen=True, slots=True)
class Deal:
    """Deal this pack, top card first. `seed`, `salt` (hex) and `cut` are what it is made from, and no other is taken with them;
    they stay secret.
    """

    seed: str
    salt: str
    cut: int
    pack: tuple[Card, ...]


def deal_from(seed: bytes, salt: bytes, cut: int) -> Deal:
    """The deal that these secrets make."""
    return Deal(seed.hex(), salt.hex(), cut, pack_of(seed, salt, cut))


@dataclass(frozen=True, slots=True)
class Doubled:
    """The bid that a coinche doubles, and the number of its deal, so that a late one is never moved to another bid."""

    deal: int
    bid: Bid


@dataclass(frozen=True, slots=True)
class Speak:
    """Make a call. A coinche may name the bid it doubles."""

    seat: Seat
    call: Call
    on: Doubled | None = None


@dataclass(frozen=True, slots=True)
class Redeal:
    """Show the hand and have the cards dealt again by the same dealer."""

    seat: Seat
    right: Right


@dataclass(frozen=True, slots=True)
class Play:
    """Play a card. `belote` declares, with the first of king and queen, where the rules have it declared."""

    seat: Seat
    card: Card
    belote: bool = False


Action = Deal | Speak | Redeal | Play
