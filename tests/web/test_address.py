"""The public address and what follows from it: names, origins, cookies, paths, redirects, and what the log says of proxies."""

import re
import socket
from collections.abc import AsyncIterator

import pytest
from httpx2 import AsyncClient, Response
from redis.asyncio import Redis
from structlog.testing import capture_logs
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from app.web.address import COOKIE, MOST_WARNINGS
from tests.people import PATIENCE, Site, running_site

PUBLIC = "https://coinche.example.org/coinche"
HOST = "coinche.example.org"
EVIL = {"Host": "evil.test", "Origin": "http://evil.test"}


@pytest.fixture
async def public(redis: Redis, redis_url: str, database_url: str) -> AsyncIterator[Site]:
    """A coinche with a public address that has a path."""
    origins = ("http://cards.example.org:8080",)
    async with running_site(redis_url, database_url, url=PUBLIC, origins=origins) as one:
        yield one


@pytest.fixture
async def http(url: str) -> AsyncIterator[AsyncClient]:
    """A stranger at a coinche of which nothing is set."""
    async with AsyncClient(base_url=url, timeout=PATIENCE) as client:
        yield client


async def sign_in(http: AsyncClient, **headers: str) -> Response:
    """Make a guest; headers with a dash are written with an underscore."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await http.post("/api/v1/me", json={"name": "Nina"}, headers=named)


# --- names and origins -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/", "/static/js/app.js", "/openapi.json", "/metrics", "/api/v1/rules", "/api/v1/me", "/nothing"]
)
async def test_an_unknown_name_is_told_nothing_but_what_to_set(http: AsyncClient, path: str) -> None:
    for host in ("evil.test", "evil.test:8000", "localhost.evil.test", "127.0.0.1.evil.test", "a b", "x:y"):
        answer = await http.get(path, headers={"Host": host})
        assert answer.status_code == 403
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        if path.startswith("/api/"):
            assert answer.json()["why"] == "unknown_host"
        else:
            assert f"COINCHE_URL=http://{host}" in answer.text


async def test_a_page_under_a_name_of_its_own_cannot_drive_a_server_at_home(url: str, http: AsyncClient) -> None:
    answer = await http.post("/api/v1/me", json={"name": "Eve"}, headers=EVIL)
    assert (answer.status_code, answer.json()["why"], "set-cookie" in answer.headers) == (403, "unknown_host", False)
    host, port = url.removeprefix("http://").split(":")
    with pytest.raises(InvalidStatus, match="403"):
        await connect("ws://evil.test/ws?v=1", host=host, port=int(port), proxy=None, origin=Origin("http://evil.test"))


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "a.localhost:8000",
        "127.0.0.1",
        "192.168.1.20:8000",
        "[::1]:8000",
        "a.local:80",
        socket.gethostname().upper(),
    ],
)
async def test_a_known_name_and_an_address_in_figures_are_let_in_with_their_own_pages(http: AsyncClient, host: str) -> None:
    assert (await sign_in(http, Host=host, Origin=f"http://{host}")).status_code == 200
    foreign = await sign_in(http, Host=host, Origin="http://evil.test")
    assert (foreign.status_code, foreign.json()["why"]) == (403, "bad_origin")
    assert (await http.get("/health/live", headers={"Host": "app1:8000"})).status_code == 200


@pytest.mark.parametrize(
    ("host", "origin", "why"),
    [
        (HOST, "https://coinche.example.org", None),
        ("cards.example.org:8080", "http://cards.example.org:8080", None),
        ("127.0.0.1", "https://coinche.example.org", None),  # the proxy names the host as it knows it
        (HOST, "http://evil.test", "bad_origin"),
        ("other.example.org", "https://other.example.org", "unknown_host"),
    ],
)
async def test_the_public_address_and_further_ones_are_known(public: Site, host: str, origin: str, why: str | None) -> None:
    async with AsyncClient(base_url=public.url, timeout=PATIENCE) as http:
        answer = await sign_in(http, Host=host, Origin=origin)
        assert answer.json().get("why") == why


async def test_a_name_or_origin_that_is_refused_is_logged_once(redis_url: str, database_url: str) -> None:
    async with running_site(redis_url, database_url) as site, AsyncClient(base_url=site.url, timeout=PATIENCE) as http:
        with capture_logs() as logged:
            for _ in range(3):
                await http.get("/", headers={b"Host": b"evil.test\x9b2J"})
                await sign_in(http, Origin="https://evil.test")
        said = [(entry["address"], entry["if_it_is_yours_set"]) for entry in logged if "refused" in entry["event"]]
        assert said == [
            ("evil.test?2J", "COINCHE_URL=http://evil.test?2J"),
            ("https://evil.test", "COINCHE_URL=https://evil.test"),
        ]
        with capture_logs() as logged:
            for number in range(MOST_WARNINGS + 5):
                await http.get("/", headers={"Host": f"{number}.test"})
        assert len(logged) == MOST_WARNINGS - 2


# --- the cookie ------------------------------------------------------------------------------------------------------


async def test_two_on_one_host_leave_each_others_guests_alone(url: str, redis_url: str, database_url: str) -> None:
    async with running_site(redis_url, database_url) as other, AsyncClient(timeout=PATIENCE) as http:
        mine = (await http.post(f"{url}/api/v1/me", json={"name": "Nina"})).json()
        theirs = (await http.post(f"{other.url}/api/v1/me", json={"name": "Paul"})).json()
        assert (await http.get(f"{url}/api/v1/me")).json() == mine
        assert (await http.get(f"{other.url}/api/v1/me")).json() == theirs


async def test_a_guest_of_an_earlier_release_stays_who_it_is(url: str, redis_url: str, database_url: str) -> None:
    async with running_site(f"{redis_url}?db=1", database_url) as other, AsyncClient(timeout=PATIENCE) as http:
        guest = (await http.post(f"{url}/api/v1/me", json={"name": "Nina"})).json()
        mine, value = next((cookie.name, cookie.value or "") for cookie in http.cookies.jar)
        http.cookies.clear()
        http.cookies.set(COOKIE, value, domain="127.0.0.1")
        assert (await http.get(f"{other.url}/api/v1/me")).status_code == 401  # it was not theirs
        stranger = await http.post(f"{other.url}/api/v1/me", json={"name": "Paul"})
        assert set(stranger.cookies) == {f"{COOKIE}_{other.url.rpartition(':')[2]}"}
        moved = await http.get(f"{url}/api/v1/me")
        assert (moved.json(), dict(moved.cookies)) == (guest, {mine: value})
        http.cookies.delete(COOKIE)
        again = await http.get(f"{url}/api/v1/me")
        assert (again.json(), "set-cookie" in again.headers) == (guest, False)


@pytest.mark.parametrize(
    ("host", "name", "is_secure"),
    [
        (HOST, f"{COOKIE}_coinche", True),
        (f"{HOST}:8443", f"{COOKIE}_coinche", True),  # as it is typed, whatever a proxy makes of the port
        ("192.168.1.20:8000", f"{COOKIE}_8000_coinche", False),
        ("localhost", f"{COOKIE}_coinche", False),
    ],
)
async def test_the_cookie_is_of_the_public_address(public: Site, host: str, name: str, is_secure: bool) -> None:
    async with AsyncClient(base_url=public.url, timeout=PATIENCE) as http:
        made = await sign_in(http, Host=host)
    cookie = made.headers["set-cookie"]
    assert cookie.partition("=")[0] == name
    assert "; Path=/coinche;" in f"{cookie};"
    assert ("secure" in cookie.lower()) is is_secure
    assert ("strict-transport-security" in made.headers) is is_secure


# --- paths -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["", "/coinche"])  # with a proxy that takes the path off, and with one that does not
async def test_everything_lies_below_the_path(public: Site, base: str) -> None:
    async with AsyncClient(base_url=public.url, timeout=PATIENCE) as http:
        for path in ("/", "/t/3f-k2m7q9x4wz", "/g/3f-k2m7q9x4wz/1"):
            page = (await http.get(base + path)).text
            assert '"/static/' not in page
            assert re.search(r'src="/coinche/static/\w+/js/app\.js"', page)
            assert f'<meta name="coinche-url" content="{PUBLIC}">' in page
        assert (await http.get(f"{base}/static/js/app.js")).status_code == 200
        assert (await http.get(f"{base}/openapi.json")).json()["servers"][0]["url"] == "/coinche"
        http.headers["Cookie"] = (await http.post(f"{base}/api/v1/me", json={"name": "Nina"})).headers["set-cookie"]
        opened = await http.post(f"{base}/api/v1/tables", json={})
        assert opened.headers["location"] == f"/coinche/api/v1/tables/{opened.json()['id']}"
        assert (await http.get(opened.headers["location"])).status_code == 200
        async with connect(public.url.replace("http", "ws") + f"{base}/ws?v=1", proxy=None) as line:
            assert '"probe"' in str(await line.recv())


async def test_the_bare_path_leads_to_the_page(public: Site) -> None:
    async with AsyncClient(base_url=public.url, timeout=PATIENCE) as http:
        answer = await http.get("/coinche?lang=fr")
        assert (answer.status_code, answer.headers["location"]) == (308, "/coinche/?lang=fr")
        assert (await http.get("/coinches")).status_code == 404


@pytest.mark.parametrize(
    "path", ["/health/live/", "/api/v1/rules/", "/api/v1/tables/?limit=1", "/t/3f-k2m7q9x4/", "//evil.test/"]
)
async def test_no_redirect_repeats_the_host_header(public: Site, http: AsyncClient, path: str) -> None:
    async with AsyncClient(base_url=public.url, timeout=PATIENCE) as below:
        for client, base, headers in ((http, "", {}), (below, "/coinche", {}), (http, "", {"Host": "evil.test"})):
            location = (await client.get(f"{client.base_url}{path}", headers=headers)).headers.get("location")
            assert location in (None, base + path.replace("/?", "?").rstrip("/"))


# --- proxies ---------------------------------------------------------------------------------------------------------

LATE = "X-Forwarded-For and X-Forwarded-Proto in the proxy"


@pytest.mark.parametrize(
    ("proxies", "headers", "remedies"),
    [
        ("", {}, []),
        ("", {"X-Forwarded-Proto": "https"}, ["COINCHE_PROXIES=127.0.0.1"]),
        ("", {"X-Forwarded-For": "203.0.113.9"}, ["COINCHE_PROXIES=127.0.0.1"]),
        ("192.0.2.0/24", {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}, ["COINCHE_PROXIES=127.0.0.1"]),
        ("127.0.0.1", {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}, []),
        ("127.0.0.1", {"X-Forwarded-Proto": "http", "X-Forwarded-For": "203.0.113.9"}, []),
        ("127.0.0.1", {"Host": HOST}, [LATE]),
        ("", {"Host": HOST, "X-Forwarded-Proto": "https"}, ["COINCHE_PROXIES=127.0.0.1"]),
    ],
)
async def test_a_proxy_that_is_not_believed_is_told_of_once(
    redis_url: str, database_url: str, proxies: str, headers: dict[str, str], remedies: list[str]
) -> None:
    async with (
        running_site(redis_url, database_url, url=f"https://{HOST}", proxies=proxies) as site,
        AsyncClient(timeout=PATIENCE) as http,
    ):
        with capture_logs() as logged:
            for path in ("/", "/api/v1/rules", "/health/live"):
                await http.get(site.url + path, headers=headers)
    assert [entry["if_it_is_yours_set"] for entry in logged if "proxy" in entry["event"]] == remedies


async def test_behind_tls_browsers_are_asked_to_stay_there(redis_url: str, database_url: str) -> None:
    async with running_site(redis_url, database_url, proxies="127.0.0.1") as site, AsyncClient(timeout=PATIENCE) as http:
        for scheme, host, is_asked in (
            ("https", "a.local", True),
            ("https", "localhost", False),
            ("http", "a.local", False),
        ):
            answer = await http.get(site.url, headers={"X-Forwarded-Proto": scheme, "Host": host})
            assert ("strict-transport-security" in answer.headers) is is_asked
