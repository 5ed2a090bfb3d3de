"""What is a deal worth, line by line, and who has won the game?

One law serves every preset and every table's own rules (docs/rules.md, "What a deal scores").
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from app.game.auction import CAPOT, CAPOT_VALUE, Contract
from app.game.melds import BELOTE
from app.game.rules import (
    BeloteTo,
    CoincheFor,
    CoincheMultiplies,
    CoinchePoints,
    EqualTotals,
    LoserWhenCoinched,
    MeldsToWinner,
    Rounding,
    Rules,
)
from app.game.seats import BySide, Side
from app.game.tricks import DER


class LineKind(StrEnum):
    """What a line of the score sheet counts."""

    TRICKS = "tricks"
    DER = "der"
    BELOTE = "belote"
    MELDS = "melds"
    CONTRACT = "contract"
    FAILURE = "failure"
    CAPOT = "capot"
    FACTOR = "factor"
    ROUNDING = "rounding"


@dataclass(frozen=True, slots=True)
class Line:
    """Points of one side, what they are for, and the field of `Rules` that decided them."""

    side: Side
    kind: LineKind
    points: int
    rule: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a deal brought, before it is scored: points in tricks (162 together), tricks, belotes, valid melds.

    `der` is the side that took the last trick; None leaves the ten within the tricks' line.
    """

    trick_points: BySide[int]
    tricks_won: BySide[int]
    belotes: BySide[int]
    melds: BySide[int]
    der: Side | None = None


@dataclass(frozen=True, slots=True)
class DealScore:
    """The judgement of a deal: whether the contract was made, and the lines whose points sum to each side's score."""

    contract: Contract
    outcome: Outcome
    made: bool
    lines: tuple[Line, ...]

    @property
    def score(self) -> BySide[int]:
        return BySide.of(lambda side: sum(line.points for line in self.lines if line.side is side))

    @property
    def winner(self) -> Side:
        """The side that won the contract: the declarers if it was made, else the defence."""
        return self.contract.side if self.made else self.contract.side.other


def is_made(rules: Rules, contract: Contract, outcome: Outcome) -> bool:
    """Whether the declarers made their contract. A capot is counted in tricks; rounding never decides."""
    us, them = contract.side, contract.side.other
    if contract.bid.value == CAPOT:
        return outcome.tricks_won[us] == 8
    tricks = outcome.trick_points[us]
    belote = BELOTE * outcome.belotes[us] if rules.belote_counts else 0
    reached = tricks + belote + outcome.melds[us]
    if tricks < rules.trick_floor or reached < contract.bid.points:
        return False
    theirs = outcome.trick_points[them] + BELOTE * outcome.belotes[them] + outcome.melds[them]
    return not rules.beat_defence or reached > theirs


def score_deal(rules: Rules, contract: Contract, outcome: Outcome) -> DealScore:
    """The score of a deal with its lines."""
    made = is_made(rules, contract, outcome)
    lines = (*_Law(rules, contract, outcome, made).lines(),)
    return DealScore(contract, outcome, made, lines)


def _to_ten(points: int) -> int:
    """The nearest ten, five up."""
    return (points + 5) // 10 * 10


