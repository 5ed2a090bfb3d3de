"""What does the house owe a table: what will be done unasked, and when?"""

from dataclasses import dataclass

from app.game.seats import SEATS, Seat
from app.game.state import Game, Playing, Unplayed
from app.tables.table import Table

SHEET_SECONDS = 10
"""How long the score sheet, or a hand shown for a redeal, stays between two deals unless all have read it.

A sheet that one reads alone, without a clock, stays."""

PASSED_OUT_SECONDS = 3
"""How long four passes stay, unless all have seen them."""

STAND_IN_SECONDS = 3
"""How long a turn of an absent player lies open to its owner before the stand-in plays."""


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
        return Duty(table.turn, None, 0) if table.is_ready else None
    seat = table.in_turn
    if seat is None:
        pause = _pause(table)
        return None if pause is None else Duty(table.turn, None, pause * 1000)
    place = table.places[seat]
    if place.house is not None:
        return Duty(table.turn, seat, 0)
    # Whoever leaves in his own turn and comes back has no new clock.
    is_hurried = place.away or (place.left == table.turn and table.clock is not None)
    if is_hurried and not (table.is_slow and table.is_deserted):  # a slow game that all have left goes on at its own pace
        return Duty(table.turn, seat, STAND_IN_SECONDS * 1000)
    return None if table.clock is None else Duty(table.turn, seat, table.clock * 1000)


def _pause(table: Table) -> int | None:
    """For how many seconds the deal that has ended is left to be looked at; None for ever."""
    reading = {seat for seat in SEATS if table.places[seat].person is not None and not table.places[seat].away}
    match table.game:
        case Game(last=Unplayed(redeal=None)) if not reading <= table.read:
            return PASSED_OUT_SECONDS
        case Game(last=Playing()) if len(reading) == 1 and table.clock is None and not reading <= table.read:
            return None
        case Game(last=Playing() | Unplayed()) if not reading <= table.read:
            return SHEET_SECONDS
        case _:
            return 0


def people_wait(table: Table) -> bool:
    """Whether the pending duty is a time that people see running: a clock, a stand-in's delay, the sheet's pause."""
    pending = duty(table)
    return pending is not None and pending.after > 0
