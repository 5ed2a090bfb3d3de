"""What one person meets at the page: the house, a phone, a reload, a second tab, someone who only watches."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from playwright.async_api import Browser, Page, Route, expect

from tests.browser.conftest import DESKTOP, PATIENCE, PHONE, Guest, against_the_house, guest, until_a_card_may_be_played
from tests.serving import Serving, serving

FOCUS = """name => {
    const found = document.querySelector(`[data-testid=${name}]`);
    found?.focus();
    return found !== null;
}"""
"""Whether it was there to be given the focus: what is looked for first may be gone then."""

PRESETS = ("announced-701", "contree-701", "classic-1000", "rounded-1000", "arena-2000", "ffb-2000")


@pytest.fixture(scope="module")
def coinche(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("page")) as one:
        yield one


async def _is_too_wide(page: Page) -> bool:
    return bool(await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


@pytest.fixture
async def nina(chromium: Browser, coinche: Serving) -> AsyncIterator[Guest]:
    """Somebody on a phone."""
    async with guest(chromium, coinche.url, "Nina", PHONE) as one:
        yield one
        assert one.faults == []


async def test_one_button_starts_a_gameagainst_the_house(nina: Guest) -> None:
    await against_the_house(nina)
    assert len(await nina.hand()) == 8


async def test_a_reload_and_a_second_tab_show_the_same_hand(nina: Guest) -> None:
    await against_the_house(nina)
    await until_a_card_may_be_played(nina)
    hand = await nina.hand()
    await nina.page.reload()
    await nina.page.locator("coinche-hand .hand__card.is-legal").first.wait_for(timeout=PATIENCE)
    assert await nina.hand() == hand
    tab = await nina.page.context.new_page()
    await tab.goto(nina.page.url)
    second = Guest("Nina", tab, [])
    await tab.locator("coinche-hand .hand__card.is-legal").first.wait_for(timeout=PATIENCE)
    assert await second.hand() == hand
    played = await nina.page.locator("coinche-hand .hand__card.is-legal").first.get_attribute("data-testid")
    await nina.page.get_by_test_id(str(played)).click()
    await tab.get_by_test_id(str(played)).wait_for(state="detached", timeout=PATIENCE)
    assert not await nina.shows("reconnecting")


async def test_a_card_that_may_not_be_played_says_why(nina: Guest) -> None:
    await against_the_house(nina)
    for _ in range(200):
        await until_a_card_may_be_played(nina)
        barred = nina.page.locator("coinche-hand [data-testid^='card-']:not(.is-legal)")
        if await barred.count():
            before = await nina.hand()
            await barred.first.click(timeout=PATIENCE, position={"x": 12, "y": 20}, force=True)  # it says it is disabled
            notice = nina.by("notice")
            await notice.wait_for(timeout=PATIENCE)
            assert (await notice.inner_text()).strip()
            assert await nina.hand() == before
            return
        await nina.act()
    pytest.fail("every card was legal in two hundred turns")


async def test_who_plays_before_the_name_is_saved_is_one_guest_all_the_same(chromium: Browser, coinche: Serving) -> None:
    async with guest(chromium, coinche.url, "Pia") as pia:
        asked: list[str] = []

        async def slowly(route: Route) -> None:
            if route.request.method == "GET":
                await route.continue_()
                return
            asked.append("asked")
            answer = await route.fetch()
            await asyncio.sleep(0.5)
            asked.append("answered")
            await route.fulfill(response=answer)

        await pia.page.route("**/api/v1/me", slowly)
        await against_the_house(pia)
        assert asked == ["asked", "answered"] * (len(asked) // 2)
        assert len(await pia.hand()) == 8


async def test_who_only_watches_sees_no_hand(chromium: Browser, coinche: Serving, nina: Guest) -> None:
    await against_the_house(nina)
    async with guest(chromium, nina.page.url, "Olga") as olga:
        await olga.by("seat-0").wait_for(timeout=PATIENCE)
        await olga.by("score").first.wait_for(timeout=PATIENCE)
        assert await olga.hand() == []


async def test_the_host_alone_is_offered_to_close_the_table(chromium: Browser, coinche: Serving, nina: Guest) -> None:
    await against_the_house(nina)
    async with guest(chromium, nina.page.url, "Olga") as olga:
        await olga.click("menu")
        await olga.by("to-lobby").wait_for(timeout=PATIENCE)
        assert not await olga.shows("close")
        for testid in ("menu", "close", "close-sure"):
            await nina.click(testid)
        await nina.by("play-house").wait_for(timeout=PATIENCE)
        await olga.by("no-table").wait_for(timeout=PATIENCE)


async def test_back_closes_what_is_open_and_leaves_the_table_only_then(nina: Guest) -> None:
    await against_the_house(nina)
    here = nina.page.url
    for opens, opened in (
        ("open-talk", ".aside-right.is-open"),
        ("contract", ".aside-left.is-open"),
        ("menu", "dialog.menu[open]"),
    ):
        await nina.click(opens)
        await expect(nina.page.locator(opened).locator(".close")).to_be_focused(timeout=PATIENCE)
        await nina.page.go_back()
        await nina.page.locator(opened).wait_for(state="detached", timeout=PATIENCE)
        await expect(nina.by(opens)).to_be_focused(timeout=PATIENCE)
        assert nina.page.url == here
    await nina.click("open-talk")
    await nina.page.locator(".aside-right.is-open .close").click()
    await nina.page.locator(".aside-right.is-open").wait_for(state="detached", timeout=PATIENCE)
    await nina.page.wait_for_function("history.state?.drawer !== true", timeout=PATIENCE)
    await nina.page.go_back()
    await nina.by("play-house").wait_for(timeout=PATIENCE)


RENAME = """name => fetch("/api/v1/me", {
  method: "POST", body: JSON.stringify({ name }), headers: { "Content-Type": "application/json" },
})"""


async def test_names_are_told_apart_and_isolated(chromium: Browser, nina: Guest) -> None:
    await nina.sign_in()
    await nina.click("open-table")
    await nina.click("open-table-submit")
    await nina.page.wait_for_url("**/t/*", timeout=PATIENCE)
    async with guest(chromium, nina.page.url, "Nina", PHONE) as other:
        await other.sign_in()
        await other.click("sit")
        await other.page.get_by_text("Nina (1)").first.wait_for(timeout=PATIENCE)
        await nina.page.get_by_text("Nina (2)").first.wait_for(timeout=PATIENCE)
        await other.page.evaluate(RENAME, "نينا")
        seat = nina.page.locator(".seat-name", has_text="نينا")
        await seat.wait_for(timeout=PATIENCE)
        assert await seat.locator("bdi").count() == 1
        assert await nina.page.get_by_text("Nina (").count() == 0


async def test_whose_seat_is_freed_is_told_and_may_sit_down_again(chromium: Browser, nina: Guest) -> None:
    await nina.sign_in()
    await nina.click("open-table")
    await nina.click("open-table-submit")
    await nina.page.wait_for_url("**/t/*", timeout=PATIENCE)
    async with guest(chromium, nina.page.url, "Olga", PHONE, language="en-GB") as olga:
        await olga.sign_in()
        await olga.click("sit")
        await olga.by("ready").wait_for(timeout=PATIENCE)
        await nina.click("menu")
        await nina.page.locator("[data-testid^='free-']").click(timeout=PATIENCE)
        await olga.page.get_by_text("Your seat was freed.").wait_for(timeout=PATIENCE)
        assert not await olga.shows("ready")
        await olga.click("sit")
        await olga.by("ready").wait_for(timeout=PATIENCE)


CHOSEN = """() => {
  const colour = (element) => getComputedStyle(element).backgroundColor;
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style = "background: Highlight; forced-color-adjust: none";
  const chips = ["true", "false"].map((pressed) =>
    colour(document.querySelector(`.bid-trumps .bid-chip[aria-pressed=${pressed}]`)));
  return [...chips, colour(document.querySelector(".is-turn .disc-face")), colour(probe)];
}"""


@pytest.mark.parametrize("look", [{"forced_colors": "active"}, {"color_scheme": "dark"}, {"color_scheme": "light"}])
async def test_what_is_chosen_is_seen_and_no_browser_repaints_the_suits(nina: Guest, look: dict[str, Any]) -> None:
    await nina.page.emulate_media(**look)
    await against_the_house(nina)
    while not await nina.shows("bid-trump-H"):
        await nina.act()
        await nina.page.wait_for_timeout(50)
    await nina.click("bid-trump-H")
    chosen, other, turn, highlight = await nina.page.evaluate(CHOSEN)
    assert chosen != other
    if "forced_colors" in look:
        assert chosen == turn == highlight
    scheme = await nina.page.evaluate("getComputedStyle(document.documentElement).colorScheme")
    assert "only" in scheme or "forced_colors" in look


@pytest.mark.parametrize("preset", PRESETS)
async def test_every_rule_set_can_be_played_from_the_lobby(chromium: Browser, coinche: Serving, preset: str) -> None:
    async with guest(chromium, coinche.url, "Paul", DESKTOP, "en-GB") as paul:
        await paul.sign_in()
        await paul.page.locator("select").first.select_option(preset)
        await _against_the_house_signed_in(paul)
        await until_a_card_may_be_played(paul)
        await paul.act()
        assert paul.faults == []


async def _against_the_house_signed_in(one: Guest) -> None:
    await one.click("play-house")
    await one.page.locator("coinche-hand [data-testid^='card-']").nth(7).wait_for(timeout=PATIENCE)


@pytest.mark.parametrize(("preset", "left_of_me"), [("announced-701", 1), ("classic-1000", 3)])
async def test_the_next_seat_is_drawn_on_the_side_of_the_rules(
    chromium: Browser, coinche: Serving, preset: str, left_of_me: int
) -> None:
    async with guest(chromium, coinche.url, "Rosa") as rosa:
        await rosa.sign_in()
        await rosa.page.locator("select").first.select_option(preset)
        await _against_the_house_signed_in(rosa)
        places = {}
        for seat in range(4):
            box = await rosa.by(f"seat-{seat}").bounding_box()
            assert box
            places[seat] = box["x"] + box["width"] / 2
        assert min(places, key=lambda seat: places[seat]) == left_of_me


@pytest.mark.parametrize("language", ["fr-FR", "en-GB"])
async def test_nothing_is_wider_than_a_small_phone(chromium: Browser, coinche: Serving, language: str) -> None:
    async with guest(chromium, coinche.url, "A name of twenty-four ch", PHONE, language) as one:
        assert not await _is_too_wide(one.page)
        await against_the_house(one)
        assert not await _is_too_wide(one.page)
        await until_a_card_may_be_played(one)
        assert not await _is_too_wide(one.page)


@pytest.mark.parametrize("language", ["fr-FR", "en-GB"])
async def test_the_lobby_keeps_its_margins_on_a_small_phone(chromium: Browser, coinche: Serving, language: str) -> None:
    async with guest(chromium, coinche.url, "Uma", PHONE, language) as uma:
        await uma.by("play-house").wait_for(timeout=PATIENCE)
        over = await uma.page.evaluate(
            """() => [...document.querySelectorAll('.hero-in *, .panel *')]
                .filter(one => one.getBoundingClientRect().right > innerWidth - 15).map(one => one.outerHTML.slice(0, 80))"""
        )
        assert over == []


async def test_the_page_keeps_to_its_content_security_policy(chromium: Browser, coinche: Serving) -> None:
    async with guest(chromium, coinche.url, "Sam") as sam:
        said: list[str] = []
        sam.page.on("console", lambda message: said.append(message.text))
        await against_the_house(sam)
        await until_a_card_may_be_played(sam)
        assert [line for line in said if "Content Security Policy" in line] == []


async def test_a_card_keeps_the_focus_where_the_hand_is_sorted_anew(chromium: Browser, coinche: Serving) -> None:
    async with guest(chromium, coinche.url, "Tore") as tore:
        await against_the_house(tore)
        for place in (0, 3, 7):
            focused = await tore.page.evaluate(
                """async place => {
                    const hand = document.querySelector('coinche-hand'), before = hand.buttons[place];
                    before.focus();
                    hand.hand = { ...hand.hand, cards: [...hand.hand.cards].reverse() };
                    await hand.updateComplete;
                    return [before.dataset.card, document.activeElement?.dataset.card];
                }""",
                place,
            )
            assert focused[0] == focused[1]


async def test_a_game_can_be_played_by_keyboard_alone(chromium: Browser, coinche: Serving) -> None:
    async with guest(chromium, coinche.url, "Tove") as tove:
        await tove.by("name-input").first.focus()
        await tove.page.keyboard.type("Tove")
        await tove.page.keyboard.press("Enter")
        await tove.by("my-name").wait_for(timeout=PATIENCE)
        await tove.by("play-house").focus()
        await tove.page.keyboard.press("Enter")
        await tove.page.locator("coinche-hand [data-testid^='card-']").nth(7).wait_for(timeout=PATIENCE)
        legal = tove.page.locator("coinche-hand .hand__card.is-legal")
        while await legal.count() == 0:
            if await tove.page.evaluate(FOCUS, "call-pass"):
                await tove.page.keyboard.press("Enter")
            await tove.page.wait_for_timeout(100)
        await tove.page.wait_for_timeout(300)  # what comes right after a pass is taken for its second tap
        before = await tove.hand()
        await legal.first.focus()
        await tove.page.keyboard.press("Enter")
        await tove.page.wait_for_function(
            "count => document.querySelectorAll('coinche-hand [data-testid^=card-]').length < count",
            arg=len(before),
            timeout=PATIENCE,
        )
