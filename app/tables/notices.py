"""What happens at tables and is sent to hooks, and whom it concerns. Never a card: there is no field for one.

A notice is stored in one piece with what it reports; deliveries (`app/tables/deliveries.py`) are made of it.
"""

from dataclasses import dataclass
from enum import StrEnum

from app.game.rules import preset_of
from app.game.seats import BySide, Seat, Side
from app.tables.duty import duty
from app.tables.table import Table


class EventType(StrEnum):
    """What a hook may subscribe to."""

    TABLE_OPENED = "table_opened"
    GAME_FINISHED = "game_finished"
    TURN_DUE = "turn_due"


@dataclass(frozen=True, slots=True)
class SeatHolder:
    """Who sat on a seat; `player` names a person or a player of the house."""

    seat: Seat
    kind: str
    player: str
    name: str


@dataclass(frozen=True, slots=True)
class TableOpened:
    """A table has been opened, and its host sits there."""

    table: str
    host: str
    host_name: str
    preset: str | None
    clock: int | None
    listed: bool


@dataclass(frozen=True, slots=True)
class GameFinished:
    """A game is over and in the history, played to its end or abandoned and then without a winner. Times in ms."""

    table: str
    number: int
    game: str
    listed: bool
    preset: str | None
    started: int
    finished: int
    totals: BySide[int]
    winner: Side | None
    seats: tuple[SeatHolder, ...]
    ended: str = "played"


@dataclass(frozen=True, slots=True)
class TurnDue:
    """In a slow game somebody's turn has begun: `due` when it is played for him, in ms, set when it is stored."""

    table: str
    game: str
    epoch: int
    turn: int
    seat: Seat
    player: str
    due: int | None = None


Notice = TableOpened | GameFinished | TurnDue


@dataclass(frozen=True, slots=True)
class Audience:
    """Who may be sent a notice: these people or their owners, and perhaps all who subscribe to everybody's tables."""

    people: tuple[str, ...]
    everybody: bool


def notice_of(before: Table, after: Table, seq: int, epoch: int) -> Notice | None:
    """Returns the notice that the entry `seq` between these two gives, if any."""
    if seq == 1 and after.people:
        host = after.people[0]
        return TableOpened(after.id, host.id, host.name, preset_of(after.rules), after.clock, after.listed)
    if after.clock is None or after.game is None or not after.is_slow:
        return None
    pending = duty(after)
    if pending is None or pending.seat is None or pending.after < after.clock * 1000 or pending == duty(before):
        return None
    person = after.places[pending.seat].person
    return None if person is None else TurnDue(after.id, after.game.id, epoch, pending.turn, pending.seat, person.id)


def event_type_of(notice: Notice) -> EventType:
    """Returns the type of event as which a hook is sent it."""
    match notice:
        case TableOpened():
            return EventType.TABLE_OPENED
        case GameFinished():
            return EventType.GAME_FINISHED
        case TurnDue():
            return EventType.TURN_DUE


def key_of(notice: Notice) -> str:
    """Returns the same key for the same event, however often it is reported."""
    match notice:
        case TableOpened(table=table):
            return f"opened {table}"
        case GameFinished(game=game):
            return f"finished {game}"
        case TurnDue():
            return f"turn {notice.table} {notice.epoch} {notice.turn}"


def audience(notice: Notice) -> Audience:
    """Returns who may be sent it."""
    match notice:
        case TableOpened(host=host, listed=listed):
            return Audience((host,), listed)
        case GameFinished(seats=seats, listed=listed):
            return Audience(tuple(holder.player for holder in seats if holder.kind == "person"), listed)
        case TurnDue(player=player):
            return Audience((player,), False)
