"""Several processes behind one listening socket: started, replaced when they die or are renewed, told to stop together."""

import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FrameType

import structlog
from prometheus_client import multiprocess

from app import metrics
from app.launch import launcher

LOOK_SECONDS = 0.1
STOP_SECONDS = 40
"""How long a process may take to see its guests off, and to end what is under way, before it is ended."""

MOST_FAILURES = 5
"""So many processes that die before they can serve, and none that can: the fault is not theirs."""

LONGEST_WAIT = 5.0
"""How many seconds at most pass before another process takes the place of one that could not start."""

_log = structlog.get_logger()


@dataclass(eq=False)
class _Member:
    """A process, and the pipe on which it says once that it serves."""

    process: subprocess.Popen[bytes]
    pipe: int
    is_ready: bool = False
    deadline: float = 0.0
    """When it is ended, if it has been asked to leave."""

    @property
    def is_dead(self) -> bool:
        return self.process.poll() is not None

    def look(self) -> bool:
        """Whether it has become ready since the last look."""
        if self.is_ready or self.pipe < 0 or not select.select([self.pipe], [], [], 0)[0]:
            return False
        self.is_ready = os.read(self.pipe, 1) != b""
        return self.is_ready

    def ask_to_leave(self, how: signal.Signals = signal.SIGTERM) -> None:
        self.deadline = time.monotonic() + STOP_SECONDS
        self.process.send_signal(how)


class Flock:
    """Processes of this program, each serving the same listener; SIGHUP replaces them one by one."""

    def __init__(self, count: int, listener: socket.socket, environment: Mapping[str, str], alone: bool) -> None:
        """`environment` is added to this process's. `alone`: no other process has these tables."""
        self._count = count
        self._listener = listener
        self._environment = dict(os.environ) | dict(environment)
        self._farewell = signal.SIGINT if alone else signal.SIGTERM
        self._members: list[_Member] = []
        self._leaving: list[_Member] = []
        self._to_renew: list[int] = []
        self._heir: _Member | None = None
        self._has_served = False
        self._failures = 0
        self._next_start = 0.0
        self._stops = 0
        self._renewing = False

    def run(self, announce: Callable[[], None]) -> None:
        """Serve until told to stop. Raises ValueError if no process can."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_stop)
        signal.signal(signal.SIGHUP, self._on_renew)
        with tempfile.TemporaryDirectory(prefix="coinche-numbers-") as folder:
            self._environment[metrics.FOLDER] = folder
            self._members = [self._start() for _ in range(self._count)]
            try:
                while not self._stops:
                    self._look(announce)
                    time.sleep(LOOK_SECONDS)
            finally:
                self._stop()

    def _look(self, announce: Callable[[], None]) -> None:
        if [member for member in self._members if member.look()]:
            self._failures = 0
            if not self._has_served:
                self._has_served = True
                announce()
        self._replace_the_dead()
        self._renew()
        self._see_off()

    def _start(self) -> _Member:
        listener = self._listener.fileno()
        ours, theirs = os.pipe()
        process = subprocess.Popen(
            [
                *launcher(signal.SIGKILL),
                *(sys.executable, "-m", "app", "serve", "--listener", str(listener), "--ready", str(theirs)),
            ],
            env=self._environment,
            pass_fds=[listener, theirs],
            start_new_session=True,
        )
        os.close(theirs)
        return _Member(process, ours)

    def _replace_the_dead(self) -> None:
        """At once, or where they could not even start, for instance with the stores away, after a while that grows."""
        for place, member in enumerate(self._members):
            if not member.is_dead:
                continue
            if member.pipe >= 0:
                self._bury(member)
                if not member.is_ready:
                    self._failures += 1
                    self._next_start = time.monotonic() + min(LONGEST_WAIT, LOOK_SECONDS * 2**self._failures)
            if self._failures >= MOST_FAILURES and not self._has_served:
                raise ValueError("The serving processes die as soon as they start; what they said is above")
            if member.is_ready or time.monotonic() >= self._next_start:
                self._members[place] = self._start()

    def _renew(self) -> None:
        """A new process serves first, then the old one is asked to leave: guests find somebody at every moment."""
        if self._renewing:
            self._renewing, self._to_renew = False, list(range(self._count))
        if not self._to_renew:
            return
        if self._heir is None:
            self._heir = self._start()
        elif self._heir.look():
            place = self._to_renew.pop(0)
            old, self._members[place], self._heir = self._members[place], self._heir, None
            if not old.is_dead:
                old.ask_to_leave()
            self._leaving.append(old)
        elif self._heir.is_dead:
            _log.error("a new process does not start, the others stay", code=self._heir.process.returncode)
            self._bury(self._heir)
            self._heir, self._to_renew = None, []

    def _see_off(self) -> None:
        for member in tuple(self._leaving):
            if member.is_dead:
                self._leaving.remove(member)
                self._bury(member)
            elif time.monotonic() > member.deadline:
                member.process.kill()

    def _stop(self) -> None:
        """All leave. Asked again, they leave at once."""
        heirs = [] if self._heir is None else [self._heir]
        self._leaving += [member for member in (*self._members, *heirs) if member.pipe >= 0]
        asked = 0
        while self._leaving:
            if asked < max(1, self._stops):
                asked += 1
                for member in self._leaving:
                    member.ask_to_leave(self._farewell)
            self._see_off()
            time.sleep(LOOK_SECONDS)

    def _bury(self, member: _Member) -> None:
        """What it counted stays in the sums; what it had open is closed."""
        if member.pipe >= 0:
            os.close(member.pipe)
            member.pipe = -1
            multiprocess.mark_process_dead(member.process.pid, self._environment[metrics.FOLDER])  # type: ignore[no-untyped-call]

    def _on_stop(self, number: int, frame: FrameType | None) -> None:
        self._stops += 1
        if number == signal.SIGINT:
            self._farewell = signal.SIGINT

    def _on_renew(self, number: int, frame: FrameType | None) -> None:
        self._renewing = True
