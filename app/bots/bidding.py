"""What does the house player call? It bids as people do: 80 or 90 with an honour and aces, ten more for each useful thing.

The level tells the partner how good the hand is; a partner raises once; a coinche is for hands that defeat the contract by
themselves. Every decision compares trick points to expect with the trick points a bid needs under the rules of the table.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from app.bots.valuation import Hand, against, bonus, needed, own_estimate, support, sure_tricks, together
from app.game.actions import Action, Redeal, Speak
from app.game.auction import CAPOT, Bid, Bids, Call, Say
from app.game.rules import BID_STEP, Rules
from app.game.seats import Seat, Side
from app.game.trump import Trump
from app.game.view import CallMoves, View

OPEN = 9.0
"""The margin over what is needed with which one opens at 80."""
STEEP = 0.35
"""How much more margin each further point of an opening takes: a level is a message, and need not be the most one can make."""
OVERCALL = 4.0
"""The margin with which one bids over the opponents."""
RAISE = 30.0
"""The margin with which one raises a partner nobody has bid against."""
CONTEST = 2.0
"""The margin with which one raises a partner over the opponents."""
TELLS = (94.0, 1.25)
"""What a partner's opening says of his own estimate: at 80, and for each point above."""
STANDS, STANDS_MELDS, STANDS_FLAT = (105.0, 0.5), (109.0, 0.25), (90.0, 0.12)
"""What opponents usually make of a contract: at 80, and for each point above; where melds count; in sans and tout atout."""
RAISED = 6.0
"""How much more they make where both have bid."""
COINCHE, COINCHE_FLAT, COINCHE_MELDS = 17.0, 6.0, 6.0
"""By how many trick points a contract must seem to fail; more in sans and tout atout, and where melds may save it."""
SURCOINCHE = 25.0
"""By how many trick points a coinched contract must seem safe."""
COINCHER = 15.0
"""What a coinche says of the hand that stands behind it, in trick points."""


@dataclass(frozen=True, slots=True)
class Auction:
    """An auction as the seat in turn sees it."""

    me: Seat
    hand: Hand
    rules: Rules
    bids: Bids
    mine: tuple[Bid, ...]
    """My bids so far, and then my partner's and the opponents'."""
    partners: tuple[Bid, ...]
    theirs: tuple[Bid, ...]
    standing: Bid | None
    ours: bool
    """Whether the standing bid is my side's."""


def call(view: View, moves: CallMoves) -> Action:
    """What the viewer calls, in its turn."""
    me, hand = view.viewer, view.hand
    assert me is not None
    assert hand is not None
    if moves.surcoinche:
        return Speak(me, _surcoinche(view, hand))
    if moves.redeal and _wants_redeal(view, hand):
        return Redeal(me, moves.redeal[0])
    if moves.coinche is not None and _beaten(view, hand, moves.coinche.bid):
        return Speak(me, Say.COINCHE, moves.coinche)
    if moves.bids is not None:
        bid = _bid(_auction(view, me, hand, moves.bids))
        if bid is not None:
            return Speak(me, bid)
    return Speak(me, Say.PASS)


def _auction(view: View, me: Seat, hand: Hand, bids: Bids) -> Auction:
    made = [(spoken.seat, spoken.call) for spoken in view.calls if isinstance(spoken.call, Bid)]
    return Auction(
        me=me,
        hand=hand,
        rules=view.rules,
        bids=bids,
        mine=tuple(bid for seat, bid in made if seat is me),
        partners=tuple(bid for seat, bid in made if seat is me.partner),
        theirs=tuple(bid for seat, bid in made if seat.side is not me.side),
        standing=made[-1][1] if made else None,
        ours=bool(made) and made[-1][0].side is me.side,
    )


def _bid(seen: Auction) -> Bid | None:
    """The bid to make, or None."""
    capot = _capot(seen)
    if capot is not None or seen.bids.lowest is None:
        return capot
    if seen.partners and seen.mine:
        return _again(seen)
    if seen.partners:
        return _raise(seen) or _own(seen, better_by=14.0)
    if seen.mine:
        return _again(seen)
    return _own(seen)


def _capot(seen: Auction) -> Bid | None:
    """All eight, only when one hand takes them by itself, or all but one and the partner has bid the same trump."""
    if not seen.bids.capot:
        return None
    for trump in seen.bids.trumps:
        tricks = sure_tricks(seen.hand, trump)
        if tricks == 8 or (tricks == 7 and seen.mine and any(bid.trump is trump for bid in seen.partners)):
            return Bid(CAPOT, trump)
    return None


def _levels(bids: Bids) -> Iterator[int]:
    """The numbers that may be bid, from the lowest."""
    if bids.lowest is not None:
        yield from range(bids.lowest, bids.highest + 1, bids.step)


def _opening_margin(value: int) -> float:
    return OPEN + STEEP * max(value - 80, 0)


