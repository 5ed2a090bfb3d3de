"""An export takes little from the others: few at once, in threads of its own, and one that breaks off is a line in the log."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
import structlog
from httpx2 import AsyncClient, RemoteProtocolError
from redis.asyncio import Redis

from app.game.refusal import Refused, Why
from app.game.rules import PRESETS
from app.store import history as stored
from app.store.history import SqlHistory
from app.store.log import RedisLog
from app.tables.limits import EXPORTS, EXPORTS_OF_STRANGERS
from app.web import history
from tests.finished import played, store
from tests.people import PATIENCE, Site, person, running_site
from tests.web.test_connections import head, wire

PATH = "/api/v1/games/export"
GAMES = 3


@pytest.fixture
async def shelf(redis_url: str, database_url: str, valkey: Redis) -> AsyncIterator[Site]:
    """A coinche that limits what one may ask, and has some finished games."""
    async with running_site(redis_url, database_url, limits=True) as site:
        for number in range(GAMES):
            await store(RedisLog(valkey), played(PRESETS["announced-701"], 1, table=f"0b-shelf{number}"))
        async with asyncio.timeout(PATIENCE), AsyncClient(base_url=site.url, timeout=PATIENCE) as http:
            while len((await http.get("/api/v1/games")).json()["games"]) < GAMES:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        yield site


class Halted:
    """Exports that stop after their first game until they may go on, and then end as they are told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go_on, self.error, real = asyncio.Event(), False, SqlHistory.export
        halted = self

        async def slowly(*args: Any) -> AsyncIterator[Any]:
            async for game in real(*args):
                yield game
                await halted.go_on.wait()
                if halted.error:
                    raise Refused(Why.BUSY)

        monkeypatch.setattr(SqlHistory, "export", slowly)


async def status(http: AsyncClient) -> int:
    async with http.stream("GET", PATH) as answer:
        return answer.status_code


async def test_of_exports_one_may_have_few_at_once(shelf: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    halted = Halted(monkeypatch)
    async with person(shelf.url, "Nina") as nina, AsyncClient(base_url=shelf.url, timeout=PATIENCE) as stranger:
        async with AsyncExitStack() as held:
            for http, quota in ((stranger, EXPORTS_OF_STRANGERS), (nina.http, EXPORTS)):
                for _ in range(quota.most):
                    answer = await held.enter_async_context(http.stream("GET", PATH))
                    assert answer.status_code == 200
                refused = await http.get(PATH)
                assert (refused.status_code, refused.json()["why"]) == (429, "too_fast")
                assert int(refused.headers["retry-after"]) >= 1
                assert (await http.get("/api/v1/games")).status_code == 200
            halted.go_on.set()
        async with asyncio.timeout(PATIENCE):
            while await status(stranger) != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.2)


@pytest.mark.parametrize("cards", ["true", "false"])
async def test_games_are_read_and_written_in_threads_of_their_own(
    shelf: Site, monkeypatch: pytest.MonkeyPatch, cards: str
) -> None:
    seen: set[str] = set()

    def watch(where: Any, name: str) -> None:
        real = getattr(where, name)

        def watched(*given: Any) -> Any:
            seen.add(threading.current_thread().name)
            return real(*given)

        monkeypatch.setattr(where, name, watched)

    watch(stored, "tell_deals" if cards == "true" else "read_row")
    watch(stored, "read_archived")
    watch(history, "_line")
    async with AsyncClient(base_url=shelf.url, timeout=PATIENCE) as http:
        assert len((await http.get(PATH, params={"cards": cards})).text.splitlines()) == GAMES
    assert seen == {"history_0", "export_0"}


async def test_whoever_goes_is_a_line_in_the_log(
    shelf: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    halted = Halted(monkeypatch)
    with structlog.testing.capture_logs() as logs:
        async with wire(shelf.url) as (reader, writer):
            writer.write(head(f"GET {PATH}?cards=true HTTP/1.1") + b"\r\n")
            async with asyncio.timeout(PATIENCE):
                await reader.readuntil(b'{"id"')
        halted.go_on.set()
        async with asyncio.timeout(PATIENCE):
            while not logs or shelf.parts.hub.visits:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    assert logs == [{"log_level": "warning", "event": "an export broke off", "games": 1, "why": "the other side has gone"}]
    assert not [one for one in caplog.records if one.levelno >= logging.WARNING]


async def test_an_export_whose_store_goes_away_is_cut_and_a_line_in_the_log(
    shelf: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    halted = Halted(monkeypatch)
    halted.error = True
    with structlog.testing.capture_logs() as logs:
        async with AsyncClient(base_url=shelf.url, timeout=PATIENCE) as http, http.stream("GET", PATH) as answer:
            lines = answer.aiter_lines()
            await anext(lines)
            halted.go_on.set()
            with pytest.raises(RemoteProtocolError):
                await anext(lines)
    assert logs == [{"log_level": "warning", "event": "an export broke off", "games": 1, "why": "busy"}]
    assert not [one for one in caplog.records if one.levelno >= logging.WARNING]
