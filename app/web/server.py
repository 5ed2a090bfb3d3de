"""The web server under the application: how it listens, and what it does when it is told to stop."""

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_network

import uvicorn
from fastapi import FastAPI

from app.web.connections import Lines, Requests, insist_on_reading
from app.web.parts import Parts

LARGEST_MESSAGE = 4096
PING_SECONDS = 20
GRACE_SECONDS = 10

IDLE_SECONDS = 120
"""Longer than clients keep a connection that is idle: one that is closed here just as a request is sent loses the request."""


def _is_fault(record: logging.LogRecord) -> bool:
    """Whether uvicorn tells of a fault: an answer that is broken off on purpose, or because the process ends, is none."""
    ends = record.exc_info is not None and isinstance(record.exc_info[1], asyncio.CancelledError)
    return not ends and "without completing response" not in record.getMessage()


def _as_ipv6(network: str) -> str:
    """The addresses of an IPv4 network as a listener for both families sees them; of an IPv6 network itself."""
    found = ip_network(network)
    return network if found.version == 6 else f"::ffff:{found.network_address}/{96 + found.prefixlen}"


class Server(uvicorn.Server):
    """uvicorn, but what a signal means is decided here."""

    def __init__(
        self, app: FastAPI, log_level: str, announce: Callable[[], None], proxies: tuple[str, ...] = (), alone: bool = False
    ) -> None:
        """`announce` is called when it listens. `alone`: no other process has these tables, so guests have nowhere to go."""
        logging.getLogger("uvicorn.error").addFilter(_is_fault)
        super().__init__(
            uvicorn.Config(
                app,
                loop="uvloop",
                http=Requests,
                ws=Lines,
                ws_max_size=LARGEST_MESSAGE,
                ws_per_message_deflate=False,
                ws_ping_interval=PING_SECONDS,
                ws_ping_timeout=PING_SECONDS,
                timeout_keep_alive=IDLE_SECONDS,
                timeout_graceful_shutdown=GRACE_SECONDS,
                log_config=None,
                log_level=log_level,
                access_log=False,
                server_header=False,
                proxy_headers=bool(proxies),
                forwarded_allow_ips=[*proxies, *map(_as_ipv6, proxies)],
            )
        )
        self._app = app
        self._announce = announce
        self._alone = alone
        self._leaving: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin the application's lifespan, then listen, then say so."""
        for one in sockets or ():
            insist_on_reading(one)
        await super().startup(sockets)
        self._announce()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """SIGTERM asks to leave, SIGINT or Ctrl-C as well, but without waiting for guests; the next of them insists."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self.leave, self._alone)
        loop.add_signal_handler(signal.SIGINT, self.leave, True)
        yield

    def leave(self, alone: bool = False) -> None:
        """See the guests off, unless they have nowhere to go, then stop; asked again, stop at once."""
        if self._leaving is not None:
            self.force_exit = self.should_exit = True
            return
        self._leaving = asyncio.get_running_loop().create_task(self._see_off(alone))

    async def _see_off(self, alone: bool) -> None:
        """uvicorn would close every socket at once. Newcomers are no longer let in; whoever shares the listener takes them."""
        for listener in getattr(self, "servers", ()):
            listener.close()
        parts: Parts | None = getattr(self._app.state, "parts", None)
        if parts is not None:
            await parts.hub.see_off(alone)
        self.should_exit = True
