"""Tables over REST, asked by a stranger, a spectator, a player and the host; whatever is wrong is a problem document."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx2 import AsyncClient, Response

from app.game.refusal import Why
from app.game.rules import PRESETS
from app.tables.table import CLOCKS
from app.wire.messages import PHRASES
from tests.people import PATIENCE, Person, Site, open_table, people, person, running_site, seated, started

UNKNOWN = "00-2222222222"


@pytest.fixture
async def stranger(url: str) -> AsyncIterator[Person]:
    async with person(url) as one:
        yield one


@pytest.fixture
async def five(url: str) -> AsyncIterator[list[Person]]:
    async with people(url, "Nina", "Paul", "Rosa", "Omar", "Uma") as them:
        yield them


def why(response: Response) -> str:
    """The reason in a problem document that is as it should be."""
    body = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert body["status"] == response.status_code >= 400
    assert {"type", "title", "status", "why"} <= set(body)
    assert body["why"] in list(Why)
    return str(body["why"])


# --- who is asking ---------------------------------------------------------------------------------------------------


async def test_a_guest_is_made_and_renamed(stranger: Person) -> None:
    made = await stranger.post("/me", {"name": "Nina"})
    assert made == await stranger.get("/me")
    renamed = await stranger.post("/me", {"name": "Ninon"})
    assert renamed == {"id": made["id"], "name": "Ninon"} == await stranger.get("/me")


async def test_a_new_name_is_shown_at_the_seat_at_once_and_costs_nothing(site: Site) -> None:
    """Also in a running game: nobody is less ready, or away, for it."""
    async with people(site.url, "Nina", "Omar", "Paul", "Rosa") as four:
        table = await started(four)
        before = (await four[1].get(f"/tables/{table}"))["seats"]
        await four[0].post("/me", {"name": "Ninon"})
        after = (await four[1].get(f"/tables/{table}"))["seats"]
        assert after == [before[0] | {"name": "Ninon"}, *before[1:]]
        await four[0].post("/me", {"name": "Ninon"})
        await four[3].post("/me", {"name": "Ninon"})
        assert [seat["name"] for seat in (await four[1].get(f"/tables/{table}"))["seats"]] == ["Ninon", "Omar", "Paul", "Ninon"]


async def test_the_cookie_is_out_of_reach_for_scripts_and_foreign_pages(stranger: Person) -> None:
    response = await stranger.http.post("/api/v1/me", json={"name": "Nina"})
    flags = {part.strip().partition("=")[0].lower() for part in response.headers["set-cookie"].split(";")}
    assert {"httponly", "samesite", "max-age", "path"} <= flags
    assert "samesite=lax" in response.headers["set-cookie"].lower()
    assert "secure" not in flags
    token = response.headers["set-cookie"].partition("=")[2].partition(";")[0]
    assert len(token) >= 43
    assert token not in response.text


async def test_behind_the_tls_of_a_known_proxy_the_cookie_is_secure(redis_url: str, database_url: str) -> None:
    async with (
        running_site(redis_url, database_url, proxies=("127.0.0.1",)) as site,
        AsyncClient(base_url=site.url, timeout=PATIENCE) as http,
    ):
        response = await http.post("/api/v1/me", json={"name": "Nina"}, headers={"X-Forwarded-Proto": "https"})
        assert "secure" in response.headers["set-cookie"].lower()


@pytest.mark.parametrize(
    "cookie", ["coinche_guest=forged", "coinche_guest=", 'coinche_guest="\\', "coinche_guest=" + "x" * 3000, ";;="]
)
async def test_a_forged_cookie_is_nobody(stranger: Person, cookie: str) -> None:
    response = await stranger.http.get("/api/v1/me", headers={"Cookie": cookie})
    assert (response.status_code, why(response)) == (401, "not_signed_in")
    made = await stranger.http.post("/api/v1/me", json={"name": "Nina"}, headers={"Cookie": cookie})
    assert f"{cookie};" not in made.headers["set-cookie"]


ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("  Ni  na ", "Ni na"),
        ("Zoé", "Zoé"),
        ("Zoe\u0301", "Zoé"),
        ("李小龍", "李小龍"),
        ("نينا", "نينا"),
        ("Ni\u202ena\u200b", "Ni na"),
        ("x" + "\u0301" * 2_000 + "\u20dd" * 3 + "y" + "\u0301", "x" + "\u0301" * 4 + "ý"),
        ("1\ufe0f\u20e3", "1\ufe0f\u20e3"),
        ("Ni\tna\n\r\0", "Ni na"),
        ("🂡 Ace", "🂡 Ace"),
        ("<b>Nina</b>", "<b>Nina</b>"),
        ("&amp; \"'`", "&amp; \"'`"),
        ("x" * 24, "x" * 24),
        ("🤷🏽\u200d♂️" * 12, "🤷🏽\u200d♂️" * 12),
        ("👩\u200d👩\u200d👧\u200d👦", "👩\u200d👩\u200d👧\u200d👦"),
        (ENGLAND, ENGLAND),
        ("کتاب\u200cها", "کتاب\u200cها"),
        ("क्\u200dष", "क्\u200dष"),
        ("\u200cNi\u200cna\u200d", "Nina"),
        ("\U000e0041Nina\U000e007f", "Nina"),
        ("\u2067Nina\u2069", "Nina"),
        ("e\u0301" * 24, "é" * 24),
        ("\U0001e5d0\U00016d43\U0003347b", "\U0001e5d0\U00016d43\U0003347b"),  # of Unicode 16, 16 and not yet any
    ],
)
async def test_a_name_is_shown_as_text_without_what_cannot_be_seen(stranger: Person, given: str, shown: str) -> None:
    made = await stranger.http.post("/api/v1/me", json={"name": given})
    assert made.json()["name"] == shown
    assert made.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "\n", "\u200b\u202e", "\u3164", "\u2800 \u115f", "\ufe0f", "\u0301", "x" * 25, "\u0301" * 30),
        *("🤷🏽\u200d♂️" * 13, "\u200c", "\ufdd0", "\ue000", "👩" + "\u200d👩" * 40),
    ],
)
async def test_a_name_that_shows_nothing_or_is_too_long_is_refused(stranger: Person, name: str) -> None:
    response = await stranger.http.post("/api/v1/me", json={"name": name})
    assert (response.status_code, why(response)) == (422, "bad_name")
    assert "set-cookie" not in response.headers


# --- what is wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"{", 400, "bad_request"),
        (b"", 422, "missing"),
        (b"null", 422, "wrong_type"),
        (b"[]", 422, "wrong_type"),
        (b"{}", 422, "missing"),
        (b'{"name": 7}', 422, "wrong_type"),
        (b'{"name": null}', 422, "wrong_type"),
        (b'{"name": ["Nina"]}', 422, "wrong_type"),
        (b'{"name": "\\ud800"}', 422, "bad_name"),
        (b'{"name": "\xff\xfe"}', 400, "bad_request"),
        ('{"name": "Nina"}'.encode("utf-16"), None, None),
        (b'{"name": "Nina"}' + b" " * 70_000, 413, "too_large"),
        (b"[" * 8_000, 400, "bad_request"),
    ],
)
async def test_a_body_that_cannot_be_read_is_refused(
    stranger: Person, body: bytes, status: int | None, reason: str | None
) -> None:
    response = await stranger.http.post("/api/v1/me", content=body, headers={"Content-Type": "application/json"})
    if status is None:  # JSON in another of its encodings
        assert response.status_code < 500
    else:
        assert (response.status_code, why(response)) == (status, reason)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"preset": "nothing"}, "unknown_preset"),
        ({"preset": 7}, "wrong_type"),
        ({"preset": "\ud800"}, "unknown_preset"),
        ({"options": {"nothing": 1}}, "unknown_option"),
        ({"options": {"\ud800": 1}}, "unknown_option"),
        ({"options": {"target": "300"}}, "wrong_type"),
        ({"options": {"target": 300.0}}, "wrong_type"),
        ({"options": {"target": 0}}, "wrong_value"),
        ({"options": {"target": 10**30}}, "wrong_value"),
        ({"options": {"target": None}}, "wrong_type"),
        ({"options": {"misere": 1}}, "wrong_type"),
        ({"options": {"undertrump": "sometimes"}}, "wrong_value"),
        ({"options": {"lowest_bid": 160, "highest_bid": 80}}, "senseless_options"),
        ({"options": []}, "wrong_type"),
        ({"clock": 20}, "wrong_value"),
        ({"clock": "15"}, "wrong_type"),
        ({"clock": True}, "wrong_type"),
        ({"listed": "yes"}, "wrong_type"),
    ],
)
async def test_a_table_that_makes_no_sense_is_not_opened(five: list[Person], body: dict[str, Any], reason: str) -> None:
    response = await five[0].http.post("/api/v1/tables", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert response.status_code == 422, response.text
    assert why(response) in (reason, "wrong_type")


@pytest.mark.parametrize(
    "table", [UNKNOWN, "x", "x" * 40, "x" * 41, "x" * 3000, "%00", "{s3f}t", "..%2F..", "é", "00-2222222222:log"]
)
async def test_there_is_no_such_table(five: list[Person], table: str) -> None:
    for method, path in (
        ("GET", ""),
        ("POST", "/sit"),
        ("POST", "/leave"),
        ("POST", "/ready"),
        ("POST", "/start"),
        ("POST", "/house"),
    ):
        response = await five[0].http.request(method, f"/api/v1/tables/{table}{path}")
        assert response.status_code in (404, 422), (method, path, response.text)
        assert why(response) in ("no_such_table", "wrong_type", "not_found")


async def test_what_is_kept_beside_a_table_is_no_table(five: list[Person]) -> None:
    table = await started(five[:4])
    for beside in ("log", "cmd", "here", "talk"):
        assert why(await five[0].http.get(f"/api/v1/tables/{table}:{beside}")) == "no_such_table"


@pytest.mark.parametrize(
    "path",
    ["/api/v1/nothing", "/nothing", "/api/v1", "/static/nothing.js", "/static/../app/main.py", "/static/%2e%2e/pyproject.toml"],
)
async def test_there_is_nothing_of_that_name(stranger: Person, path: str) -> None:
    response = await stranger.http.get(path)
    assert (response.status_code, why(response)) == (404, "not_found")


async def test_another_method_is_not_allowed(stranger: Person) -> None:
    response = await stranger.http.put("/api/v1/me")
    assert (response.status_code, why(response)) == (405, "not_allowed")
    assert "GET" in response.headers["allow"]


# --- every route, everybody ------------------------------------------------------------------------------------------

CHANGES = [
    ("POST", "/sit", None),
    ("POST", "/leave", None),
    ("POST", "/ready", {"ready": True}),
    ("POST", "/start", None),
    ("POST", "/house", {"seat": 3}),
    ("DELETE", "/house/3", None),
    ("POST", "/stand-in", {"seat": 1}),
]


@pytest.mark.parametrize(("method", "path", "body"), CHANGES)
async def test_a_stranger_changes_nothing(stranger: Person, five: list[Person], method: str, path: str, body: Any) -> None:
    table = await started(five[:4])
    before = await stranger.get(f"/tables/{table}")
    response = await stranger.http.request(method, f"/api/v1/tables/{table}{path}", json=body)
    assert (response.status_code, why(response)) == (401, "not_signed_in")
    assert why(await stranger.http.post("/api/v1/tables", json={})) == "not_signed_in"
    assert await stranger.get(f"/tables/{table}") == before


@pytest.mark.parametrize(
    ("method", "path", "body", "spectator", "player"),
    [
        ("POST", "/sit", {"seat": 0}, "game_running", "game_running"),
        ("POST", "/leave", None, "not_seated", None),
        ("POST", "/ready", None, "game_running", "game_running"),
        ("POST", "/start", None, "not_host", "not_host"),
        ("POST", "/house", None, "not_host", "not_host"),
        ("DELETE", "/house/1", None, "not_host", "not_host"),
        ("POST", "/stand-in", {"seat": 3}, "not_host", "not_host"),
    ],
)
async def test_in_a_game_only_what_is_allowed_is_done(
    five: list[Person], method: str, path: str, body: Any, spectator: str, player: str | None
) -> None:
    table = await started(five[:4])
    await five[1].get(f"/tables/{table}")
    for one, reason in ((five[4], spectator), (five[1], player)):
        response = await one.http.request(method, f"/api/v1/tables/{table}{path}", json=body)
        assert (why(response) if response.status_code >= 400 else None) == reason


@pytest.mark.parametrize(
    ("path", "body", "reason"),
    [
        ("/sit", {"seat": 4}, "seat_out_of_range"),
        ("/sit", {"seat": -1}, "seat_out_of_range"),
        ("/sit", {"seat": "0"}, "wrong_type"),
        ("/sit", {"seat": True}, "wrong_type"),
        ("/sit", {"seat": 1.0}, "wrong_type"),
        ("/sit", {"seat": 0}, "seat_taken"),
        ("/ready", {"ready": "yes"}, "wrong_type"),
        ("/stand-in", None, "missing"),
        ("/stand-in", {}, "missing"),
        ("/stand-in", {"seat": 9}, "seat_out_of_range"),
        ("/stand-in", {"seat": 10**30}, "seat_out_of_range"),
    ],
)
async def test_a_seat_that_cannot_be_meant_is_refused(five: list[Person], path: str, body: Any, reason: str) -> None:
    table = await open_table(five[0])
    assert why(await five[1].http.post(f"/api/v1/tables/{table}{path}", json=body)) == reason


async def test_sitting_ready_and_leaving(five: list[Person]) -> None:
    table = await open_table(five[0])
    assert [seat["player"] for seat in (await five[1].post(f"/tables/{table}/sit"))["seats"]][2] == five[1].id
    again = [await five[1].post(f"/tables/{table}/sit") for _ in range(5)]
    assert all(one["seats"] == again[0]["seats"] for one in again)
    assert (await five[1].post(f"/tables/{table}/ready", {"ready": True}))["seats"][2]["ready"]
    assert not (await five[1].post(f"/tables/{table}/ready", {"ready": False}))["seats"][2]["ready"]
    left = await five[1].post(f"/tables/{table}/leave")
    assert left["seats"][2]["kind"] == "free"
    assert why(await five[1].http.post(f"/api/v1/tables/{table}/leave")) == "not_seated"


async def test_the_host_calls_the_house_and_starts(five: list[Person]) -> None:
    table = await open_table(five[0])
    one = await five[0].post(f"/tables/{table}/house", {"seat": 2})
    assert one["seats"][2]["kind"] == "house"
    assert one["seats"][2]["ready"]
    assert (await five[0].delete(f"/tables/{table}/house/2"))["seats"][2]["kind"] == "free"
    await five[0].post(f"/tables/{table}/start")
    async with five[0].at(table) as line:
        await line.until_state(lambda line: line.view is not None)
    shown = await five[4].get(f"/tables/{table}")
    assert [seat["kind"] for seat in shown["seats"]] == ["person", "house", "house", "house"]
    assert len({seat["player"] for seat in shown["seats"]}) == 4
    assert shown["status"] == "playing"


async def test_the_stand_in_is_called_only_for_who_is_gone(five: list[Person]) -> None:
    table = await started(five[:4])
    async with five[1].at(table):
        assert why(await five[0].http.post(f"/api/v1/tables/{table}/stand-in", json={"seat": 1})) == "still_here"
    async with five[0].at(table) as line:
        await line.until_state(lambda line: not line.table["seats"][1]["present"])
        assert (await five[0].post(f"/tables/{table}/stand-in", {"seat": 1}))["seats"][1]["away"]
    clocked = await started(five[:4], clock=60)
    assert why(await five[0].http.post(f"/api/v1/tables/{clocked}/stand-in", json={"seat": 1})) == "clock_running"


async def test_the_lobby_lists_the_newest_first_and_hides_what_is_private(five: list[Person], stranger: Person) -> None:
    first, private, last = [await open_table(five[0], listed=listed) for listed in (True, False, True)]
    shown = [one["id"] for one in (await stranger.get("/tables"))["tables"]]
    assert private not in shown
    assert shown.index(last) < shown.index(first)
    assert (await stranger.get(f"/tables/{private}"))["listed"] is False
    await five[0].post(f"/tables/{last}/leave")
    assert last not in [one["id"] for one in (await stranger.get("/tables"))["tables"]]


async def test_the_lobby_is_read_in_pages_and_by_filters(five: list[Person], stranger: Person) -> None:
    opened = [
        await five[0].post("/tables", {"listed": True, **wish}, 201)
        for wish in (
            {"preset": "ffb-2000", "clock": 30, "house": [1, 2, 3]},
            {"preset": "ffb-2000", "options": {"target": 100}},
            {"preset": "ffb-2000"},
            {"preset": "ffb-2000", "clock": 60},
        )
    ]
    full, changed, plain, clocked = (one["id"] for one in opened)
    await five[0].post(f"/tables/{full}/ready")

    async def listed(filters: str) -> set[str]:
        found = await stranger.get(f"/tables?limit=100{filters}")
        return {one["id"] for one in found["tables"]} & {full, changed, plain, clocked}

    assert await listed("") == {full, changed, plain, clocked}
    assert await listed("&preset=ffb-2000") == {full, plain, clocked}
    assert await listed("&preset=ffb-2000&clock=true") == {full, clocked}
    assert await listed("&clock=false") == {changed, plain}
    assert await listed("&status=playing") == await listed("&free=false") == {full}
    assert await listed("&status=open&free=true") == {changed, plain, clocked}

    path, pages = "/api/v1/tables?preset=ffb-2000&limit=2", []
    while path:
        answer = await stranger.http.get(path)
        pages.append([one["id"] for one in answer.json()["tables"]])
        path = answer.links["next"]["url"] if answer.json()["next"] else ""
    assert [one for page in pages for one in page if one in {full, plain, clocked}] == [clocked, plain, full]
    assert all(len(page) <= 2 for page in pages)

    cursor = (await stranger.get("/tables?limit=1"))["next"]
    for query, reason in {
        "preset=belote": "unknown_preset",
        "status=over": "wrong_type",
        "full=true": "wrong_type",
        f"free=true&cursor={cursor}": "bad_cursor",
        "limit=101": "wrong_type",
    }.items():
        assert why(await stranger.http.get(f"/api/v1/tables?{query}")) == reason


async def test_whoever_opens_a_table_says_who_sits_where(five: list[Person]) -> None:
    table = await five[0].post("/tables", {"seat": 2, "house": [3, 0]}, 201)
    assert [seat["kind"] for seat in table["seats"]] == ["house", "free", "person", "house"]
    assert table["seats"][2]["player"] == table["host"] == five[0].id
    for wish, reason in (
        ({"seat": 4}, "seat_out_of_range"),
        ({"house": [1, 4]}, "seat_out_of_range"),
        ({"house": [0]}, "seat_taken"),
        ({"house": [1, 1]}, "seat_taken"),
        ({"house": [0, 1, 2, 3]}, "wrong_type"),
    ):
        assert why(await five[0].http.post("/api/v1/tables", json=wish)) == reason


async def test_a_new_table_says_where_it_is(five: list[Person]) -> None:
    response = await five[0].http.post("/api/v1/tables", json={})
    body = response.json()
    assert response.headers["location"] == f"/api/v1/tables/{body['id']}"
    assert re.fullmatch(r"[0-9a-f]{2}-[a-z0-9]{10}", body["id"])
    assert body["seats"][0]["player"] == body["host"] == five[0].id


async def test_the_rules_are_told_as_data(stranger: Person) -> None:
    told = await stranger.get("/rules")
    assert set(told["presets"]) == set(PRESETS)
    assert told["reasons"] == list(Why)
    assert told["phrases"] == list(PHRASES)
    assert told["clocks"] == list(CLOCKS)
    for option in told["options"]:
        values = {told["presets"][name][option["name"]] for name in PRESETS}
        assert values <= set(option.get("choices") or values)


async def test_it_is_alive_and_ready(stranger: Person) -> None:
    assert (await stranger.http.get("/health/live")).json() == {"status": "live"}
    ready = await stranger.http.get("/health/ready")
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")


# --- pages of others -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "", "http://[::1", "http://127.0.0.1", "file://", "x"])
@pytest.mark.parametrize(
    ("method", "path", "body"), [("POST", "/me", {"name": "Eve"}), ("DELETE", f"/tables/{UNKNOWN}/house/1", None)]
)
async def test_a_foreign_page_changes_nothing(url: str, origin: str, method: str, path: str, body: Any) -> None:
    async with person(url, "Nina") as nina:
        response = await nina.http.request(method, f"/api/v1{path}", json=body, headers={"Origin": origin})
        assert (response.status_code, why(response)) == (403, "bad_origin")
        assert (await nina.get("/me"))["name"] == "Nina"


async def test_the_own_page_and_those_that_are_allowed_may_change_things(site: Site, redis_url: str, database_url: str) -> None:
    async with (
        running_site(redis_url, database_url, origins=("https://coinche.example",)) as other,
        AsyncClient(timeout=PATIENCE) as http,
    ):
        for origin in (other.url, "https://coinche.example"):
            response = await http.post(f"{other.url}/api/v1/me", json={"name": "Nina"}, headers={"Origin": origin})
            assert response.status_code == 200
            assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "path", ["/", "/t/3f-k2m7q9x4wz", "/static/icon.svg", "/api/v1/rules", "/api/v1/nothing", "/api/v1/me", "/health/live"]
)
async def test_every_answer_keeps_the_page_to_itself(stranger: Person, path: str) -> None:
    headers = (await stranger.http.get(path)).headers
    policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'self'"
    assert "script-src" not in policy or "unsafe" not in policy["script-src"]
    assert policy["frame-ancestors"] == policy["object-src"] == policy["base-uri"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert "server" not in headers
    kept = path == "/api/v1/rules" or not path.startswith("/api/")  # asked about again each time, but not sent again
    assert headers["cache-control"] == ("no-cache" if kept else "no-store")


async def test_anybody_may_see_who_sits_where(five: list[Person]) -> None:
    table = await seated(five[:4])
    assert [seat["name"] for seat in (await five[4].get(f"/tables/{table}"))["seats"]] == ["Nina", "Paul", "Rosa", "Omar"]
