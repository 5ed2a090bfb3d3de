"""What remains of finished games, and what may be read of them: all that ever lay on the table, never how it was shuffled."""

import unicodedata
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from itertools import product
from typing import Any, Literal, Protocol

from app.game import engine
from app.game.actions import Right
from app.game.auction import Bid, Say, Spoken
from app.game.cards import Card
from app.game.events import DealPassedOut, DealScored, Event, HandsDealt, RedealClaimed, Word
from app.game.rules import Rules
from app.game.seats import SEATS, BySide, Seat, Side
from app.game.state import Game, Over, new_game
from app.game.trump import Trump
from app.game.view import Announced, BeloteHeard, ContractSeen, LastTrick, MeldSeen, Row, row, view
from app.tables.commands import InGame
from app.tables.ports import Entry
from app.tables.table import GameAbandoned, GameStarted, Happened, Occupant, Table, TableEvent, evolve


class Ended(StrEnum):
    """How a game ended: played to its end, or abandoned by every person at the table, and then without a winner."""

    PLAYED = "played"
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class PlayerRow:
    """A player with at least one finished game; `rated` of them have moved the rating. Times in ms."""

    id: str
    name: str
    bot: bool
    rating: int
    games: int
    won: int
    rated: int
    created: int
    played: int


@dataclass(frozen=True, slots=True)
class SeatRow:
    """Who sat on a seat: a person, perhaps a bot, or a player of the house; ratings as shown, where the game was rated."""

    seat: Seat
    kind: Literal["person", "house"]
    player: str
    name: str
    bot: bool
    rating_before: int | None
    rating_after: int | None


@dataclass(frozen=True, slots=True)
class GameRow:
    """A finished game in a list. `won` is said of the player whose games are listed; an abandoned game has no winner."""

    id: str
    table: str
    number: int
    preset: str | None
    rated: bool
    ended: Ended
    started: int
    finished: int
    totals: BySide[int]
    winner: Side | None
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


