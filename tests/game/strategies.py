"""What properties are tried on: any rules, any pack, any way to play."""

from collections.abc import Iterator
from enum import StrEnum
from random import Random
from typing import Any

from hypothesis import strategies as st

from app.game.actions import Action, Play, Redeal, Speak
from app.game.auction import Bid, Say
from app.game.cards import PACK, Card
from app.game.engine import evolve_all
from app.game.refusal import Refused
from app.game.rules import OPTIONS, PRESETS, Option, Rules, override
from app.game.seats import SEATS, Seat
from app.game.state import Dealing, Game, Over, new_game
from app.game.tricks import plain_points
from app.game.view import CallMoves, CardMoves, moves
from tests.stacked import decide, stacked

presets = st.sampled_from(sorted(PRESETS))
seeds = st.integers(0, 2**32 - 1)


def values(option: Option) -> list[object]:
    """The values an option takes; of long ranges a few."""
    if option.type is bool:
        return [False, True]
    if issubclass(option.type, StrEnum):
        return list(option.type)
    assert option.least is not None
    assert option.most is not None
    assert option.step is not None
    steps = (option.most - option.least) // option.step
    return [
        option.least + option.step * place
        for place in sorted({0, 1, steps // 3, steps // 2, steps - 1, steps} & {*range(steps + 1)})
    ]


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    """A preset, or one with up to eight options changed in a way that makes sense."""
    rules = PRESETS[draw(presets)]
    for name in draw(st.lists(st.sampled_from(sorted(OPTIONS)), max_size=8)):
        value: Any = draw(st.sampled_from(values(OPTIONS[name])))
        changes = {name: value}
        if name == "lowest_bid":
            changes["highest_bid"] = value + 10 * draw(st.integers(0, 12))
        try:
            rules = override(rules, changes)
        except Refused:
            continue
    return rules


def shuffled(dice: Random) -> tuple[Card, ...]:
    """A pack; now and then one with a poor hand, a long suit or the four sevens in one hand."""
    pack = list(PACK)
    dice.shuffle(pack)
    kind = dice.randrange(6)
    if kind == 0:
        pack.sort(key=lambda card: plain_points((card,)) + dice.random() * 3)
    elif kind == 1:
        pack.sort(key=lambda card: (card.suit, dice.random()))
    elif kind == 2:
        pack.sort(key=lambda card: card.rank not in ("7", dice.choice("JQKA")))
    if kind < 3:
        # Packets go round the table, so that neighbours of the pack come into one hand.
        pack = [pack[8 * who + place] for places in ((0, 1, 2), (3, 4), (5, 6, 7)) for who in range(4) for place in places]
    return tuple(pack)


def offered(game: Game, seat: Seat) -> list[Action]:
    """The actions that `moves` offers to a seat, written out."""
    found: list[Action] = []
    match moves(game, seat):
        case CallMoves() as calls:
            if calls.may_pass:
                found.append(Speak(seat, Say.PASS))
            if calls.surcoinche:
                found.append(Speak(seat, Say.SURCOINCHE))
            if calls.coinche is not None:
                found += [Speak(seat, Say.COINCHE), Speak(seat, Say.COINCHE, calls.coinche)]
            if calls.bids is not None:
                if calls.bids.lowest is not None:
                    numbers = range(calls.bids.lowest, calls.bids.highest + 1, calls.bids.step)
                    found += [Speak(seat, Bid(number, trump)) for number in numbers for trump in calls.bids.trumps]
                if calls.bids.capot:
                    found += [Speak(seat, Bid("capot", trump)) for trump in calls.bids.trumps]
            found += [Redeal(seat, right) for right in calls.redeal]
        case CardMoves() as hand:
            legal = [move.card for move in hand.cards if move.why is None]
            found += [Play(seat, card) for card in legal]
            found += [Play(seat, card, belote=True) for card in legal if card in hand.belote]
        case None:
            pass
    return found


def some_action(game: Game, dice: Random) -> Action:
    """One of the open actions. Bids stay low enough that some are made, and auctions come to an end."""
    if isinstance(game.phase, Dealing):
        return stacked(shuffled(dice))
    actions = dice.choice([actions for seat in SEATS if (actions := offered(game, seat))])
    redeals = [one for one in actions if isinstance(one, Redeal)]
    bids = [one for one in actions if isinstance(one, Speak) and isinstance(one.call, Bid)]
    if redeals and dice.random() < 0.5:
        return dice.choice(redeals)
    if bids and dice.random() < 0.4:
        return dice.choice(bids[:12] if dice.random() < 0.9 else bids)
    if isinstance(actions[0], Speak) and actions[0].call is Say.PASS and dice.random() < 0.7:
        return actions[0]
    return dice.choice(actions)


def walk(rules: Rules, dice: Random, deals: int = 1) -> Iterator[tuple[Game, Action, Game]]:
    """A game from its first deal until so many deals are done, or it is over: before, action, after."""
    game = new_game("walk", rules, Seat(dice.randrange(4)))
    while len(game.deals) < deals and not isinstance(game.phase, Over):
        action = some_action(game, dice)
        after = evolve_all(game, decide(game, action))
        yield game, action, after
        game = after


def last(rules: Rules, dice: Random, deals: int = 1) -> Game:
    """Where such a game ends."""
    *_, (_, _, game) = walk(rules, dice, deals)
    return game
