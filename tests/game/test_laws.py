"""What holds in every game: for each preset, for any rules a table may make of them, for any cards and any way to play."""

import copy
import json
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.game.actions import Action, Doubled, Play, Redeal, Right, Speak
from app.game.auction import Auction, Bid, Say
from app.game.cards import PACK, Card
from app.game.engine import evolve_all, replay
from app.game.events import DealScored, Event, GameWon, HandsDealt, MeldsShown
from app.game.melds import melds_of
from app.game.refusal import Refused, Why
from app.game.rules import PRESETS, EqualTotals, Rules, SaPoints, TaPoints
from app.game.seats import SEATS, BySide, Seat, Side
from app.game.state import Bidding, Dealing, Game, Over, Playing, Unplayed, new_game
from app.game.tricks import legal_cards, plain_points, scale
from app.game.trump import Trump
from app.game.view import CardMoves, View, moves, redact, view
from tests.game.strategies import any_rules, last, offered, presets, seeds, shuffled, some_action, walk
from tests.stacked import decide, stacked
from tests.talk import deal, dealt, do, hands, playing, refusal, say
from tests.talk import rules as rules_of

every_preset = pytest.mark.parametrize("name", sorted(PRESETS))
VIEWERS = (*SEATS, None)


def table_of(game: Game) -> list[Card]:
    """All cards of the running deal, wherever they are."""
    match game.phase:
        case Bidding(hands=hands):
            return [card for hand in hands for card in hand]
        case Playing() as phase:
            lying = [*phase.trick.cards, *(card for one in phase.taken for card in one.trick.cards)]
            return lying + [card for hand in phase.hands for card in hand]
        case _:
            return list(PACK)


@given(any_rules(), seeds)
def test_there_are_thirty_two_different_cards_at_all_times(rules: Rules, seed: int) -> None:
    for _, _, game in walk(rules, Random(seed), deals=2):
        assert sorted(table_of(game)) == sorted(PACK)


@given(any_rules(), seeds)
def test_somebody_can_always_go_on(rules: Rules, seed: int) -> None:
    for _, _, game in walk(rules, Random(seed), deals=2):
        match game.phase:
            case Bidding(auction=auction):
                assert Speak(auction.turn, Say.PASS) in offered(game, auction.turn)
            case Playing() as phase:
                assert offered(game, phase.trick.turn)
                assert not any(offered(game, seat) for seat in SEATS if seat is not phase.trick.turn)
            case _:
                assert not any(offered(game, seat) for seat in SEATS)


# --- moves -----------------------------------------------------------------------------------------------------------

NUMBERS = (-80, 0, 1, *range(75, 200), 250, 300, *range(630, 670), 1000, 10**9)
BIDS: tuple[Bid, ...] = tuple(Bid(value, trump) for value in (*NUMBERS, "capot") for trump in Trump)


def conceivable(game: Game, seat: Seat) -> list[Action]:
    """Whatever a seat might think of."""
    found: list[Action] = [Speak(seat, word) for word in Say]
    found += [Speak(seat, bid) for bid in BIDS]
    found += [Redeal(seat, right) for right in Right]
    found += [Play(seat, card, belote) for card in PACK for belote in (False, True)]
    if isinstance(game.phase, Bidding) and game.phase.auction.contract is not None:
        standing = game.phase.auction.contract.bid
        others = (Bid(standing.points + 10, standing.trump), Bid(standing.value, Trump.ALL), Bid(standing.value, Trump.CLUBS))
        for on in {Doubled(game.deal, bid) for bid in (standing, *others)} | {Doubled(game.deal - 1, standing)}:
            found.append(Speak(seat, Say.COINCHE, on))
    return found


def accepts(game: Game, action: Action) -> bool:
    try:
        decide(game, action)
    except Refused:
        return False
    return True