def _own(seen: Auction, better_by: float = 0.0) -> Bid | None:
    """A bid of one's own: the best trump, as high as the hand is worth; over opponents at least what outbids them."""
    best: tuple[float, Bid] | None = None
    claimed = {bid.trump for bid in seen.theirs}
    for trump in seen.bids.trumps:
        if trump in claimed:
            continue
        estimate = own_estimate(seen.hand, trump) - better_by
        beside = bonus(seen.rules, seen.hand, trump)
        fits = [value for value in _levels(seen.bids) if estimate - needed(seen.rules, value, beside) >= _opening_margin(value)]
        lowest = seen.bids.lowest
        assert lowest is not None
        spare = estimate - needed(seen.rules, lowest, beside)
        if not fits and seen.standing is not None and not seen.ours and spare >= OVERCALL + 0.15 * (lowest - 80):
            fits = [lowest]
        if fits and (best is None or estimate + beside > best[0]):
            best = (estimate + beside, Bid(fits[-1], trump))
    return None if best is None else best[1]


def _told(rules: Rules, bid: Bid) -> float:
    """The estimate of his own hand that a partner's bid tells."""
    base, slope = TELLS
    return base + slope * max(min(bid.points, 160) - max(rules.lowest_bid, 80), 0)


def _raise(seen: Auction) -> Bid | None:
    """One raise of the partner's suit, by what this hand adds to his."""
    partners = seen.partners[-1]
    if partners.value == CAPOT or partners.trump not in seen.bids.trumps:
        return None
    trump = partners.trump
    total = together(_told(seen.rules, partners), support(seen.hand, trump), trump)
    beside = bonus(seen.rules, seen.hand, trump)
    margin = RAISE if seen.ours else CONTEST
    fits = [value for value in _levels(seen.bids) if total - needed(seen.rules, value, beside) >= margin]
    if not fits:
        return None
    return Bid(fits[-1] if seen.ours else fits[0], trump)


def _again(seen: Auction) -> Bid | None:
    """A second bid, once, and only over opponents: in the suit the partner raised, or a hand much better than its opening."""
    if seen.ours or len(seen.mine) > 1:
        return None
    trump = seen.mine[-1].trump
    lowest = seen.bids.lowest
    assert lowest is not None
    raises = [bid for bid in seen.partners if bid.trump is trump]
    beside = bonus(seen.rules, seen.hand, trump)
    total = own_estimate(seen.hand, trump) + (12.0 if raises else -3.0)
    if total - needed(seen.rules, lowest, beside) >= OVERCALL + 0.15 * (lowest - 80):
        return Bid(lowest, trump)
    return None


def _beaten(view: View, hand: Hand, bid: Bid) -> bool:
    """Whether this hand alone makes it very likely that the opponents' bid fails."""
    if bid.value == CAPOT:
        return _stops_capot(hand, bid.trump)
    rules = view.rules
    base, slope = STANDS_FLAT if bid.trump.suit is None else STANDS_MELDS if rules.melds else STANDS
    likely = base + slope * (min(bid.points, 180) - 80) - against(hand, bid.trump)
    bidders = {one.seat for one in view.calls if isinstance(one.call, Bid) and one.seat.side is not _side(view)}
    if len(bidders) > 1:
        likely += RAISED
    # A high bid counts on melds and belote that the defence cannot see.
    unseen = max(0.0, bid.points - (110.0 if rules.melds else 130.0))
    margin = COINCHE + (COINCHE_FLAT if bid.trump.suit is None else 0.0) + (COINCHE_MELDS if rules.melds else 0.0)
    return needed(rules, bid.value, unseen) - likely >= margin


def _side(view: View) -> Side:
    assert view.viewer is not None
    return view.viewer.side


def _stops_capot(hand: Hand, trump: Trump) -> bool:
    """A trick that nobody can take away: the master of the trumps, or an ace where there are none."""
    return sure_tricks(hand, trump) > 0


def _surcoinche(view: View, hand: Hand) -> Call:
    """Only with a contract that one's own hand makes with much to spare."""
    contract = view.contract
    assert contract is not None
    if contract.value == CAPOT:
        return Say.SURCOINCHE if sure_tricks(hand, contract.trump) == 8 else Say.PASS
    beside = bonus(view.rules, hand, contract.trump)
    need = needed(view.rules, contract.value, beside)
    if contract.declarer is view.viewer:
        total = own_estimate(hand, contract.trump) - COINCHER
    else:
        told = _told(view.rules, Bid(contract.value, contract.trump)) - COINCHER
        total = together(told, support(hand, contract.trump), contract.trump)
    return Say.SURCOINCHE if total - need >= SURCOINCHE else Say.PASS


def _wants_redeal(view: View, hand: Hand) -> bool:
    """A hand with nothing is worth dealing again, unless the partner's bid stands or it has something after all."""
    assert view.viewer is not None
    if view.contract is not None and view.contract.declarer.side is view.viewer.side:
        return False
    return all(
        own_estimate(hand, trump) + bonus(view.rules, hand, trump) < 80 + OPEN + BID_STEP / 2 for trump in view.rules.trumps
    )
