"""How strong are the players? Ratings before and a result give ratings after.

PlackettLuce of openskill with a beta of 25: in a game so full of luck the usual 25/6 is over-confident, worse than a coin.
"""

from collections.abc import Collection
from dataclasses import dataclass

from openskill.models import PlackettLuce

from app.game.rules import Rules, preset_of
from app.game.seats import SEATS, Seat, Side

MU, SIGMA = 25.0, 25 / 3
BETA, TAU = 25.0, 25 / 300

SHOWN_AT_FIRST = 1000
SHOWN_PER_POINT = 20

_MODEL = PlackettLuce(mu=MU, sigma=SIGMA, beta=BETA, tau=TAU)


@dataclass(frozen=True, slots=True)
class Rating:
    """What is believed of a player's strength, and how uncertain that is."""

    mu: float = MU
    sigma: float = SIGMA


def shown(rating: Rating) -> int:
    """The number that people see: what a player is at least worth, by `mu - 3 sigma`, as 1000 + 20 points.

    It begins at 1000, moves by about 20 with an early game and less with each further one, and rises as one is better known.
    """
    return round(SHOWN_AT_FIRST + SHOWN_PER_POINT * (rating.mu - 3 * rating.sigma))


def is_rated(rules: Rules, people: Collection[Seat], acted: Collection[Seat], played_out: bool) -> bool:
    """Whether a game is rated: under a preset that nobody changed, played to its end, by four people who all took part.

    `people`: the seats of people who are no bots; `acted`: the seats whose people called or played a card themselves.
    """
    everybody = set(SEATS)
    return played_out and preset_of(rules) is not None and everybody <= set(people) and everybody <= set(acted)


def after(before: tuple[Rating, ...], winner: Side) -> tuple[Rating, ...]:
    """The four ratings after a game that this side has won; both tuples by seat."""
    teams = [[_MODEL.rating(one.mu, one.sigma) for one in before[first::2]] for first in SEATS[:2]]
    (first, third), (second, fourth) = _MODEL.rate(teams, ranks=[0, 1] if winner is Side.A else [1, 0])
    return tuple(Rating(one.mu, one.sigma) for one in (first, second, third, fourth))
