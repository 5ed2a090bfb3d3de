"""Tokens and bots over REST: for the guest who comes with a cookie, since a token makes no tokens."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel, Field, StrictInt, StrictStr, WithJsonSchema

from app.game.refusal import Refused, Why
from app.tables.table import Person
from app.tables.tokens import MOST_DAYS, OF_A_GUEST, Scope, Token
from app.web.errors import refusals
from app.web.identity import Me, NameIn, renamed
from app.web.parts import Parts, PartsDep
from app.web.text import clean_name

DAY_MS = 24 * 3600 * 1000

router = APIRouter(prefix="/api/v1/me", tags=["me"])


Scopes = Annotated[
    list[StrictStr],
    WithJsonSchema({"type": "array", "items": {"type": "string", "enum": sorted(OF_A_GUEST)}, "minItems": 1}),
    Field(examples=[["read", "play"]]),
]
Days = Annotated[
    StrictInt | None,
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1, "maximum": MOST_DAYS}, {"type": "null"}]}),
    Field(description="Days until it expires; null: never", examples=[90]),
]
TokenId = Annotated[str, Path(description="The id of a token", examples=["8f3a6c0d5b7e9124"])]
BotId = Annotated[str, Path(description="The id of a bot", examples=["b_90aa"])]
Name = Annotated[StrictStr, Field(examples=["Hal"])]


class TokenIn(BaseModel):
    """The token that is wanted: `expires` in so many days, or never."""

    name: Name
    scopes: Scopes
    expires: Days = None


class BotIn(BaseModel):
    """The bot that is wanted, and what its first token is good for."""

    name: Name
    scopes: Scopes = [Scope.READ.value, Scope.PLAY.value]
    expires: Days = None


class TokenOut(BaseModel):
    """A token, without what it is used with. Times in ms."""

    id: str
    name: str
    scopes: list[Scope]
    created: int
    expires: int | None
    used: int | None


class NewToken(TokenOut):
    """A token with its secret, which is shown this once."""

    secret: str


class TokenList(BaseModel):
    """Tokens, newest first."""

    tokens: list[TokenOut]


class Bot(BaseModel):
    """A bot as others see it."""

    id: str
    name: str
    bot: bool = True


class NewBot(Bot):
    """A bot with its first token."""

    token: NewToken


class BotList(BaseModel):
    """One's bots."""

    bots: list[Bot]


_UNKNOWN = refusals(Why.NOT_FOUND)
_ISSUING = refusals(Why.BAD_NAME, Why.WRONG_VALUE, Why.TOO_MANY)


async def _bot(bot: BotId, me: Me, parts: PartsDep) -> Person:
    """The asker's bot of this id; another's is as unknown as one that does not exist."""
    return _there(await parts.bots.find(me.id, bot))


MyBot = Annotated[Person, Depends(_bot)]


@router.get("/tokens")
async def list_tokens(me: Me, parts: PartsDep) -> TokenList:
    """One's tokens, without their secrets."""
    return _list(await parts.tokens.of(me.id))


@router.post("/tokens", status_code=201, responses=_ISSUING)
async def make_token(body: TokenIn, me: Me, parts: PartsDep) -> NewToken:
    """Make a token that acts in one's own name. Its secret is in this answer and nowhere else."""
    return await _issue(parts, me, body.name, body.scopes, body.expires)


@router.delete("/tokens/{token}", status_code=204, responses=_UNKNOWN)
async def revoke_token(token: TokenId, me: Me, parts: PartsDep) -> None:
    """Revoke a token; from now on it is good for nothing."""
    await _revoke(parts, me, token)


@router.get("/bots")
async def list_bots(me: Me, parts: PartsDep) -> BotList:
    """One's bots."""
    return BotList(bots=[Bot(id=one.id, name=one.name) for one in await parts.bots.of(me.id)])


@router.post("/bots", status_code=201, responses=_ISSUING)
async def make_bot(body: BotIn, me: Me, parts: PartsDep) -> NewBot:
    """Make a bot: an identity of its own that a program plays with, shown as such, with its first token."""
    name, scopes = clean_name(body.name), _scopes(body.scopes)
    _check_days(body.expires)
    bot = await parts.bots.make(me.id, name)
    if bot is None:
        raise Refused(Why.TOO_MANY)
    return NewBot(id=bot.id, name=bot.name, token=await _issue(parts, bot, name, sorted(scopes), body.expires))


@router.patch("/bots/{bot}", responses=refusals(Why.NOT_FOUND, Why.BAD_NAME))
async def rename_bot(body: NameIn, bot: BotId, me: Me, parts: PartsDep) -> Bot:
    """Give the bot another name."""
    person = _there(await parts.bots.rename(me.id, bot, clean_name(body.name)))
    await renamed(parts, person)
    return Bot(id=person.id, name=person.name)


@router.delete("/bots/{bot}", status_code=204, responses=_UNKNOWN)
async def dismiss_bot(bot: BotId, me: Me, parts: PartsDep) -> None:
    """Dismiss the bot: its tokens are good for nothing from now on."""
    if not await parts.bots.dismiss(me.id, bot):
        raise Refused(Why.NOT_FOUND)


@router.get("/bots/{bot}/tokens", responses=_UNKNOWN)
async def list_tokens_of_bot(bot: MyBot, parts: PartsDep) -> TokenList:
    """The bot's tokens, without their secrets."""
    return _list(await parts.tokens.of(bot.id))


@router.post("/bots/{bot}/tokens", status_code=201, responses=_ISSUING | _UNKNOWN)
async def make_token_for_bot(body: TokenIn, bot: MyBot, parts: PartsDep) -> NewToken:
    """Make a further token for the bot."""
    return await _issue(parts, bot, body.name, body.scopes, body.expires)


@router.delete("/bots/{bot}/tokens/{token}", status_code=204, responses=_UNKNOWN)
async def revoke_token_of_bot(token: TokenId, bot: MyBot, parts: PartsDep) -> None:
    """Revoke a token of the bot."""
    await _revoke(parts, bot, token)


def _there(bot: Person | None) -> Person:
    if bot is None:
        raise Refused(Why.NOT_FOUND)
    return bot


async def _issue(parts: Parts, owner: Person, name: str, scopes: Sequence[str], days: int | None) -> NewToken:
    shown, wanted, now = clean_name(name), _scopes(scopes), parts.clock()
    _check_days(days)
    issued = await parts.tokens.issue(owner, shown, wanted, now, None if days is None else now + days * DAY_MS)
    if issued is None:
        raise Refused(Why.TOO_MANY)
    token, secret = issued
    return NewToken(**_out(token).model_dump(), secret=secret)


async def _revoke(parts: Parts, owner: Person, token: str) -> None:
    if not await parts.tokens.revoke(owner.id, token):
        raise Refused(Why.NOT_FOUND)


def _scopes(names: Sequence[str]) -> frozenset[Scope]:
    """What a guest can give away. Raises `Refused` for anything else, and for nothing."""
    if not names or not set(names) <= OF_A_GUEST:
        raise Refused(Why.WRONG_VALUE, "scopes")
    return frozenset(map(Scope, names))


def _check_days(days: int | None) -> None:
    if days is not None and not 1 <= days <= MOST_DAYS:
        raise Refused(Why.WRONG_VALUE, "expires")


def _list(tokens: Sequence[Token]) -> TokenList:
    return TokenList(tokens=[_out(one) for one in tokens])


def _out(token: Token) -> TokenOut:
    return TokenOut(
        id=token.id,
        name=token.name,
        scopes=sorted(token.scopes),
        created=token.created,
        expires=token.expires,
        used=token.used,
    )
