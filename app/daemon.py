"""A server program that runs as long as we do: started, waited for, started again if it dies, stopped."""

import fcntl
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

import structlog

from app.launch import launcher

START_SECONDS = 60
STOP_SECONDS = 30
LOOK_SECONDS = 0.1
STEADY_SECONDS = 10
"""What has run for so long was started well: if it dies now it has not failed before."""

MOST_FAILURES = 10
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 5.0

Command = Sequence[str | Path]

_log = structlog.get_logger()


class Unavailable(Exception):
    """The servers cannot be had; the message is one line that says what to do about it."""


@dataclass(frozen=True, slots=True)
class Guise:
    """As whom a program runs: as ourselves, as nobody within a user namespace of its own, or as another user.

    `enters_all`: that user may enter every folder, as root may.
    """

    namespace: bool = False
    user: int | None = None
    enters_all: bool = False

    @property
    def owner(self) -> int:
        """Whose the files are that a program in this guise writes, seen from outside."""
        return os.geteuid() if self.user is None else self.user

    def launcher(self, farewell: signal.Signals) -> list[str]:
        """The words before a command that runs in this guise."""
        return launcher(farewell, self.namespace, self.user, self.enters_all)


OURSELVES = Guise()


@dataclass(frozen=True, slots=True)
class Program:
    """How a server is run.

    Its `home` holds its log, and its pid in a file that it keeps locked while it lives. `stale`: files that may outlive it and
    name processes that are anybody's by then. `explain`: what to say of the log of one that did not start.
    """

    name: str
    command: Command
    home: Path
    farewell: signal.Signals
    is_ready: Callable[[], bool]
    explain: Callable[[str], str]
    guise: Guise = OURSELVES
    stale: tuple[Path, ...] = ()

    @property
    def log(self) -> Path:
        return self.home / "log"


class Daemon:
    """A server that is kept running by a thread of its own.

    The thread starts it, for the kernel ends a server with the thread that started it; so it has to live as long as the server.
    """

    def __init__(self, program: Program, restarts: bool, on_loss: Callable[[], None]) -> None:
        """`on_loss` is called, in that thread, when the server has died and is not, or cannot be, started again."""
        self._program = program
        self._most_failures = MOST_FAILURES if restarts else 0
        self._on_loss = on_loss
        self._thread = threading.Thread(target=self._keep, name=program.name)
        self._is_settled = threading.Event()
        self._is_ending = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._began = 0.0
        self._failures = 0
        self._error: BaseException | None = None
        self.loss: str | None = None
        """Why it cannot be had any more."""

    def start(self) -> None:
        """Return when it answers. Raises Unavailable."""
        self._thread.start()
        self._is_settled.wait()
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Return when it has ended."""
        self._is_ending.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _keep(self) -> None:
        try:
            self._start("wb")
        except BaseException as error:
            self._error = error
            self._end()
            return
        finally:
            self._is_settled.set()
        try:
            while not self._is_ending.wait(LOOK_SECONDS) and self.loss is None:
                if self._process is not None and self._process.poll() is not None:
                    self._revive(self._process.returncode)
        except Exception as error:
            self._lose(repr(error))
        finally:
            self._end()

    def _lose(self, reason: str) -> None:
        self.loss = f"{self._program.name} has died, and cannot be started again: {reason}"
        _log.error("a server of ours has died, and cannot be started again", server=self._program.name, reason=reason)
        self._on_loss()

    def _revive(self, code: int) -> None:
        """Start it anew, with pauses that grow, until it runs or has failed too often."""
        reason = (
            f"it was killed by {signal.Signals(-code).name}" if code < 0 else f"it has ended with {code}{self._last_words()}"
        )
        self._failures = 0 if time.monotonic() - self._began > STEADY_SECONDS else self._failures + 1
        while not self._is_ending.is_set():
            if self._failures >= self._most_failures:
                self._lose(reason)
                return
            _log.error("a server of ours has died, and is started again", server=self._program.name, reason=reason)
            if self._failures:
                self._is_ending.wait(min(LONGEST_PAUSE, FIRST_PAUSE * 2**self._failures))
            try:
                self._start("ab")
            except Unavailable as error:
                reason = str(error)
                self._failures += 1
                self._end()
            else:
                _log.warning("a server of ours is back", server=self._program.name)
                return

    def _start(self, mode: str) -> None:
        """Start it and wait until it answers, or until we are to end."""
        program, is_first = self._program, self._process is None
        self._began = time.monotonic()
        try:
            with (program.home / "pid").open("a+") as pid, program.log.open(mode) as output:
                self._outlive(pid, is_first)
                for note in program.stale:
                    note.unlink(missing_ok=True)
                self._process = _popen(program, pid, output)  # type: ignore[arg-type]
                pid.truncate(0)
                pid.write(str(self._process.pid))
        except OSError as error:
            raise Unavailable(f"{program.name} cannot be started: {error}") from error
        deadline = time.monotonic() + START_SECONDS
        while not program.is_ready() and not self._is_ending.is_set():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise Unavailable(program.explain(self._said()))
            self._is_ending.wait(0.01)

    def _outlive(self, pid: TextIO, is_first: bool) -> None:
        """Take the lock of its pid file; where another outlived its coinche, end that first. Ours is dead, but has children."""
        deadline = time.monotonic() + STOP_SECONDS
        leftover = None if is_first else 0
        while not locks(pid):
            if leftover is None:
                pid.seek(0)
                leftover = int(pid.read() or 0) or None
                if leftover and _is_run_with(leftover, self._program.home):
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(leftover, self._program.farewell)
            if time.monotonic() > deadline:
                raise Unavailable(f"Process {leftover} of an earlier coinche does not end: stop it, then start again.")
            if self._is_ending.wait(0.01):
                raise Unavailable(f"{self._program.name} was not started any more.")

    def _said(self) -> str:
        try:
            return self._program.log.read_text(errors="replace")
        except OSError:
            return ""

    def _last_words(self) -> str:
        """What it said of its end, if it knew of it."""
        lines = self._said().splitlines()[-20:]
        return next((f": {line.strip()}" for line in reversed(lines) if re.search(r"FATAL|PANIC|[Ee]rror", line)), "")

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.send_signal(self._program.farewell)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _popen(program: Program, pid: TextIO, output: BinaryIO) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*program.guise.launcher(program.farewell), *program.command],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        pass_fds=[pid.fileno()],
        start_new_session=True,  # Ctrl-C is for coinche, which stops its servers last
    )


def _is_run_with(pid: int, home: Path) -> bool:
    """Whether this is a server of that folder, and not somebody else who has its number by now."""
    if sys.platform != "linux":
        return True
    try:
        return os.fsencode(home) in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def run(command: Command, guise: Guise = OURSELVES, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program to its end; both its outputs are in one."""
    return subprocess.run(
        [*guise.launcher(signal.SIGKILL), *command],
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        start_new_session=True,
    )


def locks(file: TextIO) -> bool:
    """Whether the file is locked now, by us."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def last_line(text: str) -> str:
    """The last words of a program."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it gave no reason")
