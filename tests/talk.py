"""The small language tests are written in.

Seats are the compass letters N E S W for 0 1 2 3, or the numbers themselves; a card in a trick carries the seat that played
it: `N7S EAS SKS`, or `07S 1AS 2KS`. A play may end in `!`: a belote is declared with it. Calls are told one by one:
`E 80H, S pass, W coinche, E surcoinche, N capot TA`. Hands are told by their seat: `hands(N="JH 9H", E="AS")`.
"""

from collections.abc import Iterator

from app.game.actions import Action, Deal, Play, Speak
from app.game.auction import Auction, Bid, Call, Say, after_call, judge, opening
from app.game.cards import PACK, Card
from app.game.engine import PACKETS, evolve_all
from app.game.events import Event
from app.game.refusal import Refused, Why
from app.game.rules import Rules, override, preset
from app.game.seats import SEATS, Seat, around
from app.game.state import Bidding, Game, Hands, Playing, new_game
from app.game.tricks import Trick
from app.game.trump import Trump
from tests.stacked import decide, stacked

N, E, S, W = SEATS
_SEATS = dict(zip("NESW0123", SEATS + SEATS, strict=True))


def rules(name: str, **options: object) -> Rules:
    """A preset, some of its fields overridden."""
    return override(preset(name), options)


def seat(text: str) -> Seat:
    return _SEATS[text]


def cards(text: str) -> tuple[Card, ...]:
    """`"JH 10S"`; twice the same card is a mistake of the test."""
    found = tuple(Card(word) for word in text.split())
    assert len(set(found)) == len(found), f"a card twice: {text}"
    return found


def plays(text: str) -> list[Play]:
    """`"N7S EAS!"`: who plays what, and declares a belote with it."""
    return [Play(seat(word[0]), Card(word[1:].rstrip("!")), word.endswith("!")) for word in text.split()]


def trick(text: str, leader: Seat = N) -> Trick:
    """A trick as it lies; the seats must follow one another. Without cards, `leader` is to lead."""
    laid = plays(text)
    lying = Trick(laid[0].seat if laid else leader, tuple(play.card for play in laid))
    assert lying.seats == tuple(play.seat for play in laid), f"seats out of order: {text}"
    assert len(set(lying.cards)) == len(laid), f"a card twice: {text}"
    return lying


def bid(text: str) -> Bid:
    """`"80H"`, `"110SA"` or `"capot TA"`."""
    trump = next(word for word in ("SA", "TA", *"SHDC") if text.endswith(word))
    value = text.removesuffix(trump).strip()
    return Bid("capot" if value == "capot" else int(value), Trump(trump))


def call(text: str) -> Call:
    return Say(text) if text in list(Say) else bid(text)


def calls(text: str) -> list[tuple[Seat, Call]]:
    """`"E 80H, S pass"`: who says what."""
    return [(seat(one[0]), call(one[1:].strip())) for one in map(str.strip, text.split(",")) if one]


def auction(played: Rules, told: str, dealer: Seat = N) -> Auction:
    """The auction after these calls, each of them legal."""
    so_far = opening(dealer)
    for who, said in calls(told):
        judge(played, so_far, who, said)
        so_far = after_call(so_far, who, said)
    return so_far


def why_not(played: Rules, told: str, then: str, dealer: Seat = N) -> Why | None:
    """After these calls, why one more is refused; None if it is not."""
    [(who, said)] = calls(then)
    try:
        judge(played, auction(played, told, dealer), who, said)
    except Refused as refused:
        return refused.why
    return None


def hands(N: str = "", E: str = "", S: str = "", W: str = "") -> Hands:  # noqa: N803
    """Four hands of eight: those told, filled up in pack order with the cards that nobody was given."""
    told = [cards(text) for text in (N, E, S, W)]
    given = [card for hand in told for card in hand]
    assert len(set(given)) == len(given), "a card in two hands"
    rest = iter([card for card in PACK if card not in given])
    return tuple(hand + tuple(next(rest) for _ in range(8 - len(hand))) for hand in told)


def pack(dealt: Hands, dealer: Seat = N) -> tuple[Card, ...]:
    """The pack that deals these hands."""
    left = {one: iter(dealt[one]) for one in SEATS}
    return tuple(next(left[one]) for packet in PACKETS for one in around(dealer.next) for _ in range(packet))


def deal(dealt: Hands, dealer: Seat = N) -> Deal:
    return stacked(pack(dealt, dealer))


def dealt(played: Rules, four: Hands, dealer: Seat = N) -> Game:
    """A game whose first deal gives these hands."""
    return do(new_game("talk", played, dealer), deal(four, dealer))


def do(game: Game, *actions: Action) -> Game:
    """The game after these actions, each of them legal."""
    for action in actions:
        game = evolve_all(game, decide(game, action))
    return game


def events(game: Game, *actions: Action) -> list[Event]:
    """What these actions bring about."""
    found: list[Event] = []
    for action in actions:
        found += decide(game, action)
        game = do(game, action)
    return found


def spoken(text: str) -> list[Action]:
    """Calls as actions."""
    return [Speak(who, said) for who, said in calls(text)]


def say(game: Game, text: str) -> Game:
    """The game after these calls."""
    return do(game, *spoken(text))


def play(game: Game, text: str) -> Game:
    """The game after these cards."""
    return do(game, *plays(text))


def refusal(game: Game, action: Action) -> Why | None:
    """Why an action is refused, or None."""
    try:
        decide(game, action)
    except Refused as refused:
        return refused.why
    return None


def bidding(game: Game) -> Bidding:
    assert isinstance(game.phase, Bidding)
    return game.phase


def playing(game: Game) -> Playing:
    assert isinstance(game.phase, Playing)
    return game.phase


def in_order(leader: Seat, text: str) -> Iterator[Play]:
    """Cards in order of play, beginning with the leader: `in_order(E, "AS KS QS 7S")`."""
    for place, card in enumerate(cards(text)):
        yield Play(Seat((leader + place) % 4), card)
