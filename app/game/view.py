"""What may a viewer know? The one door through which anything of a game leaves: views, events and moves.

A viewer is a seat, which sees its own hand, or nobody (None), who sees what all may see. The default is secret: an event that
`redact` does not list goes nowhere.
"""

from dataclasses import dataclass, replace
from typing import Literal, assert_never

from app.game.actions import Doubled, Right
from app.game.auction import Bids, Contract, Spoken, Value, legal_calls
from app.game.cards import Card, Suit
from app.game.engine import declarable, redeal_rights
from app.game.events import (
    BeloteSaid,
    CallMade,
    CardPlayed,
    ContractSet,
    DealCommitted,
    DealPassedOut,
    DealScored,
    Event,
    GameWon,
    HandsDealt,
    MeldsAnnounced,
    MeldsShown,
    PublicEvent,
    RedealClaimed,
    ShownMeld,
    TrickTaken,
)
from app.game.refusal import Why
from app.game.rules import Rules
from app.game.scoring import Line
from app.game.seats import SEATS, BySide, Seat, Side
from app.game.state import Bidding, Dealing, DealRecord, Game, Over, Playing
from app.game.tricks import Taken, Trick, legal_cards, master, pile_of, scale, trick_points, tricks_won
from app.game.trump import Trump, strength

Viewer = Seat | None


# --- moves -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CallMoves:
    """The calls open to a seat; bids come as a range, not as a list."""

    may_pass: bool
    bids: Bids | None
    coinche: Doubled | None
    surcoinche: bool
    redeal: tuple[Right, ...]


@dataclass(frozen=True, slots=True)
class CardMove:
    """A card of one's hand: legal (`why` is None), or the reason why not."""

    card: Card
    why: Why | None


@dataclass(frozen=True, slots=True)
class CardMoves:
    """The hand of the seat in turn, and the cards with which it may declare a belote."""

    cards: tuple[CardMove, ...]
    belote: tuple[Card, ...]


Moves = CallMoves | CardMoves


def moves(game: Game, viewer: Viewer) -> Moves | None:
    """What the viewer may do now; None if nothing. Exactly these actions are accepted."""
    match game.phase:
        case Bidding() as phase if viewer is not None:
            return _call_moves(game, phase, viewer)
        case Playing() as phase if viewer is phase.trick.turn:
            hand = _sorted(phase.hands[viewer], phase.contract.bid.trump)
            legal = legal_cards(game.rules, phase.contract.bid.trump, phase.trick, hand)
            return CardMoves(tuple(CardMove(card, why) for card, why in legal.items()), declarable(game.rules, phase, viewer))
        case _:
            return None


def _call_moves(game: Game, phase: Bidding, seat: Seat) -> CallMoves | None:
    calls = legal_calls(game.rules, phase.auction, seat)
    if not calls:
        return None
    coinche = None if calls.coinche is None else Doubled(game.deal, calls.coinche)
    return CallMoves(calls.may_pass, calls.bids, coinche, calls.surcoinche, redeal_rights(game.rules, phase, seat))


# --- views -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ContractSeen:
    """A contract with its factor spelled out."""

    declarer: Seat
    value: Value
    trump: Trump
    level: int
    factor: int


@dataclass(frozen=True, slots=True)
class Laid:
    """A card that lies on the table, and who laid it."""

    seat: Seat
    card: Card


@dataclass(frozen=True, slots=True)
class TrickSeen:
    """The open trick: its number in the deal, its cards, who is master, and what lies in it."""

    number: int
    leader: Seat
    cards: tuple[Laid, ...]
    master: Seat | None
    points: int


@dataclass(frozen=True, slots=True)
class LastTrick:
    """The trick that was taken last."""

    leader: Seat
    cards: tuple[Laid, ...]
    winner: Seat
    points: int


@dataclass(frozen=True, slots=True)
class Announced:
    """The kind of a meld that a seat has announced."""

    seat: Seat
    kind: str


@dataclass(frozen=True, slots=True)
class MeldSeen:
    """A meld that was shown."""

    seat: Seat
    kind: str
    cards: tuple[Card, ...]
    points: int


@dataclass(frozen=True, slots=True)
class BeloteHeard:
    """A belote or rebelote that a seat has said."""

    seat: Seat
    suit: Suit
    word: str


