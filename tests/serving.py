"""A real `coinche serve` in a process of its own, for the tests that want the whole thing."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 120  # seconds after which something hangs; never a measure of speed


@dataclass(frozen=True, slots=True)
class Serving:
    """A running coinche: its address without a closing slash, its process, and what it said until it was ready."""

    url: str
    process: subprocess.Popen[str]
    said: str

    def stop(self, signal: int) -> str:
        """Send a signal, wait for the end, and return the rest of what it said."""
        self.process.send_signal(signal)
        rest, _ = self.process.communicate(timeout=PATIENCE)
        return rest


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
    """A coinche that has said it is ready; it is ended with the context, if it still runs. A worker has no address."""
    with start(data, *words, module=module, **environment) as process:
        try:
            said = ""
            assert process.stdout
            for line in process.stdout:
                said += line
                if "Ctrl-C stops it" in line:
                    break
            address = re.search(r"ready: (http://\S+)/", said)
            assert address or "coinche works" in said, f"coinche did not start:\n{said}"
            yield Serving(address[1] if address else "", process, said)
        finally:
            if process.poll() is None:
                process.terminate()


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


def settled(data: Path) -> list[str]:
    """The servers that stay, when all that are about to end have been given the time to."""
    deadline = time.monotonic() + PATIENCE
    while (left := processes_of(data)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left