@dataclass(frozen=True, slots=True)
class GameSheet(GameRow):
    """A finished game with its rules and its score sheet, without the cards."""

    rules: Rules
    sheet: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which finished games: each field that is set narrows them. Times in ms; `until` is no longer in the range.

    `partner` and `won` are said of `player`, and so is the contract where one is named: a game has it if in one of its deals
    somebody (the player) declared such a contract. `value` is a number or `capot`.
    """

    player: str | None = None
    partner: str | None = None
    preset: str | None = None
    value: str | None = None
    trump: Trump | None = None
    coinched: bool | None = None
    won: bool | None = None
    since: int | None = None
    until: int | None = None
    rated: bool | None = None

    @property
    def contract(self) -> str | None:
        """The name of the contracts that are asked for, as `contract_names` gives it; None: any."""
        name = _contract_name(self.value, self.trump, self.coinched)
        return name or None


@dataclass(frozen=True, slots=True)
class Bookmark:
    """The last one of a page; the next page begins after it. A list is in order of `key`, and of `id` where two are equal."""

    key: int | str
    id: str


@dataclass(frozen=True, slots=True)
class PresetCount:
    """Games under one preset; None: under rules that a table had changed."""

    preset: str | None
    games: int
    won: int


@dataclass(frozen=True, slots=True)
class ContractCount:
    """Contracts that a player declared, and how many of them were made; the mean of their bids, a capot as 250."""

    taken: int
    made: int
    average_bid: float | None


@dataclass(frozen=True, slots=True)
class CoincheCount:
    """Contracts that a player coinched, and how many of them failed."""

    made: int
    won: int


@dataclass(frozen=True, slots=True)
class PartnerCount:
    """Games with one partner, at tables that anybody may find."""

    id: str
    name: str
    games: int
    won: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """What all finished games tell of a player. `form`: whether the last games were won, the newest first."""

    id: str
    name: str
    games: int
    won: int
    presets: tuple[PresetCount, ...]
    contracts: ContractCount
    coinches: CoincheCount
    capots: int
    belotes: int
    favourite_trump: Trump | None
    best_partner: PartnerCount | None
    form: tuple[bool, ...]


class History(Protocol):
    """The shelf of finished games. Lists hold at most `limit`, and begin after a bookmark.

    Games of tables that not everybody may find are listed only for `asker`, if that is one who played them.
    """

    async def players(self, everyone: bool, name: str | None, after: Bookmark | None, limit: int) -> Sequence[PlayerRow]:
        """Players with a rated game, or all: by rating, best first; or those whose name begins so (`folded`), by name."""

    async def player(self, id: str) -> PlayerRow | None: ...

    async def statistics(self, id: str) -> Statistics | None: ...

    async def games(self, which: Filter, asker: str | None, after: Bookmark | None, limit: int) -> Sequence[GameRow]:
        """Finished games, newest first."""

    def export(self, which: Filter, asker: str | None, whole: bool) -> AsyncIterator[GameSheet | GameRecord]:
        """The same, all of them, one after the other: with their score sheets, or whole."""

    async def game(self, id: str) -> GameRecord | None: ...


def bookmark_of_game(game: GameRow) -> Bookmark:
    """Where a game stands in a list."""
    return Bookmark(game.finished, game.id)


def bookmark_of_player(player: PlayerRow, name: str | None) -> Bookmark:
    """Where a player stands in a list, by rating or by name."""
    return Bookmark(player.rating if name is None else folded(player.name), player.id)


def folded(name: str) -> str:
    """A name as it is looked for: without case and accents."""
    apart = unicodedata.normalize("NFD", name.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def record(game: GameRow, rules: Rules, deals: tuple[DealTold, ...]) -> GameRecord:
    """The game of a list with what the list leaves out."""
    return GameRecord(**_fields(game), rules=rules, deals=deals)


def with_sheet(game: GameRow, rules: Rules, sheet: tuple[Row, ...]) -> GameSheet:
    """The game of a list with its score sheet."""
    return GameSheet(**_fields(game), rules=rules, sheet=sheet)


# --- a log told again ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Told:
    """A finished game as its log tells it. Times in ms.

    `acted`: the seats whose people called or played a card themselves.
    """

    table: str
    number: int
    listed: bool
    occupants: tuple[Occupant, ...]
    started: int
    finished: int
    game: Game
    ended: Ended
    winner: Side | None
    acted: frozenset[Seat]


def tell(frame: Table, entries: Sequence[Entry]) -> Told:
    """The game that began at this table and ended with the last entry. Raises ValueError if the log tells no such thing."""
    table, places, game = frame, frame.places, frame.game
    acted: set[Seat] = set()
    ended = Ended.PLAYED
    for entry in entries:
        for event in entry.events:
            if isinstance(event, GameStarted):
                places, acted, ended = table.places, set(), Ended.PLAYED
            elif isinstance(event, GameAbandoned):
                ended = Ended.ABANDONED
            table = evolve(table, event)
            game = table.game or game
        if isinstance(entry.command, InGame):
            acted.add(entry.command.action.seat)
    occupants = tuple(place.occupant for place in places if place.occupant is not None)
    is_over = game is not None and (isinstance(game.phase, Over) or ended is Ended.ABANDONED)
    if game is None or not is_over or len(occupants) != len(SEATS):
        raise ValueError("not the log of a finished game of four")
    return Told(
        table=frame.id,
        number=table.games,
        listed=frame.listed,
        occupants=occupants,
        started=entries[0].at,
        finished=entries[-1].at,
        game=game,
        ended=ended,
        winner=game.phase.winner if isinstance(game.phase, Over) else None,
        acted=frozenset(acted),
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


# --- what is counted -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tally:
    """What one seat did in one game, as statistics and filters want it.

    Contracts declared, how many were made, and the sum of their bids; how many the seat coinched, and how many of those failed;
    deals in which its side took all tricks; belotes said; contracts by trump in the order of `Trump`; `contract_names` of them.
    """

    taken: int
    made: int
    bids: int
    coinches: int
    coinches_won: int
    capots: int
    belotes: int
    trumps: tuple[int, ...]
    contracts: tuple[str, ...]


def tally(deals: Sequence[DealTold], seat: Seat) -> Tally:
    """What this seat did in these deals."""
    played = [(deal, deal.contract) for deal in deals if deal.contract is not None]
    own = [(deal, contract) for deal, contract in played if contract.declarer is seat]
    coinched = [deal for deal, _ in played if Spoken(seat, Say.COINCHE) in deal.calls]
    return Tally(
        taken=len(own),
        made=sum(deal.made is True for deal, _ in own),
        bids=sum(Bid(contract.value, contract.trump).points for _, contract in own),
        coinches=len(coinched),
        coinches_won=sum(deal.made is False for deal in coinched),
        capots=sum(deal.tricks_won is not None and deal.tricks_won[seat.side] == 8 for deal, _ in played),
        belotes=sum((said.seat, said.word) == (seat, Word.BELOTE) for deal in deals for said in deal.belotes),
        trumps=tuple(sum(contract.trump is trump for _, contract in own) for trump in Trump),
        contracts=contract_names(contract for _, contract in own),
    )


def contract_names(contracts: Iterable[ContractSeen]) -> tuple[str, ...]:
    """All names by which one may ask for these contracts, sorted: `90`, `H`, `90H`, `x` (coinched), `90Hx`, `Ho`, and so on."""
    names = set()
    for one in contracts:
        for value, trump, coinched in product((str(one.value), None), (one.trump, None), (one.level > 0, None)):
            names.add(_contract_name(value, trump, coinched))
    return tuple(sorted(names - {""}))


def _contract_name(value: str | None, trump: Trump | None, coinched: bool | None) -> str:
    return (value or "") + (trump or "") + ("" if coinched is None else "x" if coinched else "o")


def _fields(value: Row | GameRow) -> dict[str, Any]:
    """The fields of a value, for one that has more of them."""
    return {field.name: getattr(value, field.name) for field in fields(value)}
