"""Who sits where, under which rules, and what may be asked of a table? Pure, like the game that is played at it.

A table outlives its games. `decide` judges what is asked, `evolve` obeys what has happened; the events of the running game and
those of the table stand in one log.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import assert_never

from app.game import engine
from app.game.actions import Deal, Play, Redeal, Speak
from app.game.events import CallMade, CardPlayed, Event, GameWon, HandsDealt, RedealClaimed
from app.game.refusal import Refused, Why
from app.game.rules import Rules
from app.game.seats import SEATS, Seat
from app.game.state import Bidding, Dealing, Game, Over, Playing, new_game

HOUR = 3600
CLOCKS = (None, 15, 30, 60, 4 * HOUR, 24 * HOUR)
"""Seconds a turn may take; None: as long as it takes. Hours are for slow games, where nobody need stay at the table."""

SHEET_SECONDS = 10
"""How long the score sheet stays between two deals unless all have read it."""

STAND_IN_SECONDS = 3
"""How long a turn of an absent player lies open to its owner before the stand-in plays."""


BOT = "b_"
"""What the id of an identity that a program plays with begins with."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who sits at a table: an identity, and the name shown."""

    id: str
    name: str

    @property
    def is_bot(self) -> bool:
        """Whether a program plays with this identity, and says so."""
        return self.id.startswith(BOT)


@dataclass(frozen=True, slots=True)
class House:
    """A player of the house: which one, and its name."""

    player: str
    name: str


Occupant = Person | House


@dataclass(frozen=True, slots=True)
class Place:
    """What is to be said of one seat. `away`: the stand-in plays for its owner; `left`: the turn in which that began."""

    occupant: Occupant | None = None
    ready: bool = False
    away: bool = False
    left: int | None = None

    @property
    def person(self) -> Person | None:
        return self.occupant if isinstance(self.occupant, Person) else None

    @property
    def house(self) -> House | None:
        return self.occupant if isinstance(self.occupant, House) else None


@dataclass(frozen=True, slots=True)
class Table:
    """A table. `turn` counts on over all its games and names the moment an action was meant for."""

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

    @property
    def is_playing(self) -> bool:
        """Whether a game is running."""
        return self.game is not None and not isinstance(self.game.phase, Over)

    @property
    def is_slow(self) -> bool:
        """Whether a turn takes hours: who misses one is not away for that."""
        return self.clock is not None and self.clock >= HOUR

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


# --- what may be asked -----------------------------------------------------------------------------------------------


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
    """Let the stand-in play for a seat whose owner is gone, at a table without a clock."""

    seat: Seat


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
    | Return
    | ReadSheet
    | GiveBack
    | InGame
    | HouseDeals
    | HousePlays
    | HouseStarts
)


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
    """From now on the stand-in plays for this seat."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class SeatBack:
    seat: Seat


@dataclass(frozen=True, slots=True)
class SheetRead:
    seat: Seat


@dataclass(frozen=True, slots=True)
class TimeGivenBack:
    """The store was away; the time that is running was made longer by as much."""


TableEvent = SeatTaken | SeatLeft | HostChanged | ReadyChanged | GameStarted | SeatAway | SeatBack | SheetRead | TimeGivenBack
Happened = Event | TableEvent


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks: an identity, or the house itself (None)."""

    person: str | None


HOUSE = Actor(None)


def decide(table: Table, by: Actor, command: Command) -> tuple[Happened, ...]:
    """What the command brings about. Raises `Refused`, and then nothing has happened."""
    match command:
        case Sit():
            return _sit(table, command)
        case Leave():
            return _leave(table, _own_seat(table, by))
        case GetReady(ready=ready):
            _no_game(table)
            seat = _own_seat(table, by)
            return () if table.places[seat].ready is ready else (ReadyChanged(seat, ready),)
        case AddHouse():
            _host(table, by)
            _no_game(table)
            seat = _free_seat(table, command.seat)
            houses = _not_seated(table, command.houses)
            if not houses:
                raise Refused(Why.TABLE_FULL)
            return _house_sits(seat, houses[0])
        case RemoveHouse(seat=seat):
            _host(table, by)
            _no_game(table)
            if table.places[seat].house is None:
                raise Refused(Why.NO_HOUSE_PLAYER)
            return (SeatLeft(seat),)
        case Start():
            return _start(table, by, command)
        case CallStandIn(seat=seat):
            return _call_stand_in(table, by, seat)
        case Return():
            seat = _own_seat(table, by)
            return (SeatBack(seat),) if table.places[seat].away else ()
        case ReadSheet():
            return _read_sheet(table, by)
        case GiveBack():
            return (TimeGivenBack(),)
        case InGame(action=action):
            return _in_game(table, by, action)
        case HouseDeals(deal=deal):
            return engine.decide(_running(table), deal)
        case HousePlays(action=action):
            return _house_plays(table, action)
        case HouseStarts(first_dealer=first_dealer):
            return _house_starts(table, first_dealer)
        case _:
            assert_never(command)


