"""What may be asked of a table, and by whom?"""

from dataclasses import dataclass

from app.game.actions import Deal, Play, Redeal, Speak
from app.game.seats import Seat
from app.tables.table import House, Person


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks: an identity, or the house itself (None)."""

    person: str | None


HOUSE = Actor(None)


@dataclass(frozen=True, slots=True)
class Sit:
    """Take a seat, or the first that is free."""

    person: Person
    seat: Seat | None = None


@dataclass(frozen=True, slots=True)
class Leave:
    """Give the seat up; in a running game the stand-in plays on and the seat can be taken back."""


@dataclass(frozen=True, slots=True)
class GetReady:
    """Be ready for the next game, or not."""

    ready: bool


@dataclass(frozen=True, slots=True)
class AddHouse:
    """Let a player of the house sit down: the first of these that does not sit here yet."""

    houses: tuple[House, ...]
    seat: Seat | None = None


@dataclass(frozen=True, slots=True)
class RemoveHouse:
    """Send a player of the house away."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Start:
    """Let these players of the house fill the free seats, and be ready."""

    houses: tuple[House, ...]


@dataclass(frozen=True, slots=True)
class CallStandIn:
    """Let the stand-in play for a seat at a table without a clock: its owner is gone, or (`idle`) has not moved for long."""

    seat: Seat
    idle: bool = False


@dataclass(frozen=True, slots=True)
class FreeSeat:
    """Make a person give up a seat while no game is running; `idle`: its owner has done nothing for long."""

    seat: Seat
    idle: bool = False


@dataclass(frozen=True, slots=True)
class PassOn:
    """Let somebody else be host, for this one has gone."""

    host: str
    to: str


@dataclass(frozen=True, slots=True)
class Return:
    """Take one's seat back from the stand-in."""


@dataclass(frozen=True, slots=True)
class ReadSheet:
    """Between two deals: go on, as far as I am concerned."""


@dataclass(frozen=True, slots=True)
class GiveBack:
    """Tell the table that the running time was made longer by an outage."""


@dataclass(frozen=True, slots=True)
class InGame:
    """An action in the running game, made by the seat it names."""

    action: Speak | Redeal | Play


@dataclass(frozen=True, slots=True)
class HouseDeals:
    """The croupier deals."""

    deal: Deal


@dataclass(frozen=True, slots=True)
class HousePlays:
    """The croupier acts for the seat in turn: a house player's, or one whose time is up."""

    action: Speak | Redeal | Play


@dataclass(frozen=True, slots=True)
class HouseStarts:
    """The croupier opens a game when four seats are ready; `first_dealer` was drawn."""

    first_dealer: Seat


Command = (
    Sit
    | Leave
    | GetReady
    | AddHouse
    | RemoveHouse
    | Start
    | CallStandIn
    | FreeSeat
    | PassOn
    | Return
    | ReadSheet
    | GiveBack
    | InGame
    | HouseDeals
    | HousePlays
    | HouseStarts
)
