"""What follows from an action, from the first pack to the last deal."""

from dataclasses import replace
from typing import Any

import pytest

from app.game.actions import Action, Play, Redeal, Right, Speak, deal_from
from app.game.auction import Say
from app.game.cards import PACK, Card, Suit
from app.game.engine import deal_out, evolve
from app.game.events import (
    BeloteSaid,
    CallMade,
    CardPlayed,
    ContractSet,
    DealCommitted,
    DealPassedOut,
    DealScored,
    GameWon,
    HandsDealt,
    MeldsAnnounced,
    MeldsShown,
    RedealClaimed,
    TrickTaken,
    Word,
)
from app.game.melds import Kind
from app.game.refusal import Why
from app.game.rules import PRESETS, Rules
from app.game.scoring import Outcome
from app.game.seats import SEATS, BySide, Seat, Side
from app.game.shuffle import commitment, cut_pack, pack_of
from app.game.state import Bidding, Dealing, Game, Over, Playing, new_game
from app.game.tricks import legal_cards
from tests.stacked import decide
from tests.talk import (
    E,
    N,
    S,
    W,
    bidding,
    cards,
    deal,
    dealt,
    do,
    events,
    hands,
    play,
    playing,
    plays,
    refusal,
    rules,
    say,
    spoken,
)

ANNOUNCED, ARENA, FFB = rules("announced-701"), rules("arena-2000"), rules("ffb-2000")
every_preset = pytest.mark.parametrize("played", PRESETS.values(), ids=PRESETS)
every_dealer = pytest.mark.parametrize("dealer", SEATS)
PASSES = "E pass, S pass, W pass, N pass"

ONE_LOST = hands(
    N="JS 9S AS 10S KS QS 8S 7H",
    E="9H 7S 10H JH QH KH AH 7C",
    S="8H 8C 9C 10C JC QC KC AC",
    W="7D 8D 9D 10D JD QD KD AD",
)
"""North leads the seven of hearts, East takes it with the nine; then North has nothing but trumps."""


def played_out(game: Game) -> Game:
    """The deal finished with the first legal card of each hand."""
    while isinstance(game.phase, Playing):
        game = do(game, first_legal(game))
    return game


def first_legal(game: Game) -> Play:
    phase = playing(game)
    seat = phase.trick.turn
    legal = legal_cards(game.rules, phase.contract.bid.trump, phase.trick, phase.hands[seat])
    return Play(seat, next(card for card, why in legal.items() if why is None))


# --- dealing ---------------------------------------------------------------------------------------------------------


@every_dealer
def test_a_deal_is_promised_then_dealt(dealer: Seat) -> None:
    game = new_game("g", ANNOUNCED, dealer)
    promised, hands_dealt = decide(game, deal(ONE_LOST, dealer))
    assert isinstance(promised, DealCommitted)
    assert promised.deal == 1
    assert len(bytes.fromhex(promised.commitment)) == 32
    assert hands_dealt == HandsDealt(1, dealer, tuple(ONE_LOST[seat] for seat in SEATS))


HONEST = deal_from(b"\x01" * 32, b"\x02" * 32, 16)


@pytest.mark.parametrize(
    "change",
    [
        *(
            {"pack": pack}
            for pack in ((), PACK[:31], PACK, HONEST.pack[::-1], (*HONEST.pack, PACK[0]), cut_pack(HONEST.pack, 1))
        ),
        {"cut": 17},
        {"seed": "03" * 32},
        {"salt": "03" * 32},
        {"pack": deal_from(b"\x03" * 32, b"\x02" * 32, 16).pack},
    ],
)
def test_only_the_pack_of_its_secrets_is_dealt(change: dict[str, Any]) -> None:
    """The promise would bind nothing if another pack were taken with it."""
    assert refusal(new_game("g", ANNOUNCED, N), replace(HONEST, **change)) is Why.BAD_PACK


