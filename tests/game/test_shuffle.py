"""From secrets to a pack: the same for everybody who knows them, and every order as likely as another."""

import hashlib
import hmac
import inspect
import re
import struct
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.game.cards import PACK
from app.game.engine import deal_out
from app.game.seats import SEATS, Seat
from app.game.shuffle import LEAST_PART, SECRET_BYTES, commitment, cut_pack, pack_of, shuffled

KNOWN = "KH KC 8H JC KS 10S 7D 9H AH 7C 10H 9C 8S JH JD 9D 7H QH 8C 8D 10D QC AC AD 10C QD 9S 7S JS AS KD QS"
"""The pack of a seed and a salt of thirty-two zero bytes each."""

secrets = st.binary(min_size=SECRET_BYTES, max_size=SECRET_BYTES)
cuts = st.integers(LEAST_PART, 32 - LEAST_PART)

RULES_DOC = Path("docs/rules.md").read_text()


@given(secrets, secrets)
def test_a_pack_holds_each_card_once(seed: bytes, salt: bytes) -> None:
    assert sorted(shuffled(seed, salt)) == sorted(PACK)


@given(secrets, secrets, st.integers(LEAST_PART, 32 - LEAST_PART))
def test_the_same_secrets_give_the_same_pack(seed: bytes, salt: bytes, cut: int) -> None:
    assert shuffled(seed, salt) == shuffled(seed, salt)
    assert cut_pack(shuffled(seed, salt), cut) == cut_pack(shuffled(seed, salt), cut)


def test_this_pack_is_never_dealt_otherwise() -> None:
    """A stored game's secrets must give its cards for ever."""
    assert " ".join(shuffled(bytes(32), bytes(32))) == KNOWN


@given(secrets, secrets)
def test_anybody_can_recompute_a_pack(seed: bytes, salt: bytes) -> None:
    """As docs/rules.md tells it, written down a second time."""
    stream = b"".join(hmac.new(seed, salt + struct.pack(">Q", block), "sha256").digest() for block in range(16))
    numbers = iter(struct.unpack(f">{len(stream) // 4}I", stream))
    pack = list(PACK)
    for place in range(31, 0, -1):
        number = next(numbers)
        while number >= 2**32 // (place + 1) * (place + 1):
            number = next(numbers)
        other = number % (place + 1)
        pack[place], pack[other] = pack[other], pack[place]
    assert shuffled(seed, salt) == tuple(pack)


@given(secrets, secrets)
def test_seed_and_salt_both_decide(seed: bytes, salt: bytes) -> None:
    other = bytes([seed[0] ^ 1]) + seed[1:]
    assert shuffled(other, salt) != shuffled(seed, salt)
    assert shuffled(seed, bytes([salt[0] ^ 1]) + salt[1:]) != shuffled(seed, salt)


@pytest.mark.parametrize("place", [0, 15, 30, 31])
def test_every_card_is_as_likely_at_every_place(place: int) -> None:
    """Chi-square with 31 degrees of freedom over four thousand packs: beyond 61 lies one of a thousand fair shuffles."""
    packs = 4000
    counts = Counter(shuffled(number.to_bytes(32, "big"), b"salt" * 8)[place] for number in range(packs))
    expected = packs / 32
    assert sum((counts[card] - expected) ** 2 / expected for card in PACK) < 61


def test_neighbours_do_not_stay_together() -> None:
    packs = 2000
    follows = sum(
        pack.index(PACK[1]) == pack.index(PACK[0]) + 1
        for pack in (shuffled(number.to_bytes(32, "big"), bytes(32)) for number in range(packs))
    )
    assert 30 < follows < 100, "about one pack in thirty-two"


@given(st.integers(LEAST_PART, 32 - LEAST_PART))
def test_a_cut_puts_the_upper_part_below(cut: int) -> None:
    whole = PACK
    assert cut_pack(whole, cut) == (*whole[cut:], *whole[:cut])
    assert cut_pack(cut_pack(whole, cut), 32 - cut) == whole


EXAMPLE = re.search(r"```text promise\n(.*?)```\n\n.*?\n\n```text commitment\n(\w{64})\n```", RULES_DOC, re.DOTALL)


def test_the_promise_is_made_as_the_rules_tell_it() -> None:
    """The example of docs/rules.md, taken from the page byte for byte and hashed; and the cards that it says are dealt."""
    assert EXAMPLE is not None
    hashed, promise = EXAMPLE.groups()
    assert hashlib.sha256(hashed.encode()).hexdigest() == promise
    _, game, deal, seed, salt, cut = hashed.splitlines()
    secrets = bytes.fromhex(seed), bytes.fromhex(salt), int(cut)
    assert commitment(game, int(deal), *secrets) == promise
    assert " ".join(pack_of(*secrets)) in " ".join(RULES_DOC.split())


@given(secrets, secrets, cuts)
def test_nothing_that_makes_the_pack_is_left_out_of_the_promise(seed: bytes, salt: bytes, cut: int) -> None:
    """Nor anything else that could be changed afterwards: each other secret, cut, deal or game has another promise."""
    other = bytes([seed[0] ^ 1]) + seed[1:]
    promises = {
        commitment("g", 1, seed, salt, cut),
        commitment("g", 2, seed, salt, cut),
        commitment("h", 1, seed, salt, cut),
        commitment("g", 1, other, salt, cut),
        commitment("g", 1, seed, other, cut),
        *(commitment("g", 1, seed, salt, another) for another in range(LEAST_PART, 33 - LEAST_PART) if another != cut),
    }
    assert len(promises) == 5 + 26


@given(secrets, secrets, cuts)
def test_the_pack_is_made_of_what_is_promised_alone(seed: bytes, salt: bytes, cut: int) -> None:
    assert pack_of(seed, salt, cut) == cut_pack(shuffled(seed, salt), cut)
    assert {*inspect.signature(pack_of).parameters} < {*inspect.signature(commitment).parameters}


@pytest.mark.parametrize("dealer", SEATS)
def test_cards_are_dealt_three_two_three_beginning_after_the_dealer(dealer: Seat) -> None:
    four = deal_out(PACK, dealer)
    for place, seat in enumerate((dealer.next, dealer.partner, dealer.before, dealer)):
        first, second, third = 3 * place, 12 + 2 * place, 20 + 3 * place
        assert four[seat] == PACK[first : first + 3] + PACK[second : second + 2] + PACK[third : third + 3]
