"""Positions as text, seen by seat 0: partner is seat 2, the next opponent seat 1, the one before seat 3."""

from collections.abc import Sequence

from app.bots.player import choose
from app.game.actions import Action, Doubled, Play, Right, Speak
from app.game.auction import Bid, Call, Say, Spoken, after_call, legal_calls, opening
from app.game.cards import Card
from app.game.rules import PRESETS, Rules
from app.game.seats import SEATS, BySide, Seat
from app.game.tricks import Taken, Trick, legal_cards, master, pile_of, scale, taken, trick_points, tricks_won
from app.game.trump import Trump
from app.game.view import BeloteHeard, CallMoves, CardMove, CardMoves, ContractSeen, Laid, LastTrick, MeldSeen, TrickSeen, View

ME, NEXT, PARTNER, BEFORE = SEATS
CLASSIC = PRESETS["classic-1000"]
SUITS = PRESETS["contree-701"]


def cards(text: str) -> tuple[Card, ...]:
    return tuple(Card(name) for name in text.split())


def trick_of(text: str) -> Trick:
    """`"2: JH 7H"`: the leader's number and the cards in order."""
    leader, _, names = text.partition(":")
    return Trick(Seat(int(leader)), cards(names))


def call_of(text: str) -> Call:
    """`"90H"`, `"80SA"`, `"capotH"` or a `Say`."""
    if text in list(Say):
        return Say(text)
    for trump in sorted(Trump, key=len, reverse=True):
        if text.endswith(trump):
            value = text.removesuffix(trump)
            return Bid("capot" if value == "capot" else int(value), trump)
    raise ValueError(text)


def playing(
    hand: str,
    table: str = "0:",
    *,
    trump: str = "H",
    declarer: Seat = ME,
    value: str = "90",
    tricks: Sequence[str] = (),
    calls: Sequence[tuple[Seat, str]] = (),
    belotes: Sequence[BeloteHeard] = (),
    shown: Sequence[MeldSeen] = (),
    declarable: str = "",
    rules: Rules = CLASSIC,
) -> View:
    """Seat 0 to play: its hand, the cards on the table, and the tricks before."""
    contract = Trump(trump)
    counted = scale(rules, contract)
    done: tuple[Taken, ...] = ()
    for text in tricks:
        done += (taken(counted, done, trick_of(text), contract),)
    trick = trick_of(table)
    assert trick.turn is ME
    counts = [8 - len(done)] * 4
    for seat in trick.seats:
        counts[seat] -= 1
    held = cards(hand)
    assert len(held) == counts[ME]
    top = master(trick, contract)
    pile = pile_of(done, ME.side if top is None else top.side)
    seen = TrickSeen(
        number=len(done) + 1,
        leader=trick.leader,
        cards=tuple(map(Laid, trick.seats, trick.cards)),
        master=top,
        points=counted.count(pile + trick.cards) - counted.count(pile),
    )
    last = tuple(
        LastTrick(one.trick.leader, tuple(map(Laid, one.trick.seats, one.trick.cards)), one.winner, one.points) for one in done
    )
    legal = legal_cards(rules, contract, trick, held)
    return View(
        viewer=ME,
        rules=rules,
        phase="playing",
        deal=1,
        dealer=BEFORE,
        totals=BySide(0, 0),
        sheet=(),
        hand=held,
        counts=tuple(counts),
        turn=ME,
        calls=tuple(Spoken(seat, call_of(text)) for seat, text in calls),
        contract=ContractSeen(declarer, "capot" if value == "capot" else int(value), contract, 0, 1),
        trick=seen,
        taken=last,
        tricks_won=tricks_won(done),
        trick_points=trick_points(done),
        belotes=tuple(belotes),
        melds_shown=tuple(shown),
        moves=CardMoves(tuple(CardMove(card, why) for card, why in legal.items()), cards(declarable)),
    )


def bidding(hand: str, *calls: str, rules: Rules = CLASSIC, redeal: tuple[Right, ...] = ()) -> View:
    """Seat 0 to speak after these calls, the last of them by seat 3."""
    turns = len(calls)
    auction = opening(Seat((-turns - 1) % 4))
    for text in calls:
        auction = after_call(auction, auction.turn, call_of(text))
    assert auction.turn is ME
    legal = legal_calls(rules, auction, ME)
    standing = auction.contract
    return View(
        viewer=ME,
        rules=rules,
        phase="bidding",
        deal=1,
        dealer=Seat((-turns - 1) % 4),
        totals=BySide(0, 0),
        sheet=(),
        hand=cards(hand),
        counts=(8, 8, 8, 8),
        turn=ME,
        calls=auction.calls,
        contract=None
        if standing is None
        else ContractSeen(
            standing.declarer, standing.bid.value, standing.bid.trump, standing.level, rules.factor(standing.level)
        ),
        moves=CallMoves(
            legal.may_pass,
            legal.bids,
            None if legal.coinche is None else Doubled(1, legal.coinche),
            legal.surcoinche,
            redeal,
        ),
    )


def played(view: View) -> str:
    """The card that the house player plays."""
    action = choose(view)
    assert isinstance(action, Play)
    return action.card.value


def called(view: View) -> str:
    """What it calls, written as `call_of` reads it."""
    action: Action | None = choose(view)
    assert isinstance(action, Speak)
    call = action.call
    return f"{call.value}{call.trump}" if isinstance(call, Bid) else call.value


def level(view: View) -> int:
    """The number it bids, 0 for a pass."""
    action = choose(view)
    assert isinstance(action, Speak)
    return action.call.points if isinstance(action.call, Bid) else 0
