"""Bodies of requests: how long one may be, by who asks, and what it costs. They are read here, in whole, and nowhere else."""

from math import ceil

from starlette.requests import HTTPConnection
from starlette.types import Message, Receive

from app.game.refusal import Refused, Why
from app.tables.limits import BODIES, Limits
from app.web.visit import Visit

KIB = 1024
SMALL = 8 * KIB
"""The longest body of most routes, which is read as JSON at once: so long a one takes no time that anybody would notice."""

REFEREE = "POST /api/v1/referee"
MOST_OF_STRANGERS = 1024 * KIB
MOST_OF_OTHERS = 8 * 1024 * KIB
"""The longest lists for the referee; what is longer than `SMALL` is charged by its length before anything is done with it."""

STEP = 64 * KIB
"""So many bytes at a time are charged of a body that does not say how long it is."""


class Gone(Exception):
    """Who asked has gone before all of the body had come."""


def most_bytes(key: str | None, visit: Visit) -> int:
    """How long a body may be."""
    if key != REFEREE:
        return SMALL
    return MOST_OF_STRANGERS if visit.asker is None or visit.asker.person is None else MOST_OF_OTHERS


async def read_body(asking: HTTPConnection, receive: Receive, limits: Limits, visit: Visit, key: str | None) -> Receive:
    """Reads the body, and returns what gives it to the application. Raises `Refused` before it reads too much, and `Gone`."""
    most, charged = most_bytes(key, visit), SMALL

    async def allow(size: int, step: int) -> None:
        nonlocal charged
        if size > most:
            raise Refused(Why.TOO_LARGE)
        if size > charged:
            more = max(size - charged, step)
            await visit.take(limits, BODIES, cost=ceil(more / KIB))
            charged += more

    await allow(_declared(asking), 1)
    body, more_body = bytearray(), True
    while more_body:
        message = await receive()
        if message["type"] != "http.request":
            raise Gone
        body += message.get("body", b"")
        await allow(len(body), STEP)
        more_body = message.get("more_body", False)
    return _again(bytes(body), receive)


def _declared(asking: HTTPConnection) -> int:
    length = asking.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() and len(length) < 20 else 0


def _again(body: bytes, receive: Receive) -> Receive:
    """Gives the body as one message, then what comes after it."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def given() -> Message:
        return left.pop() if left else await receive()

    return given
