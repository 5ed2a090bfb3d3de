"""Players and finished games, as programs and the page read them."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from httpx2 import ASGITransport, AsyncClient
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine

from app.game.rules import PRESETS
from app.game.view import sheet
from app.rating import Rating, after, shown
from app.store.archive import Archive
from app.store.guests import RedisGuests
from app.store.history import SqlHistory
from app.store.log import RedisLog
from app.store.postgres import connect
from app.tables.commands import HouseDeals
from app.tables.history import tell
from app.tables.table import House, Person
from app.web import errors
from app.web.address import COOKIE, PublicAddress
from app.web.history import router
from app.wire.archive import write_row
from tests.described import as_described
from tests.finished import FOUR, Script, played, store

GUIDE = Path(__file__).parents[2] / "docs" / "api.md"
RATED = played(PRESETS["announced-701"], 1, table="0b-rated9x4wz")
OWN_RULES = played(replace(PRESETS["ffb-2000"], target=500), 2, table="0c-rules9x4wz")
HOUSE = played(
    PRESETS["ffb-2000"], 3, table="0d-house9x4wz", occupants=(FOUR[0], House("alma", "Alma"), FOUR[1], House("basil", "Basil"))
)


@pytest.fixture
async def web(valkey: Redis, postgres: AsyncEngine) -> AsyncIterator[AsyncClient]:
    app = FastAPI()
    errors.install(app)
    app.include_router(router)
    app.state.parts = SimpleNamespace(history=SqlHistory(postgres), guests=RedisGuests(valkey), address=PublicAddress())
    async with AsyncClient(
        transport=ASGITransport(app), base_url="http://test/api/v1", event_hooks={"response": [as_described]}
    ) as client:
        yield client


async def finish(valkey: Redis, postgres: AsyncEngine, *scripts: Script) -> None:
    for script in scripts:
        await store(RedisLog(valkey), script)
        assert await Archive(valkey, postgres).drain_once() == 1


async def ask(web: AsyncClient, path: str, **query: str | int) -> Any:
    answer = await web.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def games(web: AsyncClient, path: str, **query: str | int) -> list[Any]:
    found: list[Any] = (await ask(web, path, **query))["games"]
    return found


async def ids(web: AsyncClient, path: str, **query: str | int) -> list[str]:
    return [game["id"] for game in await games(web, path, **query)]


async def test_before_any_game_all_lists_are_empty(web: AsyncClient) -> None:
    assert await ask(web, "/players") == {"players": [], "next": None}
    assert await ask(web, "/games") == {"games": [], "next": None}
    assert await ask(web, "/players/g_nina/games") == {"games": [], "next": None}


@pytest.mark.parametrize("path", ["/players/g_nobody", "/games/0b-nowhere/1", "/games/0b-rated9x4wz/2"])
async def test_what_is_not_there_is_said_so(path: str, web: AsyncClient) -> None:
    answer = await web.get(path)
    assert (answer.status_code, answer.json()["why"]) == (404, "not_found")


async def test_the_leaderboard_holds_rated_players_best_first(web: AsyncClient, valkey: Redis, postgres: AsyncEngine) -> None:
    await finish(valkey, postgres, RATED, OWN_RULES)
    board = (await ask(web, "/players"))["players"]
    winner = tell(RATED.opened, RATED.entries).winner
    assert winner is not None
    ratings = after((Rating(),) * 4, winner)
    assert {one["id"]: one["rating"] for one in board} == {
        person.id: shown(rating) for person, rating in zip(FOUR, ratings, strict=True)
    }
    assert [one["rating"] for one in board] == sorted((one["rating"] for one in board), reverse=True)
    assert {(one["games"], one["rated"]) for one in board} == {(2, 1)}
    first = await ask(web, "/players", limit=1)
    assert (await ask(web, "/players", limit=1, cursor=first["next"]))["players"] == board[1:2]
    assert await ask(web, f"/players/{board[0]['id']}") == board[0]


async def test_players_without_a_rated_game_come_when_everyone_is_asked_for(
    web: AsyncClient, valkey: Redis, postgres: AsyncEngine
) -> None:
    await finish(valkey, postgres, HOUSE)
    assert await ask(web, "/players") == {"players": [], "next": None}
    everyone = (await ask(web, "/players", everyone=1))["players"]
    assert [(one["id"], one["rating"], one["games"], one["rated"]) for one in everyone] == [
        ("g_paul", 1000, 1, 0),
        ("g_nina", 1000, 1, 0),
    ]


async def test_a_bot_is_marked_and_in_no_leaderboard(web: AsyncClient, valkey: Redis, postgres: AsyncEngine) -> None:
    robi = Person("b_robi", "Robi")
    script = played(PRESETS["announced-701"], 4, table="0e-robot9x4wz", occupants=(robi, *FOUR[1:]))
    await finish(valkey, postgres, RATED, script)
    [game] = await games(web, "/players/b_robi/games")
    assert [one["bot"] for one in game["seats"]] == [True, False, False, False]
    assert game["rated"] is False
    assert (await ask(web, f"/games/{script.game.id}"))["seats"] == game["seats"]
    assert (await ask(web, "/players/b_robi"))["bot"] is True
    board = (await ask(web, "/players"))["players"]
    assert {(one["id"], one["bot"], one["rated"]) for one in board} == {(one.id, False, 1) for one in FOUR}
    everyone = (await ask(web, "/players", everyone=1))["players"]
    assert [one["id"] for one in everyone if one["bot"]] == ["b_robi"]


async def test_games_are_listed_newest_first_and_filtered(web: AsyncClient, valkey: Redis, postgres: AsyncEngine) -> None:
    await finish(valkey, postgres, RATED, OWN_RULES, HOUSE)
    rated, own, house = (script.game.id for script in (RATED, OWN_RULES, HOUSE))
    assert await ids(web, "/games") == [house, own, rated]
    assert await ids(web, "/games", limit=1) == [house]
    assert await ids(web, "/games", preset="ffb-2000") == [house]
    assert await ids(web, "/games", player="g_max") == [own, rated]
    assert await ids(web, "/players/g_max/games") == [own, rated]
    assert await ids(web, "/players/g_max/games", preset="announced-701") == [rated]


async def test_a_listed_game_says_who_sat_where_and_how_it_ended(
    web: AsyncClient, valkey: Redis, postgres: AsyncEngine
) -> None:
    await finish(valkey, postgres, HOUSE)
    [game] = await games(web, "/players/g_nina/games")
    winner = tell(HOUSE.opened, HOUSE.entries).winner
    assert game["seats"][0] == {
        "seat": 0,
        "kind": "person",
        "player": "g_nina",
        "name": "Nina",
        "bot": False,
        "rating_before": None,
        "rating_after": None,
    }
    assert (game["seats"][1]["kind"], game["seats"][1]["player"], game["seats"][1]["name"]) == ("house", "alma", "Alma")
    assert (game["table"], game["number"], game["preset"], game["rated"]) == (HOUSE.opened.id, 1, "ffb-2000", False)
    assert (game["winner"], game["won"]) == (winner, winner == "A")
    assert game["totals"] == {"A": HOUSE.game.totals.A, "B": HOUSE.game.totals.B}
    assert game["deal_count"] == len(HOUSE.game.deals)
    assert game["started"] <= game["finished"]


async def test_a_rated_game_says_what_it_did_to_the_ratings(web: AsyncClient, valkey: Redis, postgres: AsyncEngine) -> None:
    await finish(valkey, postgres, RATED)
    game = await ask(web, f"/games/{RATED.game.id}")
    assert game["rated"]
    for seat in game["seats"]:
        won = (seat["seat"] % 2 == 1) is (game["winner"] == "B")
        assert seat["rating_before"] == 1000
        assert (seat["rating_after"] > 1000) is won


@pytest.mark.parametrize("script", [RATED, OWN_RULES, HOUSE], ids=["rated", "own rules", "with the house"])
async def test_a_game_can_be_read_deal_by_deal(script: Script, web: AsyncClient, valkey: Redis, postgres: AsyncEngine) -> None:
    await finish(valkey, postgres, script)
    game = await ask(web, f"/games/{script.game.id}")
    rows = [write_row(row) for row in sheet(script.game)]
    assert [{name: deal[name] for name in row} for deal, row in zip(game["deals"], rows, strict=True)] == rows
    assert game["rules"]["target"] == script.game.rules.target
    for deal in game["deals"]:
        assert len({card for hand in deal["hands"] for card in hand}) == 32
        assert (len(deal["tricks"]) == 8) is (deal["contract"] is not None)
    assert game == await ask(web, f"/games/{script.game.id.replace('/', '%2F')}")


async def test_games_of_unlisted_tables_are_listed_for_their_players_alone(
    web: AsyncClient, valkey: Redis, postgres: AsyncEngine
) -> None:
    person, token = await RedisGuests(valkey).welcome("Nina")
    script = played(PRESETS["announced-701"], 5, table="0e-apart9x4wz", listed=False, occupants=(person, *FOUR[1:]))
    await finish(valkey, postgres, script)
    assert await ids(web, "/games") == []
    assert await ids(web, f"/players/{person.id}/games") == []
    _, stranger = await RedisGuests(valkey).welcome("Eve")
    web.cookies.set(COOKIE, stranger)
    assert await ids(web, f"/players/{person.id}/games") == []
    web.cookies.set(COOKIE, token)
    assert await ids(web, f"/players/{person.id}/games") == [script.game.id]
    assert await ids(web, "/players/g_paul/games") == [script.game.id]


async def test_no_answer_tells_how_the_cards_were_shuffled(web: AsyncClient, valkey: Redis, postgres: AsyncEngine) -> None:
    await finish(valkey, postgres, RATED)
    paths = ("/players", "/players/g_nina", "/players/g_nina/games", "/games", f"/games/{RATED.game.id}")
    answers = " ".join([(await web.get(path)).text for path in paths])
    deals = [entry.command.deal for entry in RATED.entries if isinstance(entry.command, HouseDeals)]
    assert deals
    for deal in deals:
        assert deal.seed not in answers
        assert deal.salt not in answers
    assert not keys(json.loads((await web.get(paths[-1])).text)) & {"seed", "salt", "cut", "pack", "commitment"}


def keys(value: Any) -> set[str]:
    """All names in a JSON value."""
    match value:
        case dict():
            return set(value).union(*(keys(one) for one in value.values()))
        case list():
            return set[str]().union(*(keys(one) for one in value))
        case _:
            return set()


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 101}, {"limit": "all"}, {"offset": 1}, {"playr": "g_nina"}], ids=str)
async def test_lists_have_bounds(query: Mapping[str, str | int], web: AsyncClient) -> None:
    assert (await web.get("/games", params=query)).status_code == 422
    assert (await web.get("/players", params=query)).status_code == 422


async def test_while_postgres_is_away_history_says_so(web: AsyncClient, tmp_path: Path) -> None:
    app: Any = web._transport  # the application under the client
    app.app.state.parts.history = SqlHistory(connect(f"postgresql+asyncpg://nobody@/nothing?host={tmp_path}"))
    answer = await web.get("/players")
    assert (answer.status_code, answer.json()["why"]) == (503, "busy")


async def test_the_page_is_sent_what_the_protocol_shows(web: AsyncClient, valkey: Redis, postgres: AsyncEngine) -> None:
    """The example in docs/api.md has the names and the kinds of values of a real game."""
    [example] = [json.loads(block.partition("```")[0]) for block in GUIDE.read_text().split("```json game\n")[1:]]
    await finish(valkey, postgres, RATED)
    game = await ask(web, f"/games/{RATED.game.id}")
    assert set(example) == set(game)
    assert set(example["rules"]) <= set(game["rules"])
    assert set(example["seats"][0]) == set(game["seats"][0])
    [told] = example["deals"]
    for deal in game["deals"]:
        assert set(told) == set(deal)
    scored = next(deal for deal in game["deals"] if deal["contract"])
    for name in ("lines", "tricks", "calls"):
        assert set(told[name][0]) == set(scored[name][0])
