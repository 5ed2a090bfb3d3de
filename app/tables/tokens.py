"""Who asks by a token, and what may be asked with it? Tokens for programs, and bots as identities of their own.

A token's secret is shown once and stored nowhere; what is kept is its hash. Adapters live in `app/store`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from app.tables.table import Person


class Scope(StrEnum):
    """What a token is good for. `ADMIN` is given by the operator alone."""

    READ = "read"
    PLAY = "play"
    TABLES = "tables"
    ADMIN = "admin"


OF_A_GUEST = frozenset({Scope.READ, Scope.PLAY, Scope.TABLES})
"""What the page may do for its guest, and all that a guest can give away."""

OPERATOR = Person("g_operator", "Operator")
"""In whose name the operator's tokens act."""

MOST_TOKENS = 20
"""So many tokens one identity may have, those that have expired not counted."""

MOST_BOTS = 10
"""So many bots may belong to one person."""

MOST_DAYS = 3650
"""The furthest day on which a token may expire, unless it never does."""


@dataclass(frozen=True, slots=True)
class Token:
    """What may be told of a token. Times in ms; `expires` None: never, `used` None: not yet."""

    id: str
    name: str
    scopes: frozenset[Scope]
    created: int
    expires: int | None
    used: int | None = None


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, nobody known or a person, and with which token, if it is one."""

    person: Person | None
    scopes: frozenset[Scope] = OF_A_GUEST
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Voided:
    """A token of this person is good for nothing from now on; None: all of them are."""

    person: str
    token: str | None

    def hits(self, asker: Asker) -> bool:
        """Whether it was with such a token that somebody asked."""
        shown = asker.token is not None and self.token in (None, asker.token)
        return shown and asker.person is not None and asker.person.id == self.person


class Tokens(Protocol):
    """Tokens by the hash of their secret, and the names of those who have them."""

    async def issue(
        self, owner: Person, name: str, scopes: frozenset[Scope], created: int, expires: int | None
    ) -> tuple[Token, str] | None:
        """A new token and its secret, or None if the owner has as many as one may have."""

    async def asker(self, secret: str) -> Asker | None:
        """Who asks with this secret; None if it was never given out, or is revoked, or has expired."""

    async def of(self, owner: str) -> Sequence[Token]:
        """The owner's tokens, newest first."""

    async def revoke(self, owner: str, token: str) -> bool:
        """Whether the owner had this token, which from now on nobody has."""

    async def rename(self, person: Person) -> None:
        """Whoever asks with a token of this person goes by this name from now on."""


class Bots(Protocol):
    """Bots: players that programs play, each an identity of its own that belongs to a person."""

    async def make(self, owner: str, name: str) -> Person | None:
        """A new bot, or None if the owner has as many as one may have."""

    async def of(self, owner: str) -> Sequence[Person]:
        """The owner's bots."""

    async def find(self, owner: str, bot: str) -> Person | None:
        """The bot, or None if the owner has no such bot."""

    async def rename(self, owner: str, bot: str, name: str) -> Person | None:
        """The bot under its new name, or None if the owner has no such bot."""

    async def dismiss(self, owner: str, bot: str) -> bool:
        """Whether the owner had this bot. Its tokens are void from now on; what it has played stays."""
