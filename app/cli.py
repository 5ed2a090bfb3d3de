"""The command `coinche`: what an operator or a program types."""

import asyncio
import errno
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from io import RawIOBase
from types import FrameType
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TaskID

from app import appendonly, heap, logs
from app import settings as environment
from app.embedded import Servers, Unavailable, claimed, running, store
from app.flock import Flock
from app.game.refusal import Refused
from app.settings import Settings
from app.tables.tokens import MOST_DAYS

cli = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@cli.callback()
def _about() -> None:
    """Play coinche with friends, in the browser."""


Processes = Annotated[int, typer.Option(min=1, max=64, help="How many processes serve; any of them may die at any moment.")]
Listener = Annotated[int | None, typer.Option(hidden=True, help="The socket that a process of several was handed.")]
Ready = Annotated[int | None, typer.Option(hidden=True, help="The pipe on which it says that it serves.")]


@cli.command()
def serve(processes: Processes = 1, listener: Listener = None, ready: Ready = None) -> None:
    """Serve the game until Ctrl-C. COINCHE_* variables choose address, port, data folder and more."""
    _listen_for_the_end()
    try:
        settings = environment.read()
        logs.configure(settings.log_level)
        if listener is not None and ready is not None:
            _serve_as_one_of_several(settings, listener, ready)
            return
        with _listen(settings.host, settings.port) as opened:
            _serve(settings, opened, processes)
    except (Unavailable, ValueError) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    typer.echo("coinche has stopped; games are kept.")


@cli.command()
def worker() -> None:
    """Do the house's work for servers that run elsewhere: deadlines, house players, the archive. Needs both URLs."""
    _listen_for_the_end()
    try:
        settings = environment.read()
        if settings.redis_url is None or settings.database_url is None:
            raise ValueError("A worker has no servers of its own: set REDIS_URL and DATABASE_URL to those of the tables")
        _prepare(settings.redis_url, settings.database_url)
        from app.main import work

        logs.configure(settings.log_level)
        work(settings, settings.redis_url, settings.database_url, _announce_worker)
    except ValueError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    typer.echo("coinche has stopped; games are kept.")


@cli.command()
def repair() -> None:
    """Mend the files of the built-in Valkey where it does not start on them, after a power cut for instance; a copy is kept."""
    try:
        settings = environment.read()
        if settings.redis_url is not None:
            raise ValueError("REDIS_URL names a Valkey or Redis of your own: repair it with its valkey-check-aof")
        with claimed(settings.data) as home:
            done = appendonly.repair(home)
        for line in done or ["Nothing has to be repaired."]:
            typer.echo(line)
        with running(settings.data, None, "postgresql://unused"):
            typer.echo("Valkey starts on it.")
    except (Unavailable, appendonly.Irreparable, ValueError) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


@cli.command()
def referee() -> None:
    """Judge games for other programs: one JSON question a line on standard input, one answer a line on standard output."""
    from app.wire.referee import Unreadable, answer_lines

    try:
        answer_lines(sys.stdin.buffer, sys.stdout)
    except Unreadable as error:
        _fail(str(error))


@cli.command()
def load(
    url: Annotated[str, typer.Argument(help="Where coinche answers, as in http://127.0.0.1:8000.")],
    tables: Annotated[int, typer.Option(min=1)] = 4,
    seconds: Annotated[float, typer.Option(help="How long new games are begun; the last ones are played to their end.")] = 30,
    seed: Annotated[int, typer.Option(help="The same seed brings the same people with the same habits.")] = 1,
    people: Annotated[int, typer.Option(min=1, max=4, help="People at a table; the house takes the other seats.")] = 2,
    preset: Annotated[list[str] | None, typer.Option(help="May be given several times; the tables take them in turn.")] = None,
    target: Annotated[int, typer.Option(min=1, help="Points that end a game.")] = 200,
    clock: Annotated[list[int] | None, typer.Option(help="Seconds a turn; 0 for none. In turn, like the presets.")] = None,
    think: Annotated[float, typer.Option(min=0, help="Mean pause before an action, in seconds.")] = 0.2,
    patience: Annotated[float, typer.Option(help="After so many silent seconds a game counts as stuck.")] = 60,
    archive: Annotated[float, typer.Option(help="How many seconds a finished game may take to be archived.")] = 180,
    promises: Annotated[str | None, typer.Option(help="Write every command and its ack to this file, one a line.")] = None,
) -> None:
    """Play whole games at a running coinche as people do, and prove that nothing acknowledged was lost. Exit 1 if it was."""
    from app.load.players import Habits
    from app.load.run import Plan, play

    clocks = tuple(seconds or None for seconds in clock or (0, 30))
    plan = Plan(
        *(url, tables, seconds, seed, people, tuple(preset or ("announced-701",)), target, clocks, patience, archive),
        Habits(think=think),
    )
    result = play(plan, promises)
    typer.echo(result.text)
    if result.differences:
        raise typer.Exit(1)