def may_close(table: Table, by: Actor) -> None:
    """Raises `Refused` unless this one may close the table: its host, and no game in which somebody else sits is running."""
    _host(table, by)
    if any(person.id != by.person for person in table.people):
        _no_game(table)


def _own_seat(table: Table, by: Actor) -> Seat:
    seat = None if by.person is None else table.seat_of(by.person)
    if seat is None:
        raise Refused(Why.NOT_SEATED)
    return seat


def _host(table: Table, by: Actor) -> None:
    if by.person != table.host:
        raise Refused(Why.NOT_HOST)


def _no_game(table: Table) -> None:
    if table.is_playing:
        raise Refused(Why.GAME_RUNNING)


def _running(table: Table) -> Game:
    if table.game is None or not table.is_playing:
        raise Refused(Why.NO_GAME)
    return table.game


def _free_seat(table: Table, seat: Seat | None) -> Seat:
    free = [one for one in SEATS if table.places[one].occupant is None]
    if seat is not None:
        if seat not in free:
            raise Refused(Why.SEAT_TAKEN)
        return seat
    if not free:
        raise Refused(Why.TABLE_FULL)
    return free[0]


def _sit(table: Table, command: Sit) -> tuple[Happened, ...]:
    """Sitting down again where one sits is no fault; another seat may be taken before the game."""
    held = table.seat_of(command.person.id)
    if held is not None and command.seat in (None, held):
        return ()
    _no_game(table)
    taken = SeatTaken(_free_seat(table, command.seat), command.person)
    if held is not None:
        return (SeatLeft(held), taken)
    return (taken,) if table.people else (taken, HostChanged(command.person.id))


def _leave(table: Table, seat: Seat) -> tuple[Happened, ...]:
    if table.is_playing:
        return () if table.places[seat].away else (SeatAway(seat),)
    left = table.places[seat].person
    others = [person for person in table.people if person != left]
    if left is not None and left.id == table.host and others:
        return (SeatLeft(seat), HostChanged(others[0].id))
    return (SeatLeft(seat),)


def _start(table: Table, by: Actor, command: Start) -> tuple[Happened, ...]:
    _host(table, by)
    _no_game(table)
    seat = _own_seat(table, by)
    free = [one for one in SEATS if table.places[one].occupant is None]
    houses = _not_seated(table, command.houses)
    filled = [event for one, house in zip(free, houses, strict=False) for event in _house_sits(one, house)]
    return (*filled, ReadyChanged(seat, True))


def _not_seated(table: Table, houses: tuple[House, ...]) -> tuple[House, ...]:
    seated = {place.house.player for place in table.places if place.house is not None}
    return tuple(house for house in houses if house.player not in seated)


def _house_sits(seat: Seat, house: House) -> tuple[Happened, ...]:
    return (SeatTaken(seat, house), ReadyChanged(seat, True))


def _call_stand_in(table: Table, by: Actor, seat: Seat) -> tuple[Happened, ...]:
    """The host asks; where the host is the one who is gone, or is away as well, anybody who sits here may."""
    host = table.seat_of(table.host)
    if host is not None and host is not seat and not table.places[host].away:
        _host(table, by)
    _own_seat(table, by)
    _running(table)
    if table.clock is not None:
        raise Refused(Why.CLOCK_RUNNING)
    place = table.places[seat]
    if place.person is None:
        raise Refused(Why.NOT_SEATED)
    return () if place.away else (SeatAway(seat),)


def _read_sheet(table: Table, by: Actor) -> tuple[Happened, ...]:
    seat = _own_seat(table, by)
    if not isinstance(_running(table).phase, Dealing):
        raise Refused(Why.NOT_NOW)
    back = (SeatBack(seat),) if table.places[seat].away else ()
    return back if seat in table.read else (*back, SheetRead(seat))


def _in_game(table: Table, by: Actor, action: Speak | Redeal | Play) -> tuple[Happened, ...]:
    """A person's action is for the own seat only, and takes the seat back from the stand-in."""
    seat = _own_seat(table, by)
    if action.seat is not seat:
        raise Refused(Why.NOT_YOUR_TURN)
    events = engine.decide(_running(table), action)
    return (SeatBack(seat), *events) if table.places[seat].away else events


