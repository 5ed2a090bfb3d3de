"""Lists come in pages: which part is asked for, where the next one begins, and the header that links to it."""

from urllib.parse import urlencode

from fastapi import Request, Response
from pydantic import BaseModel, ConfigDict, Field

from app.tables.history import Bookmark
from app.web import cursors

LONGEST_LIST = 100

LAST_MS = 253_402_300_799_999
"""The end of the year 9999, the last moment that is told in ms everywhere."""

MOMENTS = range(LAST_MS + 1)


class Page(BaseModel):
    """Which part of a list. A name that is not known is refused, so that a filter with a slip of the pen does not list all."""

    model_config = ConfigDict(extra="forbid")

    cursor: str | None = Field(
        None,
        max_length=cursors.LONGEST,
        description="`next` of the page before; none for the first",
        examples=["kq0Vb3c1b2w4WzE3OTYwMDEyMDAwMDAsIjBmLWsybTdxOXg0d3ovMSJd"],
    )
    limit: int = Field(20, ge=1, le=LONGEST_LIST, description="Rows a page")


def begin(request: Request, cursor: str | None, keys: range | None) -> Bookmark | None:
    """After which row the page begins; None: at the first. Raises `Refused` for a cursor of another list."""
    return None if cursor is None else cursors.read(cursor, _scope(request), keys)


def link(request: Request, response: Response, last: Bookmark) -> str:
    """The cursor of the page after this row, which a header links to."""
    cursor = cursors.write(last, _scope(request))
    others = [(name, value) for name, value in request.query_params.multi_items() if name != "cursor"]
    response.headers["Link"] = f'<{request.url.path}?{urlencode([*others, ("cursor", cursor)])}>; rel="next"'
    return cursor


def _scope(request: Request) -> str:
    """A list and its filters; pages of it may differ in length."""
    asked = sorted((name, value) for name, value in request.query_params.multi_items() if name not in ("cursor", "limit"))
    return f"{request.scope['path']}?{urlencode(asked)}"
