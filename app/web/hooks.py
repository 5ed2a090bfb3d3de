"""Hooks over REST: servers that are sent events. For the guest who comes with a cookie, like tokens."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from pydantic import BaseModel, Field, StrictStr, WithJsonSchema

from app.game.refusal import Refused, Why
from app.tables import limits, tokens
from app.tables.hooks import Hook, HookScope, events_of
from app.tables.notices import EventType
from app.web.errors import refusals
from app.web.identity import Me, asker_of
from app.web.parts import PartsDep
from app.web.visit import visit_of

router = APIRouter(prefix="/api/v1/me/hooks", tags=["me"])

Events = Annotated[
    list[StrictStr],
    WithJsonSchema({"type": "array", "items": {"type": "string", "enum": list(EventType)}, "minItems": 1}),
    Field(description="The events it is sent", examples=[["game_finished", "turn_due"]]),
]
HookId = Annotated[str, Path(description="The id of a hook", examples=["5f0c7d1e2b3a4958"])]


class HookIn(BaseModel):
    """The hook that is wanted; `scope` `all` is the operator's to give."""

    url: StrictStr = Field(description="Where events are sent", examples=["https://club.example.org/coinche"])
    events: Events
    scope: Annotated[StrictStr, WithJsonSchema({"type": "string", "enum": list(HookScope)})] = Field(
        HookScope.MINE.value, description="Whose events: one's own and those of one's bots, or those of all listed tables too"
    )


class AttemptOut(BaseModel):
    """The last attempt: when, in ms, of what, and a status or a word for why there was none."""

    at: int
    event: str
    result: str


class HookOut(BaseModel):
    """A hook, without its secret. `failures`: attempts in a row that failed; `off`: its server has answered 410.

    `dropped`: deliveries that were dropped since it was made, because too many waited.
    """

    id: str
    url: str
    events: list[EventType]
    scope: HookScope
    created: int
    off: bool
    failures: int
    dropped: int
    last: AttemptOut | None


class NewHook(HookOut):
    """A hook with the secret that signs its deliveries, which is shown this once."""

    secret: str


class HookList(BaseModel):
    """One's hooks, oldest first."""

    hooks: list[HookOut]


class Queued(BaseModel):
    """The event that was queued."""

    event: str = "ping"


async def _slowly(request: Request, parts: PartsDep, _: Me) -> None:
    """Limits how often this server is made to send requests to others."""
    await visit_of(request).take(parts.limits, limits.HOOKS)


Slowly = Annotated[None, Depends(_slowly)]


@router.get("")
async def list_hooks(me: Me, parts: PartsDep) -> HookList:
    """One's hooks, without their secrets."""
    return HookList(hooks=[_out(hook) for hook in await parts.hooks.of(me.id)])


_MAKING = (Why.BAD_URL, Why.WRONG_VALUE, Why.TOO_MANY, Why.MISSING_SCOPE)


@router.post("", status_code=201, responses=refusals(*_MAKING))
async def make_hook(body: HookIn, me: Me, parts: PartsDep, request: Request, _: Slowly) -> NewHook:
    """Make a hook. Its secret is in this answer and in no other."""
    events, scope = events_of(body.events), await _scope(body.scope, request, parts)
    made = await parts.hooks.add(me.id, await parts.url_policy.check(body.url), events, scope)
    if made is None:
        raise Refused(Why.TOO_MANY)
    hook, secret = made
    return NewHook(**_out(hook).model_dump(), secret=secret)


@router.delete("/{hook}", status_code=204, responses=refusals(Why.NOT_FOUND))
async def remove_hook(hook: HookId, me: Me, parts: PartsDep) -> None:
    """Remove a hook with all that waits for it."""
    if not await parts.hooks.remove(me.id, hook):
        raise Refused(Why.NOT_FOUND)


@router.post("/{hook}/test", status_code=202, responses=refusals(Why.NOT_FOUND, Why.HOOK_OFF, Why.TOO_MANY))
async def ping_hook(hook: HookId, me: Me, parts: PartsDep, _: Slowly) -> Queued:
    """Send a ping, as all else is sent; the list shows the result."""
    await parts.hooks.ping(me.id, hook)
    return Queued()


async def _scope(name: str, request: Request, parts: PartsDep) -> HookScope:
    """Returns the scope, if who asks may have it. Raises `Refused`."""
    if name not in set(HookScope):
        raise Refused(Why.WRONG_VALUE, "scope")
    if name == HookScope.ALL and tokens.Scope.ADMIN not in (await asker_of(request, parts)).scopes:
        raise Refused(Why.MISSING_SCOPE, tokens.Scope.ADMIN.value)
    return HookScope(name)


def _out(hook: Hook) -> HookOut:
    last = None if hook.last is None else AttemptOut(at=hook.last.at, event=hook.last.event, result=hook.last.result)
    return HookOut(
        id=hook.id,
        url=hook.url,
        events=list(hook.events),
        scope=hook.scope,
        created=hook.created,
        off=hook.is_off,
        failures=hook.failures,
        dropped=hook.dropped,
        last=last,
    )
