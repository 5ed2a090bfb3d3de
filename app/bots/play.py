"""Which card does the house player play? It weighs the trick on the table against what each card is still good for.

To follow: the chance that the trick becomes ours, times what lies in it, minus the card's future worth. To lead: the same, and
the habits of the table: the declarers draw trumps, masters are cashed, a singleton is led to ruff, partner's suit is returned.
"""

from app.bots.knowledge import Knowledge, beats, learn
from app.game.actions import Play
from app.game.auction import Bid
from app.game.cards import Card, Rank, Suit
from app.game.seats import Seat
from app.game.tricks import DER
from app.game.view import CardMoves, View

FOLLOW = 3.5
"""What a card still to come brings to a trick, on average."""
SWEEP = 5.0
"""What a trick taken with a master brings beyond the master itself."""
RUFF = 8.0
"""What a trick taken with a trump brings beyond the trump itself."""
TEMPO = 3.0
"""What it is worth to take a trick oneself, and lead."""
ALL_EIGHT = 60.0
"""What a single trick is worth where it decides a capot."""

GUARDED_SECOND, BARE_SECOND, LATER, NEVER = 0.5, 0.15, 0.2, 0.04
"""How often a card takes a trick later: one card is above it and it is guarded, or bare; more are."""
PARTNER_SAVES = 0.45
"""How often a partner who can take a trick that opponents are taking does."""

DRAW, DRAW_LOW, HELP_DRAW, DRAWN = 40.0, 26.0, 30.0, -15.0
"""Declarers lead trumps: with the master, from length, to a declaring partner; and not when only they have any."""
DEFENCE_TRUMP = -12.0
"""Defenders seldom do."""
CASH, CASH_LONG = 18.0, 1.5
"""Masters are led, from long suits first where nobody ruffs."""
RUFF_PARTNER = -12.0
"""A trick that the partner is taking is not ruffed, even to save an ace of trumps."""
BREAK_MASTER, BREAK_TEN = -8.0, -4.0
"""Nobody leads low from a suit whose master he holds, nor away from a ten."""
FROM_LENGTH = 2.0
"""In sans atout and tout atout one leads from length."""
SINGLETON, PARTNER_RUFFS = 6.0, 5.0
"""Leads for a ruff: one's own as a defender, or the partner's."""
PARTNERS_SUIT, THEIR_SUIT, RETURN, THROWN = 7.0, -3.0, 2.5, -1.5
"""Suits bid by the partner, or by opponents; led by the partner; thrown away by the partner."""


def play(view: View, moves: CardMoves) -> Play:
    """The card the viewer plays, in its turn; a belote is always declared."""
    legal = [move.card for move in moves.cards if move.why is None]
    card = legal[0] if len(legal) == 1 else _choose(view, legal)
    assert view.viewer is not None
    return Play(view.viewer, card, belote=card in moves.belote)


def _choose(view: View, legal: list[Card]) -> Card:
    know = learn(view)
    assert view.trick is not None
    weigh = _Follow(view, know).weigh if view.trick.cards else _Lead(view, know).weigh
    # Of cards that are worth the same, the one that counts least, then the weakest.
    return max(legal, key=lambda card: (round(weigh(card), 6), -know.points[card], -know.order[card]))


def stake(view: View, know: Knowledge) -> float:
    """What any trick is worth beyond its points: much while a capot bid, or all eight tricks, hang on it."""
    assert view.contract is not None
    ours, theirs = view.tricks_won[know.me.side], view.tricks_won[know.me.side.other]
    if view.contract.value == "capot":
        return ALL_EIGHT if (theirs if know.declaring else ours) == 0 else 0.0
    if not view.rules.capot_points or len(view.taken) < 5:
        return 0.0
    return ALL_EIGHT if (know.declaring and theirs == 0) or (not know.declaring and ours == 0) else 0.0


def later(know: Knowledge, hangs: float, win: float) -> float:
    """What a later trick is worth beyond its points: declarers need them all, for the defence one is enough."""
    return hangs if know.declaring else hangs * (1.0 - win)


