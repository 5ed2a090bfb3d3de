"""What Postgres keeps: the players, and of each finished game its result, its deals and its whole log."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    MetaData,
    SmallInteger,
    String,
    TypeDecorator,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

NAMES = {
    "ix": "ix_%(column_0_N_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


class Moment(TypeDecorator[int]):
    """Milliseconds since 1970 here, a timestamp with time zone there."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else _EPOCH + value * _MS

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else (value - _EPOCH) // _MS


class Base(DeclarativeBase):
    """All tables; every constraint has a name, so that a migration can speak of it."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {dict[str, Any]: JSONB(none_as_null=True), list[Any]: JSONB(none_as_null=True)}  # noqa: RUF012


class Player(Base):
    """Somebody who has finished a game. `rating` is what `mu` and `sigma` are shown as; `rated` games have moved them.

    `folded` is the name as it is looked for, compared letter by letter whatever the language of the database; null until
    the archive has counted a row of an earlier release.
    """

    __tablename__ = "players"
    __table_args__ = (
        Index("ix_players_leaderboard", "rating", "id"),
        Index("ix_players_rated", "rating", "id", postgresql_where=text("rated > 0")),
        Index("ix_players_folded", "folded", "id"),
        Index("ix_players_behind", "id", postgresql_where=text("folded IS NULL")),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    mu: Mapped[float]
    sigma: Mapped[float]
    rating: Mapped[int]
    games: Mapped[int]
    won: Mapped[int]
    rated: Mapped[int]
    created: Mapped[int] = mapped_column(Moment)
    played: Mapped[int] = mapped_column(Moment)
    folded: Mapped[str | None] = mapped_column(String(collation="C"))


class Game(Base):
    """A finished game. `listed`: its table was one that anybody may find; `preset` is null where a table changed its rules.

    `contracts` are the names by which its contracts can be asked for; null until the archive has counted a row of an earlier
    release. `ended` is how, `winner` null where it was abandoned.
    """

    __tablename__ = "games"
    __table_args__ = (
        CheckConstraint("winner IN ('A', 'B')", "winner"),
        CheckConstraint("(ended = 'played') = (winner IS NOT NULL)", "ended"),
        Index("ix_games_listed", "finished", "id", postgresql_where=text("listed")),
        Index("ix_games_listed_preset", "preset", "finished", "id", postgresql_where=text("listed")),
        Index("ix_games_listed_contracts", "contracts", postgresql_where=text("listed"), postgresql_using="gin"),
        Index("ix_games_behind", "id", postgresql_where=text("contracts IS NULL")),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    table_id: Mapped[str]
    number: Mapped[int]
    listed: Mapped[bool]
    preset: Mapped[str | None]
    rules: Mapped[dict[str, Any]]
    rated: Mapped[bool]
    started: Mapped[int] = mapped_column(Moment)
    finished: Mapped[int] = mapped_column(Moment)
    total_a: Mapped[int]
    total_b: Mapped[int]
    ended: Mapped[str] = mapped_column(server_default="played")
    winner: Mapped[str | None]
    deal_count: Mapped[int]
    contracts: Mapped[list[str] | None] = mapped_column(ARRAY(String))

    seats: Mapped[list["GameSeat"]] = relationship(lazy="raise", order_by="GameSeat.seat")
    deals: Mapped[list["Deal"]] = relationship(lazy="raise", order_by="Deal.number")
    entries: Mapped[list["LogEntry"]] = relationship(lazy="raise", order_by="LogEntry.seq")


class GameSeat(Base):
    """Who sat where in a game: a person or a player of the house, and what the game did to a person's rating.

    What is the game's (`finished`, `listed`, `preset`) is repeated, so that one index finds a player's games in their order.
    `partner` is a person, or null; `won` is null where the game was abandoned; the rest is the `Tally` of the seat. All are
    null until the archive has counted a row of an earlier release.
    """

    __tablename__ = "seats"
    __table_args__ = (
        CheckConstraint("seat BETWEEN 0 AND 3", "seat"),
        CheckConstraint("(player IS NULL) <> (house IS NULL)", "occupant"),
        Index("ix_seats_player", "player", "finished", "game"),
        Index("ix_seats_player_preset", "player", "preset", "finished", "game"),
        Index("ix_seats_player_partner", "player", "partner", "finished", "game"),
    )

    game: Mapped[str] = mapped_column(ForeignKey("games.id", ondelete="CASCADE"), primary_key=True)
    seat: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    player: Mapped[str | None] = mapped_column(ForeignKey("players.id"))
    house: Mapped[str | None]
    name: Mapped[str]
    mu_before: Mapped[float | None]
    sigma_before: Mapped[float | None]
    mu_after: Mapped[float | None]
    sigma_after: Mapped[float | None]
    finished: Mapped[int | None] = mapped_column(Moment)
    listed: Mapped[bool | None]
    preset: Mapped[str | None]
    partner: Mapped[str | None]
    won: Mapped[bool | None]
    taken: Mapped[int | None] = mapped_column(SmallInteger)
    made: Mapped[int | None] = mapped_column(SmallInteger)
    bids: Mapped[int | None]
    coinches: Mapped[int | None] = mapped_column(SmallInteger)
    coinches_won: Mapped[int | None] = mapped_column(SmallInteger)
    capots: Mapped[int | None] = mapped_column(SmallInteger)
    belotes: Mapped[int | None] = mapped_column(SmallInteger)
    trumps: Mapped[list[int] | None] = mapped_column(ARRAY(SmallInteger))
    contracts: Mapped[list[str] | None] = mapped_column(ARRAY(String))


class Deal(Base):
    """A row of the score sheet. Without a contract nothing was scored: all passed, or a hand was dealt again."""

    __tablename__ = "deals"
    __table_args__ = (CheckConstraint("dealer BETWEEN 0 AND 3", "dealer"),)

    game: Mapped[str] = mapped_column(ForeignKey("games.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    dealer: Mapped[int] = mapped_column(SmallInteger)
    contract: Mapped[dict[str, Any] | None]
    made: Mapped[bool | None]
    trick_points_a: Mapped[int | None]
    trick_points_b: Mapped[int | None]
    tricks_won_a: Mapped[int | None]
    tricks_won_b: Mapped[int | None]
    score_a: Mapped[int]
    score_b: Mapped[int]
    lines: Mapped[list[Any]]


class LogEntry(Base):
    """One entry of a game's log, in the form in which logs are stored."""

    __tablename__ = "entries"

    game: Mapped[str] = mapped_column(ForeignKey("games.id", ondelete="CASCADE"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[int] = mapped_column(Moment)
    due: Mapped[int | None] = mapped_column(Moment)
    entry: Mapped[dict[str, Any]]
