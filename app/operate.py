"""What an operator asks of the store, in lines: tokens of his own, games put aside, deliveries to hooks.

All raise `Refused` while the store does not answer.
"""

from datetime import UTC, datetime

from app.game.refusal import Refused
from app.store import outbox
from app.store.dice import now_ms
from app.store.hooks import RedisDeliveryQueue, RedisHooks
from app.store.server import connect
from app.store.tokens import RedisTokens
from app.tables.tokens import MOST_TOKENS, OPERATOR, Scope
from app.web.text import clean_name

DAY_MS = 24 * 3600 * 1000


async def make_token(url: str, name: str, days: int | None) -> tuple[str, str]:
    """The id and the secret of a new token with all scopes. Raises ValueError."""
    try:
        shown = clean_name(name)
    except Refused:
        raise ValueError("A name has 1 to 24 letters") from None
    now = now_ms()
    async with connect(url) as redis:
        expires = None if days is None else now + days * DAY_MS
        issued = await RedisTokens(redis).issue(OPERATOR, shown, frozenset(Scope), now, expires)
    if issued is None:
        raise ValueError(f"There are {MOST_TOKENS} tokens: revoke one first")
    token, secret = issued
    return token.id, secret


async def revoke_token(url: str, token: str) -> str:
    """Make it void. Raises ValueError if there is no such token."""
    async with connect(url) as redis:
        if not await RedisTokens(redis).revoke(OPERATOR.id, token):
            raise ValueError(f"The operator has no token {token}")
    return f"Token {token} is void."


async def list_tokens(url: str) -> str:
    """One a line, newest first."""
    async with connect(url) as redis:
        tokens = await RedisTokens(redis).of(OPERATOR.id)
    rows = ((one, [_day(ms) for ms in (one.created, one.expires, one.used)]) for one in tokens)
    return "\n".join(f"{one.id}  made {made}  expires {void}  used {used}  {one.name}" for one, (made, void, used) in rows)


async def list_aside(url: str) -> str:
    """The finished games that could not be archived, one a line, oldest first, after how many still wait."""
    async with connect(url) as redis:
        waits, aside = sum((await outbox.waiting(redis)).values()), await outbox.list_aside(redis)
    rows = (f"{_second(one.at)}  {one.game}  {one.error}" for one in aside)
    return "\n".join([f"{waits} to be archived, {len(aside)} put aside.", *rows])


async def archive_again(url: str, which: str) -> str:
    """Let the archive try the game of this id anew, or `all`. Raises ValueError if no such game was put aside."""
    async with connect(url) as redis:
        wanted = [one for one in await outbox.list_aside(redis) if which in ("all", one.game)]
        if not wanted and which != "all":
            raise ValueError(f"No game {which} was put aside: see coinche archive")
        put = [await outbox.put_back(redis, one) for one in wanted]
    return f"{sum(put)} of {len(put)} will be tried again."


async def count_deliveries(url: str) -> str:
    """How many deliveries wait, and how many were given up."""
    async with connect(url) as redis:
        counts = await RedisHooks(redis).waiting()
    return f"{counts['waiting']} to be sent, {counts['dead']} given up."


async def list_dead_deliveries(url: str) -> str:
    """What was given up, one delivery a line, oldest first."""
    async with connect(url) as redis:
        deliveries = await RedisDeliveryQueue(redis).dead()
    rows = (
        f"{_second(dead.at)}  {dead.delivery.id}  {dead.delivery.event}  {dead.result}  {dead.delivery.hook}"
        for dead in deliveries
    )
    return "\n".join(rows) or "Nothing was given up."


async def redeliver(url: str, which: str) -> str:
    """Send the delivery of this id again, or `all`. Raises ValueError if there is none of that id."""
    async with connect(url) as redis:
        queue = RedisDeliveryQueue(redis)
        wanted = [dead.delivery for dead in await queue.dead() if which in ("all", dead.delivery.id)]
        if not wanted and which != "all":
            raise ValueError(f"Nothing that was given up has the id {which}: see coinche hooks --dead")
        sent = [await queue.redeliver(delivery) for delivery in wanted]
    return f"{sum(sent)} of {len(sent)} will be sent again."


def _day(ms: int | None) -> str:
    return "never     " if ms is None else datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d")


def _second(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")
