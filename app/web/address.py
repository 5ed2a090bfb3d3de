"""By which address is it reached? The public address, the names it answers to, and what follows from them."""

import socket
from collections.abc import Iterable
from html import escape
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any

import structlog
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.game.refusal import Why
from app.origins import DEFAULT_PORTS, read_host, read_url

COOKIE = "coinche_guest"
"""The guest's cookie, but for what `cookie_name` adds; until 0.1 it was called so everywhere."""

HSTS_SECONDS = 365 * 24 * 3600
MOST_WARNINGS = 100
"""So many different addresses are warned of; a stranger can invent any number."""

_SECURE = ("https", "wss")
_log = structlog.get_logger()


class PublicAddress:
    """Judges by which names and from which pages it is asked, and says what the cookie is called there."""

    def __init__(self, url: str | None = None, origins: Iterable[str] = (), names: Iterable[str] = ()) -> None:
        """`names`: by which else it may be asked."""
        self.site = None if url is None else read_url(url)
        known = [read_url(origin) for origin in origins] + ([] if self.site is None else [self.site])
        self._origins = frozenset(site.origin for site in known)
        machine = socket.gethostname().lower()
        self._names = frozenset({"localhost", machine, machine.partition(".")[0], *names, *(site.host for site in known)})
        self._warned: set[tuple[str, str]] = set()

    @property
    def path(self) -> str:
        """What stands before all paths, as in `/coinche`; empty where nothing does."""
        return "" if self.site is None else self.site.path

    @property
    def variable(self) -> str:
        """The setting that makes one more name known."""
        return "COINCHE_URL" if self.site is None else "COINCHE_ORIGINS"

    def refusal(self, connection: HTTPConnection, is_change: bool, has_token: bool) -> Why | None:
        """Why this may not be asked by this name or from this page; None if it may.

        A page of any site can have its own name lead to a server at home, but not a name that is known, nor an address in
        figures. With a token a page may be of any origin: no browser adds that by itself, as it does with a cookie.
        """
        host, origin = connection.headers.get("host"), connection.headers.get("origin")
        if host is not None and not self._knows(host):
            self._warn("a request by an unknown name was refused", host, f"{self.variable}=http://{host}")
            return Why.UNKNOWN_HOST
        if not is_change or origin is None or has_token or origin in self._origins:
            return None
        if host is not None and _is_page_of(origin, host):
            return None
        self._warn("a page of an unknown origin was refused", origin, f"{self.variable}={origin}")
        return Why.BAD_ORIGIN

    def cookie_name(self, connection: HTTPConnection) -> str:
        """Cookies of one host are shared by all its ports, so the name has the port, and the path where there is one."""
        host, port = _host_of(connection)
        if self.site is not None and host == self.site.host:
            port = self.site.port
        parts = [COOKIE] + ([] if port in (None, *DEFAULT_PORTS.values()) else [str(port)])
        return "_".join(parts + self.path.split("/")[1:])

    def cookie_of(self, connection: HTTPConnection) -> str | None:
        """The guest's cookie of this coinche, or what was brought under the name that all of them once used."""
        return connection.cookies.get(self.cookie_name(connection), connection.cookies.get(COOKIE))

    def is_secure(self, connection: HTTPConnection) -> bool:
        """Whether it is asked behind TLS, as the request says or as the public address has it."""
        by_site = self.site is not None and self.site.scheme == "https" and _host_of(connection)[0] == self.site.host
        return by_site or connection.scope["scheme"] in _SECURE

    def is_local(self, connection: HTTPConnection) -> bool:
        """Whether it is asked as localhost, which is the name of every server on the machine."""
        return _host_of(connection)[0] == "localhost"

    def warn_of_proxy(self, connection: HTTPConnection) -> None:
        """Log once where a proxy is not believed, or does not say for whom it asks."""
        headers = connection.headers
        peer = "" if connection.client is None else connection.client.host.removeprefix("::ffff:")
        forwarded = [one.strip() for one in headers.get("x-forwarded-for", "").split(",")]
        is_secure = connection.scope["scheme"] in _SECURE
        if headers.get("x-forwarded-proto", "").lower() in _SECURE:
            is_ignored = not is_secure
        else:
            is_ignored = forwarded != [""] and peer not in forwarded
        if is_ignored:
            self._warn("a proxy is not believed: all who come through it share one limit", peer, f"COINCHE_PROXIES={peer}")
        elif self.is_secure(connection) and not is_secure:
            self._warn("a proxy does not say for whom it asks", peer, "X-Forwarded-For and X-Forwarded-Proto in the proxy")

    def strip(self, path: str) -> str:
        """The path without the base path, whether a proxy has stripped that or not."""
        return path[len(self.path) :] or "/" if path == self.path or path.startswith(f"{self.path}/") else path

    def _knows(self, host: str) -> bool:
        try:
            name, _ = read_host(host)
        except ValueError:
            return False
        return name in self._names or name.endswith((".localhost", ".local")) or _is_figures(name)

    def _warn(self, event: str, address: str, remedy: str) -> None:
        if (event, address) not in self._warned and len(self._warned) < MOST_WARNINGS:
            self._warned.add((event, address))
            _log.warning(event, address=_printable(address), if_it_is_yours_set=_printable(remedy))


