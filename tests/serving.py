"""A real `coinche serve` in a process of its own, for the tests that want the whole thing."""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 120  # seconds after which something hangs; never a measure of speed


class Serving:
    """A running coinche: its process, its address without a closing slash, and what it has said until it was ready."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.url = ""
        self.said = ""
        self._heard: list[str] = []
        self._is_up = threading.Event()
        self._listening = threading.Thread(target=self._listen)
        self._listening.start()

    def _listen(self) -> None:
        """Whoever says much must not wait for somebody to hear it."""
        assert self.process.stdout
        with self.process.stdout as pipe:
            for line in pipe:
                self._heard.append(line)
                if "Ctrl-C stops it" in line:
                    self.said = self.all_said
                    self._is_up.set()
        self._is_up.set()

    @property
    def all_said(self) -> str:
        return "".join(self._heard)

    def wait_until_ready(self) -> None:
        """A worker has no address."""
        assert self._is_up.wait(PATIENCE), f"coinche did not start:\n{self.all_said}"
        address = re.search(r"ready: (http://\S+)/", self.said)
        assert address or "coinche works" in self.said, f"coinche did not start:\n{self.all_said}"
        self.url = address[1] if address else ""

    def rest(self) -> str:
        """Wait for the end; what it has said since it was ready."""
        self.process.wait(PATIENCE)
        self._listening.join(PATIENCE)
        return self.all_said[len(self.said) :]

    def stop(self, signal: int) -> str:
        """Send a signal, wait for the end, and return the rest of what it said."""
        self.process.send_signal(signal)
        return self.rest()


def start(data: Path, *words: str, module: str = "app", **environment: str) -> subprocess.Popen[str]:
    """Type `coinche serve`, or `coinche` with these words, with everything it says on one pipe."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("COINCHE_")}
    chosen = {"COINCHE_DATA": str(data), "COINCHE_PORT": "0", "COINCHE_LIMITS": "false"} | environment
    return subprocess.Popen(
        [sys.executable, "-m", module, *(words or ("serve",))],
        env={name: value for name, value in inherited.items() if name not in ("REDIS_URL", "DATABASE_URL")} | chosen,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@contextmanager
def serving(data: Path, *words: str, module: str = "app", **environment: str) -> Iterator[Serving]:
    """A coinche that has said it is ready; it is ended with the context, if it still runs."""
    process = start(data, *words, module=module, **environment)
    coinche = Serving(process)
    try:
        coinche.wait_until_ready()
        yield coinche
    except BaseException as error:
        error.add_note(f"The server has said:\n{coinche.all_said}")
        raise
    finally:
        if process.poll() is None:
            process.terminate()
        coinche.rest()


def members(coinche: Serving) -> set[int]:
    """The serving processes that the flock's parent has started and that live."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            words = (folder / "cmdline").read_bytes()
        except OSError:  # it ended while we looked
            continue
        if int(parent) == coinche.process.pid and state != "Z" and b"--listener" in words:
            found.add(int(folder.name))
    return found


def refusal(data: Path, *words: str, **environment: str) -> tuple[int, str]:
    """The exit code and all words of a coinche that is not expected to start."""
    with start(data, *words, **environment) as process:
        try:
            said, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return process.returncode, said


def processes_of(data: Path) -> list[str]:
    """The command lines of all servers that run on this data folder."""
    if Path("/proc/self/cmdline").exists():
        found = []
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                found.append(file.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:  # it ended while we looked
                continue
    else:
        found = subprocess.run(["ps", "-axww", "-o", "command"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in found if str(data) in line and ("valkey-server" in line or "postgres" in line)]


def leave_zeros(data: Path) -> None:
    """Leave at the end of what the built-in Valkey has kept what a power cut may leave there."""
    with (data / "valkey/appendonlydir/appendonly.aof.1.incr.aof").open("ab") as file:
        file.write(bytes(4096))


def settled(data: Path) -> list[str]:
    """The servers that stay, when all that are about to end have been given the time to."""
    deadline = time.monotonic() + PATIENCE
    while (left := processes_of(data)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left
