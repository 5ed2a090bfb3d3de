"""A shelf of a few thousand games, made by `coinche seed`: what its lists hold, and by which index they are found."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import asyncpg
import pytest
from fastapi import FastAPI
from httpx2 import ASGITransport, AsyncClient
from redis.asyncio import Redis
from sqlalchemy import event, make_url
from sqlalchemy.ext.asyncio import AsyncEngine

from app.embedded import Servers, running
from app.game.rules import PRESETS
from app.game.shuffle import commitment
from app.store import history as shelf
from app.store.guests import RedisGuests
from app.store.history import SqlHistory
from app.store.limits import NoLimits
from app.store.postgres import connect
from app.web import errors
from app.web.address import COOKIE, PublicAddress
from app.web.history import router

GAMES = 2_000
LOGS = 12
GUIDE = Path(__file__).parents[2] / "docs" / "api.md"
Query = Mapping[str, str | int | bool]


@dataclass
class Filled:
    """A seeded database, and what is in it as SQL tells it."""

    url: str
    said: str
    asked: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)

    async def rows(self, sql: str, *values: object) -> list[asyncpg.Record]:
        url = make_url(self.url)
        connection = await asyncpg.connect(host=str(url.query["host"]), user=url.username, database=url.database)
        try:
            rows: list[asyncpg.Record] = await connection.fetch(sql, *values)
            return rows
        finally:
            await connection.close()

    async def value(self, sql: str, *values: object) -> Any:
        [row] = await self.rows(sql, *values)
        return row[0]


def seeded(url: str, *options: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app", "seed", "--until", "2026-11-01", *options]
    around = os.environ | {"DATABASE_URL": url, **(env or {})}
    return subprocess.run(command, env=around, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
async def filled(migrated: Servers) -> AsyncIterator[Filled]:
    """One database for all tests here, none of which changes it."""
    url = make_url(migrated.database_url)
    keeper = await asyncpg.connect(host=str(url.query["host"]), user=url.username, database="postgres")
    try:
        await keeper.execute("CREATE DATABASE shelf")
        mine = url.set(database="shelf").render_as_string(hide_password=False)
        done = seeded(mine, "--games", str(GAMES), "--played", "12", "--logs", str(LOGS), "--people", "50")
        assert done.returncode == 0, done.stderr
        yield Filled(mine, done.stdout)
        await keeper.execute("DROP DATABASE shelf WITH (FORCE)")
    finally:
        await keeper.close()


@pytest.fixture(scope="module")
async def engine(filled: Filled) -> AsyncIterator[AsyncEngine]:
    """A connection of which each statement is noted."""
    engine = connect(filled.url)

    @event.listens_for(engine.sync_engine, "before_cursor_execute")
    def note(connection: Any, cursor: Any, statement: str, values: tuple[Any, ...], context: Any, many: bool) -> None:
        filled.asked.append((statement, values))

    yield engine
    await engine.dispose()


@pytest.fixture(scope="module")
async def valkey(servers: Servers) -> AsyncIterator[Redis]:
    async with Redis.from_url(servers.redis_url, decode_responses=True) as client:
        yield client


@pytest.fixture(scope="module")
async def site(engine: AsyncEngine, valkey: Redis) -> FastAPI:
    app = FastAPI()
    errors.install(app)
    app.include_router(router)
    app.state.parts = SimpleNamespace(
        history=SqlHistory(engine),
        guests=RedisGuests(valkey),
        address=PublicAddress(),
        limits=NoLimits(),
        hub=SimpleNamespace(stream=lambda who: nullcontext()),
    )
    return app


@pytest.fixture
async def web(filled: Filled, site: FastAPI) -> AsyncIterator[AsyncClient]:
    """A stranger; what has been asked of the database until now is forgotten."""
    filled.asked.clear()
    async with AsyncClient(transport=ASGITransport(site), base_url="http://test/api/v1") as client:
        yield client


async def ask(web: AsyncClient, path: str, query: Query | None = None) -> Any:
    answer = await web.get(path, params=dict(query or {}))
    assert answer.status_code == 200, answer.text
    return answer.json()


async def refusal(web: AsyncClient, path: str, query: Query) -> tuple[int, str, str]:
    answer = await web.get(path, params=dict(query))
    problem = answer.json()
    return answer.status_code, problem["why"], problem.get("field", "")


async def busiest(filled: Filled) -> tuple[str, str]:
    """Who has played most, and with whom most of it."""
    row = await filled.rows(
        "SELECT player, partner FROM seats WHERE partner IS NOT NULL GROUP BY 1, 2 ORDER BY count(*) DESC, player LIMIT 1"
    )
    return row[0][0], row[0][1]


WRONG = """
SELECT count(*) FROM games g WHERE deal_count <> (SELECT count(*) FROM deals WHERE game = g.id)
    OR total_a + total_b <> (SELECT sum(score_a + score_b) FROM deals WHERE game = g.id);