TRUE_OF_CALLS: dict[Why, Callable[[Game, Auction, Speak | Redeal], bool]] = {
    Why.NOT_YOUR_TURN: lambda _, auction, action: action.seat is not auction.turn,
    Why.BID_TOO_LOW: lambda game, auction, action: bid_of(action) < auction_floor(game, auction),
    Why.BID_TOO_HIGH: lambda game, _, action: bid_of(action) > game.rules.highest_bid,
    Why.BID_OFF_STEP: lambda game, _, action: (bid_of(action) - game.rules.lowest_bid) % 10 > 0,
    Why.CAPOT_STANDS: lambda _, auction, __: auction.contract is not None and auction.contract.bid.value == "capot",
    Why.TRUMP_NOT_OFFERED: lambda game, _, action: (
        isinstance(action, Speak) and isinstance(action.call, Bid) and action.call.trump not in game.rules.trumps
    ),
    Why.NOTHING_TO_COINCHE: lambda _, auction, __: auction.contract is None,
    Why.OWN_BID: lambda _, auction, action: auction.contract is not None and auction.contract.side is action.seat.side,
    Why.OTHER_BID: lambda game, auction, action: (
        isinstance(action, Speak) and auction.contract is not None and action.on != Doubled(game.deal, auction.contract.bid)
    ),
    Why.COINCHED: lambda _, auction, __: auction.contract is not None and auction.contract.level > 0,
    Why.NOT_COINCHED: lambda _, auction, __: auction.contract is None or auction.contract.level == 0,
    Why.NO_REDEAL: lambda game, auction, action: (
        isinstance(action, Redeal) and action.right not in redeal_rights_by_hand(game, auction, action.seat)
    ),
}
"""What a refusal says of an auction, written down a second time."""


def bid_of(action: Speak | Redeal) -> int:
    assert isinstance(action, Speak)
    assert isinstance(action.call, Bid)
    assert action.call.value != "capot"
    return action.call.value


def auction_floor(game: Game, auction: Auction) -> int:
    return game.rules.lowest_bid if auction.contract is None else auction.contract.bid.points + 10


def redeal_rights_by_hand(game: Game, auction: Auction, seat: Seat) -> set[Right]:
    assert isinstance(game.phase, Bidding)
    hand = game.phase.hands[seat]
    has_spoken = seat in [spoken.seat for spoken in auction.calls]
    poor = game.rules.misere and not has_spoken and plain_points(hand) <= 9
    sevens = game.rules.carre_of_sevens and sum(card.startswith("7") for card in hand) == 4
    return ({Right.MISERE} if poor else set()) | ({Right.SEVENS} if sevens else set())


def is_true(game: Game, action: Action, why: Why) -> bool:
    """Whether a reason says what is so."""
    match game.phase, action:
        case Bidding(auction=auction), Speak() | Redeal():
            return TRUE_OF_CALLS[why](game, auction, action)
        case Playing() as phase, Play():
            hand = phase.hands[action.seat]
            match why:
                case Why.NOT_YOUR_TURN:
                    return action.seat is not phase.trick.turn
                case Why.NOT_IN_HAND:
                    return action.card not in hand
                case Why.NO_BELOTE:
                    legal = offered(game, action.seat)
                    return action.belote and action not in legal and Play(action.seat, action.card) in legal
                case _:
                    return legal_cards(game.rules, phase.contract.bid.trump, phase.trick, hand)[action.card] is why
        case _:
            return why is Why.NOT_NOW


def every_reason_is_true(game: Game) -> None:
    for seat in SEATS:
        for action in conceivable(game, seat):
            why = refusal(game, action)
            assert why is None or is_true(game, action, why), f"{action}: {why}"


@every_preset
@settings(max_examples=1)
@given(seed=seeds)
def test_the_reason_of_every_refusal_is_true(name: str, seed: int) -> None:
    dice = Random(seed)
    for before, _, _ in walk(PRESETS[name], dice):
        if dice.random() < 0.3:
            every_reason_is_true(before)


def test_the_reason_of_every_refusal_is_true_where_bids_are_at_an_end() -> None:
    four = hands(E="7S 7H 7D 7C 8S 8H 8D 8C", W="9S JS QS KS")
    played = rules_of("classic-1000", misere=True, carre_of_sevens=True, highest_bid=160)
    for told in (
        "",
        "E pass",
        "E 160S",
        "E 160S, S pass",
        "E capot S",
        "E 160S, S coinche",
        "E pass, S pass, W 80H, N coinche",
    ):
        every_reason_is_true(say(dealt(played, four), told))


@settings(max_examples=30)
@given(seeds)
def test_only_cards_that_may_be_played_are_offered_for_a_belote(seed: int) -> None:
    for before, _, _ in walk(PRESETS["arena-2000"], Random(seed)):
        for seat in SEATS:
            match moves(before, seat):
                case CardMoves() as hand:
                    assert {*hand.belote} <= {move.card for move in hand.cards if move.why is None}
                case _:
                    pass


