"""How are addresses of sites written, so that they equal what a browser sends as `Origin` and `Host`?"""

import re
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from urllib.parse import SplitResult, urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}

OWN_PATHS = ("api", "g", "health", "metrics", "openapi.json", "schema", "static", "t", "ws")
"""What addresses of the server itself begin with: no base path may, or a proxy that strips it would make two things one."""

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_SEGMENT = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._~-]+")


@dataclass(frozen=True, slots=True)
class SiteUrl:
    """A site's address in its parts. `path` has no closing slash; `host` is in lower case, an IPv6 address in brackets."""

    scheme: str
    host: str
    port: int
    path: str = ""

    @property
    def origin(self) -> str:
        """What a browser sends as the origin of the site's pages."""
        port = "" if self.port == DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"

    @property
    def url(self) -> str:
        """The address, without a closing slash."""
        return self.origin + self.path


def read_origin(text: str) -> str:
    """Returns the origin in the spelling of browsers. Raises ValueError that names the right spelling."""
    site, parts = _read(text)
    if parts.path.strip("/"):
        raise ValueError(f"{text} has a path, an origin has none: write {site.origin}")
    return site.origin


def read_url(text: str) -> SiteUrl:
    """Returns a public address, perhaps with a path. Raises ValueError that names the right spelling."""
    site, parts = _read(text)
    segments = parts.path.rstrip("/").split("/")[1:]
    if not all(map(_SEGMENT.fullmatch, segments)):
        raise ValueError(f"{text} has more than letters, digits and -._~ in its path: write for example {site.origin}/coinche")
    if segments and segments[0] in OWN_PATHS:
        raise ValueError(f"/{segments[0]} is coinche's own: choose another path, as in {site.origin}/coinche")
    return SiteUrl(site.scheme, site.host, site.port, "".join(f"/{segment}" for segment in segments))


def read_host(text: str) -> tuple[str, int | None]:
    """The name and port of a Host header. Raises ValueError."""
    parts = urlsplit(f"//{text}")
    if parts.netloc != text or "@" in text or parts.hostname is None:
        raise ValueError(f"{text} is no host")
    return _host(parts.hostname), parts.port


def _read(text: str) -> tuple[SiteUrl, SplitResult]:
    scheme, separator, rest = text.partition("://")
    if not separator:
        raise ValueError(f"{text} has no scheme: write {_suggestion('https', re.sub('^(https?:)?/*', '', text))}")
    if scheme.lower() not in DEFAULT_PORTS:
        secure = scheme.lower() in ("wss", "ftps")
        raise ValueError(f"{text} is no address of a page: write {_suggestion('https' if secure else 'http', rest)}")
    try:
        parts = urlsplit(f"{scheme.lower()}://{rest}")
        host, port = _host(parts.hostname or ""), parts.port
    except ValueError:
        raise ValueError(f"{text} is no address of a site: write it like https://coinche.example.org") from None
    site = SiteUrl(parts.scheme, host, DEFAULT_PORTS[parts.scheme] if port is None else port)
    if "@" in parts.netloc or "?" in rest or "#" in rest:
        raise ValueError(f"an address has no user name, question or fragment: write {site.origin}{parts.path.rstrip('/')}")
    return site, parts


def _suggestion(scheme: str, rest: str) -> str:
    """The address that was meant, if that can be guessed."""
    try:
        return _read(f"{scheme}://{rest}")[0].origin
    except ValueError:
        return f"it like {scheme}://coinche.example.org"


def _host(name: str) -> str:
    """The name as browsers send it. Raises ValueError for what is none."""
    try:
        address = ip_address(name)
    except ValueError:
        ascii_name = name.lower() if name.isascii() else name.encode("idna").decode()
        labels = ascii_name.removesuffix(".").split(".")
        if not all(map(_LABEL.fullmatch, labels)) or labels[-1].isdigit():
            raise ValueError(f"{name} is no name of a host") from None
        return ascii_name
    return f"[{address.compressed}]" if isinstance(address, IPv6Address) else str(address)
