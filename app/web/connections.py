"""uvicorn's connections, but one that asks without end, or without reading the answers, costs little and is not kept."""

import asyncio
import socket
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

MOST_HEAD = 32 * 1024
"""So many bytes of a request at most that belong to no body: its first line, its headers, its trailers."""

REQUEST_SECONDS = 60
"""How long a request may take to arrive as a whole."""

UNREAD_SECONDS = 30
"""How long the other side may leave unread what waits to be sent; then the connection is gone."""


def insist_on_reading(listener: socket.socket) -> None:
    """Let the system end connections that come by this listener and are not read from; only Linux can."""
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(UNREAD_SECONDS * 1000))


class Requests(HttpToolsProtocol):
    """A connection of HTTP."""

    _head = 0
    """Bytes since the last body or request, as they arrive."""
    _fields = 0
    """Bytes of the first line and the headers of this request: a head that comes in one piece with its end is measured too."""
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        super().data_received(data)
        if self._head > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._fields = 0
        self._wait()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + len(": \r\n"))
        super().on_header(name, value)

    def _count(self, size: int) -> None:
        """Raises an error that the parser reports, and uvicorn answers with 400, where the head is too long."""
        self._fields += size
        if self._fields > MOST_HEAD:
            raise ValueError("The head of the request is too long.")

    def on_body(self, body: bytes) -> None:
        self._head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head = 0
        self._wait_no_more()
        super().on_message_complete()

    def _wait(self) -> None:
        self._wait_no_more()
        self._waiting = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def _wait_no_more(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


class Lines(WebSocketsSansIOProtocol):
    """A connection of a socket."""

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_complete:
            self.handshake_complete = self.close_sent = True
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.close()

    def handle_ping(self) -> None:
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.conn.data_to_send()  # not sent: who does not read gets no more to read

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text" and not self.close_sent and not _is_text(b"".join(self.frames)):
            self.conn.send_close(1007)
            self.handle_parser_exception()
        else:
            super().send_receive_event_to_app()

    async def send(self, message: Any) -> None:
        await self.writable.wait()
        if self.transport.is_closing():  # a frame that cannot be read has closed it meanwhile
            raise ClientDisconnected
        await super().send(message)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
