"""What follows from an action, and what becomes of the game? `decide` judges, `evolve` obeys; both are pure.

`decide` is one answer plus whatever follows from the state: `_answer` is the only function that refuses; `_sequel` reads off
the state what must happen next, until nothing must. Nobody calls "end of trick" from "play card".
"""

from collections.abc import Iterable
from dataclasses import replace

from app.game.actions import Action, Deal, Doubled, Play, Redeal, Right, Speak
from app.game.auction import after_call, judge, legal_calls, opening
from app.game.cards import Card, Rank
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
    RedealClaimed,
    ShownMeld,
    TrickTaken,
    Word,
)
from app.game.melds import belote_suits, belotes_held, melds_of
from app.game.refusal import Refused, Why
from app.game.rules import BeloteHow, Rules
from app.game.scoring import Outcome, game_winner, score_deal
from app.game.seats import SEATS, BySide, Seat, around
from app.game.shuffle import are_secrets, commitment, pack_of
from app.game.state import Bidding, Dealing, DealRecord, Game, Hands, Over, Playing, Unplayed
from app.game.tricks import Taken, Trick, legal_cards, plain_points, scale, taken, trick_points, tricks_won

PACKETS = (3, 2, 3)
"""How many cards at a time."""


def decide(game: Game, action: Action) -> tuple[Event, ...]:
    """What the action brings about, with all that follows from it. Raises `Refused`, and then nothing has happened."""
    events = list(_answer(game, action))
    game = evolve_all(game, events)
    while sequel := _sequel(game):
        events += sequel
        game = evolve_all(game, sequel)
    return tuple(events)


def evolve_all(game: Game, events: Iterable[Event]) -> Game:
    """The game after all these events, in order."""
    for event in events:
        game = evolve(game, event)
    return game


def replay(opened: Game, log: Iterable[Event]) -> Game:
    """The game that a log tells, from the game as it was opened."""
    return evolve_all(opened, log)


# --- what is asked ---------------------------------------------------------------------------------------------------


def _answer(game: Game, action: Action) -> tuple[Event, ...]:
    match action, game.phase:
        case Deal(), Dealing() as phase:
            return _deal(game, phase, action)
        case Speak(), Bidding() as phase:
            return _speak(game, phase, action)
        case Redeal(), Bidding() as phase:
            return _redeal(game.rules, phase, action)
        case Play(), Playing() as phase:
            return _play(game.rules, phase, action)
        case _:
            raise Refused(Why.NOT_NOW)


def _deal(game: Game, phase: Dealing, action: Deal) -> tuple[Event, ...]:
    """The promise, and the cards that the secrets behind it make: a pack from anywhere else is refused."""
    seed, salt = bytes.fromhex(action.seed), bytes.fromhex(action.salt)
    if not are_secrets(seed, salt, action.cut) or action.pack != (pack := pack_of(seed, salt, action.cut)):
        raise Refused(Why.BAD_PACK)
    number = game.deal + 1
    promise = commitment(game.id, number, seed, salt, action.cut)
    return (DealCommitted(number, promise), HandsDealt(number, phase.dealer, deal_out(pack, phase.dealer)))


def deal_out(pack: tuple[Card, ...], dealer: Seat) -> Hands:
    """Four hands by seat, dealt three, two and three at a time, beginning after the dealer."""
    hands: dict[Seat, tuple[Card, ...]] = dict.fromkeys(SEATS, ())
    place = 0
    for packet in PACKETS:
        for seat in around(dealer.next):
            hands[seat] += pack[place : place + packet]
            place += packet
    return tuple(hands[seat] for seat in SEATS)


def _speak(game: Game, phase: Bidding, action: Speak) -> tuple[Event, ...]:
    contract = phase.auction.contract
    if action.on is not None and contract is not None and action.on != Doubled(game.deal, contract.bid):
        raise Refused(Why.OTHER_BID)
    judge(game.rules, phase.auction, action.seat, action.call)
    return (CallMade(action.seat, action.call),)


def _redeal(rules: Rules, phase: Bidding, action: Redeal) -> tuple[Event, ...]:
    contract = phase.auction.contract
    if action.right in redeal_rights(rules, phase, action.seat):
        return (RedealClaimed(action.seat, action.right, phase.hands[action.seat]),)
    if action.seat is not phase.auction.turn:
        raise Refused(Why.NOT_YOUR_TURN)
    raise Refused(Why.COINCHED if contract is not None and contract.level else Why.NO_REDEAL)


