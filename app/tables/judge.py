"""What does a command bring about at a table, or why is it refused? The one place that judges."""

from typing import assert_never

from app.game import engine
from app.game.actions import Play, Redeal, Speak
from app.game.refusal import Refused, Why
from app.game.seats import SEATS, Seat
from app.game.state import Dealing, Game
from app.tables.commands import (
    Actor,
    AddHouse,
    CallStandIn,
    Command,
    FreeSeat,
    GetReady,
    GiveBack,
    HouseDeals,
    HousePlays,
    HouseStarts,
    InGame,
    Leave,
    PassOn,
    ReadSheet,
    RemoveHouse,
    Return,
    Sit,
    Start,
)
from app.tables.table import (
    GameAbandoned,
    GameStarted,
    Happened,
    HostAskedToMove,
    HostChanged,
    House,
    ReadyChanged,
    SeatAway,
    SeatBack,
    SeatLeft,
    SeatTaken,
    SheetRead,
    Table,
    TimeGivenBack,
    evolve,
)


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
            seat = _free_seat(table, command.seat, is_friend=False)
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
        case CallStandIn():
            return _call_stand_in(table, by, command)
        case FreeSeat():
            return _free(table, by, command)
        case PassOn(host=host, to=to):
            return (HostChanged(to),) if by.person is None and table.host == host and table.seat_of(to) is not None else ()
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
    if not is_closable(table, table.is_playing):
        raise Refused(Why.GAME_RUNNING)


def is_closable(table: Table, playing: bool) -> bool:
    """Whether its host may close it as things stand."""
    return not playing or all(person.id == table.host for person in table.people)


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


def _free_seat(table: Table, seat: Seat | None, is_friend: bool) -> Seat:
    """The seat that was asked for, or the first; opposite the host sits who comes first as a friend, and a bot last."""
    free = [one for one in SEATS if table.places[one].occupant is None]
    if seat is not None:
        if seat not in free:
            raise Refused(Why.SEAT_TAKEN)
        return seat
    if not free:
        raise Refused(Why.TABLE_FULL)
    host = table.seat_of(table.host)
    return min(free, key=lambda one: host is not None and (one is host.partner) is not is_friend)


def _sit(table: Table, command: Sit) -> tuple[Happened, ...]:
    """Sitting down again where one sits is no fault, and tells one's new name; another seat may be taken before the game."""
    held = table.seat_of(command.person.id)
    if held is not None and command.seat in (None, held):
        return () if table.places[held].person == command.person else (SeatTaken(held, command.person),)
    _no_game(table)
    taken = SeatTaken(_free_seat(table, command.seat, is_friend=True), command.person)
    if held is not None:
        return (SeatLeft(held), taken)
    return (taken,) if table.people else (taken, HostChanged(command.person.id))


def _leave(table: Table, seat: Seat) -> tuple[Happened, ...]:
    if table.is_playing:
        return _leave_game(table, seat)
    return (SeatLeft(seat), *_passed_on(table, seat))


def _leave_game(table: Table, seat: Seat) -> tuple[Happened, ...]:
    """The last person to leave a game ends it; a slow one, which nobody need stay at, goes on at its own pace."""
    if table.places[seat].gone:
        return ()
    left = SeatAway(seat, gone=True)
    if not table.is_slow and evolve(table, left).is_deserted:
        return (left, GameAbandoned())
    return (left, *_passed_on(table, seat))


def _passed_on(table: Table, seat: Seat) -> tuple[HostChanged, ...]:
    """Where the host leaves this seat, somebody else who is there is host."""
    left = table.places[seat].person
    people = [place.person for place in table.places if place.person is not None and not place.gone]
    heir = next((person.id for person in people if person != left), None)
    return () if left is None or left.id != table.host or heir is None else (HostChanged(heir),)


def _free(table: Table, by: Actor, command: FreeSeat) -> tuple[Happened, ...]:
    """The host asks; where the host is the one who does nothing, all others do."""
    own, person = _own_seat(table, by), table.places[command.seat].person
    is_host = person is not None and person.id == table.host
    if not (is_host and command.idle):
        _host(table, by)
    _no_game(table)
    if person is None:
        raise Refused(Why.NOBODY_THERE)
    leaving = _leave(table, command.seat)
    return leaving if by.person == table.host else _asked(table, own, command.seat, leaving)


def _asked(table: Table, own: Seat, host: Seat, then: tuple[Happened, ...]) -> tuple[Happened, ...]:
    """One more asks that the host make way: noted, and done when all others who are there do."""
    if own in table.asking:
        return ()
    others = {seat for seat in SEATS if table.places[seat].person is not None and not table.places[seat].away} - {host}
    asked = HostAskedToMove(own)
    return (asked, *then) if others <= table.asking | {own} else (asked,)


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


def _call_stand_in(table: Table, by: Actor, command: CallStandIn) -> tuple[Happened, ...]:
    """The host asks; where the host is gone or away, anybody who sits here may.

    Where the host is there and does not move, all others who are there ask.
    """
    seat, host = command.seat, table.seat_of(table.host)
    if host is not None and host is not seat and not table.places[host].away:
        _host(table, by)
    own = _own_seat(table, by)
    _running(table)
    if table.clock is not None:
        raise Refused(Why.CLOCK_RUNNING)
    place = table.places[seat]
    if place.person is None:
        raise Refused(Why.NOT_SEATED)
    if place.away:
        return ()
    away = (SeatAway(seat),)
    return _asked(table, own, seat, away) if command.idle and host is seat and own is not seat else away


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
    if not table.is_ready:
        raise Refused(Why.NOT_READY)
    number = table.games + 1
    return (GameStarted(f"{table.id}/{number}", number, first_dealer),)