@pytest.mark.parametrize(
    ("seed", "salt", "cut"), [(31, 32, 16), (33, 32, 16), (0, 32, 16), (32, 31, 16), (32, 33, 16), (32, 32, 2), (32, 32, 30)]
)
def test_secrets_of_another_length_make_no_deal(seed: int, salt: int, cut: int) -> None:
    assert refusal(new_game("g", ANNOUNCED, N), deal_from(bytes(seed), bytes(salt), cut)) is Why.BAD_PACK


def test_what_is_promised_is_what_is_dealt() -> None:
    promised, hands_dealt = decide(new_game("g", ANNOUNCED, N), HONEST)
    assert promised == DealCommitted(1, commitment("g", 1, b"\x01" * 32, b"\x02" * 32, 16))
    assert hands_dealt == HandsDealt(1, N, deal_out(pack_of(b"\x01" * 32, b"\x02" * 32, 16), N))


def test_nothing_but_a_pack_is_taken_before_a_deal() -> None:
    game = new_game("g", ANNOUNCED, N)
    for action in (*spoken("E pass, E 80H"), *plays("EAH"), Redeal(E, Right.MISERE)):
        assert refusal(game, action) is Why.NOT_NOW


def test_while_a_deal_runs_no_other_begins() -> None:
    game = dealt(ANNOUNCED, ONE_LOST, W)
    assert refusal(game, deal(ONE_LOST, W)) is Why.NOT_NOW
    assert refusal(say(game, "N 80S, E pass, S pass, W pass"), deal(ONE_LOST, W)) is Why.NOT_NOW


# --- from the auction to the play ------------------------------------------------------------------------------------


def test_a_call_is_an_event_and_the_last_pass_sets_the_contract() -> None:
    game = say(dealt(ANNOUNCED, ONE_LOST, W), "N 80S, E pass, S pass")
    made, contract = events(game, Speak(W, Say.PASS))
    assert made == CallMade(W, Say.PASS)
    assert isinstance(contract, ContractSet)
    assert contract.contract.declarer is N


@every_dealer
def test_the_seat_after_the_dealer_leads_whoever_declares(dealer: Seat) -> None:
    for told in (
        f"{dealer.next:d} 80S, {dealer.partner:d} pass, {dealer.before:d} pass, {dealer:d} pass",
        f"{dealer.next:d} pass, {dealer.partner:d} 80S, {dealer.before:d} coinche, {dealer:d} surcoinche",
    ):
        assert playing(say(dealt(ANNOUNCED, ONE_LOST, dealer), told)).trick.turn is dealer.next


@every_preset
def test_four_passes_deal_anew_by_the_next_dealer_without_a_score(played: Rules) -> None:
    game = new_game("g", played, N)
    for time in range(10):
        dealer = Seat(time % 4)
        game = do(game, deal(ONE_LOST, dealer))
        assert bidding(game).auction.turn is dealer.next
        assert bidding(game).auction.calls == ()
        told = [Speak(Seat((dealer + 1 + place) % 4), Say.PASS) for place in range(4)]
        assert events(game, *told)[-1] == DealPassedOut()
        game = do(game, *told)
        assert game.phase == Dealing(dealer.next)
    assert game.totals == BySide(0, 0)
    assert [record.score for record in game.deals] == [None] * 10
    assert [record.number for record in game.deals] == [*range(1, 11)]


def test_the_deal_goes_on_by_one_seat_also_after_a_redeal_by_passes() -> None:
    game = new_game("g", rules("announced-701", target=10_000), N)
    dealers = []
    for time in range(5):
        assert isinstance(game.phase, Dealing)
        dealer = game.phase.dealer
        dealers.append(dealer)
        game = do(game, deal(ONE_LOST, dealer))
        first = dealer.next
        bid = "pass" if time == 2 else "80S"
        seats = (first, first.next, first.partner, first.before)
        game = played_out(say(game, ", ".join(f"{seat:d} {bid if seat is first else 'pass'}" for seat in seats)))
    assert dealers == [N, E, S, W, N]


