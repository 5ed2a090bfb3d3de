"""What a viewer is told, and what nobody is told."""

from dataclasses import fields
from typing import get_args

import pytest

from app.game import events as all_events
from app.game.actions import Doubled, Redeal, Right
from app.game.auction import Bids, Say
from app.game.events import DealCommitted, Event, HandsDealt, PublicEvent, RedealClaimed
from app.game.refusal import Why
from app.game.rules import PRESETS, Rules
from app.game.seats import SEATS, BySide, Seat, Side
from app.game.state import Game, Playing, new_game
from app.game.tricks import legal_cards
from app.game.trump import Trump
from app.game.view import (
    BeloteHeard,
    CallMoves,
    CardMove,
    CardMoves,
    ContractSeen,
    HandsSeen,
    Laid,
    LastTrick,
    MeldSeen,
    View,
    moves,
    redact,
    view,
)
from tests.talk import E, N, S, W, bid, cards, deal, dealt, do, events, hands, play, playing, plays, rules, say

every_preset = pytest.mark.parametrize("played", PRESETS.values(), ids=PRESETS)
ANNOUNCED, ARENA = rules("announced-701"), rules("arena-2000")
FOUR = hands(
    N="JS 9S AS 10S KS QS 8S 7H",
    E="9H 7S 10H JH QH KH AH 7C",
    S="8H 8C 9C 10C JC QC KC AC",
    W="7D 8D 9D 10D JD QD KD AD",
)


def begun(played: Rules = ANNOUNCED) -> Game:
    """North deals nothing but leads: West dealt, North plays a hundred in spades."""
    return say(dealt(played, FOUR, W), f"N {100 if played.lowest_bid == 80 else 102}S, E pass, S pass, W pass")


def finished(game: Game) -> Game:
    while isinstance(game.phase, Playing):
        phase = game.phase
        seat = phase.trick.turn
        legal = legal_cards(game.rules, phase.contract.bid.trump, phase.trick, phase.hands[seat])
        [card, *_] = [card for card, why in legal.items() if why is None]
        game = play(game, f"{seat:d}{card}")
    return game


# --- hands -----------------------------------------------------------------------------------------------------------


def test_each_sees_its_own_hand_and_how_many_the_others_hold() -> None:
    game = play(begun(), "N7H E9H")
    for seat in SEATS:
        seen = view(game, seat)
        assert seen.viewer is seat
        assert seen.hand is not None
        assert set(seen.hand) == set(playing(game).hands[seat])
        assert seen.counts == (7, 7, 8, 8)


def test_a_spectator_has_no_hand_and_no_moves() -> None:
    for game in (dealt(ANNOUNCED, FOUR, W), begun()):
        seen = view(game, None)
        assert (seen.viewer, seen.hand, seen.moves) == (None, None, None)
        assert seen.turn is N


def test_a_hand_is_shown_trumps_first_each_suit_from_its_strongest_card_down() -> None:
    four = hands(N="7H AH JD 9D AD 10S KC 8C")
    assert view(dealt(ANNOUNCED, four, W), N).hand == cards("10S AH 7H KC 8C AD JD 9D")
    game = say(dealt(ANNOUNCED, four, W), "N 80D, E pass, S pass, W pass")
    assert view(game, N).hand == cards("JD 9D AD 10S AH 7H KC 8C")
    game = say(dealt(ANNOUNCED, four, W), "N 80TA, E pass, S pass, W pass")
    assert view(game, N).hand == cards("10S AH 7H KC 8C JD 9D AD")


def test_before_the_first_deal_there_is_nothing_to_see() -> None:
    seen = view(new_game("g", ANNOUNCED, N), N)
    assert (seen.phase, seen.hand, seen.counts, seen.moves, seen.turn) == ("dealing", (), (0, 0, 0, 0), None, None)


# --- the auction -----------------------------------------------------------------------------------------------------


def test_the_contract_keeps_its_bid_and_declarer_at_each_level() -> None:
    game = dealt(ANNOUNCED, FOUR, W)
    for level, (told, factor) in enumerate((("N 80S", 1), ("E coinche", 2), ("S surcoinche", 4))):
        game = say(game, told)
        assert view(game, None).contract == ContractSeen(N, 80, Trump.SPADES, level, factor)


def test_the_calls_are_told_in_order_and_stay_while_the_deal_is_played() -> None:
    told = "N pass, E 80H, S 90S, W pass, N pass, E pass"
    seen = view(say(dealt(ANNOUNCED, FOUR, W), told), W)
    assert [spoken.seat for spoken in seen.calls] == [N, E, S, W, N, E]
    assert seen.calls[2].call == bid("90S")


