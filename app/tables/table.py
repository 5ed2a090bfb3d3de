"""Who sits where, under which rules, and what has happened at a table? Pure, like the game that is played at it.

A table outlives its games. `judge.decide` judges what is asked, `evolve` obeys what has happened; the events of the running
game and those of the table stand in one log.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.game import engine
from app.game.events import CallMade, CardPlayed, Event, GameWon, HandsDealt, RedealClaimed
from app.game.rules import Rules
from app.game.seats import SEATS, Seat
from app.game.state import Bidding, Game, Over, Playing, new_game

HOUR = 3600
CLOCKS = (None, 15, 30, 60, 4 * HOUR, 24 * HOUR)
"""Seconds a turn may take; None: as long as it takes. Hours are for slow games, where nobody need stay at the table."""

BOT = "b_"
"""What the id of an identity that a program plays with begins with."""


def is_bot(player: str) -> bool:
    """Whether a program plays with the identity of this id, and says so."""
    return player.startswith(BOT)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who sits at a table: an identity, and the name shown."""

    id: str
    name: str

    @property
    def is_bot(self) -> bool:
        return is_bot(self.id)


@dataclass(frozen=True, slots=True)
class House:
    """A player of the house: which one, and its name."""

    player: str
    name: str


Occupant = Person | House


@dataclass(frozen=True, slots=True)
class Place:
    """What is to be said of one seat. `away`: the stand-in plays for its owner; `left`: the turn in which that began.

    `gone`: the owner has left the running game on purpose, and may still come back.
    """

    occupant: Occupant | None = None
    ready: bool = False
    away: bool = False
    left: int | None = None
    gone: bool = False

    @property
    def person(self) -> Person | None:
        return self.occupant if isinstance(self.occupant, Person) else None

    @property
    def house(self) -> House | None:
        return self.occupant if isinstance(self.occupant, House) else None


@dataclass(frozen=True, slots=True)
class Table:
    """A table. `turn` counts on over all its games and names the moment an action was meant for.

    `asking`: the seats whose people ask in this turn that the host, who does not move, make way.
    """

    id: str
    host: str
    rules: Rules
    clock: int | None
    listed: bool
    created: int
    places: tuple[Place, ...] = (Place(),) * 4
    games: int = 0
    turn: int = 0
    read: frozenset[Seat] = frozenset()
    game: Game | None = None
    asking: frozenset[Seat] = frozenset()

    @property
    def is_playing(self) -> bool:
        """Whether a game is running."""
        return self.game is not None and not isinstance(self.game.phase, Over)

    @property
    def is_ready(self) -> bool:
        """Whether a game is to begin; players of the house do not play among themselves."""
        return bool(self.people) and all(place.ready for place in self.places)

    @property
    def is_slow(self) -> bool:
        """Whether a turn takes hours: who misses one is not away for that."""
        return self.clock is not None and self.clock >= HOUR

    @property
    def is_deserted(self) -> bool:
        """Whether every person has left the running game on purpose."""
        return all(place.gone for place in self.places if place.person is not None)

    @property
    def in_turn(self) -> Seat | None:
        """The seat whose turn it is in the running game."""
        match self.game:
            case Game(phase=Bidding(auction=auction)):
                return auction.turn
            case Game(phase=Playing(trick=trick)):
                return trick.turn
            case _:
                return None

    @property
    def people(self) -> tuple[Person, ...]:
        """Those who sit here, by seat."""
        return tuple(place.person for place in self.places if place.person is not None)

    def seat_of(self, person: str) -> Seat | None:
        """The seat that an identity holds."""
        return next((seat for seat in SEATS if (one := self.places[seat].person) is not None and one.id == person), None)


# --- what has happened -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SeatTaken:
    seat: Seat
    occupant: Occupant


@dataclass(frozen=True, slots=True)
class SeatLeft:
    seat: Seat


@dataclass(frozen=True, slots=True)
class HostChanged:
    host: str


@dataclass(frozen=True, slots=True)
class ReadyChanged:
    seat: Seat
    ready: bool


@dataclass(frozen=True, slots=True)
class GameStarted:
    """A game begins under the table's rules; all stay where they sit."""

    game: str
    number: int
    first_dealer: Seat