# --- the play --------------------------------------------------------------------------------------------------------


def in_play(played: Rules = ANNOUNCED, told: str = "N 100S, E pass, S pass, W pass") -> Game:
    return say(dealt(played, ONE_LOST, W), told)


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (Play(S, Card.H8), Why.NOT_YOUR_TURN),
        (Play(N, Card.H7), Why.NOT_YOUR_TURN),
        (Play(E, Card.S7), Why.MUST_FOLLOW),
        (Play(E, Card.D7), Why.NOT_IN_HAND),
        (Play(E, Card.H7), Why.NOT_IN_HAND),
        (Play(E, Card.H9, belote=True), Why.NO_BELOTE),
        (Speak(E, Say.PASS), Why.NOT_NOW),
        (Redeal(E, Right.SEVENS), Why.NOT_NOW),
    ],
)
def test_a_forged_action_is_refused(action: Action, why: Why) -> None:
    game = play(in_play(), "N7H")
    before = playing(game)
    assert refusal(game, action) is why
    assert game.phase == before


def test_the_winner_of_a_trick_leads_the_next_all_seven_times() -> None:
    game = in_play()
    while isinstance(game.phase, Playing):
        action = first_legal(game)
        happened = decide(game, action)
        game = do(game, action)
        taken = [event for event in happened if isinstance(event, TrickTaken)]
        if taken and isinstance(game.phase, Playing):
            assert game.phase.trick.leader is taken[0].seat
            assert game.phase.trick.cards == ()


def test_the_fourth_card_takes_the_trick_and_the_last_scores_the_deal() -> None:
    game = play(in_play(rules("contree-701")), "N7H E9H S8H")
    assert events(game, *plays("W7D")) == [CardPlayed(W, Card.D7), TrickTaken(E, 0)]
    game = play(game, "W7D")
    while len(playing(game).taken) < 7 or len(playing(game).trick.cards) < 3:
        game = do(game, first_legal(game))
    kinds = [type(event) for event in decide(game, first_legal(game))]
    assert kinds == [CardPlayed, TrickTaken, DealScored]


def test_seven_tricks_with_all_162_points_are_no_capot() -> None:
    game = played_out(play(in_play(told="N capotS, E pass, S pass, W pass"), "N7H"))
    score = game.deals[-1].score
    assert score is not None
    assert tuple(score.outcome.trick_points) == (162, 0)
    assert tuple(score.outcome.tricks_won) == (7, 1)
    assert not score.made


def test_seven_tricks_with_all_162_points_bring_no_bonus_for_all_eight() -> None:
    game = played_out(play(in_play(rules("classic-1000")), "N7H"))
    score = game.deals[-1].score
    assert score is not None
    assert score.made
    assert tuple(score.score) == (162 + 100 + 20, 0)


def test_a_coinche_multiplies_the_deal_not_the_totals() -> None:
    played = rules("contree-701", target=10_000)
    game = played_out(play(in_play(played), "N7H"))
    before = game.totals
    game = do(game, deal(ONE_LOST, N))
    game = play(say(game, "E pass, S pass, W pass, N 100S, E coinche, S pass, N pass"), "E9H")
    game = played_out(game)
    score = game.deals[-1].score
    assert score is not None
    assert score.contract.level == 1
    assert before.A > 0
    assert game.totals == BySide(before.A + score.score.A, before.B + score.score.B)


def test_the_next_deal_knows_nothing_of_the_last() -> None:
    game = played_out(in_play(rules("announced-701", target=10_000)))
    fresh = bidding(do(game, deal(ONE_LOST, N)))
    assert fresh.auction.calls == ()
    assert fresh.auction.contract is None
    assert [len(hand) for hand in fresh.hands] == [8] * 4


# --- belote ----------------------------------------------------------------------------------------------------------