def test_the_next_deal_shows_none_of_the_last_one_s_calls() -> None:
    game = do(finished(begun(rules("announced-701", target=10_000))), deal(FOUR, N))
    seen = view(game, N)
    assert (seen.calls, seen.contract, seen.trick, seen.last_trick, seen.belotes) == ((), None, None, None, ())
    assert (seen.melds, seen.melds_shown, seen.taken) == ((), (), ())
    assert seen.dealer is N


def test_calls_are_offered_as_a_range_with_the_bid_that_a_coinche_doubles() -> None:
    game = say(dealt(ANNOUNCED, FOUR, W), "N 80S")
    assert moves(game, E) == CallMoves(
        True, Bids(90, 10, 160, True, tuple(Trump)), Doubled(1, bid("80S")), surcoinche=False, redeal=()
    )
    assert moves(game, S) is None


def test_at_any_time_the_partner_of_the_one_to_speak_is_offered_a_coinche_alone() -> None:
    game = say(dealt(rules("classic-1000"), FOUR, W), "N 80S")
    assert moves(game, W) == CallMoves(False, None, Doubled(1, bid("80S")), surcoinche=False, redeal=())


def test_a_redeal_is_offered_to_the_one_who_may_ask() -> None:
    four = hands(E="7S 7H 7D 7C 8S 8H 8D 8C")
    mine = moves(dealt(rules("ffb-2000", misere=True, carre_of_sevens=True), four, N), E)
    assert isinstance(mine, CallMoves)
    assert mine.redeal == (Right.MISERE, Right.SEVENS)


# --- the play --------------------------------------------------------------------------------------------------------


def test_the_trick_shows_who_laid_what_who_is_master_and_what_lies_in_it() -> None:
    game = play(begun(), "N7H E9H S8H W7D EAH SAC WAD")
    trick = view(game, None).trick
    assert trick is not None
    assert (trick.number, trick.leader, trick.master, trick.points) == (2, E, E, 33)
    assert trick.cards[0].seat is E
    last = view(game, None).last_trick
    assert last == LastTrick(N, tuple(map(Laid, (N, E, S, W), cards("7H 9H 8H 7D"))), E, 0)


def test_the_hand_s_cards_come_with_why_not() -> None:
    mine = moves(play(begun(), "N7H"), E)
    assert isinstance(mine, CardMoves)
    whys = {move.card: move.why for move in mine.cards}
    assert [card for card, why in whys.items() if why is None] == list(cards("AH 10H KH QH JH 9H"))
    assert CardMove(cards("7S")[0], Why.MUST_FOLLOW) in mine.cards
    assert moves(play(begun(), "N7H"), N) is None


def test_what_was_taken_is_counted() -> None:
    seen = view(play(begun(), "N7H E9H S8H W7D EAH SAC WAD NJS"), N)
    assert (seen.tricks_won, seen.trick_points) == (BySide(1, 1), BySide(53, 0))


def test_a_belote_is_heard_when_it_is_said_and_not_before() -> None:
    game = play(begun(), "N7H E9H S8H W7D EAH SAC WAD")
    assert view(game, None).belotes == ()
    assert view(play(game, "NKS"), None).belotes == (BeloteHeard(N, cards("KS")[0].suit, "belote"),)


def test_a_declared_belote_is_offered_to_its_holder_while_both_cards_are_held() -> None:
    def declares(game: Game) -> tuple[str, ...]:
        mine = moves(game, N)
        assert isinstance(mine, CardMoves)
        return mine.belote

    game = begun(ARENA)
    assert declares(game) == ("KS", "QS")
    assert declares(play(game, "NKS E7S S8C W7D")) == ()
    automatic = moves(begun(), N)
    assert isinstance(automatic, CardMoves)
    assert automatic.belote == ()


def test_that_a_belote_was_kept_back_nobody_is_told() -> None:
    """The flag is on the action; without it, nothing that leaves differs from a king without its queen."""
    game = play(begun(ARENA), "NKS")
    assert all(view(game, viewer).belotes == () for viewer in (*SEATS, None))
    assert [type(event).__name__ for event in events(begun(ARENA), *plays("NKS"))] == ["CardPlayed"]


def test_the_winners_melds_are_shown_in_the_second_trick_with_cards_and_points() -> None:
    game = play(begun(), "N7H E9H S8H W7D")
    assert [(one.seat, one.kind) for one in view(game, N).melds] == [(N, "cent"), (E, "cent"), (S, "cent"), (W, "cent")]
    assert view(game, N).melds_shown == ()
    assert playing(game).melds.winner is Side.A, "all four go up to the ace, North's is in trumps"
    assert view(play(game, "EAH"), N).melds_shown == (
        MeldSeen(N, "cent", cards("8S 9S 10S JS QS KS AS"), 100),
        MeldSeen(S, "cent", cards("8C 9C 10C JC QC KC AC"), 100),
    )


# --- the sheet -------------------------------------------------------------------------------------------------------


