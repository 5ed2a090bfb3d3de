"""Whole games: every bot, under every preset and many house rules: always legal, never looking, and of some strength."""

import random
from dataclasses import replace
from enum import StrEnum
from statistics import mean

import pytest

from app.bots.player import BOTS
from app.game.cards import Card
from app.game.refusal import Refused
from app.game.rules import OPTIONS, PRESETS, Rules, override
from app.game.seats import SEATS, Seat
from app.game.state import Bidding, Game, Over, Playing
from app.game.view import CallMoves, view
from tests.bots.arena import apply, dealt, duplicate, packs, play_deal, play_game, turn
from tests.bots.exploits import EXPLOITS, random_player


def house_rules(seed: int) -> Rules:
    """A preset with some of its fields changed at random to what a table may choose."""
    dice = random.Random(seed)
    while True:
        chosen = dice.sample(list(OPTIONS.values()), dice.randint(4, 20))
        changes: dict[str, object] = {}
        for option in chosen:
            if option.type is bool:
                changes[option.name] = dice.random() < 0.5
            elif issubclass(option.type, StrEnum):
                changes[option.name] = dice.choice(list(option.type))
            else:
                assert option.least is not None
                assert option.most is not None
                changes[option.name] = dice.randrange(option.least, option.most + 1, option.step or 1)
        changes["target"] = 1500
        try:
            return override(PRESETS[dice.choice(list(PRESETS))], changes)
        except Refused:
            continue


# --- always legal ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BOTS)
@pytest.mark.parametrize("preset", PRESETS)
def test_plays_whole_games_under_every_preset(preset: str, name: str) -> None:
    for seed in range(2):
        assert isinstance(play_game(PRESETS[preset], [BOTS[name]] * 4, seed).phase, Over)


@pytest.mark.parametrize("name", BOTS)
@pytest.mark.parametrize("seed", range(40))
def test_plays_under_any_house_rules(seed: int, name: str) -> None:
    play_game(house_rules(seed), [BOTS[name]] * 4, seed, most=3)


@pytest.mark.parametrize("name", BOTS)
def test_answers_whatever_the_others_do(name: str) -> None:
    """Random partners and opponents reach positions that sensible players never do."""
    for seed in range(40):
        wild = random_player(seed)
        play_game(house_rules(1000 + seed), [BOTS[name], wild, wild, wild], seed, most=2)


@pytest.mark.parametrize("name", BOTS)
def test_out_of_turn_it_is_silent(name: str) -> None:
    rules = PRESETS["classic-1000"]
    for number, pack in enumerate(packs(3, 10)):
        game = dealt(rules, pack, SEATS[number % 4])
        while isinstance(game.phase, Bidding | Playing):
            for seat in SEATS:
                seen = view(game, seat)
                in_turn = seat is turn(game)
                assert (BOTS[name](seen) is not None) is in_turn
                assert in_turn or seen.moves is None or isinstance(seen.moves, CallMoves)
            action = BOTS[name](view(game, turn(game)))
            assert action is not None
            game = apply(game, action)


# --- knows no more than a player -------------------------------------------------------------------------------------


def _dealt_otherwise(game: Game, me: Seat, dice: random.Random) -> Game:
    """The same game with the cards that `me` cannot see dealt otherwise."""
    phase = game.phase
    assert isinstance(phase, Bidding | Playing)
    hidden = [card for seat in SEATS if seat is not me for card in phase.hands[seat]]
    dice.shuffle(hidden)
    hands: list[tuple[Card, ...]] = []
    for seat in SEATS:
        count = len(phase.hands[seat])
        hands.append(phase.hands[me] if seat is me else tuple(hidden.pop() for _ in range(count)))
    return replace(game, phase=replace(phase, hands=tuple(hands)))


@pytest.mark.parametrize("name", BOTS)
def test_decides_the_same_however_the_unseen_cards_lie(name: str) -> None:
    dice = random.Random(8)
    for preset, rules in PRESETS.items():
        for number, pack in enumerate(packs(len(preset), 3)):
            game = dealt(rules, pack, SEATS[number % 4])
            while isinstance(game.phase, Bidding | Playing):
                me = turn(game)
                action = BOTS[name](view(game, me))
                assert action == BOTS[name](view(_dealt_otherwise(game, me, dice), me))
                assert action is not None
                game = apply(game, action)


# --- how well it plays -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BOTS)
def test_is_far_ahead_of_a_random_player(name: str) -> None:
    gains = duplicate(PRESETS["contree-701"], BOTS[name], random_player(1), seed=1, deals=100)
    assert mean(gains) > 150


@pytest.mark.parametrize("opponent", EXPLOITS)
@pytest.mark.parametrize("name", BOTS)
def test_nobody_profits_from_a_trick_of_the_auction(name: str, opponent: str) -> None:
    gains = duplicate(PRESETS["classic-1000"], BOTS[name], EXPLOITS[opponent], seed=2, deals=60)
    assert mean(gains) > 0


@pytest.mark.parametrize("name", BOTS)
def test_keeps_its_promises_but_makes_some(name: str) -> None:
    """Contracts made, their level, and deals passed out, among four of the same kind."""
    rules = replace(PRESETS["contree-701"], target=10_000)
    scores = [
        play_deal(dealt(rules, pack, SEATS[number % 4]), [BOTS[name]] * 4).deals[-1].score
        for number, pack in enumerate(packs(4, 200))
    ]
    played = [score for score in scores if score is not None]
    assert len(played) > 170
    assert 0.6 < mean(score.made for score in played) < 0.88
    assert 90 < mean(score.contract.bid.points for score in played) < 115
    assert mean(score.contract.level > 0 for score in played) < 0.15
