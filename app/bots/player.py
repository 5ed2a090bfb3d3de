"""Who are the house's players? Each is a function from what a player sees to what a player does."""

from collections.abc import Callable, Mapping

from app.bots.bidding import call
from app.bots.play import play
from app.game.actions import Action
from app.game.view import CallMoves, CardMoves, View

Bot = Callable[[View], Action | None]
"""The action of the view's viewer; None only when it is not its turn. The same view gives the same action."""


def choose(view: View) -> Action | None:
    """What the house player does: always something legal in its turn, and None out of it."""
    match view.moves:
        case CardMoves() as moves:
            return play(view, moves)
        case CallMoves(may_pass=True) as moves:
            return call(view, moves)
        case _:
            return None


BOTS: Mapping[str, Bot] = {"house": choose}
"""The house's players by name."""