@dataclass(frozen=True, slots=True)
class SeatAway:
    """From now on the stand-in plays for this seat; `gone`: its owner has left the game on purpose."""

    seat: Seat
    gone: bool = False


@dataclass(frozen=True, slots=True)
class SeatBack:
    seat: Seat


@dataclass(frozen=True, slots=True)
class SheetRead:
    seat: Seat


@dataclass(frozen=True, slots=True)
class TimeGivenBack:
    """The store was away; the time that is running was made longer by as much."""


@dataclass(frozen=True, slots=True)
class HostAskedToMove:
    """The person on the seat `by` asks that the host, who does not move, make way; when all others ask, it is done."""

    by: Seat


@dataclass(frozen=True, slots=True)
class GameAbandoned:
    """Every person has left the game on purpose: it ends without a winner."""


TableEvent = (
    SeatTaken
    | SeatLeft
    | HostChanged
    | ReadyChanged
    | GameStarted
    | SeatAway
    | SeatBack
    | SheetRead
    | TimeGivenBack
    | HostAskedToMove
    | GameAbandoned
)
Happened = Event | TableEvent


# --- what becomes of it ----------------------------------------------------------------------------------------------


def evolve(table: Table, event: Happened) -> Table:
    """The table after an event. It never judges."""
    match event:
        case SeatTaken(seat=seat, occupant=occupant):
            place = table.places[seat]
            is_renamed = isinstance(occupant, Person) and place.person is not None and place.person.id == occupant.id
            if is_renamed:
                return _with_place(table, seat, replace(place, occupant=occupant))
            return replace(_with_place(table, seat, Place(occupant)), asking=frozenset())
        case SeatLeft(seat=seat):
            return replace(_with_place(table, seat, Place()), asking=frozenset())
        case HostChanged(host=host):
            return replace(table, host=host, asking=frozenset())
        case ReadyChanged(seat=seat, ready=ready):
            return _with_place(table, seat, replace(table.places[seat], ready=ready))
        case GameStarted():
            game = new_game(event.game, table.rules, event.first_dealer)
            return replace(_next_turn(table), games=event.number, game=game, read=frozenset())
        case SeatAway(seat=seat, gone=gone):
            place = table.places[seat]
            left = place.left if place.away else table.turn
            return _with_place(table, seat, replace(place, away=True, left=left, gone=gone))
        case SeatBack(seat=seat):
            return _with_place(table, seat, replace(table.places[seat], away=False, gone=False))
        case SheetRead(seat=seat):
            return replace(table, read=table.read | {seat})
        case TimeGivenBack():
            return table
        case HostAskedToMove(by=by):
            return replace(table, asking=table.asking | {by})
        case GameAbandoned():
            return _after_game(replace(_next_turn(table), game=None, read=frozenset()))
        case _:
            return _in_the_game(table, event)


def evolve_all(table: Table, events: Iterable[Happened]) -> Table:
    """The table after all these events, in order."""
    for event in events:
        table = evolve(table, event)
    return table


def _with_place(table: Table, seat: Seat, place: Place) -> Table:
    return replace(table, places=tuple(place if one is seat else table.places[one] for one in SEATS))


def _next_turn(table: Table) -> Table:
    return replace(table, turn=table.turn + 1, asking=frozenset())


def _in_the_game(table: Table, event: Event) -> Table:
    if table.game is None:
        raise ValueError(f"{type(event).__name__} without a game")
    table = replace(table, game=engine.evolve(table.game, event))
    match event:
        case CallMade() | CardPlayed() | RedealClaimed():
            return _next_turn(table)
        case HandsDealt():
            return replace(_next_turn(table), read=frozenset())
        case GameWon():
            return _after_game(_next_turn(table))
        case _:
            return table


def _after_game(table: Table) -> Table:
    """House players stay ready; people say so again; who was away at the end has left, and is no host any more."""
    stay = (Place() if place.away else replace(place, ready=place.house is not None, left=None) for place in table.places)
    table = replace(table, places=tuple(stay))
    people = [person.id for person in table.people]
    return replace(table, host=people[0]) if people and table.host not in people else table
