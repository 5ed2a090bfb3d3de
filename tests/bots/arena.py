"""Deals and games between players of any kind, from a seed: the measure of every bot."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.bots.player import Bot
from app.game.actions import Action
from app.game.cards import PACK, Card
from app.game.engine import evolve_all
from app.game.rules import Rules
from app.game.seats import SEATS, Seat
from app.game.state import Bidding, Dealing, Game, Over, Playing, new_game
from app.game.view import view
from tests.stacked import decide, stacked

"""A seed and a salt for deals whose pack is given."""


def packs(seed: int, count: int) -> Iterator[tuple[Card, ...]]:
    """Shuffled packs, always the same for a seed."""
    dice = random.Random(seed)
    for _ in range(count):
        yield tuple(dice.sample(PACK, len(PACK)))


def apply(game: Game, action: Action) -> Game:
    return evolve_all(game, decide(game, action))


def dealt(rules: Rules, pack: tuple[Card, ...], dealer: Seat) -> Game:
    """A game whose first deal has just been dealt."""
    return apply(new_game("arena", rules, dealer), stacked(pack))


def turn(game: Game) -> Seat:
    match game.phase:
        case Bidding(auction=auction):
            return auction.turn
        case Playing(trick=trick):
            return trick.turn
        case _:
            raise AssertionError("nobody's turn")


def play_deal(game: Game, players: Sequence[Bot]) -> Game:
    """The game when the deal is over; every player is asked in its turn, and whatever it asks must be accepted."""
    while isinstance(game.phase, Bidding | Playing):
        seat = turn(game)
        action = players[seat](view(game, seat))
        assert action is not None
        game = apply(game, action)
    return game


def play_game(rules: Rules, players: Sequence[Bot], seed: int, most: int = 200) -> Game:
    """A whole game, or its first `most` deals."""
    game = new_game("arena", rules, SEATS[seed % 4])
    for pack in packs(seed, most):
        if isinstance(game.phase, Over):
            break
        assert isinstance(game.phase, Dealing)
        game = play_deal(apply(game, stacked(pack)), players)
    return game


def duplicate(rules: Rules, one: Bot, other: Bot, seed: int, deals: int) -> list[int]:
    """The advantage of `one` over `other` for each deal, played twice with the sides changed."""
    long = replace(rules, target=10_000)
    gains = []
    for number, pack in enumerate(packs(seed, deals)):
        gain = 0
        for pair in ((one, other), (other, one)):
            totals = play_deal(dealt(long, pack, SEATS[number % 4]), pair * 2).totals
            gain += (totals.A - totals.B) if pair[0] is one else (totals.B - totals.A)
        gains.append(gain)
    return gains