def _house_plays(table: Table, action: Speak | Redeal | Play) -> tuple[Happened, ...]:
    seat = table.in_turn
    if seat is None or action.seat is not seat:
        raise Refused(Why.NOT_YOUR_TURN)
    events = engine.decide(_running(table), action)
    place = table.places[seat]
    stays = place.person is None or place.away or table.is_slow
    return events if stays else (SeatAway(seat), *events)


def _house_starts(table: Table, first_dealer: Seat) -> tuple[Happened, ...]:
    _no_game(table)
    if not _all_ready(table):
        raise Refused(Why.NOT_READY)
    number = table.games + 1
    return (GameStarted(f"{table.id}/{number}", number, first_dealer),)


# --- what becomes of it ----------------------------------------------------------------------------------------------


def evolve(table: Table, event: Happened) -> Table:
    """The table after an event. It never judges."""
    match event:
        case SeatTaken(seat=seat, occupant=occupant):
            return _with_place(table, seat, Place(occupant))
        case SeatLeft(seat=seat):
            return _with_place(table, seat, Place())
        case HostChanged(host=host):
            return replace(table, host=host)
        case ReadyChanged(seat=seat, ready=ready):
            return _with_place(table, seat, replace(table.places[seat], ready=ready))
        case GameStarted():
            game = new_game(event.game, table.rules, event.first_dealer)
            return replace(table, games=event.number, game=game, read=frozenset(), turn=table.turn + 1)
        case SeatAway(seat=seat):
            return _with_place(table, seat, replace(table.places[seat], away=True, left=table.turn))
        case SeatBack(seat=seat):
            return _with_place(table, seat, replace(table.places[seat], away=False))
        case SheetRead(seat=seat):
            return replace(table, read=table.read | {seat})
        case TimeGivenBack():
            return table
        case _:
            return _in_the_game(table, event)


def evolve_all(table: Table, events: Iterable[Happened]) -> Table:
    """The table after all these events, in order."""
    for event in events:
        table = evolve(table, event)
    return table


def _with_place(table: Table, seat: Seat, place: Place) -> Table:
    return replace(table, places=tuple(place if one is seat else table.places[one] for one in SEATS))


def _in_the_game(table: Table, event: Event) -> Table:
    if table.game is None:
        raise ValueError(f"{type(event).__name__} without a game")
    table = replace(table, game=engine.evolve(table.game, event))
    match event:
        case CallMade() | CardPlayed() | RedealClaimed():
            return replace(table, turn=table.turn + 1)
        case HandsDealt():
            return replace(table, turn=table.turn + 1, read=frozenset())
        case GameWon():
            return _after_game(replace(table, turn=table.turn + 1))
        case _:
            return table


def _after_game(table: Table) -> Table:
    """House players stay ready; people say so again; who was away at the end has left, and is no host any more."""
    stay = (Place() if place.away else replace(place, ready=place.house is not None, left=None) for place in table.places)
    table = replace(table, places=tuple(stay))
    people = [person.id for person in table.people]
    return replace(table, host=people[0]) if people and table.host not in people else table


# --- what the house owes ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Duty:
    """What the croupier does at the table next, unless somebody acts before: after so many ms from when it became due.

    `seat` is the seat that is played for, None for starting a game and for dealing.
    """

    turn: int
    seat: Seat | None
    after: int


def duty(table: Table) -> Duty | None:
    """What the house will do unasked, or None if it only waits. It depends on no card."""
    if not table.is_playing:
        return Duty(table.turn, None, 0) if _all_ready(table) else None
    seat = table.in_turn
    if seat is None:
        return Duty(table.turn, None, 0 if _may_deal(table) else SHEET_SECONDS * 1000)
    place = table.places[seat]
    if place.house is not None:
        return Duty(table.turn, seat, 0)
    # Whoever leaves in his own turn and comes back has no new clock.
    if place.away or (place.left == table.turn and table.clock is not None):
        return Duty(table.turn, seat, STAND_IN_SECONDS * 1000)
    return None if table.clock is None else Duty(table.turn, seat, table.clock * 1000)


def _all_ready(table: Table) -> bool:
    """Whether a game is to begin; players of the house do not play among themselves."""
    return bool(table.people) and all(place.ready for place in table.places)


def _may_deal(table: Table) -> bool:
    """Whether nobody is still reading a score."""
    game = table.game
    if game is None or not game.deals or game.deals[-1].score is None:
        return True
    reading = {seat for seat in SEATS if table.places[seat].person is not None and not table.places[seat].away}
    return reading <= table.read


def people_wait(table: Table) -> bool:
    """Whether the pending duty is a time that people see running: a clock, a stand-in's delay, the sheet's pause."""
    pending = duty(table)
    return pending is not None and pending.after > 0