def worth(know: Knowledge, card: Card, hangs: float, led: Suit | None = None) -> float:
    """What a card kept is still good for: its chance of a trick, and its points where partner may take them.

    `hangs` is what any trick is worth beyond its points. `led` is the suit of the trick the card is kept out of: fewer of that
    suit will be out.
    """
    points = know.points[card]
    mine = know.mine(card.suit)
    left, right = know.opponents
    higher = know.expected(know.above(card), left, right)
    guards = sum(know.order[other] < know.order[card] for other in mine)
    if card.suit is know.suit:
        return _trump_worth(know, points, higher, guards, len(mine), hangs)
    if higher < 0.05:
        takes = 0.95
    elif higher < 1.05:
        takes = GUARDED_SECOND if guards else BARE_SECOND
    else:
        takes = LATER if guards > 1 else NEVER
    if know.suit is not None:
        survives = (1.0 - know.ruffs(left, card.suit)) * (1.0 - know.ruffs(right, card.suit))
        if led is card.suit and know.trumps_against > 0.3:
            survives *= 0.6
        takes *= survives
    return takes * (points + SWEEP + hangs) + (1.0 - takes) * 0.4 * points


def _trump_worth(know: Knowledge, points: int, higher: float, guards: int, length: int, hangs: float) -> float:
    if higher < 0.05:
        return points + RUFF + hangs
    takes = 0.55 if guards >= higher else 0.35
    if know.trumps_against < 0.3:
        takes = 0.9
    return takes * (points + RUFF + hangs) + (1.0 - takes) * 0.35 * points + (0.5 if length < 3 else 0.0)


class _Follow:
    """Weighs the cards of a seat that does not lead."""

    def __init__(self, view: View, know: Knowledge) -> None:
        trick = view.trick
        assert trick is not None
        assert trick.master is not None
        self.know = know
        self.led = trick.cards[0].card.suit
        self.hangs = stake(view, know)
        self.master = trick.master
        self.top = next(laid.card for laid in trick.cards if laid.seat is trick.master)
        self.leader = trick.leader
        self.to_come = 3 - len(trick.cards)
        self.lies = trick.points + self.to_come * FOLLOW + (DER if trick.number == 8 else 0) + self.hangs

    def weigh(self, card: Card) -> float:
        know = self.know
        takes = beats(card, self.top, know.trump)
        top = card if takes else self.top
        ours = takes or self.master is know.me.partner
        win = self._ours(top, ours)
        value = win * (self.lies + know.points[card]) - worth(know, card, later(know, self.hangs, win), self.led)
        if takes:
            value += win * TEMPO + self._answer(card)
            if self.master is know.me.partner and self.led is not card.suit:
                value += RUFF_PARTNER * self._ours(self.top, True)
        return value + self._discard(card)

    def _ours(self, top: Card, ours: bool) -> float:
        """How likely the trick becomes ours when `top` is its best card now."""
        know = self.know
        if not self.to_come:
            return float(ours)
        after = know.beats(know.me.next, top, self.led)
        if self.to_come == 1:
            return (1.0 - after) if ours else 0.0
        partner = know.beats(know.me.partner, top, self.led)
        if ours:
            return 1.0 - after + after * partner * 0.4
        return partner * (1.0 - 0.6 * after)

    def _answer(self, card: Card) -> float:
        """Partner of the declaring side leads trumps: take it with the master and go on."""
        know = self.know
        if know.suit is None or self.led is not know.suit or self.leader is not know.me.partner:
            return 0.0
        serves = know.declaring and self._ours(self.top, True) < 0.98 and know.is_master(card)
        return 12.0 if serves else 0.0

    def _discard(self, card: Card) -> float:
        """Habits when throwing off: from a short suit to ruff it later, never the guard of a ten, and no trump for nothing."""
        know = self.know
        if card.suit is self.led or card.suit is know.suit:
            return 0.0
        mine = know.mine(card.suit)
        value = 0.0
        if len(mine) == 1 and know.suit is not None and know.mine(know.suit):
            value += 1.5
        if len(mine) == 2:
            other = mine[0] if mine[1] is card else mine[1]
            if len(know.above(other)) == 1 and know.points[other] >= 9:
                value -= 3.0
        if any(know.is_master(one) for one in mine if one is not card):
            value -= 0.7
        return value