def exactly_what_is_offered(game: Game) -> None:
    for seat in SEATS:
        allowed = set(offered(game, seat))
        tried = conceivable(game, seat)
        assert {action for action in tried if accepts(game, action)} == allowed & set(tried)
        assert all(accepts(game, action) for action in allowed - set(tried))
    assert moves(game, None) is None


@every_preset
@settings(max_examples=1)
@given(seed=seeds)
def test_moves_are_exactly_what_is_accepted(name: str, seed: int) -> None:
    for before, _, _ in walk(PRESETS[name], Random(seed)):
        exactly_what_is_offered(before)


@settings(max_examples=40)
@given(any_rules(), seeds)
def test_moves_are_exactly_what_is_accepted_under_any_rules(rules: Rules, seed: int) -> None:
    dice = Random(seed)
    for before, _, _ in walk(rules, dice):
        if dice.random() < 0.1:
            exactly_what_is_offered(before)


def test_moves_are_exactly_what_is_accepted_where_a_hand_may_be_dealt_again() -> None:
    game = dealt(
        rules_of("classic-1000", misere=True, carre_of_sevens=True), hands(E="7S 7H 7D 7C 8S 8H 8D 8C", W="9S JS QS KS")
    )
    for told in ("", "E pass", "S 80H", "W pass", "N pass"):
        game = say(game, told)
        exactly_what_is_offered(game)


@given(any_rules(), seeds)
def test_the_pack_is_dealt_only_between_deals(rules: Rules, seed: int) -> None:
    pack = stacked(PACK)
    for before, _, _ in walk(rules, Random(seed)):
        assert accepts(before, pack) == isinstance(before.phase, Dealing)


# --- points ----------------------------------------------------------------------------------------------------------


@given(
    st.sampled_from(list(Trump)),
    st.sampled_from(list(SaPoints)),
    st.sampled_from(list(TaPoints)),
    st.sets(st.sampled_from(PACK)),
)
def test_two_piles_always_count_152(trump: Trump, sa: SaPoints, ta: TaPoints, pile: set[Card]) -> None:
    count = scale(replace(PRESETS["announced-701"], sa_points=sa, ta_points=ta), trump).count
    assert count(tuple(pile)) + count(tuple(set(PACK) - pile)) == 152


def played_out(rules: Rules, trump: Trump, seed: int, auction: str) -> Game:
    """A deal in which West deals, these are the calls, and any legal cards are played."""
    dice = Random(seed)
    pack = list(PACK)
    dice.shuffle(pack)
    hands = tuple(tuple(pack[place : place + 8]) for place in range(0, 32, 8))
    game = say(do(new_game("points", rules, Seat(3)), deal(hands, Seat(3))), auction.format(trump))
    while isinstance(game.phase, Playing):
        game = do(game, some_action(game, dice))
    return game


EVERY_SCALE = [
    pytest.param(replace(PRESETS["announced-701"], sa_points=sa, ta_points=ta), trump, id=f"{trump}-{sa}-{ta}")
    for trump in Trump
    for sa in SaPoints
    for ta in TaPoints
]


@pytest.mark.parametrize(("rules", "trump"), EVERY_SCALE)
@settings(max_examples=4)
@given(seed=seeds)
def test_a_deal_is_worth_162_in_every_contract(rules: Rules, trump: Trump, seed: int) -> None:
    record = played_out(rules, trump, seed, "N 80{}, E pass, S pass, W pass").deals[-1]
    assert record.score is not None
    assert sum(record.score.outcome.trick_points) == 162
    assert sum(record.score.outcome.tricks_won) == 8


@pytest.mark.parametrize(("rules", "trump"), EVERY_SCALE)
@settings(max_examples=2)
@given(seed=seeds)
def test_the_same_piles_give_the_same_points_whoever_declared(rules: Rules, trump: Trump, seed: int) -> None:
    auctions = (
        "N 80{0}, E pass, S pass, W pass",
        "N pass, E 80{0}, S pass, W pass, N pass",
        "N pass, E 80{0}, S coinche, W pass, E surcoinche",
        "N pass, E pass, S capot{0}, W pass, N pass, E pass",
    )
    scores = [played_out(rules, trump, seed, auction).deals[-1].score for auction in auctions]
    assert len({score.outcome for score in scores if score is not None}) == 1