def _printable(text: str) -> str:
    """What a stranger has sent, short enough and without anything that a terminal would obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:200])


def _host_of(connection: HTTPConnection) -> tuple[str, int | None]:
    try:
        return read_host(connection.headers.get("host", ""))
    except ValueError:
        return "", None


def _is_figures(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _is_page_of(origin: str, host: str) -> bool:
    return origin.partition("://")[2] == host and origin.startswith(("http://", "https://"))


def unknown_host_page(host: str, variable: str) -> HTMLResponse:
    """What a browser is shown that asks by an unknown name."""
    name = escape(host[:200])
    setting = f"<code>{variable}=http://{name}</code>"
    text = f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Coinche</title>
<p>This coinche does not answer to the name <b>{name}</b>. If the name is yours, start coinche with {setting}
(<code>https://</code> behind TLS). By its IP address it can always be reached.</p>
<p lang="fr">Cette coinche ne répond pas au nom <b>{name}</b>. Si ce nom est le vôtre, lancez-la avec {setting}
(<code>https://</code> derrière TLS). Elle reste toujours joignable par son adresse IP.</p>
</html>
"""
    return HTMLResponse(text, HTTPStatus.FORBIDDEN)


class AddressMiddleware:
    """Takes the base path off what is asked and puts it before what is linked; redirects never repeat the Host header."""

    def __init__(self, app: ASGIApp, address: PublicAddress) -> None:
        self._app = app
        self._address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        address, connection = self._address, HTTPConnection(scope)
        address.warn_of_proxy(connection)
        if scope["type"] == "http" and address.path and scope["path"] == address.path:
            query = scope["query_string"].decode("latin-1")
            target = f"{address.path}/?{query}" if query else f"{address.path}/"
            await Response(status_code=HTTPStatus.PERMANENT_REDIRECT, headers={"Location": target})(scope, receive, send)
            return

        async def with_address(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if "location" in headers:
                    headers["location"] = address.path + _path_of(headers["location"])
                if headers.get("link", "").startswith("</"):
                    headers["link"] = f"<{address.path}{headers['link'][1:]}"
                if address.is_secure(connection) and not address.is_local(connection):
                    headers["strict-transport-security"] = f"max-age={HSTS_SECONDS}"
            await send(message)

        raw_path = scope.get("raw_path")
        stripped: dict[str, Any] = {"path": address.strip(scope["path"])}
        if raw_path is not None:
            stripped["raw_path"] = address.strip(raw_path.decode("latin-1")).encode("latin-1")
        await self._app({**scope, **stripped}, receive, with_address)


def _path_of(location: str) -> str:
    """The path of a location within this server, whatever host it names."""
    rest = location.partition("://")[2]
    path = "/" + rest.partition("/")[2] if rest else location
    return "/" + path.lstrip("/")
