"""What is called what in the store: all keys of a table share the hash tag of its shard."""

from dataclasses import dataclass

SHARDS = tuple(f"{number:02x}" for number in range(16))
"""The first two letters of a table's id name its shard."""

TABLE_DAYS = 14
"""A table at which nobody is connected and nothing happens for so long is forgotten."""

GUEST_SECONDS = 400 * 24 * 3600
"""And a guest who does not come back."""

WORK = "coinche:work"
"""The channel on which a duty that is due at once is announced to the workers."""

VOID = "coinche:void"
"""The channel on which it is said that a token is good no more."""

HERE = "here"
"""What the bell says when somebody came or went."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The names under which a table's things are kept."""

    table: str

    @property
    def shard(self) -> str:
        return f"{{s{self.table[:2]}}}"

    @property
    def meta(self) -> str:
        return f"{self.shard}t:{self.table}"

    @property
    def log(self) -> str:
        return f"{self.meta}:log"

    @property
    def commands(self) -> str:
        return f"{self.meta}:cmd"

    @property
    def here(self) -> str:
        return f"{self.meta}:here"

    @property
    def talk(self) -> str:
        return f"{self.meta}:talk"

    @property
    def lasting(self) -> tuple[str, ...]:
        """What is forgotten together."""
        return (self.meta, self.log, self.commands, self.talk)

    @property
    def dues(self) -> str:
        return f"{self.shard}dues"

    @property
    def outbox(self) -> str:
        return f"{self.shard}outbox"

    @property
    def notices(self) -> str:
        return f"{self.shard}notices"

    @property
    def channel(self) -> str:
        return f"{self.shard}ch:{self.table}"

    @staticmethod
    def alive(shard: str) -> str:
        """When somebody last looked for the duties of a shard."""
        return f"{{s{shard}}}alive"


def outboxes() -> tuple[str, ...]:
    """The streams in which finished games wait for the archive."""
    return tuple(f"{{s{shard}}}outbox" for shard in SHARDS)


def dead_of(outbox: str) -> str:
    """The stream of those that could not be archived."""
    return f"{outbox}:dead"


def kept_ms(days: int) -> str:
    """So many days, as the functions are told."""
    return str(days * 24 * 3600 * 1000)