@cli.command()
def seed(
    games: Annotated[int, typer.Option(min=1, max=10_000_000, help="How many finished games the database is given.")] = 100_000,
    played: Annotated[int, typer.Option(min=6, help="How many of them are different; the others retell these.")] = 2_000,
    logs: Annotated[int, typer.Option(min=0, help="How many of the newest keep their log, some 100 KB each.")] = 1_000,
    people: Annotated[int, typer.Option(min=8, max=3_000, help="How many people are invented.")] = 400,
    seed: Annotated[int, typer.Option(help="The same seed (and date) brings the same games.")] = 1,
    until: Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="The day before which all end. [today]")] = None,
    processes: Annotated[int, typer.Option(min=1, max=64, help="How many processes play.")] = 2,
) -> None:
    """Fill the database with finished games, to see lists, statistics and plans at size. Not for one that people play on.

    Players of the house play a number of games under the six presets (--played); each is told again, of other invented people,
    at other times within two years, until there are enough. Ratings move with each rated game. Games without a log (--logs) are
    in all lists and statistics, and show no cards. The database is DATABASE_URL, or the built-in one while no coinche uses it.
    """
    from app.seed import Plan
    from app.seed import seed as fill
    from app.store.bulk import AlreadyThere
    from app.store.prepare import Unreachable, upgrade

    day = (until or datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)).replace(tzinfo=UTC)
    plan = Plan(games, played, logs, people, seed, int(day.timestamp() * 1000))
    try:
        settings = environment.read()
        with running(settings.data, "redis://unused", settings.database_url) as servers, _progress() as tell:
            upgrade(servers.database_url)
            asyncio.run(fill(servers.database_url, plan, processes, tell))
    except AlreadyThere:
        _fail(f"Games of seed {seed} are there already: choose another with --seed. Nothing was changed.")
    except (Unavailable, Unreachable, ValueError) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    typer.echo(f"{games} finished games are stored.")


@cli.command()
def bench(
    tables: Annotated[int, typer.Option(min=1, help="Tables at which four people play.")] = 10,
    actions: Annotated[int, typer.Option(min=1, help="How many actions they do in all.")] = 4_000,
    sockets: Annotated[int, typer.Option(min=1, help="Sockets that watch and do nothing.")] = 1_000,
    rest: Annotated[
        list[int] | None, typer.Option(help="So many tables at rest; may be given several times. [10 and 1000]")
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, help="How long tables at rest are watched.")] = 10,
) -> None:
    """Measure what an action, a socket and a table at rest cost a coinche of its own on this machine; the result is JSON."""
    from app.bench import Plan, measure

    plan = Plan(tables, actions, sockets, tuple(rest or (10, 1_000)), seconds)
    try:
        figures = asyncio.run(measure(plan, lambda line: typer.echo(f"{line} ...", err=True)))
    except ValueError as error:
        _fail(str(error))
    typer.echo(json.dumps(figures, indent=2))