@given(any_rules(), seeds)
def test_lines_sum_to_the_score_and_scores_to_the_totals(rules: Rules, seed: int) -> None:
    game = last(rules, Random(seed), deals=3)
    totals = BySide(0, 0)
    for record in game.deals:
        if record.score is not None:
            score = record.score.score
            assert {line.side: 0 for line in record.score.lines}.keys() <= set(Side)
            for side in Side:
                assert score[side] == sum(line.points for line in record.score.lines if line.side is side)
                assert score[side] >= 0
            assert all(line.points for line in record.score.lines)
            totals = BySide(totals.A + score.A, totals.B + score.B)
        assert record.totals == totals
    assert game.totals == totals


# --- the log ---------------------------------------------------------------------------------------------------------


@given(any_rules(), seeds)
def test_the_log_replayed_is_the_game_after_each_action(rules: Rules, seed: int) -> None:
    log: list[Event] = []
    steps = list(walk(rules, Random(seed), deals=2))
    opened = steps[0][0]
    for before, action, after in steps:
        events = decide(before, action)
        log += events
        assert replay(before, events) == after
    assert replay(opened, log) == steps[-1][2]


@settings(max_examples=25)
@given(any_rules(), seeds)
def test_a_refused_action_changes_nothing(rules: Rules, seed: int) -> None:
    dice = Random(seed)
    for before, _, _ in walk(rules, dice):
        kept = copy.deepcopy(before)
        action = dice.choice(conceivable(before, dice.choice(SEATS)))
        accepts(before, action)
        assert before == kept


def test_nothing_of_a_game_can_be_changed_in_place() -> None:
    for game, _, _ in walk(PRESETS["ffb-2000"], Random(3)):
        with pytest.raises(FrozenInstanceError):
            game.deal = 7  # type: ignore[misc]
        with pytest.raises(FrozenInstanceError):
            game.phase.dealer = Seat.FIRST  # type: ignore[misc]
        assert hash(game) == hash(copy.deepcopy(game))


# --- secrets ---------------------------------------------------------------------------------------------------------


def text(thing: object) -> str:
    """What a viewer is sent, as the text that leaves the house."""
    return json.dumps(asdict(thing), default=repr)  # type: ignore[call-overload]


def known(game: Game, viewer: Seat | None) -> set[Card]:
    """The cards whose place a viewer knows: its own, those played, and those shown."""
    match game.phase:
        case Bidding(hands=hands):
            return set() if viewer is None else set(hands[viewer])
        case Playing() as phase:
            own = set() if viewer is None else set(phase.dealt[viewer])
            lying = {*phase.trick.cards, *(card for one in phase.taken for card in one.trick.cards)}
            return own | lying | {card for one in phase.shown for card in one.meld.cards}
        case _ if isinstance(game.last, Unplayed):
            own = set() if viewer is None else set(game.last.hands[viewer])
            return own if game.last.redeal is None else own | set(game.last.redeal.hand)
        case _:
            return set(PACK)


def named(sent: str) -> set[Card]:
    return {card for card in PACK if f'"{card}"' in sent}


@every_preset
@settings(max_examples=2)
@given(seed=seeds)
def test_no_unseen_card_leaves_in_a_view_or_an_event(name: str, seed: int) -> None:
    no_unseen_card(PRESETS[name], seed)


@settings(max_examples=15)
@given(any_rules(), seeds)
def test_no_unseen_card_leaves_under_any_rules(rules: Rules, seed: int) -> None:
    no_unseen_card(rules, seed)


def no_unseen_card(rules: Rules, seed: int) -> None:
    for before, action, after in walk(rules, Random(seed)):
        for viewer in VIEWERS:
            assert named(text(view(after, viewer))) <= known(after, viewer)
            game = before
            for event in decide(before, action):
                game = evolve_all(game, [event])
                allowed = known(game, viewer) if not isinstance(game.phase, Dealing) else named(text(event))
                assert named(text(redact(event, viewer))) <= allowed


@given(any_rules(), seeds)
def test_only_one_s_own_cards_are_dealt_face_up(rules: Rules, seed: int) -> None:
    game = new_game("secrets", rules, Seat.FIRST)
    [_, event] = decide(game, stacked(shuffled(Random(seed))))
    assert isinstance(event, HandsDealt)
    for viewer in VIEWERS:
        seen = text(redact(event, viewer))
        assert named(seen) == (set() if viewer is None else set(event.hands[viewer]))
        assert "seed" not in seen


