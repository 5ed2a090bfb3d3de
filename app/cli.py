"""The command `coinche`: what an operator or a program types."""

import errno
import signal
import socket
import sys
from types import FrameType
from typing import NoReturn

import typer

from app import settings as environment
from app.embedded import Unavailable, running
from app.settings import Settings

cli = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@cli.callback()
def _about() -> None:
    """Play coinche with friends, in the browser."""


@cli.command()
def serve() -> None:
    """Serve the game until Ctrl-C. COINCHE_* variables choose address, port, data folder and more."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        settings = environment.read()
        with _listen(settings.host, settings.port) as listener:
            _serve(settings, listener)
    except (Unavailable, ValueError) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    typer.echo("coinche has stopped; games are kept.")


@cli.command()
def referee() -> None:
    """Judge games for other programs: one JSON question a line on standard input, one answer a line on standard output."""
    from app.wire.referee import Unreadable, answer_lines

    try:
        answer_lines(sys.stdin.buffer, sys.stdout)
    except Unreadable as error:
        _fail(str(error))


def main() -> None:
    """Run the command line."""
    cli()


def _serve(settings: Settings, listener: socket.socket) -> None:
    with running(settings.data, settings.redis_url, settings.database_url) as servers:
        from app.main import build
        from app.store.prepare import Unreachable, prepare
        from app.web.server import Server

        try:
            prepare(servers.redis_url, servers.database_url)
        except Unreachable as error:
            _fail(str(error))
        app = build(settings, servers.redis_url, servers.database_url)
        server = Server(app, settings.log_level, lambda: _announce(settings, listener.getsockname()[1]))
        server.run([listener])
        # From here on only the servers have to be told goodbye; a second Ctrl-C shall not cut that short.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


def _listen(host: str, port: int) -> socket.socket:
    """Take the port before anything is started. Raises ValueError with what to do about it."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ValueError(f"Port {port} is taken: stop what uses it, or choose another: COINCHE_PORT={port + 1}") from None
        if error.errno == errno.EACCES:
            raise ValueError(f"Port {port} is not open to you: choose one from 1024 up with COINCHE_PORT") from None
        raise ValueError(f"COINCHE_HOST={host} is no address of this machine ({error.strerror or error})") from None


def _announce(settings: Settings, port: int) -> None:
    everywhere = settings.host in ("0.0.0.0", "::")  # noqa: S104
    shown = "127.0.0.1" if everywhere else f"[{settings.host}]" if ":" in settings.host else settings.host
    typer.echo(f"coinche is ready: http://{shown}:{port}/")
    if everywhere and (address := _address_at_home()):
        typer.echo(f"For phones on the same network: http://{address}:{port}/")
    elif shown == "127.0.0.1":
        typer.echo("For friends on your network, start it with COINCHE_HOST=0.0.0.0")
    typer.echo("Ctrl-C stops it.")
    sys.stdout.flush()


def _address_at_home() -> str | None:
    """The address others on the network know this machine by. Connecting a datagram socket only asks the routing table."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return str(probe.getsockname()[0])


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _fail(line: str) -> NoReturn:
    typer.echo(line, err=True)
    raise typer.Exit(1)


if __name__ == "__main__":
    main()
