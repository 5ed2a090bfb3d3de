"""More questions at once than there are connections to the store: each waits for its turn, and no connection is lost."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from app.game.refusal import Refused
from app.store import server
from app.store.server import Store, connect, reply

FEW, MANY = 3, 100


def few(url: str) -> str:
    """The address of a store to which there are only few connections."""
    return f"{url}{'&' if '?' in url else '?'}max_connections={FEW}"


async def ask(store: Store, word: str) -> str:
    return str(await reply(store.echo(word)))


async def all_answered(store: Store) -> bool:
    words = [*map(str, range(MANY))]
    return await asyncio.gather(*(ask(store, word) for word in words)) == words


async def test_all_are_answered(redis_url: str) -> None:
    async with connect(few(redis_url)) as store:
        assert await all_answered(store)


async def test_those_who_go_away_take_no_connection_with_them(redis_url: str) -> None:
    async with connect(few(redis_url)) as store:
        for moment in range(20):
            asked = [asyncio.create_task(ask(store, "x")) for _ in range(MANY)]
            for _ in range(moment):
                await asyncio.sleep(0)
            for one in asked[::2]:
                one.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        assert await all_answered(store)


async def test_a_store_that_comes_back_is_asked_by_all_connections(redis_url: str, tmp_path: Path) -> None:
    path = tmp_path / "later.sock"
    async with connect(few(f"unix://{path}")) as store:
        for answer in await asyncio.gather(*(ask(store, "x") for _ in range(2 * FEW)), return_exceptions=True):
            assert isinstance(answer, Refused)
        path.symlink_to(urlsplit(redis_url).path)
        assert await all_answered(store)


async def test_one_whose_turn_does_not_come_is_refused(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with connect(few(redis_url)) as store:
        lines = [store.pubsub() for _ in range(FEW)]
        for line in lines:
            await line.subscribe("anything")
        with monkeypatch.context() as impatient:
            impatient.setattr(server, "CROWD_SECONDS", 0.05)
            with pytest.raises(Refused):
                await ask(store, "x")
        for line in lines:
            await line.aclose()  # type: ignore[no-untyped-call]
        assert await all_answered(store)
