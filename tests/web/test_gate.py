"""Who may ask for what: every route with a token of each single scope; and what the pages of other sites may do."""

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from fastapi import FastAPI
from httpx2 import AsyncClient, Response

from app.tables.table import Person as Somebody
from app.tables.tokens import Scope
from app.web.gate import NEEDS, OWN
from tests.people import PATIENCE, Person, Site, person, program, running_site

PAGE = "https://club.example.org"
ELSEWHERE = "https://evil.example.org"


def routes(of: Iterable[Any]) -> Iterator[str]:
    """Every question that these routes answer, as `NEEDS` names it."""
    for route in of:
        if hasattr(route, "original_router"):
            yield from routes(route.original_router.routes)
        elif getattr(route, "methods", None):
            yield from (f"{method} {route.path}" for method in route.methods - {"HEAD"})
        elif type(route).__name__ == "APIWebSocketRoute":
            yield f"WS {route.path}"


async def secret_with(site: Site, *scopes: Scope) -> str:
    """A token of somebody of whom nothing else is known."""
    somebody = Somebody("g_somebody", "Somebody")
    issued = await site.parts.tokens.issue(somebody, "test", frozenset(scopes), site.parts.clock(), None)
    assert issued is not None
    _, secret = issued
    return secret


@pytest.fixture(scope="module")
async def programs(site: Site) -> AsyncIterator[dict[Scope, Person]]:
    """One for each scope, that has it alone."""
    async with AsyncExitStack() as stack:
        yield {scope: await stack.enter_async_context(program(site.url, await secret_with(site, scope))) for scope in Scope}


# --- scopes ----------------------------------------------------------------------------------------------------------


def test_every_route_says_which_scope_it_needs(site: Site) -> None:
    found = set(routes(site.app.routes))
    assert "WS /ws" in found
    assert {key.partition(" ")[2] for key in found} >= set(site.app.openapi()["paths"])
    assert found == set(NEEDS)


def test_only_a_mounted_folder_stands_beside_the_routes(site: Site) -> None:
    app: FastAPI = site.app
    assert [route.path for route in app.routes if type(route).__name__ == "Mount"] == ["/static"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("scope", Scope)
@pytest.mark.parametrize("key", [key for key in NEEDS if " /api/" in key])
async def test_a_token_is_let_in_where_it_has_the_scope(programs: dict[Scope, Person], key: str, scope: Scope) -> None:
    method, _, path = key.partition(" ")
    for name in ("table", "token", "bot", "hook", "player", "lang"):
        path = path.replace(f"{{{name}}}", "00-none")
    path = path.replace("{number}", "1").replace("{seat}", "1")
    need = Scope.ADMIN if NEEDS[key] == OWN else NEEDS[key]
    async with programs[scope].http.stream(method, path, json={}) as answer:
        if need in (None, scope):
            assert answer.status_code not in (401, 403)
            return
        assert answer.status_code == 403
        await answer.aread()
    assert (answer.json()["why"], answer.json()["field"]) == ("missing_scope", need)
    assert answer.headers["www-authenticate"] == 'Bearer error="insufficient_scope"'


async def test_what_is_no_route_is_not_there_for_anybody(programs: dict[Scope, Person]) -> None:
    for one in programs.values():
        assert (await one.get("/nothing", 404))["why"] == "not_found"
        assert (await one.delete("/rules", 405))["why"] == "not_allowed"


async def test_head_wants_the_scope_that_get_wants(programs: dict[Scope, Person]) -> None:
    for scope, one in programs.items():
        assert (await one.http.head("/api/v1/tables")).status_code == (200 if scope is Scope.READ else 403)


async def test_an_operators_token_makes_tokens_but_none_like_itself(site: Site) -> None:
    async with program(site.url, await secret_with(site, *Scope)) as operator:
        made = await operator.post("/me/tokens", {"name": "x", "scopes": ["read"]}, 201)
        await operator.post("/me/tokens", {"name": "x", "scopes": ["admin"]}, 422)
        assert (await operator.post("/me", {"name": "Chief"}))["name"] == "Chief"
        async with program(site.url, made["secret"]) as robot:
            assert await robot.get("/me") == {"id": "g_somebody", "name": "Chief"}
            for path in ("/me/tokens", "/me/bots"):
                assert (await robot.get(path, 403))["field"] == "admin"


# --- pages of other sites --------------------------------------------------------------------------------------------


@pytest.fixture
async def site_with_cors(redis_url: str, database_url: str, request: pytest.FixtureRequest) -> AsyncIterator[Site]:
    async with running_site(redis_url, database_url, cors=request.param) as one:
        yield one


both = pytest.mark.parametrize(
    ("site_with_cors", "told"), [((PAGE, "https://other.example.org"), PAGE), (("*",), "*")], indirect=["site_with_cors"]
)


def cors(answer: Response) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}