def redeal_rights(rules: Rules, phase: Bidding, seat: Seat) -> tuple[Right, ...]:
    """The rights to a redeal that the seat has now: in its turn, while no coinche stands."""
    auction = phase.auction
    if seat is not auction.turn or not legal_calls(rules, auction, seat).may_pass:
        return ()
    if auction.contract is not None and auction.contract.level:
        return ()
    hand = phase.hands[seat]
    first_call = all(spoken.seat is not seat for spoken in auction.calls)
    rights = []
    if rules.misere and first_call and plain_points(hand) <= 9:
        rights.append(Right.MISERE)
    if rules.carre_of_sevens and sum(card.rank is Rank.SEVEN for card in hand) == 4:
        rights.append(Right.SEVENS)
    return tuple(rights)


def _play(rules: Rules, phase: Playing, action: Play) -> tuple[Event, ...]:
    seat, card = action.seat, action.card
    if seat is not phase.trick.turn:
        raise Refused(Why.NOT_YOUR_TURN)
    hand = phase.hands[seat]
    if card not in hand:
        raise Refused(Why.NOT_IN_HAND)
    why = legal_cards(rules, phase.contract.bid.trump, phase.trick, hand)[card]
    if why is not None:
        raise Refused(why)
    if action.belote and card not in declarable(rules, phase, seat):
        raise Refused(Why.NO_BELOTE)
    events: list[Event] = [CardPlayed(seat, card)]
    word = _word(rules, phase, action)
    if word is not None:
        events.append(BeloteSaid(seat, card.suit, word))
    kinds = tuple(meld.kind for meld in phase.melds.by_seat[seat])
    if not phase.taken and kinds:
        events.append(MeldsAnnounced(seat, kinds))
    if len(phase.taken) == 1 and not phase.trick.cards and phase.melds.winner is not None:
        events.append(MeldsShown(_winning_melds(phase)))
    return tuple(events)


def declarable(rules: Rules, phase: Playing, seat: Seat) -> tuple[Card, ...]:
    """The cards with which the seat in turn may declare a belote: king and queen while it holds both, if they may be played."""
    if rules.belote is BeloteHow.AUTOMATIC:
        return ()
    trump, hand = phase.contract.bid.trump, phase.hands[seat]
    legal = legal_cards(rules, trump, phase.trick, hand)
    pairs = (Card(f"{rank}{suit}") for suit in belotes_held(rules, trump, hand) for rank in "KQ")
    return tuple(card for card in pairs if legal[card] is None)


def _word(rules: Rules, phase: Playing, action: Play) -> Word | None:
    """What is said with this card: it is the first of a belote that counts, or the second of one that was said."""
    suit = action.card.suit
    trump = phase.contract.bid.trump
    if action.card.rank not in (Rank.KING, Rank.QUEEN) or suit not in belote_suits(rules, trump):
        return None
    if suit in belotes_held(rules, trump, phase.hands[action.seat]):
        return Word.BELOTE if action.belote or rules.belote is BeloteHow.AUTOMATIC else None
    return Word.REBELOTE if any(one.suit is suit for one in phase.said) else None


def _winning_melds(phase: Playing) -> tuple[ShownMeld, ...]:
    seats = (seat for seat in SEATS if seat.side is phase.melds.winner)
    return tuple(ShownMeld(seat, meld) for seat in seats for meld in phase.melds.by_seat[seat])


# --- what follows ----------------------------------------------------------------------------------------------------


def _sequel(game: Game) -> tuple[Event, ...]:
    """What must happen next of itself, or nothing."""
    match game.phase:
        case Bidding(auction=auction) if auction.is_closed:
            return (DealPassedOut(),) if auction.contract is None else (ContractSet(auction.contract),)
        case Playing(trick=trick) as phase if trick.is_full:
            one = taken(scale(game.rules, phase.contract.bid.trump), phase.taken, trick, phase.contract.bid.trump)
            return (TrickTaken(one.winner, one.points),)
        case Playing(taken=tricks) as phase if len(tricks) == 8:
            return (DealScored(score_deal(game.rules, phase.contract, outcome(game.rules, phase))),)
        case Dealing() if game.deals and game.deals[-1].score is not None:
            winner = game_winner(game.rules, game.totals, game.deals[-1].score.winner)
            return () if winner is None else (GameWon(winner, game.totals),)
        case _:
            return ()


