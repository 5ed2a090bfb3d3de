"""Several processes behind one listening socket: started, replaced when they die or are renewed, told to stop together."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from types import FrameType

from app.embedded import dying_with_parent

LOOK_SECONDS = 0.1
STOP_SECONDS = 30
"""How long a process may take to see its guests off before it is ended."""

DIED_EARLY_SECONDS = 2
MOST_DEATHS = 5
"""So many processes that die one after the other right after their start: the fault is not theirs."""


class Flock:
    """Processes of this program, each serving the same listener; SIGHUP replaces them one by one."""

    def __init__(self, count: int, listener: socket.socket, environment: Mapping[str, str], ready: Callable[[], bool]) -> None:
        self._count = count
        self._listener = listener
        self._environment = dict(os.environ) | dict(environment)
        self._ready = ready
        self._members: list[subprocess.Popen[bytes]] = []
        self._born: dict[int, float] = {}
        self._early_deaths = 0
        self._stopping = False
        self._renewing = False

    def run(self, announce: Callable[[], None]) -> None:
        """Serve until told to stop. Raises ValueError if the processes cannot stay alive."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_stop)
        signal.signal(signal.SIGHUP, self._on_renew)
        self._members = [self._start() for _ in range(self._count)]
        announced = False
        while not self._stopping:
            self._replace_the_dead()
            if not announced and self._ready():
                announced = True
                announce()
            if self._renewing:
                self._renewing = False
                self._renew()
            time.sleep(LOOK_SECONDS)
        self._stop(self._members)

    def _start(self) -> subprocess.Popen[bytes]:
        member = subprocess.Popen(
            [sys.executable, "-m", "app", "serve", "--listener", str(self._listener.fileno())],
            env=self._environment,
            pass_fds=[self._listener.fileno()],
            start_new_session=True,
            preexec_fn=dying_with_parent(signal.SIGKILL),
        )
        self._born[member.pid] = time.monotonic()
        return member

    def _replace_the_dead(self) -> None:
        for place, member in enumerate(self._members):
            if member.poll() is None:
                continue
            early = time.monotonic() - self._born.pop(member.pid) < DIED_EARLY_SECONDS
            self._early_deaths = self._early_deaths + 1 if early else 0
            if self._early_deaths >= MOST_DEATHS:
                self._stop(self._members)
                raise ValueError("The serving processes die as soon as they start; what they said is above")
            self._members[place] = self._start()

    def _renew(self) -> None:
        """A new process first, then the old one is asked to leave: guests find somebody at every moment."""
        for place, old in enumerate(list(self._members)):
            if self._stopping:
                return
            self._members[place] = self._start()
            self._stop([old])

    def _stop(self, members: list[subprocess.Popen[bytes]]) -> None:
        for member in members:
            if member.poll() is None:
                member.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for member in members:
            try:
                member.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                member.kill()
                member.wait()

    def _on_stop(self, number: int, frame: FrameType | None) -> None:
        self._stopping = True

    def _on_renew(self, number: int, frame: FrameType | None) -> None:
        self._renewing = True
