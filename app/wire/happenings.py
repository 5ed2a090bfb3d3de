"""The JSON forms of what happens at a table, as its `events` tell it (docs/protocol.md)."""

from typing import Literal

from typing_extensions import TypedDict

from app.game.actions import Right
from app.game.auction import Bid, Say
from app.game.cards import Card, Suit
from app.game.events import Word
from app.game.melds import Kind
from app.game.seats import BySide, Seat, Side
from app.game.view import ContractSeen, MeldSeen


class DealCommitted(TypedDict):
    """The promise of a deal's secrets, before any card of it."""

    kind: Literal["deal_committed"]
    deal: int
    commitment: str


class HandsDealt(TypedDict):
    """The hands, null where one may not see them."""

    kind: Literal["hands_dealt"]
    deal: int
    dealer: Seat
    hands: list[list[Card] | None]


class CallMade(TypedDict):
    """A seat has called."""

    kind: Literal["call_made"]
    seat: Seat
    call: Bid | Say


class RedealClaimed(TypedDict):
    """A hand was shown and the cards are dealt again by the same dealer."""

    kind: Literal["redeal_claimed"]
    seat: Seat
    right: Right
    hand: list[Card]


class DealPassedOut(TypedDict):
    """Four passes: no score, the next seat deals."""

    kind: Literal["deal_passed_out"]


class ContractSet(TypedDict):
    """The auction is over."""

    kind: Literal["contract_set"]
    contract: ContractSeen


class CardPlayed(TypedDict):
    """A seat has played a card."""

    kind: Literal["card_played"]
    seat: Seat
    card: Card


class BeloteSaid(TypedDict):
    """A seat has said belote or rebelote."""

    kind: Literal["belote_said"]
    seat: Seat
    suit: Suit
    word: Word


class MeldsAnnounced(TypedDict):
    """The kinds of a seat's melds, said with its first card."""

    kind: Literal["melds_announced"]
    seat: Seat
    kinds: list[Kind]


class MeldsShown(TypedDict):
    """The melds that count, when the second trick begins."""

    kind: Literal["melds_shown"]
    melds: list[MeldSeen]


class TrickTaken(TypedDict):
    """A seat has taken the trick."""

    kind: Literal["trick_taken"]
    seat: Seat
    points: int


class DealScored(TypedDict):
    """The deal has been scored."""

    kind: Literal["deal_scored"]
    made: bool
    score: BySide[int]
    totals: BySide[int]


class GameWon(TypedDict):
    """A side has won the game."""

    kind: Literal["game_won"]
    side: Side
    totals: BySide[int]


class GameStarted(TypedDict):
    """A game begins."""

    kind: Literal["game_started"]
    number: int
    first_dealer: Seat


class SeatAway(TypedDict):
    """The stand-in plays for a seat from now on; `gone`: its owner has left the game on purpose."""

    kind: Literal["seat_away"]
    seat: Seat
    gone: bool


class SeatBack(TypedDict):
    """A seat plays for itself again."""

    kind: Literal["seat_back"]
    seat: Seat


class SheetRead(TypedDict):
    """A seat has read the score sheet."""

    kind: Literal["sheet_read"]
    seat: Seat


class TimeGivenBack(TypedDict):
    """The clock runs anew after an outage."""

    kind: Literal["time_given_back"]


class HostAskedToMove(TypedDict):
    """The person on the seat `by` asks that the host, who does not move, make way."""

    kind: Literal["host_asked_to_move"]
    by: Seat


class GameAbandoned(TypedDict):
    """Every person has left the game: it is over without a winner."""

    kind: Literal["game_abandoned"]


class PersonSitting(TypedDict):
    """A person, or a bot, who has sat down."""

    id: str
    name: str


class HouseSitting(TypedDict):
    """A player of the house who has sat down."""

    player: str
    name: str


class SeatTaken(TypedDict):
    """Somebody has sat down."""

    kind: Literal["seat_taken"]
    seat: Seat
    occupant: PersonSitting | HouseSitting


class SeatLeft(TypedDict):
    """A seat has become free."""

    kind: Literal["seat_left"]
    seat: Seat


class HostChanged(TypedDict):
    """Somebody else runs the table from now on."""

    kind: Literal["host_changed"]
    host: str


class ReadyChanged(TypedDict):
    """A seat is ready for a game, or not any more."""

    kind: Literal["ready_changed"]
    seat: Seat
    ready: bool


Happening = (
    DealCommitted
    | HandsDealt
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
    | GameStarted
    | SeatAway
    | SeatBack
    | SheetRead
    | TimeGivenBack
    | HostAskedToMove
    | GameAbandoned
    | SeatTaken
    | SeatLeft
    | HostChanged
    | ReadyChanged
)
