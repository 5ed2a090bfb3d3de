"""From committed secrets to a pack: the same seed and salt always give the same thirty-two cards, which anybody can recompute.

`random` is not used: the bits come from HMAC-SHA256 in counter mode, keyed with the seed, so every order of the pack is equally
likely and none can be predicted without the seed.
"""

import hashlib
import hmac
from collections.abc import Iterator

from app.game.cards import PACK, Card

SECRET_BYTES = 32
"""The length of a seed and of a salt."""

LEAST_PART = 3
"""A cut leaves at least three cards in each part."""


COMMITMENT = "coinche-deal-2"
"""How commitments are made, the first line of what is hashed; the form before it left the cut open."""


def commitment(game: str, deal: int, seed: bytes, salt: bytes, cut: int) -> str:
    """The promise that is published before a deal's first card, SHA-256 over all that makes its pack (docs/rules.md)."""
    lines = (COMMITMENT, game, str(deal), seed.hex(), salt.hex(), str(cut))
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def are_secrets(seed: bytes, salt: bytes, cut: int) -> bool:
    """Whether a pack is made of these: other lengths could give one pack, or one promise, in two ways."""
    return len(seed) == len(salt) == SECRET_BYTES and LEAST_PART <= cut <= len(PACK) - LEAST_PART


def pack_of(seed: bytes, salt: bytes, cut: int) -> tuple[Card, ...]:
    """The pack that is dealt, shuffled and cut; nothing else has a say in it."""
    return cut_pack(shuffled(seed, salt), cut)


def shuffled(seed: bytes, salt: bytes) -> tuple[Card, ...]:
    """The pack in the order that these secrets give (Fisher–Yates, without bias)."""
    pack = list(PACK)
    words = _words(seed, salt)
    for last in range(len(pack) - 1, 0, -1):
        other = _below(words, last + 1)
        pack[last], pack[other] = pack[other], pack[last]
    return tuple(pack)


def cut_pack(pack: tuple[Card, ...], cut: int) -> tuple[Card, ...]:
    """The pack with its upper `cut` cards put below the others."""
    return pack[cut:] + pack[:cut]


def _words(seed: bytes, salt: bytes) -> Iterator[int]:
    """An endless stream of 32-bit numbers."""
    counter = 0
    while True:
        block = hmac.digest(seed, salt + counter.to_bytes(8, "big"), "sha256")
        yield from (int.from_bytes(block[place : place + 4], "big") for place in range(0, len(block), 4))
        counter += 1


def _below(words: Iterator[int], bound: int) -> int:
    """A number from 0 to `bound` - 1; words beyond the last whole multiple of the bound are thrown away."""
    limit = (1 << 32) - (1 << 32) % bound
    return next(word for word in words if word < limit) % bound