class _Lead:
    """Weighs the cards of a seat that leads."""

    def __init__(self, view: View, know: Knowledge) -> None:
        assert view.trick is not None
        self.view = view
        self.know = know
        self.number = view.trick.number
        self.against = know.trumps_against
        self.hangs = stake(view, know)
        self.der = (DER if self.number == 8 else 0) + self.hangs
        self.partner_bid = _suits_bid(view, know.me.partner)
        self.opponents_bid = _suits_bid(view, know.me.next) | _suits_bid(view, know.me.before)

    def weigh(self, card: Card) -> float:
        know = self.know
        if know.is_master(card):
            # Of several masters of a suit the highest is led: that is how a partner reads it.
            top = max(know.mine(card.suit), key=lambda one: know.order[one])
            if top is not card:
                return self.weigh(top) - 5.0
        return self._trump(card) if card.suit is know.suit else self._plain(card)

    def _ours(self, card: Card) -> tuple[float, float]:
        """How likely the trick becomes ours, and how likely by this very card."""
        know = self.know
        left, right = know.opponents
        safe = (1.0 - know.beats(left, card, card.suit)) * (1.0 - know.beats(right, card, card.suit))
        partner = know.beats(know.me.partner, card, card.suit)
        return safe + (1.0 - safe) * partner * PARTNER_SAVES, safe

    def _value(self, card: Card) -> float:
        win, safe = self._ours(card)
        lies = self.know.points[card] + 3 * FOLLOW + self.der
        return win * lies + safe * TEMPO - worth(self.know, card, later(self.know, self.hangs, win))

    def _trump(self, card: Card) -> float:
        know = self.know
        assert know.suit is not None
        trumps = know.mine(know.suit)
        value = self._value(card)
        if not know.declaring:
            return value + DEFENCE_TRUMP
        if self.against < 0.25:
            return value + DRAWN
        if know.is_master(card):
            return value + DRAW
        out = know.out[know.suit]
        against = know.expected(know.above(card), *know.opponents)
        if know.declarer is know.me:
            # One trump out that is higher than all of mine falls by itself; it is not worth two of ours.
            draws = len(trumps) >= 3 and len(out) >= 2 and self.against > 1.0
            return value + (DRAW_LOW if draws else -10.0) - 0.5 * know.points[card]
        led_before = any(
            trick.cards[0].seat is know.declarer and trick.cards[0].card.suit is know.suit for trick in self.view.taken
        )
        drawn = sum(trick.cards[0].card.suit is know.suit for trick in self.view.taken)
        if led_before or drawn < 2:
            return value + HELP_DRAW - 0.4 * know.points[card] * against
        return value - 5.0

    def _plain(self, card: Card) -> float:
        know = self.know
        mine = know.mine(card.suit)
        value = self._value(card)
        if know.is_master(card):
            win, _ = self._ours(card)
            value += CASH * win
            if know.suit is None or self.against < 0.25:
                value += CASH_LONG * len(mine)
            return value
        if any(know.is_master(other) for other in mine):
            value += BREAK_MASTER
        if know.suit is not None:
            value += self._to_ruff(card, mine)
        else:
            value += FROM_LENGTH * (len(mine) - 2)
        if know.points[card] >= 9 and len(mine) > 1:
            value += BREAK_TEN
        return value + self._suit_habits(card.suit)

    def _to_ruff(self, card: Card, mine: tuple[Card, ...]) -> float:
        """A singleton led early by a defender with small trumps; a suit that partner may ruff."""
        know = self.know
        assert know.suit is not None
        value = 0.0
        trumps = know.mine(know.suit)
        small = trumps and not any(know.is_master(one) for one in trumps)
        if len(mine) == 1 and small and not know.declaring and self.number <= 3:
            value += SINGLETON
        if know.is_void(know.me.partner, card.suit) and know.ruffs(know.me.partner, card.suit) > 0.5:
            value += PARTNER_RUFFS
        return value

    def _suit_habits(self, suit: Suit) -> float:
        """Partner's suit rather than the opponents'; back to the suit partner led, not to one partner threw away."""
        partner = self.know.me.partner
        value = 0.0
        if suit in self.partner_bid:
            value += PARTNERS_SUIT
        elif suit in self.opponents_bid:
            value += THEIR_SUIT
        for trick in self.view.taken:
            led = trick.cards[0]
            if led.seat is partner and led.card.suit is suit:
                value += RETURN
            for laid in trick.cards[1:]:
                if laid.seat is partner and laid.card.suit is suit and led.card.suit is not suit:
                    value += 2.0 if laid.card.rank in (Rank.ACE, Rank.TEN) else THROWN
        return value


def _suits_bid(view: View, seat: Seat) -> set[Suit]:
    """The suits a seat has bid, other than the contract's."""
    assert view.contract is not None
    return {
        spoken.call.trump.suit
        for spoken in view.calls
        if spoken.seat is seat and isinstance(spoken.call, Bid) and spoken.call.trump is not view.contract.trump
        if spoken.call.trump.suit is not None
    }