def elsewhere(game: Game, viewer: Seat | None, dice: Random) -> Game:
    """The same game as far as the viewer can know, the cards that it has not seen dealt round among the others."""
    phase = game.phase
    assert isinstance(phase, Bidding | Playing)
    seen = known(game, viewer)
    unseen = [card for hand in phase.hands for card in hand if card not in seen]
    mixed = dict(zip(unseen, dice.sample(unseen, len(unseen)), strict=True))
    hands = tuple(tuple(mixed.get(card, card) for card in hand) for hand in phase.hands)
    if isinstance(phase, Bidding):
        return replace(game, phase=replace(phase, hands=hands))
    full = tuple(tuple(mixed.get(card, card) for card in hand) for hand in phase.dealt)
    melds = melds_of(game.rules, phase.contract.bid.trump, full)
    return replace(game, phase=replace(phase, hands=hands, dealt=full, melds=melds))


@settings(max_examples=40)
@given(any_rules(), seeds)
def test_a_view_does_not_depend_on_what_the_viewer_cannot_see(rules: Rules, seed: int) -> None:
    dice = Random(seed)
    for _, _, game in walk(rules, dice):
        if isinstance(game.phase, Bidding | Playing):
            for viewer in VIEWERS:
                assert view(elsewhere(game, viewer, dice), viewer) == view(game, viewer)


@pytest.mark.parametrize("name", ["announced-701", "ffb-2000"])
@settings(max_examples=40)
@given(seed=seeds)
def test_of_a_losing_meld_only_the_kind_is_known(name: str, seed: int) -> None:
    for before, action, after in walk(PRESETS[name], Random(seed)):
        for event in decide(before, action):
            if isinstance(event, MeldsShown):
                assert {one.seat.side for one in event.melds} == {playing(before).melds.winner}
                assert not playing(before).trick.cards
                assert len(playing(before).taken) == 1
        if isinstance(after.phase, Playing):
            for viewer in VIEWERS:
                of_melds(after.phase, view(after, viewer))


def of_melds(phase: Playing, seen: View) -> None:
    """Kinds from each first card on; the winners' cards from the second trick on; else nothing."""
    first_cards = {*phase.trick.seats} if not phase.taken else set(SEATS)
    assert [(one.seat, one.kind) for one in sorted(seen.melds, key=lambda one: one.seat)] == [
        (seat, meld.kind) for seat in SEATS if seat in first_cards for meld in phase.melds.by_seat[seat]
    ]
    begun = len(phase.taken) > 1 or (len(phase.taken) == 1 and phase.trick.cards)
    winners = [seat for seat in SEATS if seat.side is phase.melds.winner] if begun else []
    assert [(one.seat, one.cards) for one in seen.melds_shown] == [
        (seat, meld.cards) for seat in winners for meld in phase.melds.by_seat[seat]
    ]


# --- the end ---------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(any_rules(), st.sampled_from([100, 300, 701, 1000]), seeds)
def test_a_game_ends_exactly_when_the_rule_says(rules: Rules, target: int, seed: int) -> None:
    rules = replace(rules, target=target)
    for before, action, after in walk(rules, Random(seed), deals=12):
        scored = [event for event in decide(before, action) if isinstance(event, DealScored)]
        won = [event for event in decide(before, action) if isinstance(event, GameWon)]
        a, b = after.totals
        over = bool(scored) and max(a, b) >= target and (a != b or rules.equal_totals is EqualTotals.LAST_DEAL)
        assert isinstance(after.phase, Over) == over == bool(won)
        if over:
            leader = Side.A if a > b else Side.B if b > a else scored[0].score.winner
            assert won == [GameWon(leader, after.totals)]


@given(presets, seeds)
def test_the_deal_goes_round(name: str, seed: int) -> None:
    """The next seat deals after a deal that was played or passed out; after a redeal the same one does."""
    rules = replace(PRESETS[name], target=10_000, misere=True, carre_of_sevens=True)
    for before, action, after in walk(rules, Random(seed), deals=4):
        if len(after.deals) > len(before.deals):
            dealer = after.deals[-1].dealer
            assert isinstance(after.phase, Dealing)
            assert after.phase.dealer is (dealer if isinstance(action, Redeal) else dealer.next)