@dataclass(frozen=True, slots=True)
class RedealSeen:
    """Who had the cards dealt again, by what right, and the hand that was shown for it."""

    seat: Seat
    right: Right
    hand: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A deal on the score sheet. Nothing but the totals where it was not scored."""

    deal: int
    dealer: Seat
    contract: ContractSeen | None
    made: bool | None
    trick_points: BySide[int] | None
    tricks_won: BySide[int] | None
    score: BySide[int]
    totals: BySide[int]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class View:
    """All that one viewer may know of a game."""

    viewer: Viewer
    rules: Rules
    phase: Literal["dealing", "bidding", "playing", "over"]
    deal: int
    dealer: Seat
    totals: BySide[int]
    sheet: tuple[Row, ...]
    hand: tuple[Card, ...] | None
    counts: tuple[int, ...]
    turn: Seat | None = None
    calls: tuple[Spoken, ...] = ()
    contract: ContractSeen | None = None
    trick: TrickSeen | None = None
    last_trick: LastTrick | None = None
    taken: tuple[LastTrick, ...] = ()
    tricks_won: BySide[int] = BySide(0, 0)
    trick_points: BySide[int] = BySide(0, 0)
    belotes: tuple[BeloteHeard, ...] = ()
    melds: tuple[Announced, ...] = ()
    melds_shown: tuple[MeldSeen, ...] = ()
    redeal: RedealSeen | None = None
    moves: Moves | None = None
    winner: Side | None = None


def view(game: Game, viewer: Viewer) -> View:
    """The game as the viewer may see it."""
    return seen_by(game, public_view(game), viewer)


def seen_by(game: Game, public: View, viewer: Viewer) -> View:
    """The public view of the same game, and what the viewer alone may see beside it: hand and moves."""
    if viewer is None:
        return public
    return replace(public, viewer=viewer, hand=_hand(game, viewer), moves=moves(game, viewer))


def _hand(game: Game, seat: Seat) -> tuple[Card, ...]:
    """The cards that a seat holds, as they lie in its hand; between two deals those of a deal that was not played out."""
    match game.phase:
        case Bidding(hands=hands):
            return _sorted(hands[seat], None)
        case Playing() as phase:
            return _sorted(phase.hands[seat], phase.contract.bid.trump)
        case Dealing() | Over():
            last = game.last
            trump = last.contract.bid.trump if isinstance(last, Playing) else None
            return () if last is None else _sorted(last.hands[seat], trump)
        case _:
            assert_never(game.phase)


def public_view(game: Game) -> View:
    """The game as all may see it: no hand, no moves."""
    match game.phase:
        case Bidding() as phase:
            return _bidding(game, phase)
        case Playing() as phase:
            return replace(_laid_out(game, phase), phase="playing", turn=phase.trick.turn, trick=_open(game.rules, phase))
        case Dealing(dealer=dealer):
            return _between(game, dealer)
        case Over(dealer=dealer, winner=winner):
            return replace(_between(game, dealer), phase="over", winner=winner)
        case _:
            assert_never(game.phase)


def _bidding(game: Game, phase: Bidding) -> View:
    contract = phase.auction.contract
    return View(
        viewer=None,
        rules=game.rules,
        phase="bidding",
        deal=game.deal,
        dealer=phase.dealer,
        totals=game.totals,
        sheet=sheet(game),
        hand=None,
        counts=tuple(len(hand) for hand in phase.hands),
        turn=phase.auction.turn,
        calls=phase.auction.calls,
        contract=None if contract is None else contract_seen(game.rules, contract),
    )


def _between(game: Game, dealer: Seat) -> View:
    """Between two deals, and at the end: the last deal still lies there, with its own dealer. Before the first is none."""
    last = game.last
    if isinstance(last, Playing):
        return _laid_out(game, last)
    return View(
        viewer=None,
        rules=game.rules,
        phase="dealing",
        deal=game.deal,
        dealer=dealer if last is None else last.dealer,
        totals=game.totals,
        sheet=sheet(game),
        hand=None,
        counts=(0, 0, 0, 0) if last is None else tuple(len(hand) for hand in last.hands),
        calls=() if last is None else last.calls,
        redeal=None if last is None or last.redeal is None else _redeal_seen(last.redeal),
    )


def _redeal_seen(claimed: RedealClaimed) -> RedealSeen:
    """The hand that was shown to all."""
    return RedealSeen(claimed.seat, claimed.right, _sorted(claimed.hand, None))


def _laid_out(game: Game, phase: Playing) -> View:
    """A deal that is being played, or was played out, as it lies."""
    tricks = tuple(_last(one) for one in phase.taken)
    return View(
        viewer=None,
        rules=game.rules,
        phase="dealing",
        deal=game.deal,
        dealer=phase.dealer,
        totals=game.totals,
        sheet=sheet(game),
        hand=None,
        counts=tuple(len(hand) for hand in phase.hands),
        calls=phase.calls,
        contract=contract_seen(game.rules, phase.contract),
        last_trick=tricks[-1] if tricks else None,
        taken=tricks,
        tricks_won=tricks_won(phase.taken),
        trick_points=trick_points(phase.taken),
        belotes=tuple(BeloteHeard(one.seat, one.suit, one.word.value) for one in phase.said),
        melds=tuple(Announced(one.seat, kind.value) for one in phase.announced for kind in one.kinds),
        melds_shown=tuple(meld_seen(one) for one in phase.shown),
    )


def contract_seen(rules: Rules, contract: Contract) -> ContractSeen:
    """The contract with its factor."""
    bid = contract.bid
    return ContractSeen(contract.declarer, bid.value, bid.trump, contract.level, rules.factor(contract.level))


def meld_seen(shown: ShownMeld) -> MeldSeen:
    """A shown meld without the ranking that is of no use to a viewer."""
    return MeldSeen(shown.seat, shown.meld.kind.value, shown.meld.cards, shown.meld.points)


def sheet(game: Game) -> tuple[Row, ...]:
    """The score sheet: a row for each finished deal."""
    return tuple(row(game.rules, record) for record in game.deals)


def row(rules: Rules, record: DealRecord) -> Row:
    """One row of the score sheet."""
    score = record.score
    if score is None:
        return Row(record.number, record.dealer, None, None, None, None, BySide(0, 0), record.totals, ())
    return Row(
        deal=record.number,
        dealer=record.dealer,
        contract=contract_seen(rules, score.contract),
        made=score.made,
        trick_points=score.outcome.trick_points,
        tricks_won=score.outcome.tricks_won,
        score=score.score,
        totals=record.totals,
        lines=score.lines,
    )


def _laid(trick: Trick) -> tuple[Laid, ...]:
    return tuple(map(Laid, trick.seats, trick.cards))


def _open(rules: Rules, phase: Playing) -> TrickSeen:
    trump, trick = phase.contract.bid.trump, phase.trick
    top = master(trick, trump)
    points = 0
    if top is not None:
        count = scale(rules, trump).count
        pile = pile_of(phase.taken, top.side)
        points = count(pile + trick.cards) - count(pile)
    return TrickSeen(len(phase.taken) + 1, trick.leader, _laid(trick), top, points)


def _last(one: Taken) -> LastTrick:
    return LastTrick(one.trick.leader, _laid(one.trick), one.winner, one.points)


_CYCLE = (Suit.SPADES, Suit.HEARTS, Suit.CLUBS, Suit.DIAMONDS)
"""Suits as a hand is sorted: black and red in turn, wherever one begins."""


def _sorted(hand: tuple[Card, ...], trump: Trump | None) -> tuple[Card, ...]:
    """A hand as it should be shown: trumps first, each suit from its strongest card down."""
    order = trump or Trump.NONE
    first = 0 if order.suit is None else _CYCLE.index(order.suit)
    suits = _CYCLE[first:] + _CYCLE[:first]
    return tuple(sorted(hand, key=lambda card: (suits.index(card.suit), -strength(card, order))))


# --- events ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HandsSeen:
    """Hands that were dealt, by seat; None where the viewer may not look."""

    deal: int
    dealer: Seat
    hands: tuple[tuple[Card, ...] | None, ...]


Seen = PublicEvent | HandsSeen


def redact(event: Event, viewer: Viewer) -> Seen:
    """The event as the viewer may see it. What all may see is listed; the type checker stops at one that is not."""
    match event:
        case HandsDealt():
            hands = tuple(_sorted(event.hands[seat], None) if seat is viewer else None for seat in SEATS)
            return HandsSeen(event.deal, event.dealer, hands)
        case (
            DealCommitted()
            | CallMade()
            | RedealClaimed()
            | DealPassedOut()
            | ContractSet()
            | CardPlayed()
            | BeloteSaid()
            | MeldsAnnounced()
            | MeldsShown()
            | TrickTaken()
            | DealScored()
            | GameWon()
        ):
            return event
        case _:
            assert_never(event)
