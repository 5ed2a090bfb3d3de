"""Which game is played? One value holds every option; six presets are published rule sets, and a table may override fields.

A default is never changed silently: a change is a new preset. The rulings behind each preset are in `docs/rules.md`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from app.game.refusal import Refused, Why
from app.game.trump import Trump


class Direction(StrEnum):
    """On which side of the viewer the page draws the next seat; play itself follows the numbers."""

    CLOCKWISE = "clockwise"
    COUNTER_CLOCKWISE = "counter_clockwise"


class Cutter(StrEnum):
    """Who cuts the pack."""

    BEFORE_DEALER = "before_dealer"
    AFTER_DEALER = "after_dealer"


class CoincheWhen(StrEnum):
    """When the other side may coinche: in place of a call, or at any moment while the bid stands."""

    IN_TURN = "in_turn"
    ANY_TIME = "any_time"


class Undertrump(StrEnum):
    """Void, an opponent is master with a trump one cannot beat: must a lower trump be played?"""

    FORCED = "forced"
    FREE = "free"


class SaPoints(StrEnum):
    """Card points in sans atout: an ace of 19, or the plain points brought to 152."""

    ACE_19 = "ace_19"
    SCALED = "scaled"


class TaPoints(StrEnum):
    """Card points in tout atout: 14 9 6 5 3 1, or 13 9 6 5 3 2, or the trump points brought to 152."""

    JACK_14 = "jack_14"
    JACK_13 = "jack_13"
    SCALED = "scaled"


class BeloteHow(StrEnum):
    """Whether a belote is counted by itself or must be declared with the first of its cards."""

    AUTOMATIC = "automatic"
    DECLARED = "declared"


class Carres(StrEnum):
    """What four of a rank count: 200, 150 and 100 for every other rank, or the federation's list."""

    EVERY_RANK = "every_rank"
    FEDERATION = "federation"


class EqualTotals(StrEnum):
    """Both sides reached the target with equal totals: the winner of the last deal wins, or one deals again."""

    LAST_DEAL = "last_deal"
    ANOTHER_DEAL = "another_deal"


class BeloteTo(StrEnum):
    """Whose the belote's points are: each holder's, the declarers' who made it, or all the deal's winner's."""

    HOLDER = "holder"
    MAKER = "maker"
    WINNER = "winner"


class MeldsToWinner(StrEnum):
    """When the winner of the deal takes the melds of both sides: when the contract failed, or more widely."""

    FAILED = "failed"
    WIDE = "wide"


class CoinchePoints(StrEnum):
    """The winner's points on a coinched deal: those taken, or those of `failure` (250 with all eight tricks)."""

    OWN = "own"
    FLAT = "flat"


class CoincheMultiplies(StrEnum):
    """What a coinche multiplies: the bid, the bid and the points, or melds and belote as well."""

    BID = "bid"
    BASE = "base"
    WHOLE = "whole"


class CoincheFor(StrEnum):
    """Whose score a coinche multiplies."""

    WINNER = "winner"
    BOTH = "both"


class LoserWhenCoinched(StrEnum):
    """Whether the loser of a coinched deal keeps the points taken."""

    KEEPS = "keeps"
    NOTHING = "nothing"


class Rounding(StrEnum):
    """Rounding to the nearest ten, five up: not at all, of the finished score, or of each side's points."""

    NONE = "none"
    SCORE = "score"
    POINTS = "points"


def _switch(group: str) -> Any:
    return field(metadata={"group": group})


def _choice(group: str) -> Any:
    return field(metadata={"group": group})


def _number(group: str, least: int, most: int, step: int = 1) -> Any:
    return field(metadata={"group": group, "least": least, "most": most, "step": step})