@cli.command()
def token(
    admin: Annotated[str | None, typer.Option(metavar="NAME", help="Make a token with all scopes; it is shown once.")] = None,
    days: Annotated[int | None, typer.Option(min=1, max=MOST_DAYS, help="After so many days it is void. [never]")] = None,
    all: Annotated[bool, typer.Option("--list", help="Show the operator's tokens, newest first.")] = False,
    revoke: Annotated[str | None, typer.Option(metavar="ID", help="Make one of them void.")] = None,
) -> None:
    """The operator's own tokens for the API, in the store at REDIS_URL or the built-in one, whether coinche runs or not."""
    from app import operate

    if [admin is not None, all, revoke is not None].count(True) != 1:
        _fail("Say one of --admin NAME, --list and --revoke ID")
    with _asking() as url:
        if admin is not None:
            name, secret = asyncio.run(operate.make_token(url, admin, days))
            typer.echo(f"Token {name}; it is shown this once:", err=True)
            typer.echo(secret)
        elif revoke is not None:
            typer.echo(asyncio.run(operate.revoke_token(url, revoke)))
        elif told := asyncio.run(operate.list_tokens(url)):
            typer.echo(told)


@cli.command()
def archive(
    retry: Annotated[str | None, typer.Option(metavar="GAME", help="Try to archive this game again, or `all`.")] = None,
) -> None:
    """Tell how many finished games wait for Postgres, and which could not be archived and were put aside."""
    from app import operate

    with _asking() as url:
        typer.echo(asyncio.run(operate.list_aside(url) if retry is None else operate.archive_again(url, retry)))


@cli.command()
def hooks(
    dead: Annotated[bool, typer.Option("--dead", help="List what was given up, oldest first.")] = False,
    redeliver: Annotated[str | None, typer.Option(help="Send this again, by its id, or `all` that was given up.")] = None,
) -> None:
    """Tell what waits to be sent to hooks, and what was given up after a day of trying."""
    from app import operate

    with _asking() as url:
        if redeliver is not None:
            telling = operate.redeliver(url, redeliver)
        else:
            telling = operate.list_dead_deliveries(url) if dead else operate.count_deliveries(url)
        typer.echo(asyncio.run(telling))


@contextmanager
def _asking() -> Iterator[str]:
    """The store of the tables, whether a coinche runs on it or not; what it does not know is said in one line."""
    try:
        settings = environment.read()
        with store(settings.data, settings.redis_url) as url:
            yield url
    except Refused:
        _fail("The Valkey or Redis does not answer")
    except (Unavailable, ValueError) as error:
        _fail(str(error))


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """Shows on standard error how much of each thing is done."""
    with Progress(*Progress.get_default_columns(), MofNCompleteColumn(), console=Console(stderr=True)) as shown:
        tasks: dict[str, TaskID] = {}

        def tell(what: str, done: int, whole: int) -> None:
            if what not in tasks:
                tasks[what] = shown.add_task(what)
            shown.update(tasks[what], completed=done, total=whole)

        yield tell


def _serve(settings: Settings, listener: socket.socket, processes: int) -> None:
    def announce() -> None:
        _announce(settings, listener)

    def leave() -> None:
        """A server of ours is lost: the end is the same as when we are told to stop, but for the status."""
        os.kill(os.getpid(), signal.SIGTERM)

    with running(settings.data, settings.redis_url, settings.database_url, on_loss=leave) as servers:
        try:
            _prepare(servers.redis_url, servers.database_url)
            if processes == 1:
                _serve_here(settings, servers, listener, announce)
            else:
                urls = {"REDIS_URL": servers.redis_url, "DATABASE_URL": servers.database_url}
                _end_if_asked()
                Flock(processes, listener, urls, _is_alone(settings)).run(announce)
        finally:
            # From here on only the servers have to be told goodbye; a second Ctrl-C shall not cut that short.
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)


def _serve_as_one_of_several(settings: Settings, listener: int, ready: int) -> None:
    if settings.redis_url is None or settings.database_url is None:
        raise ValueError("--listener is for the processes that `coinche serve --processes` starts")
    with socket.socket(fileno=listener) as inherited, open(ready, "wb", buffering=0) as pipe:
        _serve_here(settings, Servers(settings.redis_url, settings.database_url), inherited, lambda: _say_ready(pipe))


