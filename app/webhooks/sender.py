"""Makes one attempt at a delivery: signed as Standard Webhooks have it, to an address that was checked just before."""

import asyncio
import base64
import hashlib
import hmac
import ssl
import time
from contextlib import suppress
from importlib.metadata import version

import h11
import httpx2

from app.game.refusal import Refused
from app.tables.deliveries import SECRET, ClaimedDelivery
from app.webhooks.url_policy import Address, Destination, UrlPolicy

SECONDS = 10.0
"""How long an attempt may take, the look-up of the name included."""

MOST_BYTES = 16 * 1024
"""So much of an answer is read at most, interim answers (1xx) and headers included; the body is not waited for."""

MOST_INTERIM = 10
"""So many interim answers are read."""

MOST_ADDRESSES = 3
"""So many addresses of a name are tried until a connection to one is made."""

_AGENT = f"coinche/{version('coinche')}"

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class TooLong(Exception):
    """A receiver has sent more than is read of an answer."""


def sign(secret: str, id: str, timestamp: int, body: str) -> str:
    """Returns the value of `webhook-signature`."""
    key = base64.b64decode(secret.removeprefix(SECRET))
    signed = hmac.new(key, f"{id}.{timestamp}.{body}".encode(), hashlib.sha256)
    return f"v1,{base64.b64encode(signed.digest()).decode()}"


class Sender:
    """Sends deliveries, each over a connection of its own. Follows no redirect, and reads only the status of an answer."""

    def __init__(self, url_policy: UrlPolicy, trust: ssl.SSLContext | None = None, seconds: float = SECONDS) -> None:
        self._url_policy = url_policy
        self._trust = httpx2.create_ssl_context(trust_env=False) if trust is None else trust
        self._seconds = seconds

    async def send(self, claimed: ClaimedDelivery) -> tuple[int | None, str]:
        """Sends a delivery. Returns the status of the answer, or None if there was none, and the result in a word."""
        try:
            async with asyncio.timeout(self._seconds):
                status = await self._post(claimed, await self._url_policy.destination(claimed.url))
        except Refused:
            return None, "not_allowed"
        except TimeoutError:
            return None, "timeout"
        except TooLong:
            return None, "too_long"
        except (h11.ProtocolError, OSError):
            return None, "no_connection"
        return status, str(status)

    async def _post(self, claimed: ClaimedDelivery, destination: Destination) -> int:
        reader, writer = await self._connect(destination)
        try:
            protocol = h11.Connection(h11.CLIENT)
            writer.write(_request(protocol, claimed, destination.url))
            with suppress(ConnectionError):  # who closes before all is read may have answered all the same
                await writer.drain()
            return await _status(protocol, reader)
        finally:
            writer.close()
            writer.transport.abort()  # without waiting for the other's goodbye

    async def _connect(self, destination: Destination) -> Connection:
        """Connects to one of these addresses and no other; the certificate has to be that of the name all the same."""
        *others, last = destination.addresses[:MOST_ADDRESSES]
        for address in others:
            with suppress(OSError):
                return await self._connect_to(address, destination)
        return await self._connect_to(last, destination)

    async def _connect_to(self, address: Address, to: Destination) -> Connection:
        name, trust = (to.url.raw_host.decode(), self._trust) if to.url.scheme == "https" else (None, None)
        return await asyncio.open_connection(str(address), to.port, limit=MOST_BYTES, ssl=trust, server_hostname=name)


def _request(protocol: h11.Connection, claimed: ClaimedDelivery, url: httpx2.URL) -> bytes:
    delivery, now = claimed.delivery, int(time.time())
    body = delivery.body.encode()
    headers = {
        "host": url.netloc.decode(),
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
        "user-agent": _AGENT,
        "webhook-id": delivery.id,
        "webhook-timestamp": str(now),
        "webhook-signature": sign(claimed.secret, delivery.id, now, delivery.body),
    }
    request = h11.Request(method="POST", target=url.raw_path, headers=list(headers.items()))
    parts = [protocol.send(event) for event in (request, h11.Data(data=body), h11.EndOfMessage())]
    return b"".join(part for part in parts if part)


async def _status(protocol: h11.Connection, reader: asyncio.StreamReader) -> int:
    """Reads the status of the answer. Raises `TooLong`, and `h11.ProtocolError` for what is no answer."""
    left, interim = MOST_BYTES, 0
    while True:
        event = protocol.next_event()
        if isinstance(event, h11.Response):
            return event.status_code
        if isinstance(event, h11.InformationalResponse):
            interim += 1
            if interim > MOST_INTERIM:
                raise TooLong
        elif event is not h11.NEED_DATA:
            raise h11.RemoteProtocolError("closed without an answer")
        elif not left:
            raise TooLong
        else:
            data = await reader.read(left)
            left -= len(data)
            protocol.receive_data(data)
