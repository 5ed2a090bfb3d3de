"""Where does a game stand? Rules, totals, the deals so far, and a phase; each phase is a type of its own."""

from dataclasses import dataclass

from app.game.auction import Auction, Contract, Spoken
from app.game.cards import Card
from app.game.events import BeloteSaid, MeldsAnnounced, RedealClaimed, ShownMeld
from app.game.melds import Melds
from app.game.rules import Rules
from app.game.scoring import DealScore
from app.game.seats import BySide, Seat, Side
from app.game.tricks import Taken, Trick

Hands = tuple[tuple[Card, ...], ...]
"""The cards that each seat still holds, by seat."""


@dataclass(frozen=True, slots=True)
class DealRecord:
    """A finished deal: its score, or None if nothing was scored because all passed or a hand was dealt again."""

    number: int
    dealer: Seat
    score: DealScore | None
    totals: BySide[int]


@dataclass(frozen=True, slots=True)
class Dealing:
    """The pack is to be dealt."""

    dealer: Seat


@dataclass(frozen=True, slots=True)
class Bidding:
    """Eight cards each, and an auction."""

    dealer: Seat
    hands: Hands
    auction: Auction


@dataclass(frozen=True, slots=True)
class Playing:
    """A contract is being played. `dealt` are the hands as dealt, `said` and `announced` what was heard so far."""

    dealer: Seat
    dealt: Hands
    hands: Hands
    calls: tuple[Spoken, ...]
    contract: Contract
    melds: Melds
    trick: Trick
    taken: tuple[Taken, ...] = ()
    said: tuple[BeloteSaid, ...] = ()
    announced: tuple[MeldsAnnounced, ...] = ()
    shown: tuple[ShownMeld, ...] = ()


@dataclass(frozen=True, slots=True)
class Unplayed:
    """A deal that came to no contract, as it lay: its hands, its calls, and the hand that was shown to have it dealt again."""

    dealer: Seat
    hands: Hands
    calls: tuple[Spoken, ...]
    redeal: RedealClaimed | None = None


@dataclass(frozen=True, slots=True)
class Over:
    """A side has won."""

    winner: Side
    dealer: Seat


Phase = Dealing | Bidding | Playing | Over


@dataclass(frozen=True, slots=True)
class Game:
    """One game, from its first deal to the target. `id` names it in commitments."""

    id: str
    rules: Rules
    phase: Phase
    deal: int = 0
    totals: BySide[int] = BySide(0, 0)
    deals: tuple[DealRecord, ...] = ()
    last: Playing | Unplayed | None = None
    """The last deal as it lay when it ended, until the next is dealt."""


def new_game(id: str, rules: Rules, first_dealer: Seat) -> Game:
    """A game in which nothing has been dealt."""
    return Game(id, rules, Dealing(first_dealer))
