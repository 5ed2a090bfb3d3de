"""Which melds a hand holds, whose count, and who holds a belote."""

from itertools import permutations

import pytest

from app.game.cards import PACK, Rank, Suit
from app.game.melds import belotes_held, compare, find, melds_of, seats_with_belote
from app.game.rules import PRESETS, Rules
from app.game.seats import SEATS, Side
from app.game.trump import Trump
from tests.talk import E, N, S, W, cards, hands, rules

ANNOUNCED, FFB = rules("announced-701"), rules("ffb-2000", sans_atout=True, tout_atout=True)
both = pytest.mark.parametrize("played", [ANNOUNCED, FFB], ids=["announced", "ffb"])
every_trump = pytest.mark.parametrize("trump", list(Trump))
RANKS = ["7", "8", "9", "10", "J", "Q", "K", "A"]


def found(hand: str, trump: Trump = Trump.SPADES, played: Rules = ANNOUNCED) -> list[str]:
    """The melds of a hand as text, best first."""
    return [f"{meld.kind} {meld.points} {' '.join(meld.cards)}" for meld in find(played, trump, cards(hand))]


def run(suit: str, top: str, length: int) -> str:
    """So many cards in a row, up to `top`."""
    last = RANKS.index(top) + 1
    return " ".join(rank + suit for rank in RANKS[last - length : last])


def winner(a: str, b: str, trump: Trump = Trump.SPADES, played: Rules = ANNOUNCED) -> Side | None:
    """Whose melds count, where North holds `a` and East `b`, as parts of hands without anything else."""
    return compare((find(played, trump, cards(a)), find(played, trump, cards(b)), (), ())).winner


# --- sequences -------------------------------------------------------------------------------------------------------


@both
@every_trump
@pytest.mark.parametrize(
    ("length", "kind"),
    [(3, "tierce 20"), (4, "cinquante 50"), (5, "cent 100"), (6, "cent 100"), (7, "cent 100"), (8, "cent 100")],
)
def test_a_row_in_one_suit(played: Rules, trump: Trump, length: int, kind: str) -> None:
    for top in RANKS[length - 1 :]:
        assert found(run("H", top, length), trump, played) == [f"{kind} {run('H', top, length)}"]


def test_two_in_a_row_are_nothing() -> None:
    assert found("AH KH 9H 8H 10S JS") == []


def test_a_row_runs_in_the_natural_order_under_every_trump() -> None:
    """Not in the order in which cards take tricks."""
    assert found("AS 10S KS") == []
    assert found("JS 9S AS") == []
    assert found("9S 10S JS") == ["tierce 20 9S 10S JS"]


def test_the_ace_is_not_below_the_seven() -> None:
    assert found("AH 7H 8H") == []


def test_a_row_is_taken_whole() -> None:
    assert found("7H 8H 9H 10H JH QH KH AH") == ["cent 100 7H 8H 9H 10H JH QH KH AH"]
    assert found("7H 8H 9H 10H JH QH") == ["cent 100 7H 8H 9H 10H JH QH"]


def test_two_rows_in_one_suit_count_apart() -> None:
    assert found("7H 8H 9H JH QH KH AH") == ["cinquante 50 JH QH KH AH", "tierce 20 7H 8H 9H"]


# --- carrés ----------------------------------------------------------------------------------------------------------


def four(rank: str) -> str:
    return f"{rank}S {rank}H {rank}D {rank}C"


@pytest.mark.parametrize(
    ("name", "trump", "points"),
    [
        *(("announced-701", trump, "J 200, 9 150, A 100, 10 100, K 100, Q 100, 8 100, 7 100") for trump in Trump),
        *(("ffb-2000", trump, "J 200, 9 150, A 100, 10 100, K 100, Q 100") for trump in Trump if trump is not Trump.NONE),
        ("ffb-2000", Trump.NONE, "A 200, 10 150, K 100, Q 100, J 100, 9 100"),
    ],
)
def test_what_a_carre_counts(name: str, trump: Trump, points: str) -> None:
    expected = dict(one.split() for one in points.split(", "))
    for rank in RANKS:
        melds = find(rules(name), trump, cards(four(rank)))
        assert [meld.points for meld in melds] == ([int(expected[rank])] if rank in expected else [])


@pytest.mark.parametrize(
    ("name", "trump", "order"),
    [
        *(("announced-701", trump, "J 9 A 10 K Q 8 7") for trump in Trump),
        *(("ffb-2000", trump, "J 9 A 10 K Q") for trump in Trump if trump is not Trump.NONE),
        ("ffb-2000", Trump.NONE, "A 10 K Q J 9"),
    ],
)
def test_how_carres_rank(name: str, trump: Trump, order: str) -> None:
    ranks = order.split()
    for higher, lower in permutations(ranks, 2):
        won = Side.A if ranks.index(higher) < ranks.index(lower) else Side.B
        assert winner(four(higher), four(lower), trump, rules(name)) is won


# --- a card counts once ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        # As a row of five they would count the same, but a carré ranks above a cent.
        ("JH QH KH AH 10H QS QD QC", ["carre 100 QS QH QD QC"]),
        ("AH KH QH JH AS AD AC 7C", ["carre 100 AS AH AD AC", "tierce 20 JH QH KH"]),
        ("JS JH JD JC 9H 10H QH KH", ["carre 200 JS JH JD JC"]),
        ("8S 8H 8D 8C 7H 9H 10H JH", ["carre 100 8S 8H 8D 8C", "tierce 20 9H 10H JH"]),
        ("9S 9H 9D 9C JS JH JD JC", ["carre 200 JS JH JD JC", "carre 150 9S 9H 9D 9C"]),
    ],
)
def test_a_card_counts_in_one_meld_only(hand: str, expected: list[str]) -> None:
    assert found(hand) == expected


