"""What the use cases need of the world: a log, presence, an index of tables, a bell, dice. Adapters live in `app/store`."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from app.game.actions import Deal
from app.game.seats import Seat
from app.tables.commands import Command
from app.tables.notices import Notice
from app.tables.table import Happened, Person, Table
from app.tables.tokens import Voided

At = tuple[int, int]
"""[epoch, seq]: a moment in the life of a table; epochs change only when a store came back with a lost tail."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a table's log: a command that was accepted, with all its events.

    `by` is the identity that asked, None the house. `at` and `due` (when the croupier's next duty falls due, None: never) are
    milliseconds of the store's clock, which alone decides; they are set when the entry is stored.
    """

    seq: int
    by: str | None
    command: Command
    events: tuple[Happened, ...]
    at: int = 0
    due: int | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """A table as it was when its present game began (or when it was opened), and the entries since then."""

    epoch: int
    frame: Table
    seq: int
    due: int | None
    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True)
class Tail:
    """Where a log is, the first entry it still has to have, and its entries from a given one on, that one included."""

    at: At
    base: int
    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True)
class Last:
    """The last entry that a process knows of: in which epoch, and when it was stored (0: there is none yet)."""

    epoch: int
    at: int


class NewerFormat(Exception):
    """Something was written by a newer release, and this one must not misread it."""


@dataclass(frozen=True, slots=True)
class Timer:
    """When the next duty falls due: `after` ms from the moment of storing, or never. Left out, the running one goes on.

    `seat` is the seat that acts within that time, if it is one: the lag of its line is added when the time is up.
    """

    after: int | None
    seat: Seat | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """A game whose last entry this is, to be archived."""

    game: str


@dataclass(frozen=True, slots=True)
class Appended:
    """The entry is stored, under this number and with these times."""

    seq: int
    at: int
    due: int | None


@dataclass(frozen=True, slots=True)
class Known:
    """This command was stored before, under this number."""

    seq: int


@dataclass(frozen=True, slots=True)
class Stale:
    """The log has moved on; decide again."""

    seq: int


@dataclass(frozen=True, slots=True)
class Claimed:
    """Tables whose duty was due at `now`, by the store's clock, and tables whose time was given back after an outage."""

    now: int
    tables: Sequence[str]
    moved: Sequence[str] = ()


Forgotten = Literal["forgotten", "stale", "owed"]
"""Whether a table was forgotten; not if its log had moved on, nor while the archive is still to have a finished game."""


class GameLog(Protocol):
    """The logs of the tables: the truth and its lock."""

    async def open(self, table: Table) -> int:
        """Store a new table; returns its epoch."""

    async def load(self, table: str) -> Stored | None:
        """A table and its present game, or None if there is none of that name. Raises `NewerFormat`, as `tail` does."""

    async def tail(self, table: str, seq: int) -> Tail | None:
        """The end of a log from this entry on, or None if there is no such table."""

    async def append(
        self,
        table: str,
        cid: str,
        entry: Entry,
        timer: Timer | None,
        frame: Table | None,
        finished: Finished | None,
        last: Last | None = None,
        notice: Notice | None = None,
    ) -> Appended | Known | Stale:
        """Store the entry under its number if that is the next one, with all that goes with it, or change nothing.

        A known `cid` is answered first. `frame` is the table before the entry, where a game begins with it. `last` is the
        entry before, where it has to be the one that the caller knows. `notice` is what hooks are to hear of it.
        """

    async def begin_epoch(self, table: str, found: At, epoch: int) -> bool:
        """Begin a new epoch of a log that has lost its end; whether it was still as it was found."""

    async def forget(self, table: str, at: At) -> Forgotten:
        """Forget a table that is still as it was at this moment."""

    async def find(self, table: str, cid: str) -> int | None:
        """The number under which a command was stored, while it is remembered."""

    async def claim(self, lease: int) -> Claimed:
        """Tables with a duty that is due, each for one caller; again after `lease` ms unless their timer has changed."""

    async def take(self, table: str, lease: int) -> bool:
        """Whether the table's duty is due at once and this caller is the one to do it."""


@dataclass(frozen=True, slots=True)
class Said:
    """Something said at a table: a preset phrase or words."""

    at: int
    seat: Seat
    name: str
    phrase: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Rang:
    """The bell of a table: its log has grown, or its company has changed (`here`), or something was said.

    `entry`: number and time of the entry that was added, where that is all that has happened.
    """

    table: str
    here: bool = False
    said: Said | None = None
    entry: tuple[int, int] | None = None


class Bell(Protocol):
    """At most once, and only a hint: the log is the book."""

    async def follow(self, table: str) -> None:
        """Hear the bell of a table from now on."""

    async def unfollow(self, table: str) -> None: ...

    def work(self) -> AsyncIterator[str]:
        """Tables with a duty that has just become due at once."""

    def rings(self) -> AsyncIterator[Rang | Voided]:
        """The rings of all tables that are followed, and what is said of tokens."""


class Company(Protocol):
    """Who is at a table, and what is said there; lost without harm."""

    async def here(self, table: str, connection: str, person: str | None) -> None:
        """Somebody is connected; to be said again within half the time it holds."""

    async def gone(self, table: str, connection: str, person: str | None) -> None: ...

    async def lag(self, table: str, seat: Seat, lag: int) -> None:
        """How long a message takes to the seat's owner and back, in ms, as it was last measured."""

    async def present(self, table: str) -> Sequence[str | None]:
        """The identity behind each connection, None for a stranger."""

    async def present_at(self, tables: Sequence[str]) -> Sequence[Sequence[str | None]]:
        """The same for each of several tables; nobody where it cannot be told."""

    async def say(self, table: str, said: Said) -> None:
        """Say something at a table. Raises `Refused` if it is gone."""

    async def talk(self, table: str) -> Sequence[Said]:
        """The last things said, oldest first."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A table as the lobby shows it: without its game, but whether one is running."""

    table: Table
    playing: bool


class Lobby(Protocol):
    """A small index of the tables that all may find, and of those at which somebody sits; rebuilt from the tables if lost."""

    async def show(self, table: Table) -> None:
        """Put the table into the index as it is, or take it out if it is not for all, or empty."""

    async def tables(self) -> Sequence[Listed]:
        """The tables in the index at which somebody was lately, newest first; a slow game counts as such."""

    async def touch(self, tables: Sequence[str]) -> None:
        """Somebody is at these tables now; where nobody is for long, a table is not shown."""

    async def seat(self, person: str, table: str) -> None:
        """Somebody sits at a table."""

    async def unseat(self, person: str, table: str) -> None: ...

    async def seats(self, person: str) -> Sequence[str]:
        """The tables at which somebody probably sits, the newest first, and not all where they are many."""


class Guests(Protocol):
    """Identities that need no account."""

    async def welcome(self, name: str) -> tuple[Person, str]:
        """A new guest, and the secret token it is known by."""

    async def by_token(self, token: str) -> Person | None: ...

    async def rename(self, token: str, name: str) -> Person | None: ...


@dataclass(frozen=True, slots=True)
class Server:
    """What a store is and what it promises, None where it does not tell; of a cluster all that its parts say."""

    name: str | None
    version: str | None
    cluster: bool
    appendonly: str | None
    appendfsync: str | None
    maxmemory_policy: str | None

    @property
    def evicts(self) -> bool:
        """Whether it throws games out to make room."""
        return self.maxmemory_policy not in (None, "noeviction")


class Clock(Protocol):
    """The time of the wall, in ms."""

    def __call__(self) -> int: ...


class Dice(Protocol):
    """What must be unguessable."""

    def table_id(self) -> str: ...

    def dealer(self) -> Seat: ...

    def deal(self) -> Deal:
        """Fresh secrets and the pack they give."""