BID_STEP = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Every option of a game. A finished game stores the whole value it was played under."""

    direction: Direction = _choice("deal")
    cutter: Cutter = _choice("deal")
    misere: bool = _switch("deal")
    """A hand of 0 to 9 plain points may ask for a redeal in place of its first call."""
    carre_of_sevens: bool = _switch("deal")
    """A hand with the four sevens may ask for a redeal in place of a call."""

    sans_atout: bool = _switch("auction")
    tout_atout: bool = _switch("auction")
    lowest_bid: int = _number("auction", 80, 160, 2)
    highest_bid: int = _number("auction", 80, 650, 2)
    coinche_when: CoincheWhen = _choice("auction")
    surcoinche: int = _number("auction", 3, 4)
    """The factor of a surcoinche; a coinche is always 2."""

    undertrump: Undertrump = _choice("play")
    sa_points: SaPoints = _choice("play")
    ta_points: TaPoints = _choice("play")

    belote: BeloteHow = _choice("melds")
    belote_in_ta: bool = _switch("melds")
    """In tout atout each king and queen of one suit in one hand is a belote."""
    melds: bool = _switch("melds")
    carres: Carres = _choice("melds")

    trick_floor: int = _number("contract", 0, 162)
    """The trick points that a number contract needs at the least."""
    belote_counts: bool = _switch("contract")
    """The declarers' belote helps to reach the bid."""
    beat_defence: bool = _switch("contract")
    """The declarers need more than the defence, belotes and melds included."""

    failure: int = _number("score", 160, 162, 2)
    """The defence's points when the contract fails; with flat coinche points also the declarers' when it is made."""
    capot_points: int = _number("score", 0, 250, 250)
    """The declarers' points when they took all eight tricks; 0: the points taken."""
    capot_flat: int = _number("score", 0, 500, 500)
    """What a capot bid is worth in all, bid included, to its winner; 0: as any other bid."""
    bid_only: bool = _switch("score")
    """A made contract scores its bid without the declarers' points."""
    belote_to: BeloteTo = _choice("score")
    melds_to_winner: MeldsToWinner = _choice("score")
    coinche_points: CoinchePoints = _choice("score")
    coinche_multiplies: CoincheMultiplies = _choice("score")
    coinche_for: CoincheFor = _choice("score")
    loser_when_coinched: LoserWhenCoinched = _choice("score")
    rounding: Rounding = _choice("score")

    target: int = _number("end", 1, 10_000)
    equal_totals: EqualTotals = _choice("end")

    @property
    def trumps(self) -> tuple[Trump, ...]:
        """The trumps that may be bid."""
        return tuple(
            trump
            for trump in Trump
            if (trump is not Trump.NONE or self.sans_atout) and (trump is not Trump.ALL or self.tout_atout)
        )

    def factor(self, level: int) -> int:
        """What multiplies a contract that nobody doubled (0), that was coinched (1) or surcoinched (2)."""
        return (1, 2, self.surcoinche)[level]


@dataclass(frozen=True, slots=True)
class Option:
    """How one field of `Rules` may be set: its type, and the values it takes."""

    name: str
    group: str
    type: type[bool] | type[int] | type[StrEnum]
    least: int | None = None
    most: int | None = None
    step: int | None = None

    def read(self, value: object) -> object:
        """The value as the field holds it; raises `Refused` with the option's name if it does not fit."""
        if type(value) is not self.type and not (type(value) is str and issubclass(self.type, StrEnum)):
            raise Refused(Why.WRONG_TYPE, self.name)
        if issubclass(self.type, StrEnum):
            if value not in list(self.type):
                raise Refused(Why.WRONG_VALUE, self.name)
            return self.type(value)
        if self.least is not None and self.most is not None and self.step is not None and isinstance(value, int):
            if not self.least <= value <= self.most or (value - self.least) % self.step:
                raise Refused(Why.WRONG_VALUE, self.name)
        return value


_TYPES: dict[str, type[bool] | type[int] | type[StrEnum]] = {
    f.name: f.type  # type: ignore[misc]
    for f in fields(Rules)
}

OPTIONS: Mapping[str, Option] = {f.name: Option(f.name, type=_TYPES[f.name], **f.metadata) for f in fields(Rules)}
"""Every option by its name, in the order in which a form should show them."""


def override(rules: Rules, options: Mapping[str, object]) -> Rules:
    """The rules with some fields replaced; raises `Refused` if an option is unknown, ill-typed, or makes no sense."""
    changes: dict[str, Any] = {}
    for name, value in options.items():
        if name not in OPTIONS:
            raise Refused(Why.UNKNOWN_OPTION, name)
        changes[name] = OPTIONS[name].read(value)
    changed = replace(rules, **changes)
    _refuse_nonsense(changed)
    return changed


def rules_from(values: Mapping[str, object]) -> Rules:
    """The rules that a whole object describes; raises `Refused` if a field is missing, unknown, or does not fit."""
    for name in OPTIONS:
        if name not in values:
            raise Refused(Why.MISSING, name)
    return override(PRESETS["announced-701"], values)


def preset(name: str, part: str = "rules") -> Rules:
    """The preset of that name; raises `Refused`, naming the part in which it was asked for."""
    if name not in PRESETS:
        raise Refused(Why.UNKNOWN_PRESET, part)
    return PRESETS[name]


def preset_of(rules: Rules) -> str | None:
    """The name of the preset that these rules are, or None if a table has changed something."""
    return next((name for name, value in PRESETS.items() if value == rules), None)


