"""What the page makes of servers that are renewed and of networks that fail: people see little or nothing of it."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from playwright.async_api import Browser, expect

from tests.browser.conftest import PATIENCE, Guest, against_the_house, guest, until_a_card_may_be_played
from tests.chaos.proxy import Proxy
from tests.serving import Serving, members, serving

TROUBLE = """() => {
  window.trouble = 0;
  new MutationObserver(() => { window.trouble += document.querySelectorAll("[data-testid=reconnecting]").length; })
    .observe(document.body, { subtree: true, childList: true });
}"""


@pytest.fixture(scope="module")
def coinche(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("line")) as one:
        yield one


@dataclass
class Road:
    """Somebody at a table, and the network that leads there. Their page has a clock that can be set forward, or stopped."""

    nina: Guest
    proxy: Proxy

    async def broken(self) -> None:
        """All connections break off, and the page has noticed."""
        for one in tuple(self.proxy.connections):
            one.drop()
        await self.nina.by("reconnecting").wait_for(timeout=PATIENCE)

    async def mended(self, hand: list[str]) -> None:
        """The page is at the table again, with the same cards."""
        await self.nina.by("reconnecting").wait_for(state="detached", timeout=PATIENCE)
        assert await self.nina.hand() == hand


@pytest.fixture
async def road(chromium: Browser, coinche: Serving) -> AsyncIterator[Road]:
    async with Proxy(Random(5)).running() as proxy:
        proxy.backends = [int(coinche.url.rpartition(":")[2])]
        async with guest(chromium, f"http://127.0.0.1:{proxy.port}", "Nina", has_clock=True) as nina:
            await against_the_house(nina)
            await until_a_card_may_be_played(nina)
            yield Road(nina, proxy)
            assert nina.faults == []


async def test_nobody_sees_the_server_renewed(chromium: Browser, tmp_path: Path) -> None:
    with serving(tmp_path, "serve", "--processes", "2") as coinche:
        async with guest(chromium, coinche.url, "Nina") as nina:
            await against_the_house(nina)
            await until_a_card_may_be_played(nina)
            hand = await nina.hand()
            await nina.page.evaluate(TROUBLE)
            before = members(coinche)
            coinche.process.send_signal(signal.SIGHUP)
            async with asyncio.timeout(PATIENCE / 1000):
                while before & members(coinche):  # noqa: ASYNC110 - the processes ring no bell
                    await asyncio.sleep(0.05)
            assert await nina.hand() == hand
            card = str(await nina.page.locator("coinche-hand .hand__card.is-legal").first.get_attribute("data-testid"))
            await nina.click(card)
            await nina.by(card).and_(nina.page.locator("coinche-hand *")).wait_for(state="detached", timeout=PATIENCE)
            assert await nina.page.evaluate("trouble") == 0
            assert nina.faults == []


async def test_a_line_that_has_gone_dead_without_a_word_is_dialled_anew(road: Road) -> None:
    hand, dead = await road.nina.hand(), tuple(road.proxy.connections)
    for one in dead:
        one.frozen.set()
    await road.nina.page.clock.fast_forward(40_000)
    await road.nina.by("reconnecting").wait_for(timeout=PATIENCE)
    await road.mended(hand)
    assert set(road.proxy.connections) - set(dead)


async def test_a_dial_that_nobody_answers_is_given_up(road: Road) -> None:
    hand = await road.nina.hand()
    road.proxy.is_deaf = True
    await road.broken()
    async with asyncio.timeout(PATIENCE / 1000):
        while not road.proxy.connections:  # noqa: ASYNC110 - the proxy rings no bell
            await asyncio.sleep(0.05)
    road.proxy.is_deaf = False
    await road.nina.page.clock.fast_forward(20_000)
    await road.mended(hand)


async def test_when_the_network_comes_back_the_page_does_not_wait(road: Road) -> None:
    """Its clock stands still: whatever it does, it does not for a time that is up."""
    hand, backends = await road.nina.hand(), road.proxy.backends
    road.proxy.backends = []
    await road.broken()
    await road.nina.page.clock.pause_at(await road.nina.page.evaluate("Date.now() + 60_000"))
    road.proxy.backends = backends
    async with asyncio.timeout(PATIENCE / 1000):
        while await road.nina.shows("reconnecting"):  # a dial from before may be under way, and fail
            await road.nina.page.evaluate("dispatchEvent(new Event('online'))")
            await asyncio.sleep(0.1)
    await road.mended(hand)


async def test_what_is_done_without_a_line_is_kept_and_sent_when_it_is_back(road: Road) -> None:
    nina, backends = road.nina, road.proxy.backends
    road.proxy.backends = []
    await road.broken()
    legal = nina.page.locator("coinche-hand .hand__card.is-legal").first
    card = nina.page.locator(f"coinche-hand [data-testid={await legal.get_attribute('data-testid')}]")
    await legal.click(timeout=PATIENCE)
    await expect(nina.by("reconnecting")).to_contain_text("envoyé", timeout=PATIENCE)
    road.proxy.backends = backends
    async with asyncio.timeout(PATIENCE / 1000):
        while await card.count():
            await nina.page.evaluate("dispatchEvent(new Event('online'))")
            await asyncio.sleep(0.1)
