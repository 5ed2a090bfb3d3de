"""A power cut, on the files of Valkey. `make power CUTS=…` does it more often, under each setting."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.chaos.disk import Disk
from tests.chaos.power import Plan, cut

WRITER = """
import os, sys
from pathlib import Path

folder = Path(sys.argv[1])
folder.mkdir()


def write(name, text, synced):
    with open(folder / name, "ab") as file:
        file.write(text)
        file.flush()
        if synced:
            os.fdatasync(file.fileno())


write("log", b"abc", True)
write("list", b"old", True)
write("never", b"xyz", False)
os.fsync(os.open(folder, os.O_RDONLY))
write("log", b"def", False)
write("list.new", b"new", True)
os.rename(folder / "list.new", folder / "list")
write("late", b"uvw", True)
"""


def test_of_a_folder_stays_what_was_synced(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    disk = Disk(folder, tmp_path / "aside")

    def write() -> None:
        disk.watch()
        subprocess.run([sys.executable, "-c", WRITER, folder], check=True)

    with ThreadPoolExecutor() as pool:
        pool.submit(write).result()
    disk.lose_power()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"log": b"abc", "list": b"old", "never": b""}
    disk.lose_power(zeros=True)
    assert (folder / "list").read_bytes() == b"old" + bytes(4093)


async def test_a_power_cut_costs_nothing_where_all_is_synced_before_it_is_acknowledged(
    tmp_path: Path, database_url: str
) -> None:
    """Zeros are left behind it, so it has to be repaired, and that costs nothing either."""
    loss = await cut(Plan("always", seconds=1, seed=1, tables=2, target=50, zeros=True), tmp_path, database_url)
    assert (loss.lost, loss.gone, loss.wrong) == (0, 0, [])
    assert loss.acknowledged > 0


async def test_it_costs_what_was_acknowledged_where_nothing_is_synced(tmp_path: Path, database_url: str) -> None:
    """Or else the test above would prove nothing."""
    loss = await cut(Plan("no", seconds=1, seed=1, tables=2), tmp_path, database_url)
    assert loss.lost > 0
    assert (loss.gone, loss.wrong) == (2, [])
