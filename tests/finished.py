"""Whole games for tests: played at random by the rules, and put into a log as the croupier and the players would."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from app.game.actions import Deal, Play, Redeal, Speak, deal_from
from app.game.auction import CAPOT, Bid, Say, Value, legal_calls
from app.game.engine import declarable, redeal_rights
from app.game.rules import Rules
from app.game.seats import SEATS, Seat
from app.game.shuffle import SECRET_BYTES
from app.game.state import Bidding, Dealing, Game, Playing
from app.game.tricks import legal_cards
from app.store.log import RedisLog
from app.tables.commands import HOUSE, Actor, Command, HouseDeals, HousePlays, HouseStarts, InGame, Leave
from app.tables.judge import decide
from app.tables.ports import Appended, Entry, Finished
from app.tables.table import GameStarted, Occupant, Person, Place, Table, evolve_all

FOUR = tuple(Person(f"g_{name.lower()}", name) for name in ("Nina", "Paul", "Lou", "Max"))


@dataclass(frozen=True)
class Script:
    """A table before its game, the entries of the game, and the table after it."""

    opened: Table
    entries: Sequence[Entry]
    closed: Table

    @property
    def game(self) -> Game:
        assert self.closed.game is not None
        return self.closed.game


@cache
def played(
    rules: Rules, seed: int = 1, table: str = "0b-k2m7q9x4wz", occupants: tuple[Occupant, ...] = FOUR, listed: bool = True
) -> Script:
    """A game from the first deal to the target."""
    dice = random.Random(seed)
    places = tuple(Place(one, ready=True) for one in occupants)
    opened = state = Table(table, "g_nina", rules, None, listed, 1_796_000_000_000, places)
    entries: list[Entry] = []
    while not state.games or state.is_playing:
        by, command = next_command(state, dice)
        events = decide(state, by, command)
        entries.append(Entry(len(entries) + 1, by.person, command, events))
        state = evolve_all(state, events)
    return Script(opened, entries, state)


def abandoned(script: Script, after: int) -> Script:
    """The same game, but after so many entries all people leave it."""
    state, entries = script.opened, list(script.entries[:after])
    for entry in entries:
        state = evolve_all(state, entry.events)
    for person in state.people:
        events = decide(state, Actor(person.id), Leave())
        entries.append(Entry(len(entries) + 1, person.id, Leave(), events))
        state = evolve_all(state, events)
    return Script(script.opened, entries, state)


def played_for(script: Script, *idle: Seat) -> Script:
    """The same game, but the house has played for these seats."""
    entries = [
        Entry(one.seq, None, HousePlays(one.command.action), one.events)
        if isinstance(one.command, InGame) and one.command.action.seat in idle
        else one
        for one in script.entries
    ]
    return Script(script.opened, entries, script.closed)


async def store(log: RedisLog, script: Script) -> Sequence[Entry]:
    """Put a game into a log, as it would have come there; returns what the log then holds."""
    await log.prepare()
    await log.open(script.opened)
    for entry in script.entries:
        begins = any(isinstance(event, GameStarted) for event in entry.events)
        ends = entry is script.entries[-1]
        done = await log.append(
            script.opened.id,
            f"test:{entry.seq}",
            entry,
            None,
            script.opened if begins else None,
            Finished(f"{script.opened.id}/1") if ends else None,
        )
        assert isinstance(done, Appended)
    return await log.between(script.opened.id, 1, len(script.entries))


def next_command(table: Table, dice: random.Random) -> tuple[Actor, Command]:
    """What is done next at a table where a game is played, and by whom."""
    if table.game is None:
        return HOUSE, HouseStarts(dice.choice(SEATS))
    match table.game.phase:
        case Dealing():
            return HOUSE, HouseDeals(_deal(dice))
        case Bidding() as phase:
            return _by(table, phase.auction.turn, _call(table.game, phase, dice), dice)
        case Playing() as phase:
            return _by(table, phase.trick.turn, _card(table.game, phase, dice), dice)
        case _:
            raise AssertionError


def _by(table: Table, seat: Seat, action: Speak | Redeal | Play, dice: random.Random) -> tuple[Actor, Command]:
    """People act for themselves, but now and then somebody's time is up."""
    person = table.places[seat].person
    if person is None or dice.random() < 0.02:
        return HOUSE, HousePlays(action)
    return Actor(person.id), InGame(action)


def _deal(dice: random.Random) -> Deal:
    seed, salt, cut = dice.randbytes(SECRET_BYTES), dice.randbytes(SECRET_BYTES), dice.randint(3, 29)
    return deal_from(seed, salt, cut)


def _call(game: Game, phase: Bidding, dice: random.Random) -> Speak | Redeal:
    seat = phase.auction.turn
    rights = redeal_rights(game.rules, phase, seat)
    if rights:
        return Redeal(seat, rights[0])
    calls = legal_calls(game.rules, phase.auction, seat)
    if calls.surcoinche and dice.random() < 0.3:
        return Speak(seat, Say.SURCOINCHE)
    if calls.coinche and dice.random() < 0.1:
        return Speak(seat, Say.COINCHE)
    if calls.bids and dice.random() < 0.3:
        value: Value = calls.bids.lowest if calls.bids.lowest is not None and dice.random() < 0.95 else CAPOT
        return Speak(seat, Bid(value, dice.choice(calls.bids.trumps)))
    return Speak(seat, Say.PASS)


def _card(game: Game, phase: Playing, dice: random.Random) -> Play:
    seat = phase.trick.turn
    legal = legal_cards(game.rules, phase.contract.bid.trump, phase.trick, phase.hands[seat])
    card = dice.choice([card for card, why in legal.items() if why is None])
    return Play(seat, card, card in declarable(game.rules, phase, seat))
