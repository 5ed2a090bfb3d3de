"""Makes one attempt at a delivery: signed as Standard Webhooks have it, to an address that was checked just before."""

import asyncio
import base64
import hashlib
import hmac
import ssl
import time
from importlib.metadata import version

import httpx2

from app.game.refusal import Refused
from app.tables.deliveries import SECRET, ClaimedDelivery
from app.webhooks.url_policy import Address, Destination, UrlPolicy

SECONDS = 10.0
"""How long an attempt may take, the look-up of the name included."""

MOST_ADDRESSES = 3
"""So many addresses of a name are tried until a connection to one is made."""

_AGENT = f"coinche/{version('coinche')}"


def sign(secret: str, id: str, timestamp: int, body: str) -> str:
    """Returns the value of `webhook-signature`."""
    key = base64.b64decode(secret.removeprefix(SECRET))
    signed = hmac.new(key, f"{id}.{timestamp}.{body}".encode(), hashlib.sha256)
    return f"v1,{base64.b64encode(signed.digest()).decode()}"


class Sender:
    """Sends deliveries. It follows no redirect, and reads only the status of an answer."""

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
        except (httpx2.HTTPError, OSError):
            return None, "no_connection"
        return status, str(status)

    async def _post(self, claimed: ClaimedDelivery, destination: Destination) -> int:
        addresses = destination.addresses[:MOST_ADDRESSES]
        for address in addresses[:-1]:
            try:
                return await self._post_to(claimed, destination.url, address)
            except httpx2.ConnectError:
                continue
        return await self._post_to(claimed, destination.url, addresses[-1])

    async def _post_to(self, claimed: ClaimedDelivery, url: httpx2.URL, address: Address) -> int:
        """Connects to this address and no other; the certificate has to be that of the name all the same."""
        delivery, now = claimed.delivery, int(time.time())
        headers = {
            "host": url.netloc.decode(),
            "content-type": "application/json",
            "user-agent": _AGENT,
            "webhook-id": delivery.id,
            "webhook-timestamp": str(now),
            "webhook-signature": sign(claimed.secret, delivery.id, now, delivery.body),
        }
        # A client of its own for each attempt: no cookie and no connection is left for another hook at the same address.
        async with (
            httpx2.AsyncClient(verify=self._trust, trust_env=False, timeout=None, follow_redirects=False) as client,
            client.stream(
                "POST",
                url.copy_with(host=str(address)),
                content=delivery.body.encode(),
                headers=headers,
                extensions={"sni_hostname": url.raw_host.decode()},
            ) as answer,
        ):
            return answer.status_code