def test_two_sequences_are_kept_where_they_are_worth_more_than_the_carre_they_would_lose() -> None:
    """Rows of five and of three through a carré of 100: 120 in rows; the carré would leave less."""
    assert found("7H 8H 9H 10H JH 7S 8S 9S", Trump.CLUBS) == ["cent 100 7H 8H 9H 10H JH", "tierce 20 7S 8S 9S"]
    assert found("7H 8H 9H 10H 7S 7D 7C JH", Trump.CLUBS) == ["carre 100 7S 7H 7D 7C", "cinquante 50 8H 9H 10H JH"]


def test_of_choices_worth_the_same_the_one_with_the_best_meld() -> None:
    """A carré of eights (100), or a cent (100) through the eight of hearts: the carré ranks higher."""
    assert found("8S 8H 8D 8C 7H 9H 10H JH", Trump.CLUBS)[0] == "carre 100 8S 8H 8D 8C"
    assert found("10S 10H 10D 10C 8H 9H JH QH") == ["carre 100 10S 10H 10D 10C"]


def test_the_belote_s_cards_may_count_in_a_meld_too() -> None:
    assert found("JS QS KS") == ["tierce 20 JS QS KS"]
    assert belotes_held(ANNOUNCED, Trump.SPADES, cards("JS QS KS")) == (Suit.SPADES,)


# --- whose count -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [3, 4, 5])
@every_trump
def test_of_equal_sequences_the_higher_wins(length: int, trump: Trump) -> None:
    """All heights against one another; of the same height, the one in trumps, or nobody's."""
    tops = RANKS[length - 1 :]
    for one in tops:
        for other in tops:
            a, b = run("H", one, length), run("D", other, length)
            if one != other:
                expected = Side.A if tops.index(one) > tops.index(other) else Side.B
            else:
                expected = {Trump.HEARTS: Side.A, Trump.DIAMONDS: Side.B}.get(trump)  # type: ignore[assignment]
            assert winner(a, b, trump) is expected


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (run("H", "10", 4), run("D", "A", 3)),
        (run("H", "J", 5), run("D", "A", 4)),
        (four("7"), run("D", "A", 5)),
        (four("7"), run("S", "A", 5)),
        (four("9"), four("A")),
        (four("J"), four("9")),
        (run("H", "A", 3), run("S", "K", 3)),
        (run("H", "A", 5), run("S", "K", 6)),
    ],
)
def test_value_then_carre_then_height_then_trumps(better: str, worse: str) -> None:
    assert winner(better, worse) is Side.A
    assert winner(worse, better) is Side.B


def test_the_side_with_the_best_meld_scores_all_of_its_own() -> None:
    melds = melds_of(
        ANNOUNCED,
        Trump.CLUBS,
        hands(
            N="10H JH QH KH 7S 8S AD 7D",
            E="AS KS QS 8D 9D 10D 7C 9C",
            S="7H 8H 9H 10S JS QD KC AC",
            W="9S AH JD KD 8C 10C JC QC",
        ),
    )
    assert melds.winner is Side.A
    assert (melds.points.A, melds.points.B) == (70, 0)


def test_a_full_tie_counts_for_nobody_even_lower_melds() -> None:
    tied = compare(
        (
            find(ANNOUNCED, Trump.CLUBS, cards("JH QH KH 7S 8S 9S")),
            find(ANNOUNCED, Trump.CLUBS, cards("JD QD KD")),
            (),
            (),
        )
    )
    assert tied.winner is None
    assert (tied.points.A, tied.points.B) == (0, 0)


def test_without_melds_nobody_wins() -> None:
    nothing = compare(((), (), (), ()))
    assert nothing.winner is None


@pytest.mark.parametrize(("name", "played"), PRESETS.items(), ids=PRESETS)
def test_which_presets_have_melds(name: str, played: Rules) -> None:
    melds = melds_of(played, Trump.HEARTS, hands(N="JS JH JD JC"))
    assert (melds.winner is Side.A) == (name in ("announced-701", "ffb-2000"))
    assert played.melds == (name in ("announced-701", "ffb-2000"))


# --- belote ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "trump", "count"),
    [
        *((name, "S", 1) for name in PRESETS),
        ("announced-701", "SA", 0),
        ("announced-701", "TA", 2),
        ("classic-1000", "SA", 0),
        ("classic-1000", "TA", 2),
        ("arena-2000", "SA", 0),
        ("arena-2000", "TA", 0),
        ("ffb-2000", "SA", 0),
        ("ffb-2000", "TA", 2),
    ],
)
def test_how_many_belotes_two_pairs_are(name: str, trump: str, count: int) -> None:
    held = belotes_held(rules(name), Trump(trump), cards("KS QS KH QH AD"))
    assert len(held) == count


def test_king_and_queen_in_two_hands_are_no_belote() -> None:
    four_hands = hands(N="KS", E="QS")
    assert seats_with_belote(ANNOUNCED, Trump.SPADES, four_hands) == ()


def test_in_tout_atout_belotes_are_counted_by_their_holders() -> None:
    four_hands = hands(N="KS QS", E="KH QH", S="KD QD", W="KC QC")
    assert seats_with_belote(ANNOUNCED, Trump.ALL, four_hands) == (N, E, S, W)
    assert seats_with_belote(ANNOUNCED, Trump.ALL, hands(N="KS QS KD QD"))[:2] == (N, N)


def test_every_meld_is_made_of_the_hand_s_own_cards() -> None:
    for seat in SEATS:
        hand = PACK[8 * seat : 8 * seat + 8]
        [meld] = find(ANNOUNCED, Trump.NONE, hand)
        assert set(meld.cards) == set(hand)
        assert meld.height == list(Rank).index(Rank.ACE)
