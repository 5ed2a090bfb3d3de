"""Which answers of the API are compressed? Those that tell everybody the same."""

import asyncio
import gzip

from fastapi import FastAPI
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.web.assets import accepts_gzip
from app.web.gate import route_of

LEAST_BYTES = 1024
MOST_BYTES_ON_LOOP = 32 * 1024
_LEVEL = 6

COMPRESSED = frozenset(
    {
        "GET /api/v1/rules",
        "GET /api/v1/i18n/{lang}",
        "GET /api/v1/tables",
        "GET /api/v1/players",
        "GET /api/v1/players/{player}",
        "GET /api/v1/players/{player}/statistics",
        "GET /api/v1/games/{table}/{number}",
        "GET /openapi.json",
    }
)
"""No answer that holds a secret stands here: a hand, a token, the id of an unlisted table. Beside a name that somebody else
has chosen, the length of what is compressed would tell of it to whoever sees the encrypted answers pass (BREACH)."""


class Compression:
    """Compresses what is long enough, if the asker takes it so. Streams are left alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or route_of(scope["method"], scope["path"]) not in COMPRESSED:
            await self._app(scope, receive, send)
            return
        may_compress = accepts_gzip(Headers(scope=scope))
        held: Message | None = None

        async def compressed(message: Message) -> None:
            nonlocal held
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).add_vary_header("Accept-Encoding")
                held = message
                return
            if held is not None:
                start, held = held, None
                if may_compress and not message.get("more_body") and len(message.get("body", b"")) >= LEAST_BYTES:
                    message = {**message, "body": await _gzipped(message["body"])}
                    _tell(MutableHeaders(scope=start), len(message["body"]))
                await send(start)
            await send(message)

        await self._app(scope, receive, compressed)


async def _gzipped(body: bytes) -> bytes:
    if len(body) <= MOST_BYTES_ON_LOOP:
        return gzip.compress(body, _LEVEL, mtime=0)
    return await asyncio.to_thread(gzip.compress, body, _LEVEL, mtime=0)


def _tell(headers: MutableHeaders, length: int) -> None:
    headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(length)
    if headers.get("etag", "").startswith('"'):
        headers["ETag"] = f"W/{headers['etag']}"  # it is the same answer, but not byte for byte


def install(app: FastAPI) -> None:
    """Compress the answers of the application."""
    app.add_middleware(Compression)
