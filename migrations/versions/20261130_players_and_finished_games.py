"""The players, and finished games with their seats, deals and logs."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "caef6b31bcc6"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this version."""
    op.create_table(
        "games",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("table_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("listed", sa.Boolean(), nullable=False),
        sa.Column("preset", sa.String(), nullable=True),
        sa.Column("rules", postgresql.JSONB(), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("started", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished", sa.DateTime(timezone=True), nullable=False),
        sa.Column("total_a", sa.Integer(), nullable=False),
        sa.Column("total_b", sa.Integer(), nullable=False),
        sa.Column("winner", sa.String(), nullable=False),
        sa.Column("deal_count", sa.Integer(), nullable=False),
        sa.CheckConstraint("winner IN ('A', 'B')", name=op.f("ck_games_winner")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_games")),
    )
    op.create_index("ix_games_finished", "games", ["finished", "id"])
    op.create_index("ix_games_preset_finished", "games", ["preset", "finished", "id"])
    op.create_table(
        "players",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("mu", sa.Double(), nullable=False),
        sa.Column("sigma", sa.Double(), nullable=False),
        sa.Column("rating", sa.Integer(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("won", sa.Integer(), nullable=False),
        sa.Column("rated", sa.Integer(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("played", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_players")),
    )
    op.create_index("ix_players_leaderboard", "players", ["rating", "id"])
    op.create_table(
        "deals",
        sa.Column("game", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("dealer", sa.SmallInteger(), nullable=False),
        sa.Column("contract", postgresql.JSONB(), nullable=True),
        sa.Column("made", sa.Boolean(), nullable=True),
        sa.Column("trick_points_a", sa.Integer(), nullable=True),
        sa.Column("trick_points_b", sa.Integer(), nullable=True),
        sa.Column("tricks_won_a", sa.Integer(), nullable=True),
        sa.Column("tricks_won_b", sa.Integer(), nullable=True),
        sa.Column("score_a", sa.Integer(), nullable=False),
        sa.Column("score_b", sa.Integer(), nullable=False),
        sa.Column("lines", postgresql.JSONB(), nullable=False),
        sa.CheckConstraint("dealer BETWEEN 0 AND 3", name=op.f("ck_deals_dealer")),
        sa.ForeignKeyConstraint(["game"], ["games.id"], name=op.f("fk_deals_game_games"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("game", "number", name=op.f("pk_deals")),
    )
    op.create_table(
        "entries",
        sa.Column("game", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due", sa.DateTime(timezone=True), nullable=True),
        sa.Column("entry", postgresql.JSONB(), nullable=False),
        sa.ForeignKeyConstraint(["game"], ["games.id"], name=op.f("fk_entries_game_games"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("game", "seq", name=op.f("pk_entries")),
    )
    op.create_table(
        "seats",
        sa.Column("game", sa.String(), nullable=False),
        sa.Column("seat", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("player", sa.String(), nullable=True),
        sa.Column("house", sa.String(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("mu_before", sa.Double(), nullable=True),
        sa.Column("sigma_before", sa.Double(), nullable=True),
        sa.Column("mu_after", sa.Double(), nullable=True),
        sa.Column("sigma_after", sa.Double(), nullable=True),
        sa.CheckConstraint("(player IS NULL) <> (house IS NULL)", name=op.f("ck_seats_occupant")),
        sa.CheckConstraint("seat BETWEEN 0 AND 3", name=op.f("ck_seats_seat")),
        sa.ForeignKeyConstraint(["game"], ["games.id"], name=op.f("fk_seats_game_games"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["player"], ["players.id"], name=op.f("fk_seats_player_players")),
        sa.PrimaryKeyConstraint("game", "seat", name=op.f("pk_seats")),
    )
    op.create_index("ix_seats_player", "seats", ["player", "game"])


def downgrade() -> None:
    """Back from it."""
    op.drop_index("ix_seats_player", table_name="seats")
    op.drop_table("seats")
    op.drop_table("entries")
    op.drop_table("deals")
    op.drop_index("ix_players_leaderboard", table_name="players")
    op.drop_table("players")
    op.drop_index("ix_games_preset_finished", table_name="games")
    op.drop_index("ix_games_finished", table_name="games")
    op.drop_table("games")