def outcome(rules: Rules, phase: Playing) -> Outcome:
    """What a deal that was played out brought each side."""
    said = [one for one in phase.said if one.word is Word.BELOTE]
    return Outcome(
        trick_points=trick_points(phase.taken),
        tricks_won=tricks_won(phase.taken),
        belotes=BySide.of(lambda side: sum(one.seat.side is side for one in said)),
        melds=phase.melds.points,
        der=phase.taken[-1].winner.side,
    )


# --- what becomes of it ----------------------------------------------------------------------------------------------


def evolve(game: Game, event: Event) -> Game:
    """The game after an event. It never judges."""
    phase = game.phase
    match event, phase:
        case DealCommitted(), Dealing():
            return replace(game, deal=event.deal)
        case HandsDealt(), Dealing():
            return replace(game, phase=Bidding(event.dealer, event.hands, opening(event.dealer)), last=None)
        case CallMade(), Bidding():
            return replace(game, phase=replace(phase, auction=after_call(phase.auction, event.seat, event.call)))
        case RedealClaimed(), Bidding():
            return _unscored(game, Unplayed(phase.dealer, phase.hands, phase.auction.calls, event), phase.dealer)
        case DealPassedOut(), Bidding():
            return _unscored(game, Unplayed(phase.dealer, phase.hands, phase.auction.calls), phase.dealer.next)
        case ContractSet(), Bidding():
            return replace(game, phase=_first_trick(game.rules, phase, event))
        case CardPlayed(), Playing():
            return replace(game, phase=_card_on_table(phase, event))
        case BeloteSaid(), Playing():
            return replace(game, phase=replace(phase, said=(*phase.said, event)))
        case MeldsAnnounced(), Playing():
            return replace(game, phase=replace(phase, announced=(*phase.announced, event)))
        case MeldsShown(), Playing():
            return replace(game, phase=replace(phase, shown=event.melds))
        case TrickTaken(), Playing():
            return replace(game, phase=_trick_away(phase, event))
        case DealScored(), Playing():
            return _scored(game, phase, event)
        case GameWon(), Dealing():
            return replace(game, phase=Over(event.side, phase.dealer))
        case _:
            raise ValueError(f"{type(event).__name__} cannot follow in {type(phase).__name__}")


def _unscored(game: Game, unplayed: Unplayed, next_dealer: Seat) -> Game:
    record = DealRecord(game.deal, unplayed.dealer, None, game.totals)
    return replace(game, phase=Dealing(next_dealer), deals=(*game.deals, record), last=unplayed)


def _first_trick(rules: Rules, phase: Bidding, event: ContractSet) -> Playing:
    return Playing(
        dealer=phase.dealer,
        dealt=phase.hands,
        hands=phase.hands,
        calls=phase.auction.calls,
        contract=event.contract,
        melds=melds_of(rules, event.contract.bid.trump, phase.hands),
        trick=Trick(phase.dealer.next),
    )


def _card_on_table(phase: Playing, event: CardPlayed) -> Playing:
    left = tuple(card for card in phase.hands[event.seat] if card is not event.card)
    hands = tuple(left if seat is event.seat else phase.hands[seat] for seat in SEATS)
    return replace(phase, hands=hands, trick=replace(phase.trick, cards=(*phase.trick.cards, event.card)))


def _trick_away(phase: Playing, event: TrickTaken) -> Playing:
    one = Taken(phase.trick, event.seat, event.points)
    return replace(phase, trick=Trick(event.seat), taken=(*phase.taken, one))


def _scored(game: Game, phase: Playing, event: DealScored) -> Game:
    score = event.score.score
    totals = BySide.of(lambda side: game.totals[side] + score[side])
    record = DealRecord(game.deal, phase.dealer, event.score, totals)
    return replace(game, phase=Dealing(phase.dealer.next), totals=totals, deals=(*game.deals, record), last=phase)
