"""Is what the built-in Valkey has kept on disk whole, and what can be done if it is not?

Valkey writes each command to the last of some files, which its manifest lists. A power cut may leave zeros, or anything, where
the end of the last one was on its way to the disk, and Valkey refuses to start on that; of a manifest that is gone it says
nothing and begins empty.
"""

import os
import re
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

FOLDER = "appendonlydir"
MANIFEST = "appendonly.aof.manifest"

_LISTED = re.compile(r"file (\S+) seq (\d+) type ([bhi])(?: .*)?")
_NAMED = re.compile(r"appendonly\.aof\.(\d+)\.(base\.rdb|base\.aof|incr\.aof)")
_KEPT = "kept"


class Irreparable(Exception):
    """What is left is not enough, or not clear; the message is one line that says what and how to go on."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of the manifest, with its number among those of its kind: b, a base; i, what was written since; h, an old one."""

    name: str
    number: int
    kind: str

    def __str__(self) -> str:
        return f"file {self.name} seq {self.number} type {self.kind}"


def note_kept(home: Path) -> None:
    """Remember that Valkey has kept something in this folder, so that finding nothing there is a loss."""
    (home / _KEPT).write_text("A Valkey has kept tables here, in appendonlydir. Without it coinche does not start.\n")


def missing(home: Path) -> str | None:
    """What to say, where Valkey would begin empty though it has kept something in this folder."""
    folder = home / FOLDER
    if (folder / MANIFEST).exists():
        return None
    if _files(folder):
        return f"{folder / MANIFEST} is missing, so that Valkey would begin empty: run `coinche repair`, which writes it anew."
    if (home / _KEPT).exists():
        return (
            f"The tables that were kept in {folder} are gone. Put that folder back from a copy; or to go on without them, "
            f"with finished games alone, move {home} away and start again."
        )
    return None


def repair(home: Path) -> list[str]:
    """Make the files such that Valkey starts on them; what was done, a line each. A copy of all is left beside them.

    Nothing is done where nothing has to be. Raises Irreparable; then nothing has been changed.
    """
    folder = home / FOLDER
    listed = _read_manifest(folder)
    files = _guess_manifest(folder) if listed is None else listed
    for file in files:
        if file.kind != "h" and not (folder / file.name).exists():
            raise Irreparable(f"{folder / file.name} is missing: put it, or the whole folder, back from a copy.")
    in_use = [file for file in files if file.kind != "h"]
    ends = {file: _whole(folder / file.name) for file in in_use if file.name.endswith(".aof")}
    broken = [file for file, end in ends.items() if end < (folder / file.name).stat().st_size]
    if any(file is not in_use[-1] for file in broken):
        raise Irreparable(f"{folder / broken[0].name} is broken, and others follow it: put the folder back from a copy.")
    if listed is not None and not broken:
        return []
    copy = _copy(folder)
    done = [f"What was there is kept in {copy}."]
    if listed is None:
        _write(folder, "".join(f"{file}\n" for file in files))
        done.append(f"{MANIFEST} was missing or could not be read; it lists {', '.join(file.name for file in files)} again.")
    done += [_cut(folder / file.name, ends[file]) for file in broken]
    return done


def _files(folder: Path) -> list[File]:
    """The files that have the name of one that a manifest lists, bases first, in their order."""
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    found = [(name, match) for name in names if (match := _NAMED.fullmatch(name))]
    files = [File(name, int(match[1]), match[2][0]) for name, match in found]
    return sorted(files, key=lambda file: (file.kind, file.number))


def _read_manifest(folder: Path) -> list[File] | None:
    """What it lists; None if it is not there or is none."""
    try:
        lines = (folder / MANIFEST).read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    matches = [_LISTED.fullmatch(line) for line in lines if not line.startswith("#")]
    files = [File(match[1], int(match[2]), match[3]) for match in matches if match]
    return files if files and all(matches) else None


def _guess_manifest(folder: Path) -> list[File]:
    """What it must have listed.

    Of an old file, one that a later base has in it, the last write is older than that base; but the last file is always in use.
    """
    files = _files(folder)
    bases, written = [file for file in files if file.kind == "b"], [file for file in files if file.kind == "i"]
    if not written:
        raise Irreparable(f"Nothing that was played is in {folder}: put it back from a copy.")
    if len(bases) > 1:
        raise Irreparable(f"{folder} has several bases, and nothing says which is in use: put it back from a copy.")
    if not bases and written[0].number != 1:
        raise Irreparable(f"{folder} lacks its base: put it back from a copy.")
    since = max(((folder / file.name).stat().st_mtime for file in bases), default=0.0)
    return [*bases, *(file for file in written if file is written[-1] or (folder / file.name).stat().st_mtime >= since)]


def _whole(path: Path) -> int:
    """Where the last whole command of a file ends."""
    end = 0
    with path.open("rb") as file:
        while _skip(file):
            end = file.tell()
    return end


def _skip(file: BinaryIO) -> bool:
    """Whether a whole command, or a line of notes, stood there."""
    line = file.readline(65536)
    if line.startswith(b"#"):
        return line.endswith(b"\n")
    parts = _number(line, b"*")
    for _ in range(parts):
        length = _number(file.readline(65536), b"$")
        if length < 0 or len(text := file.read(length + 2)) != length + 2 or not text.endswith(b"\r\n"):
            return False
    return parts > 0


def _number(line: bytes, mark: bytes) -> int:
    """The number after this mark, or -1."""
    match = re.fullmatch(re.escape(mark) + rb"(\d{1,9})\r\n", line)
    return int(match[1]) if match else -1


def _copy(folder: Path) -> Path:
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    copy = folder.with_name(f"{FOLDER}.before-{moment}")
    shutil.copytree(folder, copy)
    return copy


def _cut(path: Path, end: int) -> str:
    with path.open("r+b") as file:
        file.seek(end)
        rest = file.read()
        file.truncate(end)
        os.fsync(file.fileno())
    what = "zeros, as a power cut leaves them" if not rest.strip(b"\0") else "which no longer are whole commands"
    return f"{path.name} is cut after its last whole command: {len(rest)} bytes are left out, {what}."


def _write(folder: Path, text: str) -> None:
    draft = folder / f"{MANIFEST}.new"
    with draft.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(folder / MANIFEST)
    opened = os.open(folder, os.O_RDONLY)
    os.fsync(opened)
    os.close(opened)
