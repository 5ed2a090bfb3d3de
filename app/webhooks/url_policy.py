"""Decides where deliveries may go: to servers on the public internet, over TLS, and to networks that the operator allows.

A name is looked up once for each attempt, all its addresses are checked, and the connection goes to one of them. So a name that
leads elsewhere a moment later leads nobody there.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import httpx2

from app.game.refusal import Refused, Why
from app.tables.hooks import LONGEST_URL

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a name, for this port. Raises `OSError`."""

LOOKUP_SECONDS = 5.0

_PORTS = {"https": 443, "http": 80}
_HOST = re.compile(rb"[0-9A-Za-z._:-]+")

_V4_INSIDE = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "168.63.129.16/32",  # Azure's own services for a machine
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/3",
        ),
    )
)
_V6_OUTSIDE = IPv6Network("2000::/3")
"""All that is routed on the public internet, but for what follows."""

_V6_INSIDE = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
_V4_WITHIN = ((IPv6Network("::ffff:0:0/96"), 0), (IPv6Network("64:ff9b::/96"), 0), (IPv6Network("2002::/16"), 80))
"""Addresses that hold one of the old kind, so many bits from their end: mapped, translated (NAT64), tunnelled (6to4)."""

_resolvers = ThreadPoolExecutor(32, "resolver")
"""Names that are slow to be found keep nothing else waiting."""


def is_outside(address: Address) -> bool:
    """Returns whether this is an address of the public internet, also where it holds another address."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _V4_INSIDE)
    for network, shift in _V4_WITHIN:
        if address in network:
            return is_outside(IPv4Address(int(address) >> shift & 0xFFFFFFFF))
    return address in _V6_OUTSIDE and not any(address in network for network in _V6_INSIDE)


async def resolve(host: str, port: int) -> Sequence[str]:
    """Asks the system for the addresses of a name."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(LOOKUP_SECONDS):
        found = await loop.run_in_executor(_resolvers, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    return list(dict.fromkeys(str(info[4][0]) for info in found))


@dataclass(frozen=True, slots=True)
class Destination:
    """The addresses that may be connected to for a URL, and no other."""

    url: httpx2.URL
    addresses: tuple[Address, ...]

    @property
    def port(self) -> int:
        """The port of the URL, or the usual one."""
        return self.url.port or (_PORTS[self.url.scheme])


class UrlPolicy:
    """Checks URLs. `inside`: networks that may be reached though they are not public, and without TLS."""

    def __init__(self, inside: Sequence[str] = (), resolve: Resolve = resolve) -> None:
        self._inside: tuple[Network, ...] = tuple(map(ip_network, inside))
        self._resolve = resolve

    async def check(self, url: str) -> str:
        """Returns the URL as it will be used. Raises `Refused`, which does not say whether such a name exists inside."""
        return str((await self.destination(url)).url)

    async def destination(self, url: str) -> Destination:
        """Looks up where a URL leads now. Raises `Refused`."""
        parsed = self._parse(url)
        try:
            found = await self._resolve(parsed.raw_host.decode(), parsed.port or _PORTS[parsed.scheme])
            addresses = tuple(map(ip_address, found))
        except (OSError, ValueError):  # a TimeoutError is an OSError, a name that cannot be written a ValueError
            raise Refused(Why.BAD_URL, "url") from None
        if not addresses or not all(self._may_reach(address, parsed.scheme) for address in addresses):
            raise Refused(Why.BAD_URL, "url")
        return Destination(parsed, addresses)

    def _parse(self, url: str) -> httpx2.URL:
        try:
            parsed = httpx2.URL(url)
        except (httpx2.InvalidURL, ValueError):
            raise Refused(Why.BAD_URL, "url") from None
        is_good = parsed.scheme in _PORTS and _HOST.fullmatch(parsed.raw_host) and not parsed.userinfo and not parsed.fragment
        if not is_good or len(url) > LONGEST_URL or (parsed.port is not None and not 1 <= parsed.port <= 65535):
            raise Refused(Why.BAD_URL, "url")
        return parsed

    def _may_reach(self, address: Address, scheme: str) -> bool:
        if any(address in network for network in self._inside):
            return True
        return scheme == "https" and is_outside(address)
