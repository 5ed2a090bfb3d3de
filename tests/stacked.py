"""A deal of cards that the test has chosen.

The engine deals only what it shuffles itself, so a chosen pack is no action that it takes. Here it goes past the secrets: what
is dealt is told to the game as what has happened.
"""

from app.game import engine
from app.game.actions import Action, Deal
from app.game.cards import Card
from app.game.events import DealCommitted, Event, HandsDealt
from app.game.state import Dealing, Game

NO_SECRET = "00" * 32


class Stacked(Deal):
    """A deal of this pack, top card first, whatever its secrets would give."""


def stacked(pack: tuple[Card, ...]) -> Stacked:
    return Stacked(NO_SECRET, NO_SECRET, 16, pack)


def decide(game: Game, action: Action) -> tuple[Event, ...]:
    """What the action brings about, as the engine has it; a stacked pack is dealt as it is."""
    match action, game.phase:
        case Stacked(), Dealing(dealer=dealer):
            number = game.deal + 1
            return (DealCommitted(number, NO_SECRET), HandsDealt(number, dealer, engine.deal_out(action.pack, dealer)))
        case _:
            return engine.decide(game, action)
