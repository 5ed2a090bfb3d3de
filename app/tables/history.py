"""What remains of finished games, and what may be read of them: all that ever lay on the table, never how it was shuffled."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol

from app.game import engine
from app.game.actions import Right
from app.game.auction import Spoken
from app.game.cards import Card
from app.game.events import DealPassedOut, DealScored, Event, HandsDealt, RedealClaimed
from app.game.rules import Rules
from app.game.seats import SEATS, BySide, Seat, Side
from app.game.state import Game, Over, new_game
from app.game.view import Announced, BeloteHeard, LastTrick, MeldSeen, Row, row, view
from app.tables.ports import Entry
from app.tables.table import GameStarted, Happened, Occupant, Table, TableEvent, evolve


@dataclass(frozen=True, slots=True)
class PlayerRow:
    """A player with at least one finished game; `rated` of them have moved the rating. Times in ms."""

    id: str
    name: str
    rating: int
    games: int
    won: int
    rated: int
    created: int
    played: int


@dataclass(frozen=True, slots=True)
class SeatRow:
    """Who sat on a seat: a person or a player of the house; ratings as shown, where the game was rated."""

    seat: Seat
    kind: Literal["person", "house"]
    player: str
    name: str
    rating_before: int | None
    rating_after: int | None


@dataclass(frozen=True, slots=True)
class GameRow:
    """A finished game in a list. `won` is said of the player whose games are listed."""

    id: str
    table: str
    number: int
    preset: str | None
    rated: bool
    started: int
    finished: int
    totals: BySide[int]
    winner: Side
    deal_count: int
    seats: tuple[SeatRow, ...]
    won: bool | None


@dataclass(frozen=True, slots=True)
class RedealTold:
    """Who showed a hand to have it dealt again, and by what right."""

    seat: Seat
    right: Right


@dataclass(frozen=True, slots=True)
class DealTold(Row):
    """A row of the score sheet with all that was laid on the table: hands as dealt, calls, tricks, what was said and shown."""

    hands: tuple[tuple[Card, ...], ...]
    calls: tuple[Spoken, ...]
    redeal: RedealTold | None
    tricks: tuple[LastTrick, ...]
    belotes: tuple[BeloteHeard, ...]
    melds: tuple[Announced, ...]
    melds_shown: tuple[MeldSeen, ...]


@dataclass(frozen=True, slots=True)
class GameRecord(GameRow):
    """A finished game with its rules and its deals."""

    rules: Rules
    deals: tuple[DealTold, ...]


class History(Protocol):
    """The shelf of finished games. Lists hold at most `limit` after the first `offset`.

    Games of tables that not everybody may find are listed only for `asker`, if that is one who played them.
    """

    async def players(self, everyone: bool, limit: int, offset: int) -> Sequence[PlayerRow]:
        """Players by rating, best first: those with a rated game, or all."""

    async def player(self, id: str) -> PlayerRow | None: ...

    async def games(
        self, player: str | None, preset: str | None, asker: str | None, limit: int, offset: int
    ) -> Sequence[GameRow]:
        """Finished games, newest first: of one player, under one preset, or any."""

    async def game(self, id: str) -> GameRecord | None: ...


def record(game: GameRow, rules: Rules, deals: tuple[DealTold, ...]) -> GameRecord:
    """The game of a list with what the list leaves out."""
    return GameRecord(**_fields(game), rules=rules, deals=deals)


# --- a log told again ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Told:
    """A finished game as its log tells it. Times in ms."""

    table: str
    number: int
    listed: bool
    occupants: tuple[Occupant, ...]
    started: int
    finished: int
    game: Game
    winner: Side


def tell(frame: Table, entries: Sequence[Entry]) -> Told:
    """The game that began at this table and ended with the last entry. Raises ValueError if the log tells no such thing."""
    table, places = frame, frame.places
    for event in happened(entries):
        if isinstance(event, GameStarted):
            places = table.places
        table = evolve(table, event)
    game = table.game
    occupants = tuple(place.occupant for place in places if place.occupant is not None)
    if game is None or not isinstance(game.phase, Over) or len(occupants) != len(SEATS):
        raise ValueError("not the log of a finished game of four")
    return Told(
        table=frame.id,
        number=table.games,
        listed=frame.listed,
        occupants=occupants,
        started=entries[0].at,
        finished=entries[-1].at,
        game=game,
        winner=game.phase.winner,
    )


def tell_deals(rules: Rules, entries: Iterable[Entry]) -> tuple[DealTold, ...]:
    """The deals of a game, from its log alone."""
    deals = []
    hands: tuple[tuple[Card, ...], ...] = ()
    game: Game | None = None
    for event in happened(entries):
        if isinstance(event, GameStarted):
            game = new_game(event.game, rules, event.first_dealer)
        elif game is not None and not isinstance(event, TableEvent):
            before, game = game, engine.evolve(game, event)
            if isinstance(event, HandsDealt):
                hands = tuple(view(game, seat).hand or () for seat in SEATS)
            elif isinstance(event, DealScored | DealPassedOut | RedealClaimed):
                deals.append(_deal(before, event, game, hands))
    return tuple(deals)


def happened(entries: Iterable[Entry]) -> Iterable[Happened]:
    """All events of a log, in order."""
    return (event for entry in entries for event in entry.events)


def _deal(before: Game, end: Event, after: Game, hands: tuple[tuple[Card, ...], ...]) -> DealTold:
    """A deal as it lay for all to see when it ended."""
    seen = view(before, None)
    return DealTold(
        **_fields(row(after.rules, after.deals[-1])),
        hands=hands,
        calls=seen.calls,
        redeal=RedealTold(end.seat, end.right) if isinstance(end, RedealClaimed) else None,
        tricks=seen.taken,
        belotes=seen.belotes,
        melds=seen.melds,
        melds_shown=seen.melds_shown,
    )


def _fields(value: Row | GameRow) -> dict[str, Any]:
    """The fields of a value, for one that has more of them."""
    return {field.name: getattr(value, field.name) for field in fields(value)}
