"""Tables as tests are written: who sits there, what they ask, how far the game is."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from random import Random

import pytest

from app.game.actions import Deal, deal_from
from app.game.refusal import Refused, Why
from app.game.rules import PRESETS, Rules
from app.game.seats import SEATS, Seat
from app.game.shuffle import SECRET_BYTES
from app.game.state import Game, Playing
from app.tables.commands import HOUSE, Actor, Command, GetReady, HouseDeals, HousePlays, HouseStarts, InGame, Sit
from app.tables.judge import decide
from app.tables.lobby import HOUSES
from app.tables.table import Happened, Person, Table, evolve_all
from tests.game.strategies import some_action

NINA, PAUL, ROSA, OMAR = FOUR = (
    Person("g_nina", "Nina"),
    Person("g_paul", "Paul"),
    Person("g_rosa", "Rosa"),
    Person("g_omar", "Omar"),
)
UMA = Person("g_uma", "Uma")
ALMA, BASILE, CLEO, DARIO = HOUSES
RULES = replace(PRESETS["announced-701"], target=300)


def opened(clock: int | None = None, rules: Rules = RULES, id: str = "0f-k2m7q9x4wz") -> Table:
    """A table that Nina has opened; nobody sits there."""
    return Table(id, NINA.id, rules, clock, listed=True, created=1_796_000_000_000)


def by(person: Person) -> Actor:
    return Actor(person.id)


def do(table: Table, *steps: tuple[Person | None, Command]) -> Table:
    """The table after these, each of them accepted; None is the house."""
    for person, command in steps:
        table = evolve_all(table, told(table, person, command))
    return table


def told(table: Table, person: Person | None, command: Command) -> tuple[Happened, ...]:
    """What a command brings about."""
    return decide(table, HOUSE if person is None else by(person), command)


def refuses(table: Table, person: Person | None, command: Command, why: Why) -> None:
    """The table says no, for this reason."""
    with pytest.raises(Refused) as refused:
        told(table, person, command)
    assert refused.value.why is why


def four_seated(clock: int | None = None, rules: Rules = RULES) -> Table:
    """Nina, Paul, Rosa and Omar on seats 0 to 3."""
    return do(opened(clock, rules), *((one, Sit(one, seat)) for seat, one in zip(SEATS, FOUR, strict=True)))


def four_ready(clock: int | None = None, rules: Rules = RULES) -> Table:
    return do(four_seated(clock, rules), *((one, GetReady(True)) for one in FOUR))


def game_begun(clock: int | None = None, rules: Rules = RULES) -> Table:
    """A game in which nothing has been dealt; Omar deals, Nina will speak first."""
    return do(four_ready(clock, rules), (None, HouseStarts(Seat.FIRST.partner.next)))


def a_deal(seed: int = 1) -> Deal:
    return deal_from(seed.to_bytes(SECRET_BYTES, "big"), bytes(SECRET_BYTES), 16)


def bidding(clock: int | None = None, rules: Rules = RULES) -> Table:
    """The first deal, before anybody has spoken: Nina's turn."""
    return do(game_begun(clock, rules), (None, HouseDeals(a_deal())))


def played_on(table: Table, dice: Random) -> Iterator[Table]:
    """The table after each further action of the game, the house acting for all, without end."""
    for number in count():
        if not table.is_playing:
            table = do(table, *((one, GetReady(True)) for one in table.people), (None, HouseStarts(dice.choice(SEATS))))
        elif table.in_turn is None:
            table = do(table, (None, HouseDeals(a_deal(number))))
        else:
            table = _one_more(table, dice)
        yield table


def _one_more(table: Table, dice: Random) -> Table:
    """One action of the seat in turn, done by whoever sits there."""
    while True:
        action = some_action(running(table), dice)
        assert not isinstance(action, Deal)
        if action.seat is table.in_turn:
            break
    place = table.places[action.seat]
    if place.person is None or place.away:
        return do(table, (None, HousePlays(action)))
    return do(table, (place.person, InGame(action)))


def running(table: Table) -> Game:
    assert table.game is not None
    return table.game


def played_until(table: Table, dice: Random, wanted: Callable[[Table], bool]) -> Table:
    """The table when it is first as wanted, or now."""
    return table if wanted(table) else next(one for one in played_on(table, dice) if wanted(one))


def played_out(table: Table, dice: Random) -> Table:
    """The table when its game is over."""
    return played_until(table, dice, lambda one: not one.is_playing)


def _shows_a_score(table: Table) -> bool:
    game = running(table)
    return table.is_playing and table.in_turn is None and bool(game.deals) and game.deals[-1].score is not None


def _is_in_a_trick(table: Table) -> bool:
    phase = running(table).phase
    return isinstance(phase, Playing) and len(phase.trick.cards) == 2


def between_deals(clock: int | None = None) -> Table:
    """A score sheet lies on the table."""
    return played_until(bidding(clock, replace(RULES, target=10_000)), Random(5), _shows_a_score)


def in_a_trick(clock: int | None = None) -> Table:
    """Two cards lie on the table."""
    return played_until(bidding(clock), Random(6), _is_in_a_trick)


def over(clock: int | None = None) -> Table:
    """A game has just ended."""
    return played_out(bidding(clock), Random(7))