SELECT count(*) FROM games WHERE rated <> ((SELECT count(player) FROM seats WHERE game = games.id) = 4);
SELECT count(*) FROM games WHERE finished >= '2026-11-01Z' OR finished < '2024-10-30Z' OR started >= finished;
SELECT count(*) FROM games g WHERE contracts <> (SELECT array_agg(DISTINCT one ORDER BY one)
    FROM seats s, unnest(s.contracts) AS one WHERE game = g.id);
SELECT count(*) FROM seats s JOIN games g ON g.id = s.game
    WHERE (s.finished, s.listed, s.won) <> (g.finished, g.listed, g.winner = CASE seat % 2 WHEN 0 THEN 'A' ELSE 'B' END)
    OR s.partner IS DISTINCT FROM (SELECT player FROM seats WHERE game = g.id AND seat = (s.seat + 2) % 4)
    OR s.preset IS DISTINCT FROM g.preset;
SELECT count(*) FROM players p WHERE (games, won, rated, created, played) <> (SELECT
    count(*), count(*) FILTER (WHERE won), count(mu_after), min(finished), max(finished) FROM seats WHERE player = p.id);
SELECT count(*) FROM players p WHERE mu <> COALESCE((SELECT mu_after FROM seats
    WHERE player = p.id AND mu_after IS NOT NULL ORDER BY finished DESC, game DESC LIMIT 1), 25)