@every_preset
def test_a_finished_deal_is_a_row_whose_lines_are_its_score(played: Rules) -> None:
    game = finished(begun(played))
    seen = view(game, None)
    [row] = seen.sheet
    assert (row.deal, row.dealer, row.totals) == (1, W, seen.totals)
    assert row.contract is not None
    assert row.trick_points is not None
    assert sum(row.trick_points) == 162
    for side in Side:
        assert row.score[side] == sum(line.points for line in row.lines if line.side is side)


def test_a_passed_out_deal_is_a_row_without_a_score() -> None:
    game = say(dealt(ANNOUNCED, FOUR, W), "N pass, E pass, S pass, W pass")
    [row] = view(game, None).sheet
    assert (row.contract, row.made, row.score, row.lines) == (None, None, BySide(0, 0), ())


def test_between_deals_the_last_deal_still_lies_there() -> None:
    seen = view(finished(begun(rules("announced-701", target=10_000))), E)
    assert (seen.phase, seen.counts, seen.hand, seen.turn, seen.moves) == ("dealing", (0, 0, 0, 0), (), None, None)
    assert len(seen.taken) == 8
    assert seen.trick_points == seen.sheet[0].trick_points


def test_the_end_names_the_winner() -> None:
    seen = view(finished(begun(rules("announced-701", target=100))), E)
    assert (seen.phase, seen.winner, seen.moves) == ("over", Side.A, None)


# --- events ----------------------------------------------------------------------------------------------------------


def test_of_hands_that_are_dealt_each_sees_its_own() -> None:
    game = new_game("g", ANNOUNCED, W)
    _, event = events(game, deal(FOUR, W))
    for viewer in (*SEATS, None):
        seen = redact(event, viewer)
        assert isinstance(seen, HandsSeen)
        assert [hand is not None for hand in seen.hands] == [seat is viewer for seat in SEATS]


def test_of_a_deal_s_secrets_only_the_promise_leaves() -> None:
    promise, _ = events(new_game("g", ANNOUNCED, W), deal(FOUR, W))
    assert isinstance(promise, DealCommitted)
    assert redact(promise, None) == promise
    assert [field.name for field in fields(DealCommitted)] == ["deal", "commitment"]


VIEWERS = (N, E, S, W, None)


@pytest.mark.parametrize("viewer", VIEWERS)
def test_four_passes_stay_until_the_next_deal(viewer: Seat | None) -> None:
    """The view is of one deal: its number, its dealer, its calls."""
    seen = view(say(dealt(ANNOUNCED, hands(), dealer=S), "W pass, N pass, E pass, S pass"), viewer)
    assert (seen.phase, seen.deal, seen.dealer, seen.turn, seen.moves) == ("dealing", 1, S, None, None)
    assert [(spoken.seat, spoken.call) for spoken in seen.calls] == [(seat, Say.PASS) for seat in (W, N, E, S)]
    assert seen.sheet[-1].dealer is S
    assert seen.redeal is None
    assert (seen.counts, len(seen.hand or ())) == ((8, 8, 8, 8), 0 if viewer is None else 8)


@pytest.mark.parametrize("viewer", VIEWERS)
def test_a_hand_shown_for_a_redeal_stays_until_the_next_deal(viewer: Seat | None) -> None:
    played = rules("classic-1000", misere=True)
    game = say(dealt(played, hands(S="7S 8S 7H 8H 7D 8D 7C 8C"), dealer=N), "E 80H")
    game = do(game, Redeal(S, Right.MISERE))
    seen = view(game, viewer)
    assert seen.redeal is not None
    assert (seen.redeal.seat, seen.redeal.right) == (S, Right.MISERE)
    assert {*seen.redeal.hand} == {*cards("7S 8S 7H 8H 7D 8D 7C 8C")}
    assert (seen.deal, seen.dealer, [spoken.seat for spoken in seen.calls]) == (1, N, [E])
    again = view(do(game, deal(hands(), N)), viewer)
    assert (again.deal, again.redeal, again.calls) == (2, None, ())


def test_a_hand_shown_for_a_redeal_is_seen_by_all() -> None:
    game = dealt(rules("ffb-2000", carre_of_sevens=True), hands(E="7S 7H 7D 7C AS AH AD KC"), N)
    [event] = events(game, Redeal(E, Right.SEVENS))
    assert isinstance(event, RedealClaimed)
    for viewer in (*SEATS, None):
        assert redact(event, viewer) == event


def test_every_event_but_the_hands_is_listed_as_public() -> None:
    assert {*get_args(PublicEvent), HandsDealt} == set(get_args(Event))
    assert all(event.__module__ == all_events.__name__ for event in get_args(Event))


def test_no_field_of_a_view_holds_another_hand() -> None:
    """Names only; the laws of every game search what is really sent."""
    assert {field.name for field in fields(View)}.isdisjoint({"hands", "dealt", "pack", "seed", "salt"})
