"""Who is asking? A guest is known by what is in a cookie, a program by its token; and a page must come from where it may."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Request, Response, Security
from fastapi.security import APIKeyCookie
from pydantic import BaseModel, Field, StrictStr
from starlette.requests import HTTPConnection

from app.game.refusal import Refused, Why
from app.tables.table import Person
from app.tables.tokens import Asker
from app.web.errors import refusals, with_headers
from app.web.parts import Parts, PartsDep
from app.web.visit import visit_of

COOKIE = "coinche_guest"
COOKIE_SECONDS = 400 * 24 * 3600
LONGEST_NAME = 24

MOST_MARKS = 4
"""So many marks on one letter are shown; no language needs more."""

_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and signs that show nothing."""

_ZWNJ, _ZWJ = "\u200c", "\u200d"
"""Parts or joins what stands beside it: letters in Persian and in Indian scripts, pictures into one."""

_VIRAMA = 9
_VARIATION_SELECTORS = "\ufe0e\ufe0f"
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f")
"""A flag of a region, such as that of Scotland: its letters show nothing elsewhere."""

_IGNORABLE = re.compile("[\u2065\ufdd0-\ufdef\ufff0-\uffff\U000e0000-\U000e0fff]")
"""Unassigned, and never to be letters."""

router = APIRouter(prefix="/api/v1", tags=["me"])


def clean_text(words: str) -> str:
    """The words as they are shown: composed, single spaces, nothing invisible, no marks piled up over the lines above.

    A joiner stays where it changes what is seen, so that no two texts look the same for its sake.
    """
    composed = "".join(_without_piles(unicodedata.normalize("NFC", words)))
    flags = {place for flag in _FLAG.finditer(composed) for place in range(*flag.span())}
    shown = (
        letter if place in flags or _joins(composed, place) or not _is_blank(letter) else " "
        for place, letter in enumerate(composed)
    )
    return " ".join("".join(shown).split())


def _without_piles(words: str) -> Iterator[str]:
    pile = 0
    for letter in words:
        pile = pile + 1 if unicodedata.category(letter) in ("Mn", "Me") else 0
        if pile <= MOST_MARKS:
            yield letter


def _joins(words: str, place: int) -> bool:
    """Whether a joiner stands here that does something (RFC 5892, A.1 and A.2; for pictures, UTS 51)."""
    if words[place] not in (_ZWNJ, _ZWJ) or place in (0, len(words) - 1):
        return False
    before, after = words[place - 1], words[place + 1]
    if unicodedata.combining(before) == _VIRAMA:
        return True
    if words[place] == _ZWJ:
        return _is_picture(before) and _is_picture(after)
    bare = words[:place].rstrip("".join(letter for letter in words if unicodedata.category(letter) == "Mn"))
    return bool(bare) and {unicodedata.bidirectional(bare[-1]), unicodedata.bidirectional(after)} == {"AL"}


def _is_picture(letter: str) -> bool:
    return letter in _VARIATION_SELECTORS or unicodedata.category(letter) in ("So", "Sk", "Cn")


def _is_blank(letter: str) -> bool:
    """Whether nothing is seen of it. Letters that are newer than this Python are letters all the same."""
    category = unicodedata.category(letter)
    if category == "Cn":
        return _IGNORABLE.fullmatch(letter) is not None or ord(letter) & 0xFFFE == 0xFFFE
    return category[0] in "CZ" or letter in _FILLERS


def clean_name(name: str) -> str:
    """The name as it is shown. Raises `Refused` if nothing or too much is left of it."""
    shown = clean_text(name)
    marks_only = all(unicodedata.category(letter)[0] == "M" for letter in shown)
    if marks_only or len(shown) > LONGEST_NAME:
        raise Refused(Why.BAD_NAME, "name")
    return shown


def origin_is_allowed(connection: HTTPConnection, origins: tuple[str, ...]) -> bool:
    """Whether a page of this origin may speak here: the host it asks, or one the operator allows. Programs send none.

    With a token it may be any: no browser adds that by itself, as it does with a cookie.
    """
    origin = connection.headers.get("origin")
    if origin is None or origin in origins or bearer_of(connection) is not None:
        return True
    try:
        return urlsplit(origin).netloc == connection.headers["host"]
    except (KeyError, ValueError):
        return False


def bearer_of(connection: HTTPConnection) -> str | None:
    """The token that came along, as it came; None if there was none. A cookie beside it does not count."""
    scheme, _, secret = connection.headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else None


async def identify(connection: HTTPConnection, parts: Parts) -> Asker:
    """Look up who asks. Raises `Refused` for a token that is good for nothing, whatever the reason."""
    secret = bearer_of(connection)
    if secret is None:
        cookie = connection.cookies.get(COOKIE)
        return Asker(None if cookie is None else await parts.guests.by_token(cookie))
    asker = await parts.tokens.asker(secret)
    if asker is None:
        raise Refused(Why.BAD_TOKEN)
    return asker


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

    name: StrictStr = Field(description=f"At most {LONGEST_NAME} letters, as they are shown", examples=["Nina"])


@router.get("/me")
async def who_am_i(me: Me) -> Guest:
    """Whom the cookie or the token stands for."""
    return Guest(id=me.id, name=me.name)


@router.post("/me", responses=with_headers(200, "Set-Cookie") | refusals(Why.BAD_NAME))
async def call_me(body: NameIn, request: Request, response: Response, parts: PartsDep) -> Guest:
    """Make a guest with this name, or rename the one who asks."""
    name = clean_name(body.name)
    asker = await asker_of(request, parts)
    if asker.token is not None and asker.person is not None:
        await parts.tokens.rename(Person(asker.person.id, name))
        return Guest(id=asker.person.id, name=name)
    token = request.cookies.get(COOKIE)
    person = None if token is None else await parts.guests.rename(token, name)
    if person is None:
        person, token = await parts.guests.welcome(name)
    else:
        await parts.tokens.rename(person)
    response.set_cookie(
        COOKIE, token or "", max_age=COOKIE_SECONDS, httponly=True, samesite="lax", secure=request.url.scheme == "https"
    )
    return Guest(id=person.id, name=person.name)