def _refuse_nonsense(rules: Rules) -> None:
    """Each option fits by itself; some do not go together."""
    if rules.highest_bid < rules.lowest_bid or (rules.highest_bid - rules.lowest_bid) % BID_STEP:
        raise Refused(Why.SENSELESS_OPTIONS, "highest_bid")
    if rules.bid_only and rules.coinche_points is CoinchePoints.FLAT:
        raise Refused(Why.SENSELESS_OPTIONS, "coinche_points")
    if rules.bid_only and rules.capot_flat:
        raise Refused(Why.SENSELESS_OPTIONS, "capot_flat")


_ANNOUNCED = Rules(
    direction=Direction.CLOCKWISE,
    cutter=Cutter.BEFORE_DEALER,
    misere=False,
    carre_of_sevens=False,
    sans_atout=True,
    tout_atout=True,
    lowest_bid=80,
    highest_bid=160,
    coinche_when=CoincheWhen.IN_TURN,
    surcoinche=4,
    undertrump=Undertrump.FORCED,
    sa_points=SaPoints.ACE_19,
    ta_points=TaPoints.JACK_14,
    belote=BeloteHow.AUTOMATIC,
    belote_in_ta=True,
    melds=True,
    carres=Carres.EVERY_RANK,
    trick_floor=82,
    belote_counts=True,
    beat_defence=False,
    failure=162,
    capot_points=0,
    capot_flat=0,
    bid_only=False,
    belote_to=BeloteTo.HOLDER,
    melds_to_winner=MeldsToWinner.FAILED,
    coinche_points=CoinchePoints.OWN,
    coinche_multiplies=CoincheMultiplies.WHOLE,
    coinche_for=CoincheFor.WINNER,
    loser_when_coinched=LoserWhenCoinched.KEEPS,
    rounding=Rounding.NONE,
    target=701,
    equal_totals=EqualTotals.LAST_DEAL,
)

_CLASSIC = replace(
    _ANNOUNCED,
    direction=Direction.COUNTER_CLOCKWISE,
    cutter=Cutter.AFTER_DEALER,
    highest_bid=180,
    coinche_when=CoincheWhen.ANY_TIME,
    melds=False,
    trick_floor=0,
    failure=160,
    capot_points=250,
    coinche_multiplies=CoincheMultiplies.BASE,
    coinche_for=CoincheFor.BOTH,
    target=1000,
    equal_totals=EqualTotals.ANOTHER_DEAL,
)

PRESETS: Mapping[str, Rules] = {
    "announced-701": _ANNOUNCED,
    "contree-701": replace(_ANNOUNCED, sans_atout=False, tout_atout=False, melds=False),
    "classic-1000": _CLASSIC,
    "rounded-1000": replace(
        _CLASSIC,
        direction=Direction.CLOCKWISE,
        cutter=Cutter.BEFORE_DEALER,
        sans_atout=False,
        tout_atout=False,
        highest_bid=160,
        coinche_when=CoincheWhen.IN_TURN,
        surcoinche=3,
        belote_counts=False,
        belote_to=BeloteTo.MAKER,
        coinche_multiplies=CoincheMultiplies.WHOLE,
        coinche_for=CoincheFor.WINNER,
        rounding=Rounding.SCORE,
    ),
    "arena-2000": replace(
        _CLASSIC,
        direction=Direction.CLOCKWISE,
        cutter=Cutter.BEFORE_DEALER,
        lowest_bid=82,
        highest_bid=182,
        sa_points=SaPoints.SCALED,
        ta_points=TaPoints.SCALED,
        belote=BeloteHow.DECLARED,
        belote_in_ta=False,
        coinche_multiplies=CoincheMultiplies.WHOLE,
        target=2000,
    ),
    "ffb-2000": replace(
        _ANNOUNCED,
        direction=Direction.COUNTER_CLOCKWISE,
        sans_atout=False,
        tout_atout=False,
        highest_bid=650,
        undertrump=Undertrump.FREE,
        ta_points=TaPoints.JACK_13,
        carres=Carres.FEDERATION,
        trick_floor=0,
        beat_defence=True,
        failure=160,
        capot_points=250,
        capot_flat=500,
        melds_to_winner=MeldsToWinner.WIDE,
        coinche_points=CoinchePoints.FLAT,
        coinche_multiplies=CoincheMultiplies.BASE,
        loser_when_coinched=LoserWhenCoinched.NOTHING,
        rounding=Rounding.POINTS,
        target=2000,
        equal_totals=EqualTotals.ANOTHER_DEAL,
    ),
}
"""The published rule sets by name."""