def test_belote_is_said_with_the_first_of_king_and_queen_and_rebelote_with_the_second() -> None:
    game = play(in_play(rules("contree-701")), "NKS E7S S8C W7D")
    said = [event for event in events(in_play(rules("contree-701")), *plays("NKS")) if isinstance(event, BeloteSaid)]
    assert said == [BeloteSaid(N, Suit.SPADES, Word.BELOTE)]
    again = [event for event in events(game, *plays("NQS")) if isinstance(event, BeloteSaid)]
    assert again == [BeloteSaid(N, Suit.SPADES, Word.REBELOTE)]


def test_a_queen_without_her_king_says_nothing() -> None:
    game = say(dealt(ANNOUNCED, hands(N="KS", E="QS"), W), "N 80S, E pass, S pass, W pass")
    assert not [event for event in events(game, *plays("NKS EQS")) if isinstance(event, BeloteSaid)]


def test_the_belote_is_its_holder_s_whoever_takes_the_cards() -> None:
    """East holds king and queen of hearts; North and South declare hearts, and take them."""
    four = hands(N="JH 9H AH 10H", E="KH QH 7S 8S", S="8H 7H AS 10S")
    game = say(dealt(rules("contree-701"), four, W), "N 80H, E pass, S pass, W pass")
    game = played_out(play(game, "NJH EQH S8H"))
    score = game.deals[-1].score
    assert score is not None
    assert tuple(score.outcome.belotes) == (0, 1)
    assert score.score.B >= 20


def test_in_tout_atout_each_pair_is_said_apart() -> None:
    four = hands(N="KH QH KD QD AS", E="KC QC", S="KS", W="QS")
    game = say(dealt(ANNOUNCED, four, W), "N 80TA, E pass, S pass, W pass")
    said = [event for event in events(game, *plays("NKH")) if isinstance(event, BeloteSaid)]
    assert said == [BeloteSaid(N, Suit.HEARTS, Word.BELOTE)]
    score = played_out(game).deals[-1].score
    assert score is not None
    assert tuple(score.outcome.belotes) == (2, 1)


@pytest.mark.parametrize(("name", "trump"), [("announced-701", "SA"), ("arena-2000", "SA"), ("arena-2000", "TA")])
def test_no_belote_is_said_where_there_is_none(name: str, trump: str) -> None:
    low = rules(name).lowest_bid
    four = hands(N="KH QH KD QD AS")
    game = say(dealt(rules(name), four, W), f"N {low}{trump}, E pass, S pass, W pass")
    assert not [event for event in events(game, *plays("NKH")) if isinstance(event, BeloteSaid)]
    assert refusal(game, Play(N, Card.HK, belote=True)) is Why.NO_BELOTE


def declared() -> Game:
    return in_play(ARENA, "N 102S, E pass, S pass, W pass")


def test_a_declared_belote_counts() -> None:
    assert events(declared(), *plays("NKS!"))[1] == BeloteSaid(N, Suit.SPADES, Word.BELOTE)
    game = play(declared(), "NKS! E7S S8C W7D")
    assert events(game, *plays("NQS"))[1] == BeloteSaid(N, Suit.SPADES, Word.REBELOTE)
    assert tuple(outcome_of(played_out(game)).belotes) == (1, 0)


def outcome_of(game: Game) -> Outcome:
    score = game.deals[-1].score
    assert score is not None
    return score.outcome


def test_a_belote_that_is_not_declared_with_its_first_card_is_none() -> None:
    game = play(declared(), "NKS E7S S8C W7D")
    assert events(game, *plays("NQS")) == [CardPlayed(N, Card.SQ)]
    assert refusal(game, Play(N, Card.SQ, belote=True)) is Why.NO_BELOTE
    assert tuple(outcome_of(played_out(game)).belotes) == (0, 0)


@pytest.mark.parametrize("card", ["JS", "7H"])
def test_only_king_and_queen_of_trump_declare(card: str) -> None:
    assert refusal(declared(), Play(N, Card(card), belote=True)) is Why.NO_BELOTE


def test_nobody_declares_what_is_counted_by_itself() -> None:
    assert refusal(in_play(), Play(N, Card.SK, belote=True)) is Why.NO_BELOTE


