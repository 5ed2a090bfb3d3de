"""A page of another site that shows the tables of a coinche: examples/club.html, in a real browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.async_api import Browser, expect

from tests.browser.conftest import PATIENCE
from tests.people import open_table, person
from tests.serving import Serving, serving

EXAMPLES = Path(__file__).parents[2] / "examples"


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing of it."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def another_site() -> Iterator[str]:
    """The club's own server; its origin."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(EXAMPLES))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def club() -> Iterator[str]:
    with another_site() as origin:
        yield origin


@pytest.fixture(scope="module")
def coinche(club: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("club"), COINCHE_CORS=club) as one:
        yield one


async def test_a_club_shows_the_tables_that_are_open(chromium: Browser, club: str, coinche: Serving) -> None:
    async with person(coinche.url, "<b>Nina</b>") as nina:
        token = (await nina.post("/me/tokens", {"name": "Club", "scopes": ["read"]}, 201))["secret"]
        table = await open_table(nina, "classic-1000")
        page = await chromium.new_page()
        await page.goto(f"{club}/club.html#{coinche.url},{token}")
        line = page.get_by_role("listitem")
        await expect(line).to_contain_text("Classic, to 1000: <b>Nina</b>, –, –, – (open)", timeout=PATIENCE)
        assert await page.get_by_role("link").get_attribute("href") == f"{coinche.url}/t/{table}"
        await nina.post(f"/tables/{table}/start")
        await expect(line).to_contain_text("(playing)", timeout=PATIENCE)
        await page.close()


async def test_a_club_that_the_operator_does_not_name_learns_nothing(chromium: Browser, coinche: Serving) -> None:
    async with person(coinche.url, "Nina") as nina:
        token = (await nina.post("/me/tokens", {"name": "Club", "scopes": ["read"]}, 201))["secret"]
        with another_site() as stranger:
            page = await chromium.new_page()
            async with page.expect_event("requestfailed", timeout=PATIENCE):
                await page.goto(f"{stranger}/club.html#{coinche.url},{token}")
            assert await page.get_by_role("listitem").count() == 0
            await page.close()
