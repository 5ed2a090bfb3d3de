"""All that is drawn is of one moment; what is tapped in a pause is kept and judged anew; the focus is never lost."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.conftest import PATIENCE, Guest, against_the_house, guest, until_a_card_may_be_played
from tests.serving import Serving, serving

WATCH = """() => {
  window.apart = [];
  window.looks = { bids: 0, barred: 0 };
  const has = (selector) => document.querySelector(selector) !== null;
  const look = () => {
    requestAnimationFrame(look);
    const mine = has(".seat-bottom.is-turn"), hand = has(".hand.is-turn"), bids = has("[data-testid=call-pass]");
    const barred = has(".hand__card.is-barred"), led = has(".trick__card"), line = has("[data-testid=line] .yours");
    if (hand && !mine) apart.push("the hand is lit while another is in turn");
    if (bids && !mine) apart.push("bids are live while another is in turn");
    if (line !== (mine && has("[data-testid=line]"))) apart.push("the line and the ring differ");
    if (barred && !led) apart.push("a card is barred and none was led");
    looks.bids += bids;
    looks.barred += barred;
  };
  look();
}"""


@pytest.fixture(scope="module")
def coinche(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("moment")) as running:
        yield running


async def _at_pace(one: Guest, pace: str) -> None:
    await one.page.evaluate("wishes => localStorage['coinche.preferences'] = wishes", json.dumps({"pace": pace}))
    await one.page.reload()


async def test_all_that_is_drawn_is_of_one_moment(chromium: Browser, coinche: Serving) -> None:
    async with guest(chromium, coinche.url, "Nina") as nina:
        await _at_pace(nina, "normal")
        await against_the_house(nina)
        await nina.page.evaluate(WATCH)
        async with asyncio.timeout(2 * PATIENCE / 1000):
            while not (len(await nina.hand()) <= 4 and await nina.page.evaluate("looks.bids && looks.barred")):
                await nina.act()
                await nina.page.wait_for_timeout(50)
        assert await nina.page.evaluate("[...new Set(apart)]") == []


TAP = """async () => {
  const cards = () => [...document.querySelectorAll("button[data-card]")];
  const ahead = () => cards().filter(each => each.matches(".is-ahead")).map(each => each.dataset.card);
  const rest = (ms) => new Promise(done => setTimeout(done, ms));
  const count = cards().length;
  const legal = cards().find(each => each.matches(".is-legal"));
  if (!legal || count < 4) return null;
  legal.click();
  while (cards().length === count) await rest(10);
  await rest(270); // a tap right after another is its second half
  if (document.querySelector(".seat-bottom.is-turn")) return null; // the pause was too short
  const chosen = cards()[0].dataset.card;
  cards()[0].click();
  await rest(0);
  return { chosen, ahead: ahead(), played: count - cards().length };
}"""
"""Play a card, and tap another before the answer to it is drawn: what is chosen ahead then."""


async def test_a_tap_in_a_pause_is_kept_and_judged_when_the_turn_is_drawn(chromium: Browser, coinche: Serving) -> None:
    async with guest(chromium, coinche.url, "Nina") as nina:
        await _at_pace(nina, "calm")
        await against_the_house(nina)
        tap = None
        while tap is None:
            await until_a_card_may_be_played(nina)
            await nina.page.wait_for_timeout(300)
            tap = await nina.page.evaluate(TAP)
        assert tap["ahead"] == [tap["chosen"]]
        assert tap["played"] == 1
        await nina.page.wait_for_function(
            """card => !document.querySelector(`button[data-card="${card}"]`)
                || !document.querySelector("button.is-ahead")
                    && document.querySelector("[data-testid=notice]").textContent.trim()""",
            arg=tap["chosen"],
            timeout=PATIENCE,
        )
        assert nina.faults == []


FOCUS = """() => {
  const at = document.activeElement;
  return at === document.body ? "nowhere" : at.dataset.testid ?? at.tagName;
}"""


async def _keyboard(page: Page) -> str:
    """Do the next thing with the keys alone, from where the focus is; where it was."""
    at = str(await page.evaluate(FOCUS))
    if at.startswith("bid-value"):
        await page.keyboard.press("Tab")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
    elif at.startswith("card-"):
        to = "document.querySelectorAll('.hand.is-turn button')"
        index = await page.evaluate(f"[...{to}].findIndex(each => each.classList.contains('is-legal'))")
        if index >= 0:
            await page.keyboard.press("Home")
            for _ in range(index):
                await page.keyboard.press("ArrowRight")
            await page.keyboard.press("Enter")
    elif at != "nowhere":
        await page.keyboard.press("Enter")
    return at


async def test_the_focus_goes_on_to_what_one_does_next(chromium: Browser, coinche: Serving) -> None:
    async with guest(chromium, coinche.url, "Nina") as nina:
        await nina.by("name-input").fill("Nina", timeout=PATIENCE)
        await nina.by("name-input").press("Enter")
        for focused, then in (("rename", "name-input"), ("open-table", None)):
            await expect(nina.by("my-name")).to_be_visible(timeout=PATIENCE)
            await nina.by(focused).press("Enter")
            place = nina.by(then) if then else nina.page.locator(".opening .close")
            await expect(place).to_be_focused(timeout=PATIENCE)
            await nina.page.keyboard.press("Enter")
        await expect(nina.by("open-table")).to_be_focused(timeout=PATIENCE)
        await nina.by("play-house").focus()
        await nina.page.keyboard.press("Enter")
        await nina.page.locator("coinche-hand [data-testid^='card-']").nth(7).wait_for(timeout=PATIENCE)
        seen: list[str] = []
        async with asyncio.timeout(PATIENCE / 1000):
            while not ("next-deal" in seen and seen[-1].startswith(("bid-value", "card-"))):
                await nina.page.wait_for_timeout(60)
                seen.append(await _keyboard(nina.page))
        assert "nowhere" not in seen
        assert any(at.startswith("bid-value") for at in seen)
        assert any(at.startswith("card-") for at in seen)
