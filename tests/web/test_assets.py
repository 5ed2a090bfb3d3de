"""The page's files: in few bytes, found at once, and never asked for twice."""

import gzip
import re
from collections.abc import AsyncIterator

import pytest

from app.web import assets
from app.web.compression import COMPRESSED, LEAST_BYTES
from app.web.gate import NEEDS
from tests.people import Person, Site, open_table, person

MOST_BYTES = 112 * 1024
"""So much is sent for the first look at the lobby, without the figures of the cards."""

GZIP = {"Accept-Encoding": "gzip"}


@pytest.fixture
async def stranger(site: Site) -> AsyncIterator[Person]:
    async with person(site.url) as one:
        yield one


def named(page: str) -> list[str]:
    """The addresses of all that the page wants."""
    return re.findall(r'(?:href|src)="([^"]+)"', page)


async def test_the_page_names_every_module_so_that_nothing_is_found_late(stranger: Person) -> None:
    page = (await stranger.http.get("/")).text
    modules = set(re.findall(rf'rel="modulepreload" href="/static/{assets.version()}/(js/[^"]+)"', page))
    on_disk = {
        file.relative_to(assets.STATIC).as_posix()
        for file in (assets.STATIC / "js").rglob("*.js")
        if file.name != "types.js"  # for the type checker alone
    }
    assert modules == on_disk


async def test_the_first_look_at_the_lobby_is_small(stranger: Person) -> None:
    page = await stranger.http.get("/", headers=GZIP)
    total = int(page.headers["content-length"])
    for address in {*named(page.text)}:
        answer = await stranger.http.get(address, headers=GZIP)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == assets.FOREVER
        total += int(answer.headers["content-length"])
    for path in ("/api/v1/rules", "/api/v1/tables", "/api/v1/players"):
        total += int((await stranger.http.get(path, headers=GZIP)).headers["content-length"])
    assert total < MOST_BYTES


async def test_the_address_changes_with_the_files(stranger: Person) -> None:
    now = assets.version()
    here = await stranger.http.get(f"/static/{now}/js/app.js", headers=GZIP)
    assert here.headers["content-encoding"] == "gzip"
    assert here.headers["vary"] == "Accept-Encoding"
    assert here.content == (assets.STATIC / "js" / "app.js").read_bytes()
    for other in (f"/static/{'0' * 16}/js/app.js", "/static/js/app.js"):
        answer = await stranger.http.get(other)
        assert answer.headers["cache-control"] == "no-cache"
        again = await stranger.http.get(other, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("said", "is_gzipped"),
    [("gzip", True), ("br, gzip;q=0.5", True), ("*", True), ("identity", False), ("gzip;q=0", False), ("", False)],
)
async def test_who_cannot_unpack_is_sent_it_as_it_is(stranger: Person, said: str, is_gzipped: bool) -> None:
    for path in (f"/static/{assets.version()}/css/page.css", "/", "/api/v1/rules"):
        answer = await stranger.http.get(path, headers={"Accept-Encoding": said})
        assert ("content-encoding" in answer.headers) == is_gzipped, path
        assert "Accept-Encoding" in answer.headers["vary"]


async def test_what_tells_everybody_the_same_is_compressed(stranger: Person) -> None:
    for path in ("/api/v1/rules", "/api/v1/i18n/fr", "/openapi.json"):
        plain = await stranger.http.get(path, headers={"Accept-Encoding": "identity"})
        packed = await stranger.http.get(path, headers=GZIP)
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.content == plain.content
        assert int(packed.headers["content-length"]) < len(plain.content) / 2
        same = await stranger.http.get(path, headers=GZIP | {"If-None-Match": packed.headers["etag"]})
        assert (same.status_code, same.content) == (304, b"")


def test_only_questions_of_known_routes_are_compressed_and_none_that_changes_something() -> None:
    assert set(NEEDS) >= COMPRESSED
    assert all(key.startswith("GET ") and "/me" not in key and "events" not in key for key in COMPRESSED)


async def test_what_holds_a_secret_is_never_compressed(site: Site) -> None:
    """A hand beside names that others have chosen, the ids of one's own tables, a token."""
    async with person(site.url, "Nina") as nina:
        table = await open_table(nina)
        await nina.post(f"/tables/{table}/start")
        for path in (f"/tables/{table}/game", f"/tables/{table}"):
            answer = await nina.http.get(f"/api/v1{path}", headers=GZIP)
            assert len(answer.content) >= LEAST_BYTES, path
            assert "content-encoding" not in answer.headers, path
        made = await nina.http.post("/api/v1/me/tokens", json={"name": "x", "scopes": ["read"]}, headers=GZIP)
        assert "content-encoding" not in made.headers


async def test_a_file_is_what_it_was_after_unpacking() -> None:
    for path, one in assets._files().items():
        assert one.gzipped is None or gzip.decompress(one.gzipped) == one.body, path


# --- languages, and addresses that lead nowhere ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cookie", "wishes", "language"),
    [
        (None, "fr-CA,fr;q=0.9,en;q=0.8", "fr"),
        (None, "de, en;q=0.3, fr;q=0.7", "fr"),
        (None, "de", "en"),
        (None, "", "en"),
        (None, "fr;q=0, en;q=x", "en"),
        ("fr", "en", "fr"),
        ("xx", "fr", "fr"),
    ],
)
async def test_the_page_is_in_the_readers_language_from_the_first_byte(
    stranger: Person, cookie: str | None, wishes: str, language: str
) -> None:
    cookies = {} if cookie is None else {"Cookie": f"{assets.LANGUAGE_COOKIE}={cookie}"}
    answer = await stranger.http.get("/", headers={"Accept-Language": wishes} | cookies)
    assert answer.text.startswith(f'<!doctype html>\n<html lang="{language}" translate="no"')
    assert f"/i18n/{language}.json" in answer.text
    assert {"Accept-Language", "Cookie"} <= {one.strip() for one in answer.headers["vary"].split(",")}


async def test_the_page_says_whether_its_reader_is_known(site: Site, stranger: Person) -> None:
    assert 'data-guest="no"' in (await stranger.http.get("/")).text
    async with person(site.url, "Nina") as nina:
        assert 'data-guest="yes"' in (await nina.http.get("/")).text


NOWHERE = ("/nothing", "/t", "/t/", "/t/a/b", "/g/x", "/lobby.php", "/%", "/%ff", "/t/a/%ff")


@pytest.mark.parametrize("path", NOWHERE)
async def test_people_are_led_back_from_addresses_that_lead_nowhere(stranger: Person, path: str) -> None:
    page = await stranger.http.get(path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "js/app.js" in page.text
    for accept in ("application/json", "*/*"):
        told = await stranger.http.get(path, headers={"Accept": accept})
        assert (told.status_code, told.json()["why"]) == (404, "not_found")


@pytest.mark.parametrize("path", ["/t/%", "/t/%ff", "/t/%e2%82", "/t/3f-k2m7q9x4wz).", "/g/3f-k2m7q9x4wz/%"])
async def test_links_that_were_cut_still_bring_the_page(stranger: Person, path: str) -> None:
    answer = await stranger.http.get(path, headers={"Accept": "text/html"})
    assert answer.status_code == 200
    assert "js/app.js" in answer.text


async def test_addresses_of_programs_answer_browsers_as_programs(stranger: Person) -> None:
    answer = await stranger.http.get("/api/v1/nothing", headers={"Accept": "text/html"})
    assert answer.json()["why"] == "not_found"


async def test_browsers_find_an_icon_where_they_look_for_one(stranger: Person) -> None:
    answer = await stranger.http.get("/favicon.ico", follow_redirects=True)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
