"""The operating system's randomness, and the time of the wall."""

import secrets
import time

from app.game.actions import Deal, deal_from
from app.game.cards import PACK
from app.game.seats import SEATS, Seat
from app.game.shuffle import LEAST_PART, SECRET_BYTES
from app.store.keys import SHARDS

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


class SystemDice:
    """What must be unguessable (port `Dice`)."""

    def table_id(self) -> str:
        """A shard and ten letters, 49 bits: a link nobody finds by trying."""
        return f"{secrets.choice(SHARDS)}-{''.join(secrets.choice(_LETTERS) for _ in range(10))}"

    def dealer(self) -> Seat:
        return secrets.choice(SEATS)

    def deal(self) -> Deal:
        seed, salt = secrets.token_bytes(SECRET_BYTES), secrets.token_bytes(SECRET_BYTES)
        cut = LEAST_PART + secrets.randbelow(len(PACK) - 2 * LEAST_PART + 1)
        return deal_from(seed, salt, cut)


def now_ms() -> int:
    """The time of the wall, in ms."""
    return int(time.time() * 1000)
