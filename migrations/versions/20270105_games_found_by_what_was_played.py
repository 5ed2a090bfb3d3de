"""What lists are filtered by and statistics count, in columns and indexes; the archive counts the rows that are there."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "5d20c9e1a7f4"
down_revision: str | None = "caef6b31bcc6"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_TALLY = ("taken", "made", "coinches", "coinches_won", "capots", "belotes")


def upgrade() -> None:
    """To this version."""
    op.add_column("players", sa.Column("folded", sa.String(collation="C"), nullable=True))
    op.create_index("ix_players_rated", "players", ["rating", "id"], postgresql_where=sa.text("rated > 0"))
    op.create_index("ix_players_folded", "players", ["folded", "id"])
    op.create_index("ix_players_behind", "players", ["id"], postgresql_where=sa.text("folded IS NULL"))

    op.add_column("games", sa.Column("contracts", postgresql.ARRAY(sa.String()), nullable=True))
    op.drop_index("ix_games_finished", table_name="games")
    op.drop_index("ix_games_preset_finished", table_name="games")
    listed = sa.text("listed")
    op.create_index("ix_games_listed", "games", ["finished", "id"], postgresql_where=listed)
    op.create_index("ix_games_listed_preset", "games", ["preset", "finished", "id"], postgresql_where=listed)
    op.create_index("ix_games_listed_contracts", "games", ["contracts"], postgresql_where=listed, postgresql_using="gin")
    op.create_index("ix_games_behind", "games", ["id"], postgresql_where=sa.text("contracts IS NULL"))

    op.add_column("seats", sa.Column("finished", sa.DateTime(timezone=True), nullable=True))
    op.add_column("seats", sa.Column("listed", sa.Boolean(), nullable=True))
    op.add_column("seats", sa.Column("preset", sa.String(), nullable=True))
    op.add_column("seats", sa.Column("partner", sa.String(), nullable=True))
    op.add_column("seats", sa.Column("won", sa.Boolean(), nullable=True))
    op.add_column("seats", sa.Column("bids", sa.Integer(), nullable=True))
    for name in _TALLY:
        op.add_column("seats", sa.Column(name, sa.SmallInteger(), nullable=True))
    op.add_column("seats", sa.Column("trumps", postgresql.ARRAY(sa.SmallInteger()), nullable=True))
    op.add_column("seats", sa.Column("contracts", postgresql.ARRAY(sa.String()), nullable=True))
    op.drop_index("ix_seats_player", table_name="seats")
    op.create_index("ix_seats_player", "seats", ["player", "finished", "game"])
    op.create_index("ix_seats_player_preset", "seats", ["player", "preset", "finished", "game"])
    op.create_index("ix_seats_player_partner", "seats", ["player", "partner", "finished", "game"])


def downgrade() -> None:
    """Back from it."""
    op.drop_index("ix_seats_player_partner", table_name="seats")
    op.drop_index("ix_seats_player_preset", table_name="seats")
    op.drop_index("ix_seats_player", table_name="seats")
    op.create_index("ix_seats_player", "seats", ["player", "game"])
    for name in ("contracts", "trumps", *reversed(_TALLY), "bids", "won", "partner", "preset", "listed", "finished"):
        op.drop_column("seats", name)

    op.drop_index("ix_games_behind", table_name="games")
    op.drop_index("ix_games_listed_contracts", table_name="games")
    op.drop_index("ix_games_listed_preset", table_name="games")
    op.drop_index("ix_games_listed", table_name="games")
    op.create_index("ix_games_preset_finished", "games", ["preset", "finished", "id"])
    op.create_index("ix_games_finished", "games", ["finished", "id"])
    op.drop_column("games", "contracts")

    op.drop_index("ix_players_behind", table_name="players")
    op.drop_index("ix_players_folded", table_name="players")
    op.drop_index("ix_players_rated", table_name="players")
    op.drop_column("players", "folded")
