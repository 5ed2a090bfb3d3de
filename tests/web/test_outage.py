"""What a connection is told when the store is away, and when the process goes."""

from typing import Any

import pytest
from httpx2 import Limits

from app.game.refusal import Refused, Why
from app.web.server import Server
from app.web.socket import TRY_AGAIN
from tests.people import Site, open_table, person


async def test_who_cannot_join_now_is_sent_away_to_come_back(url: str, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that followed nothing would look alive and hear nothing."""

    async def away(*_: Any) -> None:
        raise Refused(Why.BUSY)

    async with person(url, "Nina") as nina, nina.socket() as line:
        table = await open_table(nina)
        monkeypatch.setattr(site.parts.hub, "join", away)
        await line.send({"type": "join", "table": table})
        assert await line.closed() == TRY_AGAIN


async def test_who_comes_to_a_process_that_goes_is_sent_on(url: str, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site.parts.hub, "is_leaving", True)
    async with person(url, "Nina") as nina, nina.socket() as line:
        assert (await line.until(lambda frame: frame["type"] == "bye"))["after"] == 0


def test_an_idle_connection_is_closed_by_the_client_first(site: Site) -> None:
    """A request that is on its way while the server closes is lost."""
    assert Server(site.app, "warning", lambda: None).config.timeout_keep_alive > 10 * (Limits().keepalive_expiry or 0)