def test_not_declaring_can_cost_the_contract() -> None:
    """A flag not set means no belote in this deal, for the test as for the score."""
    four = hands(N="KH QH 7H 8H AS 10S AD 10D", E="JH 9H AH 10H 7S 8S 7D 8D")
    flags = {"": 0, "!": 1}
    for flag, count in flags.items():
        game = say(dealt(ARENA, four, W), "N 82H, E pass, S pass, W pass")
        game = played_out(play(game, f"NKH{flag}"))
        assert tuple(outcome_of(game).belotes) == (count, 0)


# --- melds -----------------------------------------------------------------------------------------------------------


def test_melds_are_announced_by_kind_with_each_first_card() -> None:
    happened = events(in_play(), *plays("N7H E9H S8H W7D"))
    assert [event for event in happened if isinstance(event, MeldsAnnounced)] == [
        MeldsAnnounced(N, (Kind.CENT,)),
        MeldsAnnounced(E, (Kind.CENT,)),
        MeldsAnnounced(S, (Kind.CENT,)),
        MeldsAnnounced(W, (Kind.CENT,)),
    ]


def test_a_hand_without_melds_announces_nothing() -> None:
    game = say(dealt(ANNOUNCED, hands(N="7S 9S JS 7H 9H JH 7D 9D"), W), "N 80S, E pass, S pass, W pass")
    assert events(game, *plays("NJS")) == [CardPlayed(N, Card.SJ)]


def test_the_winners_melds_are_shown_with_the_first_card_of_the_second_trick() -> None:
    game = play(in_play(), "N7H E9H S8H W7D")
    shown = [event for event in events(game, *plays("EKH")) if isinstance(event, MeldsShown)]
    assert playing(game).shown == ()
    assert len(shown) == 1
    assert {one.seat.side for one in shown[0].melds} == {playing(game).melds.winner}
    assert not [event for event in events(play(game, "EKH"), *plays("SAC")) if isinstance(event, MeldsShown)]


def test_tied_melds_are_never_shown() -> None:
    four = hands(
        N="JH QH KH 7S 9S 7D 9C AC",
        E="JD QD KD 8S 10S 7H 8C 10C",
        S="JS KS 8H 10H 8D 10D 7C QC",
        W="QS AS 9H AH 9D AD JC KC",
    )
    game = say(dealt(ANNOUNCED, four, W), "N pass, E pass, S 80C, W pass, N pass, E pass")
    assert playing(game).melds.winner is None
    while isinstance(game.phase, Playing):
        happened = decide(game, first_legal(game))
        assert not any(isinstance(event, MeldsShown) for event in happened)
        game = do(game, first_legal(game))
    assert tuple(outcome_of(game).melds) == (0, 0)


# --- redeal ----------------------------------------------------------------------------------------------------------

RIGHTS = rules("ffb-2000", misere=True, carre_of_sevens=True)
NINE_POINTS = "7S 8S 9S 7H 8H KD QC JC"
TEN_POINTS = "7S 8S 9S 7H 8H KD QC QD"
SEVENS = "7S 7H 7D 7C AS AH 10S 10H"


@pytest.mark.parametrize(
    ("hand", "told", "right", "allowed"),
    [
        (NINE_POINTS, "", Right.MISERE, True),
        (TEN_POINTS, "", Right.MISERE, False),
        (NINE_POINTS, "", Right.SEVENS, False),
        ("JS 9S 8S 7S 7H 8H 9H 8D", "", Right.MISERE, True),
        (SEVENS, "", Right.SEVENS, True),
        (SEVENS, "", Right.MISERE, False),
        # in place of his first call only, or of any
        (NINE_POINTS, "E pass, S 80H, W pass, N pass", Right.MISERE, False),
        (SEVENS, "E pass, S 80H, W pass, N pass", Right.SEVENS, True),
        (SEVENS, "E 80S, S 90H, W pass, N pass", Right.SEVENS, True),
    ],
)
def test_who_may_ask_for_a_redeal(hand: str, told: str, right: Right, allowed: bool) -> None:
    game = say(dealt(RIGHTS, hands(E=hand)), told)
    assert refusal(game, Redeal(E, right)) is (None if allowed else Why.NO_REDEAL)