@dataclass(frozen=True, slots=True)
class _Law:
    """The scoring law applied to one deal; each step gives its lines."""

    rules: Rules
    contract: Contract
    outcome: Outcome
    made: bool

    @property
    def winner(self) -> Side:
        return self.contract.side if self.made else self.contract.side.other

    @property
    def coinched(self) -> bool:
        return self.contract.level > 0

    @property
    def capot_bid(self) -> bool:
        return self.contract.bid.value == CAPOT

    @property
    def all_eight(self) -> bool:
        """The declarers made their contract with all eight tricks."""
        return self.made and self.outcome.tricks_won[self.contract.side] == 8

    def lines(self) -> Iterator[Line]:
        for side in Side:
            yield from self._of_side(side)

    def _of_side(self, side: Side) -> Iterator[Line]:
        """Steps 1 to 7 of the law, each with the field that decides it."""
        points = list(self._points(side))
        if self.rules.rounding is Rounding.POINTS:
            points += self._rounded(side, points)
        base = points + list(self._bid(side))
        extras = [*self._melds(side), *self._belote(side)]
        lines = [line for line in base + extras if line.points]
        lines += self._factor(side, base, extras)
        if self.rules.rounding is Rounding.SCORE:
            lines += self._rounded(side, lines)
        yield from lines

    def _points(self, side: Side) -> Iterator[Line]:
        """Steps 1 and 2: the side's points before the bid."""
        rules = self.rules
        if side is not self.winner:
            silent = self.coinched and rules.loser_when_coinched is LoserWhenCoinched.NOTHING
            if self.made and not silent:
                yield from self._taken(side, "loser_when_coinched")
            return
        if rules.bid_only and self.made:
            return
        if self.capot_bid and rules.capot_flat:
            yield Line(side, LineKind.CAPOT, rules.capot_flat - self.contract.bid.points, "capot_flat")
        elif self.coinched and rules.coinche_points is CoinchePoints.FLAT:
            if self.all_eight:
                yield Line(side, LineKind.CAPOT, CAPOT_VALUE, "coinche_points")
            else:
                yield Line(side, LineKind.TRICKS if self.made else LineKind.FAILURE, rules.failure, "coinche_points")
        elif not self.made:
            yield Line(side, LineKind.FAILURE, rules.failure, "failure")
        elif self.all_eight and rules.capot_points:
            yield Line(side, LineKind.CAPOT, rules.capot_points, "capot_points")
        else:
            yield from self._taken(side, "bid_only")

    def _taken(self, side: Side, rule: str) -> Iterator[Line]:
        """The points in tricks, the ten of the last apart where it is known whose it is."""
        der = DER if self.outcome.der is side else 0
        yield Line(side, LineKind.TRICKS, self.outcome.trick_points[side] - der, rule)
        yield Line(side, LineKind.DER, der, rule)

    def _bid(self, side: Side) -> Iterator[Line]:
        """Step 3: the bid goes to the winner."""
        if side is self.winner:
            yield Line(side, LineKind.CONTRACT, self.contract.bid.points, "bid_only")

    def _melds(self, side: Side) -> Iterator[Line]:
        """Step 4: each side its own, or all to the winner."""
        melds = self.outcome.melds
        wide = self.rules.melds_to_winner is MeldsToWinner.WIDE
        if not self.made or (wide and (self.coinched or self.all_eight)):
            if side is self.winner:
                yield Line(side, LineKind.MELDS, melds.A + melds.B, "melds_to_winner")
        else:
            yield Line(side, LineKind.MELDS, melds[side], "melds")

    def _belote(self, side: Side) -> Iterator[Line]:
        """Step 5: whose the belotes are."""
        belotes = self.outcome.belotes
        match self.rules.belote_to:
            case BeloteTo.HOLDER:
                count = belotes[side]
            case BeloteTo.MAKER:
                count = belotes[side] if self.made and side is self.contract.side else 0
            case BeloteTo.WINNER:
                count = belotes.A + belotes.B if side is self.winner else 0
        yield Line(side, LineKind.BELOTE, BELOTE * count, "belote_to")

    def _factor(self, side: Side, base: list[Line], extras: list[Line]) -> Iterator[Line]:
        """Step 7: what a coinche adds."""
        rules = self.rules
        if not self.coinched or (rules.coinche_for is CoincheFor.WINNER and side is not self.winner):
            return
        match rules.coinche_multiplies:
            case CoincheMultiplies.BID:
                counted = [line for line in base if line.kind is LineKind.CONTRACT]
            case CoincheMultiplies.BASE:
                counted = base
            case CoincheMultiplies.WHOLE:
                counted = base + extras
        added = sum(line.points for line in counted) * (rules.factor(self.contract.level) - 1)
        if added:
            yield Line(side, LineKind.FACTOR, added, "coinche_multiplies")

    def _rounded(self, side: Side, lines: list[Line]) -> Iterator[Line]:
        total = sum(line.points for line in lines)
        if change := _to_ten(total) - total:
            yield Line(side, LineKind.ROUNDING, change, "rounding")


def game_winner(rules: Rules, totals: BySide[int], last_deal: Side) -> Side | None:
    """The side that has won the game after a complete deal, or None if another is dealt."""
    if max(totals) < rules.target:
        return None
    if totals.A != totals.B:
        return Side.A if totals.A > totals.B else Side.B
    return last_deal if rules.equal_totals is EqualTotals.LAST_DEAL else None