"""
"""Questions to which the answer is 0."""


# --- what the command makes ------------------------------------------------------------------------------------------


async def test_the_tables_are_filled_as_the_archive_fills_them(filled: Filled) -> None:
    assert filled.said == f"{GAMES} finished games are stored.\n"
    assert await filled.value("SELECT count(*) FROM games") == GAMES
    assert await filled.value("SELECT count(*) FROM seats") == 4 * GAMES
    assert {row[0] for row in await filled.rows("SELECT DISTINCT preset FROM games")} == set(PRESETS)
    assert await filled.value("SELECT count(DISTINCT game) FROM entries") == LOGS
    for sql in WRONG.split(";"):
        assert await filled.value(sql) == 0, sql


async def test_the_newest_games_can_be_read_card_by_card_and_the_others_have_no_cards(filled: Filled, web: AsyncClient) -> None:
    games = (await ask(web, "/games", {"limit": 100}))["games"]
    told = await ask(web, f"/games/{games[0]['id']}")
    assert len(told["deals"]) == games[0]["deal_count"]
    assert told["deals"][-1]["totals"] == games[0]["totals"]
    assert (await ask(web, f"/games/{games[-1]['id']}"))["deals"] == []


async def test_the_log_of_a_retold_game_keeps_its_promises(filled: Filled) -> None:
    for row in await filled.rows("SELECT game, entry FROM entries WHERE entry->'command'->>'kind' = 'house_deals'"):
        entry = json.loads(row["entry"])
        deal = entry["command"]["deal"]
        promise = next(one for one in entry["events"] if one["kind"] == "deal_committed")
        secrets = (bytes.fromhex(deal["seed"]), bytes.fromhex(deal["salt"]), deal["cut"])
        assert promise["commitment"] == commitment(row["game"], promise["deal"], *secrets)


async def test_the_same_seed_again_is_refused_and_changes_nothing(filled: Filled) -> None:
    again = seeded(filled.url, "--games", "20", "--played", "6", "--people", "50")
    assert (again.returncode, len(again.stderr.strip().splitlines()[-1:])) == (1, 1)
    assert "are there already" in again.stderr
    assert "Traceback" not in again.stderr
    assert await filled.value("SELECT count(*) FROM games") == GAMES


def test_a_database_that_a_running_coinche_uses_is_left_alone(tmp_path: Path) -> None:
    with running(tmp_path, None, "postgresql+asyncpg://unused"):
        done = seeded("", "--games", "20", env={"COINCHE_DATA": str(tmp_path)})
    assert done.returncode == 1
    assert done.stderr.strip().endswith("choose another folder with COINCHE_DATA.")
    assert "in use by another coinche" in done.stderr


def test_a_database_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    done = seeded(f"postgresql://nobody@/nothing?host={tmp_path}", "--games", "20")
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (1, 1)
    assert "DATABASE_URL" in done.stderr


# --- filters ---------------------------------------------------------------------------------------------------------

FILTERS: dict[str, tuple[Query, str]] = {
    "a preset": ({"preset": "ffb-2000"}, "g.preset = 'ffb-2000'"),
    "rated": ({"rated": True}, "g.rated"),
    "not rated": ({"rated": False}, "NOT g.rated"),
    "dates": (
        {"since": 1_767_225_600_000, "until": 1_769_904_000_000},
        "g.finished >= '2026-01-01Z' AND g.finished < '2026-02-01Z'",
    ),
    "a value": ({"value": "100"}, "DEAL(d.contract->>'value' = '100')"),
    "a capot": ({"value": "capot"}, "DEAL(d.contract->>'value' = 'capot')"),
    "a trump": ({"trump": "SA"}, "DEAL(d.contract->>'trump' = 'SA')"),
    "a coinche": ({"coinched": True}, "DEAL((d.contract->>'level')::int > 0)"),
    "all of one contract": (
        {"value": "90", "trump": "H", "coinched": False},
        "DEAL(d.contract->>'value' = '90' AND d.contract->>'trump' = 'H' AND d.contract->>'level' = '0')",
    ),
    "several": (
        {"preset": "classic-1000", "trump": "S", "rated": True},
        "g.preset = 'classic-1000' AND g.rated AND DEAL(d.contract->>'trump' = 'S')",
    ),
}
OF_PLAYER: dict[str, tuple[Query, str]] = {
    "nothing more": ({}, "TRUE"),
    "won": ({"result": "won"}, "g.winner = CASE s.seat % 2 WHEN 0 THEN 'A' ELSE 'B' END"),
    "lost": ({"result": "lost"}, "g.winner <> CASE s.seat % 2 WHEN 0 THEN 'A' ELSE 'B' END"),
    "won under a preset": (
        {"result": "won", "preset": "announced-701"},
        "g.winner = CASE s.seat % 2 WHEN 0 THEN 'A' ELSE 'B' END AND g.preset = 'announced-701'",
    ),
}


def condition(told: str, of_player: bool) -> str:
    """`DEAL(...)` written out: a deal with such a contract, declared by the player if there is one."""
    by = " AND (d.contract->>'declarer')::int = s.seat" if of_player else ""
    before, deal, rest = told.partition("DEAL(")
    return before + (f"EXISTS (SELECT FROM deals d WHERE d.game = g.id{by} AND ({rest[:-1]}))" if deal else "")


async def all_ids(web: AsyncClient, path: str, query: Query, limit: int) -> list[str]:
    """The ids on all pages; each page but the last is full."""
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = await ask(web, path, {**query, **cursor, "limit": limit})
        found += [game["id"] for game in page["games"]]
        if page["next"] is None:
            return found
        assert len(page["games"]) == limit
        cursor = {"cursor": page["next"]}


@pytest.mark.parametrize("name", FILTERS)
async def test_a_filter_lists_what_it_says_page_by_page(name: str, filled: Filled, web: AsyncClient) -> None:
    query, told = FILTERS[name]
    sql = f"SELECT id FROM games g WHERE listed AND {condition(told, False)} ORDER BY finished DESC, id DESC LIMIT 150"
    right = [row[0] for row in await filled.rows(sql)]
    found: list[str] = []
    page: Any = {"next": ""}
    while len(found) < 150 and page["next"] is not None:
        page = await ask(web, "/games", {**query, "limit": 60, **({"cursor": page["next"]} if page["next"] else {})})
        found += [game["id"] for game in page["games"]]
    assert found[:150] == right


@pytest.mark.parametrize("name", [*FILTERS, *OF_PLAYER])
async def test_a_filter_of_a_player_is_about_that_player(name: str, filled: Filled, web: AsyncClient) -> None:
    player, partner = await busiest(filled)
    query, told = (FILTERS | OF_PLAYER)[name]
    of_player = f"FROM games g JOIN seats s ON s.game = g.id WHERE s.player = $1 AND g.listed AND {condition(told, True)}"
    right = [row[0] for row in await filled.rows(f"SELECT g.id {of_player} ORDER BY g.finished DESC, g.id DESC", player)]
    assert await all_ids(web, f"/players/{player}/games", query, 100) == right
    assert await all_ids(web, "/games", {**query, "player": player}, 77) == right
    beside = " AND EXISTS (SELECT FROM seats p WHERE p.game = g.id AND p.player = $2 AND p.seat = (s.seat + 2) % 4)"
    sql = f"SELECT g.id {of_player}{beside} ORDER BY g.finished DESC, g.id DESC"
    together = [row[0] for row in await filled.rows(sql, player, partner)]
    assert await all_ids(web, f"/players/{player}/games", {**query, "partner": partner}, 100) == together


async def test_somebody_sees_own_games_of_unlisted_tables_among_the_others(
    filled: Filled, web: AsyncClient, valkey: Redis
) -> None:
    player, _ = await busiest(filled)
    person, token = await RedisGuests(valkey).welcome("Nina")
    await _be(valkey, person.id, player)
    web.cookies.set(COOKIE, token)
    seen = "g.listed OR EXISTS (SELECT FROM seats WHERE game = g.id AND player = $1)"
    for query, told in (({}, "TRUE"), FILTERS["a trump"], FILTERS["several"]):
        sql = f"SELECT id, g.listed FROM games g WHERE ({seen}) AND {condition(told, False)}"
        right = await filled.rows(f"{sql} ORDER BY finished DESC, id DESC LIMIT 200", player)
        assert not all(row["listed"] for row in right)
        page = await ask(web, "/games", {**query, "limit": 100})
        more = await ask(web, "/games", {**query, "limit": 100, "cursor": page["next"]})
        assert [game["id"] for game in page["games"] + more["games"]] == [row["id"] for row in right]
    other = await filled.value(
        "SELECT player FROM seats WHERE player <> $1 GROUP BY player ORDER BY count(*) DESC LIMIT 1", player
    )
    both = (
        f"SELECT id FROM games g JOIN seats s ON s.game = g.id AND s.player = $2 WHERE {seen} ORDER BY g.finished DESC, id DESC"
    )
    right_ids = [row["id"] for row in await filled.rows(both, player, other)]
    assert await all_ids(web, f"/players/{other}/games", {}, 100) == right_ids


async def _be(valkey: Redis, guest: str, player: str) -> None:
    """Let a guest be an invented player."""
    for key in await valkey.keys("*"):
        if await valkey.type(key) == "hash" and await valkey.hget(key, "id") == guest:
            await valkey.hset(key, "id", player)


# --- cursors ---------------------------------------------------------------------------------------------------------


async def test_a_header_links_to_the_next_page(web: AsyncClient) -> None:
    answer = await web.get("/games", params={"preset": "classic-1000", "limit": 3})
    link, _, rel = answer.headers["link"].partition("; ")
    assert rel == 'rel="next"'
    following = (await web.get("http://test" + link.strip("<>"))).json()
    page = await ask(web, "/games", {"preset": "classic-1000", "limit": 3, "cursor": answer.json()["next"]})
    assert following == page
    whole = await ask(web, "/games", {"preset": "classic-1000", "limit": 6})
    assert whole["games"] == answer.json()["games"] + following["games"]
    last = await web.get("/games", params={"since": 253_000_000_000_000})
    assert (last.json(), "link" in last.headers) == ({"games": [], "next": None}, False)


async def test_new_games_do_not_move_a_page(filled: Filled, web: AsyncClient) -> None:
    first = await ask(web, "/games", {"limit": 5})
    second = await ask(web, "/games", {"limit": 5, "cursor": first["next"]})
    newest = first["games"][0]["finished"] + 1
    url = make_url(filled.url)
    connection = await asyncpg.connect(host=str(url.query["host"]), user=url.username, database=url.database)
    try:
        names = [
            row[0]
            for row in await connection.fetch(
                "SELECT attname FROM pg_attribute WHERE attrelid = 'games'::regclass AND attnum > 0 ORDER BY attnum"
            )
        ]
        copied = ", ".join(
            {"id": "'00-new/1'", "finished": f"to_timestamp({newest} / 1000.0)"}.get(name, name) for name in names
        )
        await connection.execute(f"INSERT INTO games SELECT {copied} FROM games WHERE id = $1", first["games"][0]["id"])
        assert (await ask(web, "/games", {"limit": 1}))["games"][0]["id"] == "00-new/1"
        assert await ask(web, "/games", {"limit": 5, "cursor": first["next"]}) == second
    finally:
        await connection.execute("DELETE FROM games WHERE id = '00-new/1'")
        await connection.close()


async def test_a_forged_or_foreign_cursor_is_refused(filled: Filled, web: AsyncClient) -> None:
    player, partner = await busiest(filled)
    good = (await ask(web, "/games", {"limit": 2}))["next"]
    board = (await ask(web, "/players", {"limit": 2}))["next"]
    no = (422, "bad_cursor", "cursor")
    flipped = good[:-6] + ("A" if good[-6] != "A" else "B") + good[-5:]
    for forged in (flipped, good[:-4], good[4:], board, "", "x", "null", "=", "é", "W10", "%00", "\x00", "AAAA" * 100):
        assert await refusal(web, "/games", {"cursor": forged}) == no, forged
    assert await refusal(web, "/games", {"cursor": good, "preset": "classic-1000"}) == no
    assert await refusal(web, f"/players/{player}/games", {"cursor": good}) == no
    assert await refusal(web, "/players", {"cursor": good}) == no
    assert await refusal(web, "/players", {"cursor": board, "everyone": True}) == no
    of_player = (await ask(web, f"/players/{player}/games", {"limit": 2}))["next"]
    assert await refusal(web, f"/players/{partner}/games", {"cursor": of_player}) == no
    assert (await web.get("/games", params={"cursor": good, "limit": 100})).status_code == 200
    assert (await refusal(web, "/games", {"cursor": "A" * 2000}))[::2] == (422, "cursor")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"partner": "g_x"}, "player"),
        ({"result": "won"}, "player"),
        ({"result": "drawn", "player": "g_x"}, "result"),
        ({"preset": "poker"}, "preset"),
        ({"player": "\x00"}, "player"),
        ({"player": "g" * 65}, "player"),
        ({"value": "1"}, "value"),
        ({"value": "capotx"}, "value"),
        ({"trump": "♥"}, "trump"),
        ({"coinched": "perhaps"}, "coinched"),
        ({"since": "yesterday"}, "since"),
        ({"until": 10**30}, "until"),
        ({"until": -1}, "until"),
        ({"rated": 2}, "rated"),
        ({"colour": "red"}, "colour"),
        ({"limit": 101}, "limit"),
    ],
    ids=str,
)
async def test_a_filter_that_does_not_fit_is_refused_by_its_name(query: Query, field: str, web: AsyncClient) -> None:
    status, _, told = await refusal(web, "/games", query)
    assert (status, told) == (422, field)
    if field != "limit":
        assert (await refusal(web, "/games/export", query))[::2] == (422, field)


@pytest.mark.parametrize(
    "path", ["/players/%00", "/players/%00/statistics", "/players/%00/games", "/games/%00/1", "/games/a/999999"]
)
async def test_what_can_be_nobodys_name_is_not_found(path: str, web: AsyncClient) -> None:
    answer = await web.get(path)
    assert (answer.status_code, answer.json()["why"]) == (404, "not_found")


# --- players ---------------------------------------------------------------------------------------------------------


async def test_the_leaderboard_goes_on_page_by_page(filled: Filled, web: AsyncClient) -> None:
    for everyone in (False, True):
        where = "TRUE" if everyone else "rated > 0"
        right = [row[0] for row in await filled.rows(f"SELECT id FROM players WHERE {where} ORDER BY rating DESC, id DESC")]
        assert await _pages(web, {"everyone": everyone, "limit": 7}) == right


async def test_players_are_found_by_how_their_names_begin_whatever_case_and_accents(filled: Filled, web: AsyncClient) -> None:
    names = [row["name"] for row in await filled.rows("SELECT name FROM players ORDER BY folded, id")]
    for asked, begins in (("a", "aàâ"), ("É", "eéèê"), ("emi", None), ("zzz", None), ("%", None), ("_", None), ("ÈMÎ", None)):
        found = (await ask(web, "/players", {"name": asked, "everyone": True, "limit": 100}))["players"]
        if begins is not None:
            assert [one["name"] for one in found] == [name for name in names if name[0].lower() in begins]
            assert await _pages(web, {"name": asked, "everyone": True, "limit": 3}) == [one["id"] for one in found]
        else:
            assert [one["name"] for one in found] == [name for name in names if name == "Émile" and asked.lower()[0] in "eè"]
    assert await refusal(web, "/players", {"name": "\x00"}) == (422, "wrong_value", "name")
    assert (await refusal(web, "/players", {"name": ""}))[::2] == (422, "name")


async def _pages(web: AsyncClient, query: Query) -> list[str]:
    page = await ask(web, "/players", query)
    found = [one["id"] for one in page["players"]]
    while page["next"] is not None:
        page = await ask(web, "/players", {**query, "cursor": page["next"]})
        found += [one["id"] for one in page["players"]]
    return found


# --- statistics ------------------------------------------------------------------------------------------------------


async def test_statistics_are_what_the_deals_tell(filled: Filled, web: AsyncClient) -> None:
    player, _ = await busiest(filled)
    told = await ask(web, f"/players/{player}/statistics")
    deals = (
        "SELECT (d.contract->>'value') AS value, d.contract->>'trump' AS trump, d.made, d.tricks_won_a, d.tricks_won_b, s.seat,"
        " (d.contract->>'declarer')::int AS declarer FROM seats s JOIN deals d ON d.game = s.game"
        " WHERE s.player = $1 AND d.contract IS NOT NULL"
    )
    rows = await filled.rows(deals, player)
    own = [row for row in rows if row["declarer"] == row["seat"]]
    bids = [250 if row["value"] == "capot" else int(row["value"]) for row in own]
    assert told["contracts"] == {
        "taken": len(own),
        "made": sum(row["made"] for row in own),
        "average_bid": pytest.approx(sum(bids) / len(own), abs=0.051),
    }
    assert told["capots"] == sum((row["tricks_won_a"], row["tricks_won_b"])[row["seat"] % 2] == 8 for row in rows)
    trumps = [row["trump"] for row in own]
    assert trumps.count(told["favourite_trump"]) == max(map(trumps.count, set(trumps)))
    one = await ask(web, f"/players/{player}")
    assert (told["id"], told["name"], told["games"], told["won"]) == (player, one["name"], one["games"], one["won"])
    presets = await filled.rows(
        "SELECT g.preset, count(*) AS games, count(*) FILTER (WHERE s.won) AS won FROM seats s JOIN games g ON g.id = s.game"
        " WHERE s.player = $1 GROUP BY g.preset",
        player,
    )
    assert sorted(told["presets"], key=str) == sorted(map(dict, presets), key=str)
    last = "SELECT won FROM seats WHERE player = $1 ORDER BY finished DESC, game DESC LIMIT $2"
    assert told["form"] == [row["won"] for row in await filled.rows(last, player, shelf.FORM)]
    partners = await filled.rows(
        "SELECT s.partner, count(*) AS games, count(*) FILTER (WHERE s.won) AS won FROM seats s JOIN games g ON g.id = s.game"
        " WHERE s.player = $1 AND g.listed AND s.partner IS NOT NULL GROUP BY s.partner",
        player,
    )
    best = max(partners, key=lambda row: ((row["won"] + 1) / (row["games"] + 2), row["games"]))
    assert {name: told["best_partner"][name] for name in ("id", "games", "won")} == {
        "id": best["partner"],
        "games": best["games"],
        "won": best["won"],
    }


async def test_belotes_and_coinches_are_counted_from_the_calls(filled: Filled) -> None:
    """For the games with a log: what their seats say was said there."""
    seats = await filled.rows(
        "SELECT game, seat, belotes, coinches, coinches_won FROM seats"
        " WHERE game IN (SELECT game FROM entries) ORDER BY game, seat"
    )
    entries = await filled.rows("SELECT game, entry FROM entries ORDER BY game, seq")
    told: dict[tuple[str, int], list[int]] = {(row["game"], row["seat"]): [0, 0, 0] for row in seats}
    coincher: int | None = None
    for row in entries:
        for one in json.loads(row["entry"])["events"]:
            if one["kind"] == "belote_said" and one["word"] == "belote":
                told[row["game"], one["seat"]][0] += 1
            elif one["kind"] == "call_made" and one["call"] == "coinche":
                coincher = one["seat"]
            elif one["kind"] == "deal_scored":
                if coincher is not None:
                    told[row["game"], coincher][1] += 1
                    told[row["game"], coincher][2] += not one["score"]["made"]
                coincher = None
    assert [told[row["game"], row["seat"]] for row in seats] == [list(row.values())[2:] for row in seats]
    assert sum(counts[0] for counts in told.values())


# --- what has not changed is not sent --------------------------------------------------------------------------------


async def test_what_somebody_has_already_is_not_sent_again(filled: Filled, web: AsyncClient) -> None:
    player, partner = await busiest(filled)
    game = (await ask(web, "/games", {"limit": 1}))["games"][0]["id"]
    for path in (f"/games/{game}", f"/players/{player}/statistics"):
        first = await web.get(path)
        tag = first.headers["etag"]
        for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = await web.get(path, headers={"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        for other in ('"other"', tag.strip('"'), ""):
            assert (await web.get(path, headers={"If-None-Match": other})).json() == first.json()
    assert (await web.get(f"/players/{partner}/statistics", headers={"If-None-Match": tag})).status_code == 200


# --- the export ------------------------------------------------------------------------------------------------------


async def test_an_export_tells_what_the_list_lists_with_rules_and_sheets(
    filled: Filled, web: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "EXPORTED_AT_ONCE", 10)
    player, _ = await busiest(filled)
    query: Query = {"player": player, "rated": True}
    answer = await web.get("/games/export", params=dict(query))
    assert answer.headers["content-type"] == "application/x-ndjson"
    games = [json.loads(line) for line in answer.text.splitlines()]
    assert len(games) > 25
    assert [game["id"] for game in games] == await all_ids(web, "/games", query, 100)
    [listed] = (await ask(web, "/games", {**query, "limit": 1}))["games"]
    assert {name: games[0][name] for name in listed} == listed
    for game in games:
        assert game["rules"]["target"] == PRESETS[game["preset"]].target
        assert game["sheet"][-1]["totals"] == game["totals"]
        assert len(game["sheet"]) == game["deal_count"]


async def test_an_export_with_cards_has_each_game_as_it_is_read(filled: Filled, web: AsyncClient) -> None:
    since = await filled.value(
        "SELECT (extract(epoch FROM min(finished)) * 1000)::bigint FROM games WHERE id IN (SELECT game FROM entries)"
    )
    answer = await web.get("/games/export", params={"since": since, "cards": True})
    games = [json.loads(line) for line in answer.text.splitlines()]
    assert games
    for game in games:
        assert game == await ask(web, f"/games/{game['id']}")
        assert len(game["deals"]) == game["deal_count"]


async def test_an_export_of_nothing_is_empty(web: AsyncClient) -> None:
    answer = await web.get("/games/export", params={"player": "g_nobody"})
    assert (answer.status_code, answer.text) == (200, "")


# --- plans -----------------------------------------------------------------------------------------------------------


def nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for one in plan.get("Plans", ()):
        yield from nodes(one)


async def plans(filled: Filled) -> list[tuple[str, Mapping[str, Any]]]:
    """The plans, with what really was read, of all that has been asked in this test; whole tables are read at need only."""
    url = make_url(filled.url)
    connection = await asyncpg.connect(host=str(url.query["host"]), user=url.username, database=url.database)
    found = []
    try:
        await connection.execute("SET enable_seqscan = off")
        for statement, values in filled.asked:
            if statement.lstrip().startswith("SELECT") and " FROM " in statement.replace("\n", " "):
                row = await connection.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", *values)
                found.append((statement, json.loads(row)[0]["Plan"]))
    finally:
        await connection.close()
    return found


LISTS: Mapping[str, tuple[str, Query]] = {
    "games": ("/games", {}),
    **{name: ("/games", query) for name, (query, _) in FILTERS.items()},
    "export": ("/games/export", {"since": 1_793_000_000_000}),
    **{f"{name}, of a player": ("/players/P/games", query) for name, (query, _) in (FILTERS | OF_PLAYER).items()},
    **{
        f"{name}, of two": ("/players/P/games", {**query, "partner": "Q"}) for name, (query, _) in (FILTERS | OF_PLAYER).items()
    },
    "leaderboard": ("/players", {}),
    "everyone": ("/players", {"everyone": True}),
    "a name": ("/players", {"name": "é"}),
    "a player": ("/players/P", {}),
    "statistics": ("/players/P/statistics", {}),
}


@pytest.mark.parametrize("name", LISTS)
async def test_every_list_and_statistic_is_found_by_an_index(name: str, filled: Filled, web: AsyncClient) -> None:
    player, partner = await busiest(filled)
    path, query = LISTS[name]
    query = {key: partner if value == "Q" else value for key, value in query.items()}
    answer = await web.get(path.replace("P", player), params=query)
    assert answer.status_code == 200
    cursor = None if name == "export" or not isinstance(answer.json(), dict) else answer.json().get("next")
    if cursor is not None:
        await ask(web, path.replace("P", player), {**query, "cursor": cursor})
    found = await plans(filled)
    assert found
    for statement, plan in found:
        whole = [node.get("Relation Name") for node in nodes(plan) if node["Node Type"] == "Seq Scan"]
        assert not whole, (statement, plan)


@pytest.mark.parametrize("name", ["games", "a preset", "nothing more, of a player", "won, of a player"])
async def test_a_page_reads_about_as_many_rows_as_it_shows_wherever_it_begins(
    name: str, filled: Filled, web: AsyncClient
) -> None:
    """In the order of the index, so that nothing is sorted and nothing is read that another page shows."""
    player, _ = await busiest(filled)
    path, query = LISTS[name]
    page = await ask(web, path.replace("P", player), {**query, "limit": 20})
    for _ in range(3):
        if page["next"] is not None:
            page = await ask(web, path.replace("P", player), {**query, "limit": 20, "cursor": page["next"]})
    for statement, plan in await plans(filled):
        if "LIMIT" in statement:
            assert not [node for node in nodes(plan) if "Sort" in node["Node Type"]], (statement, plan)
            scans = [node for node in nodes(plan) if "Scan" in node["Node Type"]]
            read = sum((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"] for node in scans)
            assert read <= 120, (statement, plan)


# --- the page --------------------------------------------------------------------------------------------------------


async def test_the_protocol_shows_what_is_sent(filled: Filled, web: AsyncClient) -> None:
    """Its examples of a page, of statistics and of a line of an export have the names of real ones."""
    player, _ = await busiest(filled)
    shown = {
        kind: json.loads(GUIDE.read_text().split(f"```json {kind}\n")[1].partition("```")[0])
        for kind in ("games", "statistics", "export")
    }
    games = await ask(web, "/games", {"limit": 1, "player": player})
    assert set(shown["games"]) == set(games)
    assert set(shown["games"]["games"][0]) == set(games["games"][0])
    told = await ask(web, f"/players/{player}/statistics")
    assert set(shown["statistics"]) == set(told)
    for name in ("contracts", "coinches", "best_partner"):
        assert set(shown["statistics"][name]) == set(told[name])
    assert set(shown["statistics"]["presets"][0]) == set(told["presets"][0])
    line = json.loads((await web.get("/games/export", params={"player": player, "preset": "contree-701"})).text.splitlines()[0])
    assert set(shown["export"]) == set(line)
    assert set(shown["export"]["sheet"][0]) == set(line["sheet"][0])
