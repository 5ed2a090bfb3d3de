"""Who is asking? A guest is known by what is in a cookie, a program by its token; and a page must come from where it may."""

import secrets
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response, Security
from fastapi.security import APIKeyCookie
from pydantic import BaseModel, Field, StrictStr
from starlette.requests import HTTPConnection

from app.game.refusal import Refused, Why
from app.tables.lobby import show_name
from app.tables.table import Person
from app.tables.tokens import Asker
from app.web.address import COOKIE
from app.web.errors import refusals, with_headers
from app.web.parts import Parts, PartsDep
from app.web.text import LONGEST_NAME, clean_name
from app.web.visit import visit_of

COOKIE_SECONDS = 400 * 24 * 3600

router = APIRouter(prefix="/api/v1", tags=["me"])


def bearer_of(connection: HTTPConnection) -> str | None:
    """The token that came along, as it came; None if there was none. A cookie beside it does not count."""
    scheme, _, secret = connection.headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else None


async def identify(connection: HTTPConnection, parts: Parts) -> Asker:
    """Look up who asks. Raises `Refused` for a token that is good for nothing, whatever the reason."""
    secret = bearer_of(connection)
    if secret is None:
        cookie = parts.address.cookie_of(connection)
        return Asker(None if cookie is None else await parts.guests.by_token(cookie))
    asker = await parts.tokens.asker(secret)
    if asker is None:
        raise Refused(Why.BAD_TOKEN)
    return asker


def _set_cookie(request: Request, response: Response, parts: Parts, value: str) -> None:
    address = parts.address
    response.set_cookie(
        address.cookie_name(request),
        value,
        max_age=COOKIE_SECONDS,
        path=address.path or "/",
        httponly=True,
        samesite="lax",
        secure=address.is_secure(request),
    )


async def asker_of(connection: HTTPConnection, parts: Parts) -> Asker:
    """Who asks, looked up once."""
    visit = visit_of(connection)
    if visit.asker is None:
        visit.asker = await identify(connection, parts)
    return visit.asker


async def _maybe_me(request: Request, parts: PartsDep) -> Person | None:
    return (await asker_of(request, parts)).person


MaybeMe = Annotated[Person | None, Depends(_maybe_me)]
"""Who asks, or None for a stranger."""


async def _me(me: MaybeMe, _: Annotated[str | None, Security(APIKeyCookie(name=COOKIE, auto_error=False))]) -> Person:
    """The cookie is named for the description alone; a token does as well."""
    if me is None:
        raise Refused(Why.NOT_SIGNED_IN)
    return me


Me = Annotated[Person, Depends(_me)]


class Guest(BaseModel):
    """A guest as others see it."""

    id: str = Field(examples=["g_7d1f"])
    name: str = Field(examples=["Nina"])


class NameIn(BaseModel):
    """The name that a guest wants to be shown by."""

    name: StrictStr = Field(description=f"At most {LONGEST_NAME} letters, as people count them", examples=["Nina"])


async def renamed(parts: Parts, person: Person) -> None:
    """Let the new name be seen wherever the person is known: by tokens, and at tables."""
    await parts.tokens.rename(person)
    await show_name(parts.tables, await parts.lobby.seats(person.id), person, f"name:{secrets.token_hex(8)}")


@router.get("/me", responses=with_headers(200, "Set-Cookie"))
async def who_am_i(me: Me, request: Request, response: Response, parts: PartsDep) -> Guest:
    """Whom the cookie or the token stands for."""
    cookie = parts.address.cookie_of(request)
    if cookie is not None and bearer_of(request) is None and parts.address.cookie_name(request) not in request.cookies:
        _set_cookie(request, response, parts, cookie)  # from now on under a name of its own
    return Guest(id=me.id, name=me.name)


@router.post("/me", responses=with_headers(200, "Set-Cookie") | refusals(Why.BAD_NAME))
async def call_me(body: NameIn, request: Request, response: Response, parts: PartsDep) -> Guest:
    """Make a guest with this name, or rename the one who asks."""
    name = clean_name(body.name)
    asker = await asker_of(request, parts)
    if asker.token is not None and asker.person is not None:
        await renamed(parts, Person(asker.person.id, name))
        return Guest(id=asker.person.id, name=name)
    token = parts.address.cookie_of(request)
    person = None if token is None else await parts.guests.rename(token, name)
    if person is None:
        person, token = await parts.guests.welcome(name)
    else:
        await renamed(parts, person)
    _set_cookie(request, response, parts, token or "")
    return Guest(id=person.id, name=person.name)
