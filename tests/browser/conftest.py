"""A real Chromium for the page, and people who use it."""

import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, ViewportSize, WebSocket, async_playwright

from tests.browser.chromium import MISSING, SWITCHES, find

PHONE = ViewportSize(width=360, height=640)
DESKTOP = ViewportSize(width=1440, height=900)

SECONDS = 60  # after which something hangs; never a measure of speed
PATIENCE = 1_000 * SECONDS
PICTURES = Path(__file__).parent / "pictures"


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """The browser of the whole run."""
    path = find()
    assert path, MISSING
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(SWITCHES))
        yield browser
        await browser.close()


@dataclass
class Guest:
    """Somebody at the page, and everything that went wrong in it."""

    name: str
    page: Page
    faults: list[str]

    def by(self, testid: str) -> Locator:
        """The elements of this test id."""
        return self.page.get_by_test_id(testid)

    async def click(self, testid: str) -> None:
        """Click, once it is there."""
        await self.by(testid).first.click(timeout=PATIENCE)

    async def shows(self, testid: str) -> bool:
        """Whether it is there now and can be used."""
        return await self.by(testid).count() > 0 and await self.by(testid).first.is_visible()

    async def sign_in(self) -> None:
        """Give one's name."""
        await self.by("name-input").first.fill(self.name, timeout=PATIENCE)
        await self.click("save-name")

    async def scores(self) -> tuple[int, int]:
        """Us and them, as the top line says."""
        us, them = self.by("score-us"), self.by("score-them")
        return int(await us.first.inner_text()), int(await them.first.inner_text())

    async def hand(self) -> list[str]:
        """The cards in the hand, by name."""
        ids = await self.page.locator("coinche-hand [data-testid^='card-']").evaluate_all(
            "all => all.map(one => one.dataset.testid)"
        )
        return sorted(one.removeprefix("card-") for one in ids)

    async def act(self) -> bool:
        """Do the first thing that may be done: read the sheet, open the auction, pass, or play a legal card."""
        if await self.shows("next-deal"):
            return await _clicked(self.by("next-deal").first)
        if await self.shows("call-pass"):
            is_stepped = await self.by("bid-step-1").count()
            if is_stepped or await self.page.locator("[data-testid='bid-value-80']:enabled").count():
                if not is_stepped:
                    await _clicked(self.by("bid-value-80"))
                await _clicked(self.by("bid-trump-S"))
                return await _clicked(self.by("bid-announce"))
            return await _clicked(self.by("call-pass"))
        legal = self.page.locator("coinche-hand .hand__card.is-legal")
        return await legal.count() > 0 and await _clicked(legal.first)


async def _clicked(what: Locator) -> bool:
    """Whether the click reached it: others may have acted at the same moment."""
    try:
        await what.click(timeout=2_000)
    except Exception as gone:
        if type(gone).__name__ != "TimeoutError":
            raise
        return False
    return True


async def against_the_house(one: Guest) -> None:
    """Give one's name, and be dealt a hand."""
    await one.sign_in()
    await one.click("play-house")
    await one.page.locator("coinche-hand [data-testid^='card-']").nth(7).wait_for(timeout=PATIENCE)


async def until_a_card_may_be_played(one: Guest) -> None:
    """Pass, or bid, until it is one's turn to play."""
    legal = one.page.locator("coinche-hand .hand__card.is-legal")
    while await legal.count() == 0:
        await one.act()
        await one.page.wait_for_timeout(50)


def _overhear(line: WebSocket, frames: deque[str]) -> None:
    line.on("framesent", lambda frame: frames.append(f"> {frame!s}"))
    line.on("framereceived", lambda frame: frames.append(f"< {frame!s}"))
    line.on("close", lambda _: frames.append("closed"))


@asynccontextmanager
async def guest(
    browser: Browser,
    url: str,
    name: str,
    size: ViewportSize = DESKTOP,
    language: str = "fr-FR",
    quick: bool = True,
    has_clock: bool = False,
) -> AsyncIterator[Guest]:
    """Somebody with a browser of their own, at this address. `has_clock`: the page's clock is in the hands of the test."""
    context = await browser.new_context(viewport=size, locale=language)
    if quick:
        preferences = json.dumps(json.dumps({"pace": "quick"}))
        await context.add_init_script(f"localStorage['coinche.preferences'] ??= {preferences}")
    page = await context.new_page()
    if has_clock:
        await page.clock.install()
    one = Guest(name, page, [])
    page.on("pageerror", lambda error: one.faults.append(str(error)))
    frames: deque[str] = deque(maxlen=12)
    page.on("websocket", lambda line: _overhear(line, frames))
    page.on("response", lambda answer: frames.append(f"{answer.status} {answer.request.method} {answer.url}"))
    try:
        await page.goto(url, timeout=PATIENCE)
        yield one
    except BaseException as error:
        error.add_note("\n".join([f"{name} saw:", await page.inner_text("body"), *one.faults, *(one[:300] for one in frames)]))
        raise
    finally:
        await context.close()
