"""People play at the page, each in a browser of their own, on a real server."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from httpx2 import AsyncClient
from playwright.async_api import Browser

from tests.browser.conftest import DESKTOP, PATIENCE, PHONE, SECONDS, Guest, guest
from tests.ports import held
from tests.serving import Serving, serving

NAMES = ("Anne", "Bruno", "Chloé", "Driss")


@asynccontextmanager
async def four_at_a_table(chromium: Browser, url: str, target: int) -> AsyncIterator[list[Guest]]:
    """Anne opens a table by the form; the others come by its link; all are ready. Two hold a phone."""
    async with AsyncExitStack() as stack:
        anne = await stack.enter_async_context(guest(chromium, url, NAMES[0], DESKTOP))
        await anne.sign_in()
        await anne.click("open-table")
        await anne.page.locator(".house-rules summary").click()
        await anne.page.locator("#option-target").fill(str(target))
        await anne.page.locator("#option-target").blur()
        await anne.click("open-table-submit")
        await anne.page.wait_for_url("**/t/*", timeout=PATIENCE)
        link = await anne.by("share-link").input_value(timeout=PATIENCE)
        guests = [anne]
        for name, size in zip(NAMES[1:], (PHONE, DESKTOP, PHONE), strict=True):
            one = await stack.enter_async_context(guest(chromium, link, name, size))
            await one.sign_in()
            await one.click("sit")
            guests.append(one)
        for one in guests:
            await one.click("ready")
        first_friend, *others = guests[1:]
        yield [anne, others[0], first_friend, others[1]]  # by their seats: who came first sits opposite


async def play(guests: Sequence[Guest], until: str) -> None:
    """All act whenever they can, until each page shows this."""
    async with asyncio.timeout(240):
        while not all([await one.shows(until) for one in guests]):
            acted = [await one.act() for one in guests]
            if not any(acted):
                await asyncio.sleep(0.05)


async def archived(url: str, table: str) -> dict[str, object]:
    """The table's first game, once it is in the history."""
    async with AsyncClient(base_url=url, timeout=SECONDS) as http, asyncio.timeout(SECONDS):
        while True:
            answer = await http.get(f"/api/v1/games/{table}/1")
            if answer.status_code == 200:
                record: dict[str, object] = answer.json()
                return record
            await asyncio.sleep(0.1)


def _table(one: Guest) -> str:
    return one.page.url.rpartition("/")[2]


async def _agree(guests: Sequence[Guest], record: dict[str, object]) -> None:
    """All saw the result that the history has, each from the own side; partners the same, opponents the reverse."""
    totals = record["totals"]
    assert isinstance(totals, dict)
    for seat, one in enumerate(guests):
        us, them = ("A", "B") if seat % 2 == 0 else ("B", "A")
        assert await one.scores() == (totals[us], totals[them])
        won = record["winner"] == us
        title = await one.by("result").locator("h2").inner_text()
        other = await guests[(seat + 2) % 4].by("result").locator("h2").inner_text()
        assert title == other
        assert title != await guests[(seat + 1) % 4].by("result").locator("h2").inner_text(), won


async def test_four_browsers_play_a_whole_game_and_see_the_same_result(chromium: Browser, tmp_path: Path) -> None:
    with serving(tmp_path) as coinche:
        async with four_at_a_table(chromium, coinche.url, target=150) as guests:
            await play(guests, until="result")
            await _agree(guests, await archived(coinche.url, _table(guests[0])))
            assert [one.faults for one in guests] == [[]] * 4


async def test_the_server_is_killed_in_the_middle_of_a_trick_and_the_game_goes_on(chromium: Browser, tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        [port] = stack.enter_context(held())
        coinche: Serving = stack.enter_context(serving(tmp_path, COINCHE_PORT=str(port)))
        async with four_at_a_table(chromium, coinche.url, target=1) as guests:
            hands = await _play_into_a_trick(coinche.url, guests)
            coinche.stop(signal.SIGKILL)
            for one in guests:
                await one.by("reconnecting").wait_for(timeout=PATIENCE)
            coinche = stack.enter_context(serving(tmp_path, COINCHE_PORT=str(port)))
            for one in guests:
                await one.by("reconnecting").wait_for(state="detached", timeout=PATIENCE)
            assert [await one.hand() for one in guests] == hands
            await play(guests, until="result")
            record = await archived(coinche.url, _table(guests[0]))
            await _agree(guests, record)
            deals = record["deals"]
            assert isinstance(deals, list)
            # Not always of the last deal: where both sides have as much, one more is played.
            assert any(all(set(one) <= set(all_of) for one, all_of in zip(hands, deal["hands"], strict=True)) for deal in deals)


async def _play_into_a_trick(url: str, guests: Sequence[Guest]) -> list[list[str]]:
    """Play until a trick has two cards, by the server's account, and all pages show it; the hands at that moment."""
    async with (
        AsyncClient(base_url=f"{url}/api/v1/tables/{_table(guests[0])}", timeout=SECONDS) as table,
        asyncio.timeout(240),
    ):
        while True:
            game = (await table.get("/game")).json()
            trick = game["view"] and game["view"]["trick"]  # the game begins a moment after the last click
            hands = [await one.hand() for one in guests]
            if trick and len(trick["cards"]) == 2 and trick["number"] < 8:
                if [len(hand) for hand in hands] == game["view"]["counts"]:
                    return hands
                continue
            for one in guests:
                if await one.act():
                    await _moved_on(table, game["at"])
                    break
            await asyncio.sleep(0.05)


async def _moved_on(table: AsyncClient, at: list[int]) -> None:
    """Wait until what was clicked is stored; a click may have come too early for the page to take it."""
    for _ in range(40):
        if (await table.get("/game")).json()["at"] != at:
            return
        await asyncio.sleep(0.05)
