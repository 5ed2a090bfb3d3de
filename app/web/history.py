"""Players and finished games over REST."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Annotated, Literal, TypeVar

import structlog
from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from starlette.requests import HTTPConnection
from starlette.types import Receive, Scope, Send

from app.game.refusal import Refused, Why
from app.game.rules import PRESETS
from app.game.trump import Trump
from app.tables.history import (
    Filter,
    GameRecord,
    GameRow,
    GameSheet,
    History,
    PlayerRow,
    Statistics,
    bookmark_of_game,
    bookmark_of_player,
    folded,
)
from app.tables.limits import EXPORTS, EXPORTS_OF_STRANGERS
from app.tables.ports import NewerFormat
from app.tables.tasks import Thread, end
from app.web import lists
from app.web.ear import gone
from app.web.errors import Responses, refusals, with_headers
from app.web.etag import TAGGED, tagged
from app.web.identity import MaybeMe
from app.web.lists import LAST_MS, LONGEST_LIST, MOMENTS, Page
from app.web.media import LINES, STREAMED, many
from app.web.parts import Parts, PartsDep
from app.web.text import LONGEST_NAME_POINTS, clean_text
from app.web.visit import visit_of

Found = TypeVar("Found")

_ID = re.compile(r"[\w.-]{1,64}")
_RATINGS = range(-(2**31), 2**31)
_GAME = TypeAdapter(GameRecord)
_SHEET = TypeAdapter(GameSheet)
_STATISTICS = TypeAdapter(Statistics)

_thread = Thread("export")
"""Games are written here: a whole one takes a while."""

_log = structlog.get_logger()

router = APIRouter(prefix="/api/v1", tags=["history"])


_UNKNOWN = refusals(Why.NOT_FOUND)
_LINK = with_headers(200, "Link")
_EXPORT: Responses = {200: {"content": {LINES: many(LINES, GameSheet, GameRecord)}}}
_LIST = _LINK | refusals(Why.BAD_CURSOR, Why.UNKNOWN_PRESET, Why.MISSING)


def _history(parts: PartsDep) -> History:
    return parts.history


def _asker(me: MaybeMe) -> str | None:
    """The id of who asks, or None for a stranger."""
    return None if me is None else me.id


HistoryDep = Annotated[History, Depends(_history)]
AskerId = Annotated[str | None, Depends(_asker)]
PlayerId = Annotated[str, Path(description="The id of a player", examples=["g_7d1f"])]


# --- what may be asked -----------------------------------------------------------------------------------------------

Id = Annotated[str, Field(pattern=r"^[\w.-]{1,64}$")]
Ms = Annotated[int, Field(ge=0, le=LAST_MS)]


class OfOne(BaseModel):
    """Which games of one player."""

    model_config = ConfigDict(extra="forbid")

    partner: Id | None = Field(None, description="Games in which this player was the player's partner", examples=["g_11c0"])
    preset: str | None = Field(None, description="Games under this unchanged preset", examples=["announced-701"])
    value: str | None = Field(
        None,
        pattern=r"^(capot|[1-9]\d{1,2})$",
        description="A contract of this value, in points or `capot`, declared by the player if one is named",
        examples=["100"],
    )
    trump: Trump | None = Field(
        None, description="A contract in this trump; together with `value`, the same one", examples=["H"]
    )
    coinched: bool | None = Field(None, description="A contract that was coinched, or one that was not; the same one")
    result: Literal["won", "lost"] | None = Field(None, description="What became of it for the player")
    since: Ms | None = Field(None, description="Finished at this time or later, in ms since 1970", examples=[1_796_000_000_000])
    until: Ms | None = Field(None, description="Finished before this time, in ms since 1970", examples=[1_798_000_000_000])
    rated: bool | None = Field(None, description="Rated games, or those that were not")

    def filter(self, player: str | None) -> Filter:
        """The filter that this describes. Raises `Refused`."""
        if player is None and (self.partner is not None or self.result is not None):
            raise Refused(Why.MISSING, "player")
        if self.preset is not None and self.preset not in PRESETS:
            raise Refused(Why.UNKNOWN_PRESET, "preset")
        return Filter(
            player=player,
            partner=self.partner,
            preset=self.preset,
            value=self.value,
            trump=self.trump,
            coinched=self.coinched,
            won=None if self.result is None else self.result == "won",
            since=self.since,
            until=self.until,
            rated=self.rated,
        )


class OfAny(OfOne):
    """Which games."""

    player: Id | None = Field(None, description="Games of this player", examples=["g_7d1f"])


class GamesOfOne(OfOne, Page):
    """A page of one player's games."""


class GamesOfAny(OfAny, Page):
    """A page of games."""


class Exported(OfAny):
    """Which games are exported, and how much of each."""

    cards: bool = Field(False, description="Whole games, with hands, calls and tricks, in place of their score sheets")


class PlayersAsked(Page):
    """Which players."""

    limit: int = Field(50, ge=1, le=LONGEST_LIST, description="Rows a page")
    everyone: bool = Field(False, description="Those without a rated game too")
    name: str | None = Field(
        None,
        min_length=1,
        max_length=LONGEST_NAME_POINTS,
        description="Those whose name begins so, without regard to case and accents",
        examples=["el"],
    )


class Players(BaseModel):
    """Players, best first, or by name where one was looked for; `next` is the cursor of the next page."""

    players: list[PlayerRow]
    next: str | None


class Games(BaseModel):
    """Finished games, newest first; `next` is the cursor of the next page."""

    games: list[GameRow]
    next: str | None


# --- players ---------------------------------------------------------------------------------------------------------