def test_a_redeal_may_be_asked_for_over_bids() -> None:
    assert refusal(say(dealt(RIGHTS, hands(W=NINE_POINTS)), "E 80S, S 90H"), Redeal(W, Right.MISERE)) is None
    assert refusal(say(dealt(RIGHTS, hands(S=NINE_POINTS)), "E capotS"), Redeal(S, Right.MISERE)) is None


def test_a_redeal_waits_for_one_s_turn() -> None:
    game = dealt(RIGHTS, hands(S=NINE_POINTS))
    assert refusal(game, Redeal(S, Right.MISERE)) is Why.NOT_YOUR_TURN
    assert refusal(say(game, "E pass"), Redeal(S, Right.MISERE)) is None


def test_once_a_coinche_stands_nobody_asks_for_a_redeal() -> None:
    game = say(dealt(RIGHTS, hands(W=NINE_POINTS)), "E 80S, S coinche")
    assert refusal(game, Redeal(W, Right.MISERE)) is Why.COINCHED
    game = say(dealt(RIGHTS, hands(W=SEVENS)), "E 80S, S coinche")
    assert refusal(game, Redeal(W, Right.SEVENS)) is Why.COINCHED


@every_preset
def test_without_the_option_nobody_asks_for_a_redeal(played: Rules) -> None:
    assert refusal(dealt(played, hands(E=NINE_POINTS)), Redeal(E, Right.MISERE)) is Why.NO_REDEAL
    assert refusal(dealt(played, hands(E=SEVENS)), Redeal(E, Right.SEVENS)) is Why.NO_REDEAL


def test_a_redeal_shows_the_hand_scores_nothing_and_keeps_the_dealer() -> None:
    game = say(dealt(RIGHTS, hands(S=NINE_POINTS), N), "E 80S")
    assert events(game, Redeal(S, Right.MISERE)) == [RedealClaimed(S, Right.MISERE, cards(NINE_POINTS))]
    game = do(game, Redeal(S, Right.MISERE))
    assert game.phase == Dealing(N)
    assert game.totals == BySide(0, 0)
    assert game.deals[-1].score is None
    assert isinstance(do(game, deal(ONE_LOST, N)).phase, Bidding)


# --- the end ---------------------------------------------------------------------------------------------------------


def test_the_side_that_reaches_the_target_wins_and_nothing_more_is_taken() -> None:
    game = in_play(rules("contree-701", target=200))
    while not (isinstance(game.phase, Playing) and len(game.phase.taken) == 7 and len(game.phase.trick.cards) == 3):
        game = do(game, first_legal(game))
    *_, scored, won = decide(game, first_legal(game))
    assert isinstance(scored, DealScored)
    game = do(game, first_legal(game))
    assert won == GameWon(Side.A, game.totals)
    assert game.phase == Over(Side.A, N)
    for action in (deal(ONE_LOST, N), *spoken("E pass"), *plays("E9H"), Redeal(E, Right.SEVENS)):
        assert refusal(game, action) is Why.NOT_NOW


def test_a_passed_out_deal_is_not_the_last_deal() -> None:
    """Equal totals at the target: the game goes on, and four passes do not end it."""
    game = new_game("g", rules("classic-1000"), N)
    game = replace(game, totals=BySide(1000, 1000))
    after = say(do(game, deal(ONE_LOST, N)), PASSES)
    assert after.phase == Dealing(E)


def test_an_event_that_cannot_follow_is_a_fault_of_ours() -> None:
    with pytest.raises(ValueError, match="CardPlayed cannot follow in Dealing"):
        evolve(new_game("g", FFB, N), CardPlayed(N, Card.SA))
