"""Who is asking? A guest is known by an opaque token in a cookie; and a page must come from where it may."""

import unicodedata
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, StrictStr
from starlette.requests import HTTPConnection

from app.game.refusal import Refused, Why
from app.tables.ports import Guests
from app.tables.table import Person
from app.web.parts import PartsDep

COOKIE = "coinche_guest"
COOKIE_SECONDS = 400 * 24 * 3600
LONGEST_NAME = 24

_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and signs that show nothing."""

router = APIRouter(prefix="/api/v1", tags=["me"])


def clean_text(words: str) -> str:
    """The words as they are shown: composed, single spaces, nothing invisible."""
    composed = unicodedata.normalize("NFC", words)
    return " ".join("".join(" " if _is_blank(letter) else letter for letter in composed).split())


def _is_blank(letter: str) -> bool:
    return unicodedata.category(letter)[0] in "CZ" or letter in _FILLERS


def clean_name(name: str) -> str:
    """The name as it is shown. Raises `Refused` if nothing or too much is left of it."""
    shown = clean_text(name)
    marks_only = all(unicodedata.category(letter)[0] == "M" for letter in shown)
    if marks_only or len(shown) > LONGEST_NAME:
        raise Refused(Why.BAD_NAME, "name")
    return shown


def origin_is_allowed(connection: HTTPConnection, origins: tuple[str, ...]) -> bool:
    """Whether a page of this origin may speak here: the host it asks, or one the operator allows. Programs send none."""
    origin = connection.headers.get("origin")
    if origin is None or origin in origins:
        return True
    try:
        return urlsplit(origin).netloc == connection.headers["host"]
    except (KeyError, ValueError):
        return False


async def person_of(connection: HTTPConnection, guests: Guests) -> Person | None:
    """The guest whose cookie came along."""
    token = connection.cookies.get(COOKIE)
    return None if token is None else await guests.by_token(token)


async def _me(request: Request, parts: PartsDep) -> Person:
    person = await person_of(request, parts.guests)
    if person is None:
        raise Refused(Why.NOT_SIGNED_IN)
    return person


Me = Annotated[Person, Depends(_me)]


class Guest(BaseModel):
    """A guest as others see it."""

    id: str
    name: str


class NameIn(BaseModel):
    """The name that a guest wants to be shown by."""

    name: StrictStr


@router.get("/me")
async def who_am_i(me: Me) -> Guest:
    """The guest that the cookie stands for."""
    return Guest(id=me.id, name=me.name)


@router.post("/me")
async def call_me(body: NameIn, request: Request, response: Response, parts: PartsDep) -> Guest:
    """Make a guest with this name, or rename the one who asks."""
    name = clean_name(body.name)
    token = request.cookies.get(COOKIE)
    person = None if token is None else await parts.guests.rename(token, name)
    if person is None:
        person, token = await parts.guests.welcome(name)
    response.set_cookie(
        COOKIE, token or "", max_age=COOKIE_SECONDS, httponly=True, samesite="lax", secure=request.url.scheme == "https"
    )
    return Guest(id=person.id, name=person.name)
