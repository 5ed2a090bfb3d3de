"""How the page comes, and what it says where something stands in its way."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from playwright.async_api import Browser, Page, Route, expect

from tests.browser.conftest import DESKTOP, PATIENCE, PHONE, against_the_house, guest
from tests.serving import Serving, serving

MOST_BYTES = 128 * 1024
"""With the heads of the answers."""

TRANSFERRED = """async () => {
  await document.fonts.ready;
  return performance.getEntriesByType("resource").map(({ name, transferSize }) => [new URL(name).pathname, transferSize]);
}"""


@pytest.fixture(scope="module")
def coinche(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("loading")) as one:
        yield one


async def _transferred(page: Page) -> dict[str, int]:
    """Bytes that came over the network for each file of the page, once the lobby is drawn and all figures are there."""
    await page.get_by_test_id("play-house").wait_for(timeout=PATIENCE)
    await page.wait_for_function(
        "() => performance.getEntriesByType('resource').filter(one => one.name.includes('/cards/')).length >= 12",
        timeout=PATIENCE,
    )
    entries: list[tuple[str, int]] = await page.evaluate(TRANSFERRED)
    files = {path: size for path, size in entries if path.startswith("/static/")}
    assert len(files) == len([path for path, _ in entries if path.startswith("/static/")])  # each is fetched once
    return files


async def test_the_lobby_is_small_and_asked_for_once(chromium: Browser, coinche: Serving) -> None:
    async with guest(chromium, coinche.url, "Nina") as nina:
        said: list[str] = []
        nina.page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        first = await _transferred(nina.page)
        assert all(size > 0 for size in first.values())
        assert sum(size for path, size in first.items() if "/cards/" not in path) < MOST_BYTES
        await nina.page.reload()
        again = await _transferred(nina.page)
        assert set(again) == set(first)
        assert [path for path, size in again.items() if size > 0] == []
        assert [line for line in said if line.startswith(("error", "warning"))] == []


@pytest.mark.parametrize("path", ["/t/%", "/t/%ff", "/nothing", "/t/"])
async def test_an_address_that_leads_nowhere_says_so_and_leads_back(chromium: Browser, coinche: Serving, path: str) -> None:
    async with guest(chromium, coinche.url + path, "Nina", PHONE) as nina:
        await nina.by("nowhere").get_by_role("link").click(timeout=PATIENCE)
        await nina.by("play-house").wait_for(timeout=PATIENCE)
        assert nina.faults == []


async def test_ones_own_games_stand_first_in_the_lobby(chromium: Browser, coinche: Serving) -> None:
    async with guest(chromium, coinche.url, "Nina") as nina:
        await against_the_house(nina)
        table = nina.page.url
        await nina.page.goto(coinche.url)
        await expect(nina.page.locator(".lobby-columns .panel").first).to_have_attribute(
            "data-testid", "own-tables", timeout=PATIENCE
        )
        assert await nina.by("table-row").count() == 1  # it is listed nowhere else
        await nina.by("own-tables").get_by_role("link").first.click(timeout=PATIENCE)
        await nina.page.wait_for_url(table, timeout=PATIENCE)


async def test_who_keeps_no_cookies_is_told_so(chromium: Browser, coinche: Serving) -> None:
    async with guest(chromium, coinche.url, "Nina", language="en-GB") as nina:

        async def without_cookie(route: Route) -> None:
            answer = await route.fetch()
            await nina.page.context.clear_cookies()
            headers = {name: value for name, value in answer.headers.items() if name != "set-cookie"}
            await route.fulfill(response=answer, headers=headers)
            await nina.page.context.clear_cookies()

        await nina.page.route("**/api/v1/me", without_cookie)
        await nina.sign_in()
        await nina.click("play-house")
        await expect(nina.page.get_by_role("alert").first).to_contain_text("cookies", timeout=PATIENCE)


async def test_that_nobody_answers_is_said_only_while_it_is_so(chromium: Browser, coinche: Serving) -> None:
    async with guest(chromium, coinche.url, "Nina", language="en-GB") as nina:
        await nina.sign_in()
        await nina.by("my-name").wait_for(timeout=PATIENCE)
        alert = nina.page.locator(".hero [role=alert]")
        await nina.page.context.set_offline(True)
        await nina.click("play-house")
        await expect(alert).to_contain_text("does not answer", timeout=PATIENCE)
        await nina.page.context.set_offline(False)
        await expect(alert).to_have_text("", timeout=PATIENCE)


@asynccontextmanager
async def _without_upgrades(port: int) -> AsyncIterator[int]:
    """A proxy that hands on what is asked, but knows nothing of WebSockets; its port."""

    async def carry(source: asyncio.StreamReader, target: asyncio.StreamWriter, to_server: bool) -> None:
        with suppress(OSError):
            while chunk := await source.read(65536):
                target.write(chunk.replace(b"Upgrade: websocket\r\n", b"X-Dropped: websocket\r\n") if to_server else chunk)
                await target.drain()
        target.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        backend, to_backend = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(carry(reader, to_backend, True), carry(backend, writer, False))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def test_a_proxy_that_takes_no_sockets_is_named(chromium: Browser, coinche: Serving) -> None:
    async with (
        _without_upgrades(int(coinche.url.rpartition(":")[2])) as port,
        guest(chromium, f"http://127.0.0.1:{port}", "Nina", DESKTOP, "en-GB") as nina,
    ):
        await nina.sign_in()
        await nina.click("play-house")
        await expect(nina.by("reconnecting")).to_contain_text("WebSocket", timeout=PATIENCE)


async def test_less_motion_is_on_where_the_system_has_it_so(chromium: Browser, coinche: Serving) -> None:
    async with guest(chromium, coinche.url, "Nina") as nina:
        for motion in ("reduce", "no-preference"):
            wished: Any = motion
            await nina.page.emulate_media(reduced_motion=wished)
            await nina.page.reload()
            await nina.click("menu")
            assert await nina.by("stillness").is_checked() is (motion == "reduce")


async def test_new_tables_are_private_and_a_friend_sits_opposite(chromium: Browser, coinche: Serving) -> None:
    async with guest(chromium, coinche.url, "Nina") as nina, guest(chromium, coinche.url, "Paul") as paul:
        await nina.sign_in()
        await nina.click("open-table")
        await nina.click("open-table-submit")
        await nina.by("share-link").wait_for(timeout=PATIENCE)
        await paul.sign_in()
        await paul.page.get_by_test_id("my-name").wait_for(timeout=PATIENCE)
        assert await paul.by("table-row").count() == 0
        await paul.page.goto(await nina.by("share-link").input_value())
        await paul.click("sit")
        await expect(nina.by("seat-2")).to_contain_text("Paul", timeout=PATIENCE)
