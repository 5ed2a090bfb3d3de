"""One attempt to deliver: signed as Standard Webhooks have it, to an address that has just been judged."""

import asyncio
import base64
import hashlib
import hmac
import ssl
import time
from importlib.metadata import version

import httpx2

from app.game.refusal import Refused
from app.post.doorman import Address, Doorman, Way
from app.tables.post import SECRET, Mail

SECONDS = 10.0
"""How long an attempt may take, the look-up of the name included."""

MOST_ADDRESSES = 3
"""So many addresses of a name are tried until one can be connected to."""

_AGENT = f"coinche/{version('coinche')}"


def sign(secret: str, id: str, timestamp: int, body: str) -> str:
    """The value of `webhook-signature`."""
    key = base64.b64decode(secret.removeprefix(SECRET))
    signed = hmac.new(key, f"{id}.{timestamp}.{body}".encode(), hashlib.sha256)
    return f"v1,{base64.b64encode(signed.digest()).decode()}"


class Carrier:
    """Carries mail. Redirects are not followed, and of an answer only the status is read."""

    def __init__(self, doorman: Doorman, trust: ssl.SSLContext | None = None, seconds: float = SECONDS) -> None:
        self._doorman = doorman
        self._trust = httpx2.create_ssl_context(trust_env=False) if trust is None else trust
        self._seconds = seconds

    async def carry(self, mail: Mail) -> tuple[int | None, str]:
        """The status of the answer, or None if there was none, and in a word what came of it."""
        try:
            async with asyncio.timeout(self._seconds):
                status = await self._send(mail, await self._doorman.way(mail.url))
        except Refused:
            return None, "not_allowed"
        except TimeoutError:
            return None, "timeout"
        except (httpx2.HTTPError, OSError):
            return None, "no_connection"
        return status, str(status)

    async def _send(self, mail: Mail, way: Way) -> int:
        addresses = way.addresses[:MOST_ADDRESSES]
        for address in addresses[:-1]:
            try:
                return await self._send_to(mail, way.url, address)
            except httpx2.ConnectError:
                continue
        return await self._send_to(mail, way.url, addresses[-1])

    async def _send_to(self, mail: Mail, url: httpx2.URL, address: Address) -> int:
        """Connect to this address and no other; the certificate has to be that of the name all the same."""
        letter, now = mail.letter, int(time.time())
        headers = {
            "host": url.netloc.decode(),
            "content-type": "application/json",
            "user-agent": _AGENT,
            "webhook-id": letter.id,
            "webhook-timestamp": str(now),
            "webhook-signature": sign(mail.secret, letter.id, now, letter.body),
        }
        # A client of its own for each attempt: no cookie and no connection is left for another hook at the same address.
        async with (
            httpx2.AsyncClient(verify=self._trust, trust_env=False, timeout=None, follow_redirects=False) as client,
            client.stream(
                "POST",
                url.copy_with(host=str(address)),
                content=letter.body.encode(),
                headers=headers,
                extensions={"sni_hostname": url.raw_host.decode()},
            ) as answer,
        ):
            return answer.status_code
