"""An answer that says which one it is, so that whoever has it already need not be sent it again (RFC 9110, 13.1.2)."""

import re
from hashlib import blake2b

from fastapi import Request, Response
from starlette.datastructures import Headers

from app.web.errors import with_headers

TAGGED = with_headers(200, "ETag") | with_headers(304, "ETag")
"""For the `responses` of a route that answers so."""

_TAG = re.compile(r'(?:W/)?("[^"]*")')


def has_same(headers: Headers, tag: str) -> bool:
    """Whether the asker has this one already."""
    has = ", ".join(headers.getlist("if-none-match"))
    return has.strip() == "*" or tag in _TAG.findall(has)


def tagged(request: Request, body: bytes) -> Response:
    """The JSON body with its ETag, or 304 without it if the asker has the same. It may be kept, and is to be asked for anew."""
    tag = f'"{blake2b(body, digest_size=12).hexdigest()}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if has_same(request.headers, tag):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="application/json")
