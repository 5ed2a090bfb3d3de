"""Players and finished games over REST."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel

from app.game.refusal import Refused, Why
from app.tables.history import GameRecord, GameRow, History, PlayerRow
from app.web.identity import person_of
from app.web.parts import PartsDep

LONGEST_LIST = 100

router = APIRouter(prefix="/api/v1", tags=["history"])


def _history(parts: PartsDep) -> History:
    return parts.history


async def _asker(request: Request, parts: PartsDep) -> str | None:
    """The guest who asks, or None for a stranger."""
    person = await person_of(request, parts.guests)
    return None if person is None else person.id


HistoryDep = Annotated[History, Depends(_history)]
Asker = Annotated[str | None, Depends(_asker)]
Limit = Annotated[int, Query(ge=1, le=LONGEST_LIST)]
Offset = Annotated[int, Query(ge=0, le=1_000_000)]


class Players(BaseModel):
    """Players, best first."""

    players: list[PlayerRow]


class Games(BaseModel):
    """Finished games, newest first."""

    games: list[GameRow]


@router.get("/players")
async def list_players(history: HistoryDep, everyone: bool = False, limit: Limit = 50, offset: Offset = 0) -> Players:
    """The leaderboard: players with a rated game, or everyone who has finished one."""
    return Players(players=list(await history.players(everyone, limit, offset)))


@router.get("/players/{player}")
async def read_player(player: str, history: HistoryDep) -> PlayerRow:
    """One player."""
    found = await history.player(player)
    if found is None:
        raise Refused(Why.NOT_FOUND)
    return found


@router.get("/players/{player}/games")
async def list_games_of_player(
    player: str, history: HistoryDep, asker: Asker, preset: str | None = None, limit: Limit = 20, offset: Offset = 0
) -> Games:
    """The games of one player, who need not have finished any; those of unlisted tables only for who played them."""
    return Games(games=list(await history.games(player, preset, asker, limit, offset)))


@router.get("/games")
async def list_games(
    history: HistoryDep,
    asker: Asker,
    player: str | None = None,
    preset: str | None = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> Games:
    """Finished games; those of unlisted tables only for who played them."""
    return Games(games=list(await history.games(player, preset, asker, limit, offset)))


@router.get("/games/{table}/{number}")
async def read_game(table: str, number: int, history: HistoryDep) -> GameRecord:
    """One game with its deals: hands as dealt, calls, tricks and lines."""
    found = await history.game(f"{table}/{number}")
    if found is None:
        raise Refused(Why.NOT_FOUND)
    return found
