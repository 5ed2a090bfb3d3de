"""The page's files as they are sent: read and compressed once, at the start, under an address that changes with them."""

import gzip
import json
import mimetypes
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from html import escape
from pathlib import Path, PurePosixPath

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.origins import SiteUrl
from app.web.etag import has_same

STATIC = Path(__file__).resolve().parents[2] / "static"

LANGUAGES = tuple(sorted(file.stem for file in (STATIC / "i18n").glob("*.json")))
DEFAULT_LANGUAGE = "en"
LANGUAGE_COOKIE = "coinche_language"

FOREVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"

_VERSION = re.compile(r"[0-9a-f]{16}")
_IMPORT = re.compile(r"""^(?:import|export)\b[^'"]*?['"](\.[^'"]+)['"];?$""", re.MULTILINE)
_ENTRY = PurePosixPath("js/app.js")
_TEMPLATE = "index.html"


@dataclass(frozen=True, slots=True)
class Asset:
    """A file, also compressed where that makes it smaller."""

    body: bytes
    gzipped: bytes | None
    media_type: str
    tag: str

    def respond(self, headers: Headers, cache_control: str = _ASK_AGAIN, status: int = 200, vary: str = "") -> Response:
        """It, as the asker wants it, or 304 if the asker has it."""
        is_gzipped = self.gzipped is not None and accepts_gzip(headers)
        tag = f'"{self.tag}-gzip"' if is_gzipped else f'"{self.tag}"'
        told = {"ETag": tag, "Cache-Control": cache_control, "Vary": f"Accept-Encoding{vary}"}
        if status == 200 and has_same(headers, tag):
            return Response(status_code=304, headers=told)
        if is_gzipped:
            told["Content-Encoding"] = "gzip"
        return Response(self.gzipped if is_gzipped else self.body, status, told, self.media_type)


def accepts_gzip(headers: Headers) -> bool:
    """Whether an answer may be compressed."""
    for one in headers.get("accept-encoding", "").lower().split(","):
        name, _, quality = one.partition(";")
        if name.strip() in ("gzip", "*"):
            return not re.fullmatch(r"\s*q=0(\.0*)?\s*", quality)
    return False


def _asset(body: bytes, media_type: str) -> Asset:
    gzipped = gzip.compress(body, 9, mtime=0)
    return Asset(body, gzipped if len(gzipped) < len(body) else None, media_type, blake2b(body, digest_size=12).hexdigest())


@cache
def _files() -> dict[str, Asset]:
    """All files of the page by their path, but for the page itself, which is made for who asks."""
    found = {}
    for file in sorted(STATIC.rglob("*")):
        path = file.relative_to(STATIC).as_posix()
        if file.is_file() and path != _TEMPLATE:
            found[path] = _asset(file.read_bytes(), mimetypes.guess_type(path)[0] or "text/plain")
    return found


@cache
def version() -> str:
    """A name of all the files together: modules name each other by their place, so they change their address together."""
    return blake2b("".join(f"{path} {one.tag}\n" for path, one in _files().items()).encode(), digest_size=8).hexdigest()


def _modules() -> list[str]:
    """The modules that the page begins with, each after those that name it."""
    found: dict[PurePosixPath, None] = {_ENTRY: None}
    waiting = [_ENTRY]
    while waiting:
        module = waiting.pop(0)
        for name in _imports(module):
            if name not in found:
                found[name] = None
                waiting.append(name)
    return [str(one) for one in found]


def _imports(module: PurePosixPath) -> Iterator[PurePosixPath]:
    for name in _IMPORT.findall(_files()[str(module)].body.decode()):
        parts: list[str] = []
        for part in (module.parent / name).parts:
            if part == "..":
                parts.pop()
            else:
                parts.append(part)
        yield PurePosixPath(*parts)


def language_of(cookie: str | None, wishes: str) -> str:
    """The language that was chosen before, or the first of `Accept-Language` that is spoken here."""
    if cookie in LANGUAGES:
        return cookie
    ranked = []
    for place, wish in enumerate(wishes.split(",")):
        name, _, quality = wish.strip().lower().partition(";q=")
        try:
            ranked.append((-float(quality or 1), place, name.partition("-")[0]))
        except ValueError:
            continue
    return next((name for quality, _, name in sorted(ranked) if name in LANGUAGES and quality), DEFAULT_LANGUAGE)


@cache
def page(site: SiteUrl | None, language: str, is_guest: bool) -> Asset:
    """The page itself, with the addresses of all that it needs, so that nothing is found only when something else has come."""
    words = json.loads(_files()[f"i18n/{language}.json"].body)
    root = f"{'' if site is None else site.path}/static/{version()}"
    filled = (STATIC / _TEMPLATE).read_text()
    for name, value in {
        "language": language,
        "guest": "yes" if is_guest else "no",
        "description": words["page.description"],
        "noscript": words["page.noscript"],
        "root": root,
        "address": "" if site is None else site.url,
    }.items():
        filled = filled.replace(f"{{{name}}}", escape(value))
    modules = _links('<link rel="modulepreload" href="{}">', (f"{root}/{module}" for module in _modules()))
    return _asset(filled.replace("{modules}", modules).encode(), "text/html")


def _links(form: str, addresses: Iterable[str]) -> str:
    return "\n    ".join(form.format(escape(one)) for one in addresses)


async def serve(scope: Scope, receive: Receive, send: Send) -> None:
    """A file, as ASGI has it: for ever by its version, to be asked for again by any other address."""
    if scope["method"] not in ("GET", "HEAD"):
        raise HTTPException(405)
    path = scope["path"].removeprefix(scope["root_path"]).lstrip("/")
    first, _, rest = path.partition("/")
    is_versioned = _VERSION.fullmatch(first) is not None
    asset = _files().get(rest if is_versioned else path)
    if asset is None:
        raise HTTPException(404)
    # While a server is renewed, a page of the one release may ask a process of the other: it is given what there is, for once.
    await asset.respond(Headers(scope=scope), FOREVER if first == version() else _ASK_AGAIN)(scope, receive, send)
