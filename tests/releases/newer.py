"""A release that comes after this one: a copy of the tree with an option, a field of a table and an event more."""

import re
import shutil
from pathlib import Path

from app.wire.log import FORMAT

ROOT = Path(__file__).parents[2]

CHANGES: tuple[tuple[str, str, str], ...] = (
    (
        "app/game/rules.py",
        r'( {4}equal_totals: EqualTotals = _choice\("end"\)\n)',
        r'\1    lucky: bool = field(default=False, metadata={"group": "end"})\n',
    ),
    ("app/tables/table.py", r"( {4}asking: frozenset\[Seat\] = frozenset\(\)\n)", r'\1    motto: str = "salut"\n'),
    (
        "app/tables/table.py",
        r"\nTableEvent = \(\n",
        "\n@dataclass(frozen=True, slots=True)\nclass Cheered:\n    seat: Seat\n\n\nTableEvent = (\n    Cheered |\n",
    ),
    ("app/tables/table.py", r"( {8}case TimeGivenBack\(\)):\n", r"\1 | Cheered():\n"),
    ("app/tables/mirror.py", r"( {12}\| TimeGivenBack\(\)\n)", r"\1            | Cheered()\n"),
    ("app/tables/mirror.py", r"( {4}GameStarted,\n)", r"\1    Cheered,\n"),
    ("app/tables/judge.py", r"\(ReadyChanged\(seat, ready\),\)", "(ReadyChanged(seat, ready), Cheered(seat))"),
    ("app/tables/judge.py", r"( {4}GameStarted,\n)", r"\1    Cheered,\n"),
)

NEW_NUMBER = (
    ("app/wire/log.py", rf"FORMAT = {FORMAT}\n", f"FORMAT = {FORMAT + 1}\n"),
    ("app/wire/log.py", r"\{1: _as_it_is\}", f"dict.fromkeys(range(1, {FORMAT + 1}), _as_it_is)"),
)
"""What whoever changes a stored form has to do besides, and may forget."""


def tree(folder: Path, has_new_number: bool) -> Path:
    """The tree of that release."""
    for name in ("app", "static", "migrations"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "CHANGELOG.md", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, folder)
    for name, old, new in CHANGES + (NEW_NUMBER if has_new_number else ()):
        path = folder / name
        text, count = re.subn(old, new, path.read_text())
        assert count, f"{name} has no {old} any more"
        path.write_text(text)
    return folder