@router.get("/players", responses=_LINK | refusals(Why.BAD_CURSOR, Why.WRONG_VALUE))
async def list_players(
    request: Request, response: Response, history: HistoryDep, asked: Annotated[PlayersAsked, Query()]
) -> Players:
    """The leaderboard: players with a rated game, or everyone who has finished one; or those of a name."""
    name = None if asked.name is None else folded(clean_text(asked.name))
    if name == "":
        raise Refused(Why.WRONG_VALUE, "name")
    after = lists.begin(request, asked.cursor, _RATINGS if name is None else None)
    found = await history.players(asked.everyone, name, after, asked.limit + 1)
    rows = list(found[: asked.limit])
    more = lists.link(request, response, bookmark_of_player(rows[-1], name)) if len(found) > asked.limit else None
    return Players(players=rows, next=more)


@router.get("/players/{player}", responses=_UNKNOWN)
async def read_player(player: PlayerId, history: HistoryDep) -> PlayerRow:
    """One player."""
    return _there(await history.player(_id(player)))


@router.get("/players/{player}/statistics", response_model=Statistics, responses=TAGGED | _UNKNOWN)
async def read_statistics(request: Request, player: PlayerId, history: HistoryDep) -> Response:
    """What all finished games tell of one player; those of unlisted tables are counted, and no partner of theirs is named."""
    return tagged(request, _STATISTICS.dump_json(_there(await history.statistics(_id(player)))))


@router.get("/players/{player}/games", responses=_LIST | _UNKNOWN)
async def list_games_of_player(
    request: Request,
    response: Response,
    player: PlayerId,
    history: HistoryDep,
    asker: AskerId,
    asked: Annotated[GamesOfOne, Query()],
) -> Games:
    """The games of one player, who need not have finished any; those of unlisted tables only for who played them."""
    return await _games(request, response, history, asker, asked.filter(_id(player)), asked)


# --- games -----------------------------------------------------------------------------------------------------------


@router.get("/games", responses=_LIST)
async def list_games(
    request: Request, response: Response, history: HistoryDep, asker: AskerId, asked: Annotated[GamesOfAny, Query()]
) -> Games:
    """Finished games; those of unlisted tables only for who played them."""
    return await _games(request, response, history, asker, asked.filter(asked.player), asked)


@router.get(
    "/games/export",
    response_class=StreamingResponse,
    responses=_EXPORT | refusals(Why.UNKNOWN_PRESET, Why.MISSING),
)
async def export_games(history: HistoryDep, asker: AskerId, asked: Annotated[Exported, Query()]) -> Response:
    """The games that the same filters list, all of them, one JSON object a line, newest first."""
    return Export(history.export(asked.filter(asked.player), asker, asked.cards), asker)


@router.get("/games/{table}/{number}", response_model=GameRecord, responses=TAGGED | _UNKNOWN)
async def read_game(
    request: Request,
    table: Annotated[str, Path(description="The table it was played at", examples=["3f-k2m7q9x4wz"])],
    number: Annotated[int, Path(description="The number of the game at its table, from 1", examples=[1])],
    history: HistoryDep,
) -> Response:
    """One game with its deals: hands as dealt, calls, tricks and lines."""
    return tagged(request, _GAME.dump_json(_there(await history.game(f"{_id(table)}/{number}"))))


class Export(Response):
    """Games, one JSON object a line. It counts as a stream, and one may have few of them at once."""

    media_type = LINES

    def __init__(self, games: AsyncIterator[GameSheet | GameRecord], asker: str | None) -> None:
        super().__init__(headers=STREAMED)
        del self.headers["content-length"]
        self._games = games
        self._quota = EXPORTS_OF_STRANGERS if asker is None else EXPORTS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asking = HTTPConnection(scope)
        parts: Parts = asking.app.state.parts
        visit = visit_of(asking)
        with parts.hub.stream(visit.who):
            async with parts.limits.hold(self._quota, visit.who):
                away = asyncio.create_task(gone(receive))
                try:
                    await self._send(send, away)
                finally:
                    await end(away)

    async def _send(self, send: Send, away: "asyncio.Task[None]") -> None:
        first = await anext(self._games, None)  # what is wrong at once is said in a problem, not by a stream that breaks off
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        count, why = 0, ""
        try:
            game = first
            while game is not None and not away.done():
                await send({"type": "http.response.body", "body": await _thread.do(_line, game), "more_body": True})
                count += 1
                game = await anext(self._games, None)
        except (Refused, NewerFormat) as error:
            why = str(error)
        if away.done() or why:  # and not ended, or a list that is cut short would look whole
            _log.warning("an export broke off", games=count, why=why or "the other side has gone")
        else:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _games(request: Request, response: Response, history: History, asker: str | None, which: Filter, page: Page) -> Games:
    found = await history.games(which, asker, lists.begin(request, page.cursor, MOMENTS), page.limit + 1)
    rows = list(found[: page.limit])
    more = lists.link(request, response, bookmark_of_game(rows[-1])) if len(found) > page.limit else None
    return Games(games=rows, next=more)


def _line(game: GameSheet | GameRecord) -> bytes:
    return (_GAME.dump_json(game) if isinstance(game, GameRecord) else _SHEET.dump_json(game)) + b"\n"


# --- both ------------------------------------------------------------------------------------------------------------


def _id(word: str) -> str:
    """The word, if anything can be called so."""
    if _ID.fullmatch(word) is None:
        raise Refused(Why.NOT_FOUND)
    return word


def _there(found: Found | None) -> Found:
    if found is None:
        raise Refused(Why.NOT_FOUND)
    return found
