"""Games that were abandoned: how a game ended, and no winner where nobody has won."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "3c1d5e7a9b20"
down_revision: str | None = "5d20c9e1a7f4"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this version."""
    op.add_column("games", sa.Column("ended", sa.String(), server_default="played", nullable=False))
    op.alter_column("games", "winner", existing_type=sa.String(), nullable=True)
    op.create_check_constraint("ended", "games", "(ended = 'played') = (winner IS NOT NULL)")


def downgrade() -> None:
    """Back from it: games that were abandoned have no place there."""
    op.execute("DELETE FROM games WHERE winner IS NULL")
    op.drop_constraint(op.f("ck_games_ended"), "games", type_="check")
    op.alter_column("games", "winner", existing_type=sa.String(), nullable=False)
    op.drop_column("games", "ended")
