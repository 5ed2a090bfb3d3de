"""Writes a new revision into migrations/versions: what the models have that the migrations do not make yet."""

import sys
import tempfile
from pathlib import Path

from alembic import command

from app.embedded import running
from app.store.prepare import alembic_config


def main(message: str) -> None:
    """Compare the models with a database that has had all migrations so far."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), redis_url="unused") as servers:
        config = alembic_config(servers.database_url)
        command.upgrade(config, "head")
        command.revision(config, message, autogenerate=True)


if __name__ == "__main__":
    if not sys.argv[1:] or not sys.argv[1]:
        raise SystemExit('Say what changes: make migration m="add the table of friends"')
    main(sys.argv[1])