def _serve_here(settings: Settings, servers: Servers, listener: socket.socket, announce: Callable[[], None]) -> None:
    from app.main import build
    from app.web.server import Server

    def begin() -> None:
        heap.freeze()
        if _is_to_end.is_set():  # asked where Python drops what a signal raises, as it does while it imports
            server.leave(alone=True)
            return
        announce()

    app = build(settings, servers.redis_url, servers.database_url)
    server = Server(app, settings.log_level, begin, settings.proxies, _is_alone(settings))
    server.run([listener])
    if not server.started or app.state.has_failed:
        _fail("coinche has ended by a fault of its own; what it was is said above. Games are kept.")


def _is_alone(settings: Settings) -> bool:
    """Whether nobody else can serve these tables: the store is this command's own."""
    return settings.redis_url is None


def _prepare(redis_url: str, database_url: str) -> None:
    """Both stores answer and the database has today's tables, or the command ends here."""
    from app.store.prepare import Unreachable, prepare

    try:
        prepare(redis_url, database_url)
    except Unreachable as error:
        _fail(str(error))


def _say_ready(pipe: RawIOBase) -> None:
    with suppress(BrokenPipeError):  # the flock is about to go
        pipe.write(b".")


def _listen(host: str, port: int) -> socket.socket:
    """Take the port before anything is started. Raises ValueError with what to do about it."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        both = host == "::" and socket.has_dualstack_ipv6()
        return socket.create_server((host, port), family=family, backlog=2048, dualstack_ipv6=both)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ValueError(f"Port {port} is taken: stop what uses it, or choose another: COINCHE_PORT={port + 1}") from None
        if error.errno == errno.EACCES:
            raise ValueError(f"Port {port} is not open to you: choose one from 1024 up with COINCHE_PORT") from None
        raise ValueError(f"COINCHE_HOST={host} is no address of this machine ({error.strerror or error})") from None


def _announce_worker() -> None:
    _end_if_asked()
    typer.echo("coinche works; Ctrl-C stops it.")
    sys.stdout.flush()


def _announce(settings: Settings, listener: socket.socket) -> None:
    """Tell the addresses at which it answers."""
    everywhere = settings.host in ("0.0.0.0", "::")  # noqa: S104
    port, path = listener.getsockname()[1], "" if settings.site is None else settings.site.path
    family = _family(listener)
    loopback = "127.0.0.1" if family == socket.AF_INET else "::1"
    typer.echo(f"coinche is ready: http://{_in_url(loopback if everywhere else settings.host)}:{port}{path}/")
    if settings.url is not None:
        typer.echo(f"Its public address: {settings.url}/")
    if everywhere and (address := _address_at_home(family)):
        typer.echo(f"For phones on the same network: http://{_in_url(address)}:{port}{path}/")
    elif settings.host == "127.0.0.1":
        typer.echo("For friends on your network, start it with COINCHE_HOST=0.0.0.0")
    typer.echo("Ctrl-C stops it.")
    sys.stdout.flush()


def _family(listener: socket.socket) -> socket.AddressFamily:
    """The family whose addresses to tell: IPv4 wherever that is listened to."""
    if listener.family == socket.AF_INET or listener.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY):
        return listener.family
    return socket.AF_INET


def _in_url(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _address_at_home(family: socket.AddressFamily) -> str | None:
    """The address others on the network know this machine by. Connecting a datagram socket only asks the routing table."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1" if family == socket.AF_INET else "2001:db8::1", 9))
        except OSError:
            return None
        return str(probe.getsockname()[0])


_is_to_end = threading.Event()


def _listen_for_the_end() -> None:
    """Until somebody else listens for signals, one that asks for the end raises KeyboardInterrupt, and is remembered."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    _is_to_end.set()
    raise KeyboardInterrupt


def _end_if_asked() -> None:
    if _is_to_end.is_set():
        raise KeyboardInterrupt


def _fail(line: str) -> NoReturn:
    typer.echo(line, err=True)
    raise typer.Exit(1)
