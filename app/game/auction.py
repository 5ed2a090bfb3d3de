"""What may be called, who speaks, and what contract stands? Bids, passes, coinche and surcoinche."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Literal

from app.game.refusal import Refused, Why
from app.game.rules import BID_STEP, CoincheWhen, Rules
from app.game.seats import Seat, Side
from app.game.trump import Trump

CAPOT: Final = "capot"
CAPOT_VALUE = 250
"""What a capot bid counts as a bid."""

Value = int | Literal["capot"]


class Say(StrEnum):
    """A call that is not a bid."""

    PASS = "pass"
    COINCHE = "coinche"
    SURCOINCHE = "surcoinche"


@dataclass(frozen=True, slots=True)
class Bid:
    """A number of points, or capot, with the trump it is to be played in."""

    value: Value
    trump: Trump

    @property
    def points(self) -> int:
        """The bid as points: its number, 250 for a capot."""
        return CAPOT_VALUE if self.value == CAPOT else self.value


Call = Bid | Say


@dataclass(frozen=True, slots=True)
class Spoken:
    """A call and the seat that made it."""

    seat: Seat
    call: Call


@dataclass(frozen=True, slots=True)
class Contract:
    """The bid that stands, who made it, and whether it was coinched (1) or surcoinched (2)."""

    declarer: Seat
    bid: Bid
    level: int = 0

    @property
    def side(self) -> Side:
        """The declarers' side."""
        return self.declarer.side


@dataclass(frozen=True, slots=True)
class Auction:
    """The calls of one deal so far. `turn` is the seat that speaks, `passes` how many have just passed in a row."""

    turn: Seat
    calls: tuple[Spoken, ...] = ()
    contract: Contract | None = None
    passes: int = 0

    @property
    def is_closed(self) -> bool:
        """Whether nobody speaks any more: a contract is set or, without one, all four have passed."""
        if self.contract is None:
            return self.passes == 4
        return self.contract.level == 2 or self.passes == (2 if self.contract.level else 3)


@dataclass(frozen=True, slots=True)
class Bids:
    """The bids open to a seat: numbers from `lowest` to `highest` by `step` (none if `lowest` is None), and capot."""

    lowest: int | None
    step: int
    highest: int
    capot: bool
    trumps: tuple[Trump, ...]


@dataclass(frozen=True, slots=True)
class Calls:
    """All that one seat may call now; `coinche` is the bid that it would double."""

    may_pass: bool = False
    bids: Bids | None = None
    coinche: Bid | None = None
    surcoinche: bool = False

    def __bool__(self) -> bool:
        return self.may_pass or self.coinche is not None


_NONE = Calls()


def opening(dealer: Seat) -> Auction:
    """An auction in which nobody has spoken; the seat after the dealer begins."""
    return Auction(turn=dealer.next)


def legal_calls(rules: Rules, auction: Auction, seat: Seat) -> Calls:
    """What a seat may call now. The one enumerator of calls: `judge` asks it, and players are sent it."""
    if auction.is_closed:
        return _NONE
    contract = auction.contract
    in_turn = seat is auction.turn
    if contract is not None and contract.level == 1:
        return Calls(may_pass=True, surcoinche=True) if in_turn else _NONE
    opponent = contract is not None and seat.side is not contract.side
    may_coinche = opponent and (in_turn or rules.coinche_when is CoincheWhen.ANY_TIME)
    coinche = contract.bid if contract is not None and may_coinche else None
    if not in_turn:
        return Calls(coinche=coinche)
    return Calls(may_pass=True, bids=_bids(rules, contract), coinche=coinche)


def _bids(rules: Rules, contract: Contract | None) -> Bids | None:
    """Numbers above the standing one, then capot, above which there is nothing."""
    if contract is not None and contract.bid.value == CAPOT:
        return None
    floor = _floor(rules, contract)
    return Bids(floor if floor <= rules.highest_bid else None, BID_STEP, rules.highest_bid, True, rules.trumps)


def _floor(rules: Rules, contract: Contract | None) -> int:
    """The least number above what stands; it may lie beyond the highest bid."""
    return rules.lowest_bid if contract is None else contract.bid.points + BID_STEP


def judge(rules: Rules, auction: Auction, seat: Seat, call: Call) -> None:
    """Raise `Refused` unless the seat may make this call now."""
    legal = legal_calls(rules, auction, seat)
    match call:
        case Bid():
            if legal.bids is None:
                raise Refused(_why_no_bid(auction, seat))
            _within(rules, _floor(rules, auction.contract), call)
        case Say.PASS:
            if not legal.may_pass:
                raise Refused(Why.NOT_YOUR_TURN)
        case Say.COINCHE:
            if legal.coinche is None:
                raise Refused(_why_no_coinche(auction, seat))
        case Say.SURCOINCHE:
            if not legal.surcoinche:
                raise Refused(_why_no_surcoinche(auction))


def judge_bid(rules: Rules, bid: Bid) -> None:
    """Raise `Refused` unless these rules offer the bid at all, whatever stands."""
    _within(rules, rules.lowest_bid, bid)


def _within(rules: Rules, floor: int, bid: Bid) -> None:
    if bid.trump not in rules.trumps:
        raise Refused(Why.TRUMP_NOT_OFFERED)
    if bid.value == CAPOT:
        return
    if bid.value > rules.highest_bid:
        raise Refused(Why.BID_TOO_HIGH)
    if bid.value < floor:
        raise Refused(Why.BID_TOO_LOW)
    if (bid.value - floor) % BID_STEP:
        raise Refused(Why.BID_OFF_STEP)


def _why_no_bid(auction: Auction, seat: Seat) -> Why:
    contract = auction.contract
    if contract is not None and contract.level:
        return Why.COINCHED
    if seat is not auction.turn:
        return Why.NOT_YOUR_TURN
    return Why.CAPOT_STANDS


def _why_no_coinche(auction: Auction, seat: Seat) -> Why:
    contract = auction.contract
    if contract is None:
        return Why.NOTHING_TO_COINCHE
    if contract.level:
        return Why.COINCHED
    return Why.OWN_BID if seat.side is contract.side else Why.NOT_YOUR_TURN


def _why_no_surcoinche(auction: Auction) -> Why:
    contract = auction.contract
    return Why.NOT_YOUR_TURN if contract is not None and contract.level == 1 else Why.NOT_COINCHED


def after_call(auction: Auction, seat: Seat, call: Call) -> Auction:
    """The auction after a call that was judged legal."""
    said = replace(auction, calls=(*auction.calls, Spoken(seat, call)), turn=auction.turn.next, passes=0)
    match call:
        case Bid():
            return replace(said, contract=Contract(seat, call))
        case Say.COINCHE if auction.contract is not None:
            # Only the declarers' side speaks now, first the seat of theirs that comes next after the one who doubled.
            return replace(said, contract=replace(auction.contract, level=1), turn=seat.next)
        case Say.SURCOINCHE if auction.contract is not None:
            return replace(said, contract=replace(auction.contract, level=2))
        case _:
            coinched = auction.contract is not None and auction.contract.level == 1
            turn = auction.turn.partner if coinched else auction.turn.next
            return replace(said, passes=auction.passes + 1, turn=turn)
