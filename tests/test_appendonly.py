"""The files of the built-in Valkey, cut and torn in every way, and what is made of them."""

import os
import shutil
from pathlib import Path

import pytest
from redis import Redis

from app.appendonly import FOLDER, MANIFEST, Irreparable, missing, repair
from app.embedded import Unavailable, running

UNUSED = "postgresql://unused"
BASE, WRITTEN = "appendonly.aof.1.base.rdb", "appendonly.aof.1.incr.aof"


def write(data: Path, *words: str) -> None:
    """Keep each word, under itself."""
    with running(data, None, UNUSED) as servers, Redis.from_url(servers.redis_url) as redis:
        for word in words:
            redis.set(word, word)


def rewrite(data: Path) -> None:
    """Have Valkey begin another base."""
    with running(data, None, UNUSED) as servers, Redis.from_url(servers.redis_url) as redis:
        redis.bgrewriteaof()
        while redis.info("persistence")["aof_rewrite_in_progress"]:
            pass


def words(data: Path) -> set[str]:
    with running(data, None, UNUSED) as servers, Redis.from_url(servers.redis_url, decode_responses=True) as redis:
        return set(redis.keys())


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in whose Valkey two words stand."""
    data = tmp_path_factory.mktemp("kept")
    write(data, "belote", "rebelote")
    return data


@pytest.fixture
def data(kept: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(kept, tmp_path / "data", ignore=shutil.ignore_patterns("*.sock"))


def append(path: Path, junk: bytes) -> None:
    path.write_bytes(path.read_bytes() + junk)


@pytest.mark.parametrize(
    ("junk", "left"),
    [
        (bytes(1), {"belote", "rebelote"}),
        (bytes(70_000), {"belote", "rebelote"}),
        (b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$5\r\nx\0\0\0\0\0\0", {"belote", "rebelote"}),
        (b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$1\r\nx\r\n" + bytes(512), {"belote", "rebelote", "x"}),
        (b"*1000000000\r\n", {"belote", "rebelote"}),
        (b"no command", {"belote", "rebelote"}),
    ],
    ids=["one zero", "many zeros", "torn command", "whole command and zeros", "number too large", "something else"],
)
def test_it_is_cut_after_the_last_whole_command(data: Path, junk: bytes, left: set[str]) -> None:
    file = data / "valkey" / FOLDER / WRITTEN
    append(file, junk)
    spoilt = file.read_bytes()
    assert len(repair(data / "valkey")) == 2
    [copy] = (data / "valkey").glob(f"{FOLDER}.before-*")
    assert (copy / WRITTEN).read_bytes() == spoilt
    assert words(data) == left
    assert repair(data / "valkey") == []


def test_where_valkey_does_not_start_it_is_said_what_helps(data: Path) -> None:
    append(data / "valkey" / FOLDER / WRITTEN, bytes(4096))
    with pytest.raises(Unavailable, match="coinche repair"):
        words(data)


@pytest.mark.parametrize("manifest", [None, b"", bytes(88), b"file x seq"], ids=["gone", "empty", "zeros", "torn"])
def test_a_manifest_that_is_gone_is_written_anew(data: Path, manifest: bytes | None) -> None:
    """With none Valkey would begin empty, without a word."""
    path = data / "valkey" / FOLDER / MANIFEST
    path.unlink() if manifest is None else path.write_bytes(manifest)
    with pytest.raises(Unavailable, match="coinche repair"):
        words(data)
    repair(data / "valkey")
    assert words(data) == {"belote", "rebelote"}


@pytest.mark.parametrize("is_left", [False, True])
def test_of_old_files_none_is_listed_again(data: Path, tmp_path: Path, is_left: bool) -> None:
    """Valkey removes what a new base has in it, but may not have come to that."""
    folder = data / "valkey" / FOLDER
    old = shutil.copy2(folder / WRITTEN, tmp_path / WRITTEN)
    rewrite(data)
    write(data, "capot")
    if is_left:
        shutil.copy2(old, folder / WRITTEN)
        append(folder / WRITTEN, b"*3\r\n$3\r\nSET\r\n$3\r\nold\r\n$1\r\nx\r\n")
        os.utime(folder / WRITTEN, (1, 1))
    before = (folder / MANIFEST).read_text()
    (folder / MANIFEST).unlink()
    repair(data / "valkey")
    assert set((folder / MANIFEST).read_text().splitlines()) == set(before.splitlines())
    assert words(data) == {"belote", "rebelote", "capot"}


@pytest.mark.parametrize(
    ("gone", "said"),
    [((WRITTEN,), "is missing"), ((WRITTEN, MANIFEST), "Nothing that was played"), ((BASE,), "is missing")],
)
def test_what_cannot_be_repaired_is_said_and_left_as_it_is(data: Path, gone: tuple[str, ...], said: str) -> None:
    folder = data / "valkey" / FOLDER
    for name in gone:
        (folder / name).unlink()
    left = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(Irreparable, match=said):
        repair(data / "valkey")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == left


def test_where_something_was_kept_nothing_begins_empty_in_silence(data: Path) -> None:
    shutil.rmtree(data / "valkey" / FOLDER)
    with pytest.raises(Unavailable, match=r"are gone.*move .*valkey away"):
        words(data)
    shutil.rmtree(data / "valkey")
    assert words(data) == set()
    assert missing(data / "valkey") is None