def preflight(origin: str, method: str = "POST", headers: str = "authorization, content-type") -> dict[str, str]:
    wanted = {"Access-Control-Request-Headers": headers} if headers else {}
    return {"Origin": origin, "Access-Control-Request-Method": method} | wanted


@both
async def test_a_page_that_is_allowed_may_ask_with_a_token(site_with_cors: Site, told: str) -> None:
    secret = await secret_with(site_with_cors, *Scope)
    async with AsyncClient(base_url=site_with_cors.url, timeout=PATIENCE) as http:
        before = await http.options("/api/v1/tables", headers=preflight(PAGE))
        assert (before.status_code, before.content) == (204, b"")
        offered = cors(before)
        assert offered["access-control-allow-origin"] == told
        assert {"GET", "POST", "PATCH", "DELETE"} == set(offered["access-control-allow-methods"].split(", "))
        assert "authorization" in offered["access-control-allow-headers"].split(", ")
        assert "access-control-allow-credentials" not in offered
        assert "Origin" in before.headers["vary"]
        for headers in ({"Authorization": f"Bearer {secret}"}, {"Authorization": "Bearer x"}):
            answer = await http.post("/api/v1/tables", json={}, headers={"Origin": PAGE} | headers)
            assert answer.status_code == (401 if headers["Authorization"].endswith(" x") else 201)
            assert cors(answer)["access-control-allow-origin"] == told
            assert "Retry-After" in cors(answer)["access-control-expose-headers"]
            assert "Origin" in answer.headers["vary"]
            assert "access-control-allow-credentials" not in cors(answer)


@both
async def test_with_a_cookie_no_page_of_another_site_may_do_anything(site_with_cors: Site, told: str) -> None:
    async with person(site_with_cors.url, "Nina") as nina:
        read = await nina.http.get("/api/v1/me", headers={"Origin": PAGE})
        assert (read.status_code, cors(read)) == (200, {})  # which the browser keeps from the page
        assert "Origin" in read.headers["vary"]
        changed = await nina.http.post("/api/v1/tables", json={}, headers={"Origin": PAGE})
        assert (changed.status_code, changed.json()["why"], cors(changed)) == (403, "bad_origin", {})
        for headers in ("content-type", ""):
            before = await nina.http.options("/api/v1/tables", headers=preflight(PAGE, headers=headers))
            assert (before.status_code, cors(before)) == (405, {})


@pytest.mark.parametrize("site_with_cors", [(PAGE,), ()], indirect=True)
async def test_a_page_that_is_not_allowed_learns_nothing(site_with_cors: Site) -> None:
    secret = await secret_with(site_with_cors, *Scope)
    async with AsyncClient(base_url=site_with_cors.url, timeout=PATIENCE) as http:
        for origin in (ELSEWHERE, "null", PAGE + ".evil.org", PAGE + ":444", "http://club.example.org", "*", ""):
            before = await http.options("/api/v1/tables", headers=preflight(origin))
            assert (before.status_code, cors(before)) == (405, {})
            headers = {"Origin": origin, "Authorization": f"Bearer {secret}"}
            assert cors(await http.get("/api/v1/me", headers=headers)) == {}


@both
async def test_a_page_asks_for_no_more_than_is_offered(site_with_cors: Site, told: str) -> None:
    async with AsyncClient(base_url=site_with_cors.url, timeout=PATIENCE) as http:
        for headers in ("authorization, x-forwarded-for", "authorization, cookie"):
            assert cors(await http.options("/api/v1/me", headers=preflight(PAGE, headers=headers))) == {}
        for path in ("/", "/metrics", "/health/ready", "/static/js/app.js"):
            assert cors(await http.options(path, headers=preflight(PAGE))) == {}
            assert cors(await http.get(path, headers={"Origin": PAGE, "Authorization": "Bearer x"})) == {}
