"""Tokens and bots at the page: made, used, taken back, with the keyboard too, on a phone and in both languages."""

from collections.abc import AsyncIterator, Iterator

import pytest
from httpx2 import AsyncClient
from playwright.async_api import Browser

from tests.browser.conftest import PATIENCE, PHONE, SECONDS, Guest, guest
from tests.serving import Serving, serving


@pytest.fixture(scope="module")
def coinche(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("programs")) as one:
        yield one


@pytest.fixture(params=["fr-FR", "en-GB"])
async def nina(chromium: Browser, coinche: Serving, request: pytest.FixtureRequest) -> AsyncIterator[Guest]:
    """Somebody on a phone who has opened it."""
    async with guest(chromium, coinche.url, "Nina", PHONE, language=request.param) as one:
        await one.sign_in()
        await one.by("my-name").wait_for(timeout=PATIENCE)
        await one.by("programs").focus()
        await one.page.keyboard.press("Enter")
        yield one
        assert one.faults == []


async def who_is(coinche: Serving, secret: str) -> tuple[int, str | None]:
    async with AsyncClient(base_url=coinche.url, headers={"Authorization": f"Bearer {secret}"}, timeout=SECONDS) as http:
        answer = await http.get("/api/v1/me")
        return answer.status_code, answer.json().get("name")


async def secret_after(one: Guest, before: str = "") -> str:
    """The secret that is shown, once it is another."""
    await one.page.wait_for_function(
        "before => document.querySelector('#secret') && document.querySelector('#secret').value !== before",
        arg=before,
        timeout=PATIENCE,
    )
    return await one.by("secret").input_value()


async def test_a_token_is_made_shown_once_and_revoked(coinche: Serving, nina: Guest) -> None:
    await nina.by("token-name").focus()
    await nina.page.keyboard.type("Night owl")
    await nina.page.keyboard.press("Enter")
    secret = await secret_after(nina)
    assert await who_is(coinche, secret) == (200, "Nina")
    assert "Night owl" in await nina.by("token").inner_text()
    wide = "const one = document.querySelector('dialog[open]'); return one.scrollWidth > one.clientWidth"
    assert not await nina.page.evaluate(f"() => {{ {wide} }}")
    await nina.page.keyboard.press("Escape")
    await nina.by("secret").wait_for(state="detached", timeout=PATIENCE)
    await nina.click("programs")
    await nina.by("token").wait_for(timeout=PATIENCE)
    assert await nina.by("secret").count() == 0
    await nina.click("revoke")
    await nina.by("token").wait_for(state="detached", timeout=PATIENCE)
    assert await who_is(coinche, secret) == (401, None)


async def test_a_bot_is_made_and_dismissed(coinche: Serving, nina: Guest) -> None:
    await nina.by("bot-name").fill("Robi")
    await nina.click("make-bot")
    secret = await secret_after(nina)
    assert await who_is(coinche, secret) == (200, "Robi")
    await nina.click("further")
    assert await who_is(coinche, await secret_after(nina, secret)) == (200, "Robi")
    await nina.click("dismiss")
    await nina.by("bot").wait_for(state="detached", timeout=PATIENCE)
    assert await who_is(coinche, secret) == (401, None)


async def test_a_refusal_is_told(nina: Guest) -> None:
    for scope in ("read", "play"):
        await nina.page.locator(f"dialog [value={scope}]").uncheck()
    await nina.by("token-name").fill("Nothing")
    await nina.click("make-token")
    await nina.page.locator("dialog[open] .problem").filter(has_text=".").wait_for(timeout=PATIENCE)
    assert await nina.by("token").count() == 0
    assert await nina.by("token-name").input_value() == "Nothing"
