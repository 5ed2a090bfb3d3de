"""Seats are freed, tables pass on, and nobody has more games running than one may: over REST and the socket."""

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest

from app.tables import lobby, presence
from app.tables.limits import Quota
from app.web import hub
from app.web import tables as routes
from tests.people import Json, Person, Site, open_table, people, running_site
from tests.receiver import eventually


@pytest.fixture
async def limited(redis_url: str, database_url: str) -> AsyncIterator[Site]:
    async with running_site(redis_url, database_url, limits=True) as one:
        yield one


async def two_seated(url_of: list[Person]) -> str:
    """Nina's table, at which Paul sits opposite."""
    nina, paul = url_of
    table = await open_table(nina)
    await paul.post(f"/tables/{table}/sit", {"seat": 2})
    return table


async def players(who: Person, table: str) -> list[str | None]:
    return [seat["player"] for seat in (await who.get(f"/tables/{table}"))["seats"]]


async def test_the_host_frees_a_seat_over_rest_and_nobody_else_does(url: str) -> None:
    async with people(url, "Nina", "Paul") as [nina, paul]:
        table = await two_seated([nina, paul])
        refused = await paul.http.delete(f"/api/v1/tables/{table}/seats/0")
        assert (refused.status_code, refused.json()["why"]) == (403, "not_host")
        assert await players(nina, table) == [nina.id, None, paul.id, None]
        await nina.delete(f"/tables/{table}/seats/2")
        assert await players(nina, table) == [nina.id, None, None, None]
        again = await nina.http.delete(f"/api/v1/tables/{table}/seats/2")
        assert again.json()["why"] == "nobody_there"


async def test_the_host_frees_a_seat_over_the_socket_and_whoever_sat_there_is_told(url: str) -> None:
    async with people(url, "Nina", "Paul") as [nina, paul]:
        table = await two_seated([nina, paul])
        async with nina.at(table) as host, paul.at(table) as guest:
            await guest.send({"type": "act", "cid": "a", "action": {"kind": "free_seat", "seat": 0}})
            await guest.until(lambda frame: frame["type"] == "refused" and frame["why"] == "not_host")
            await host.send({"type": "act", "cid": "b", "action": {"kind": "free_seat", "seat": 2}})
            await host.until(lambda frame: frame["type"] == "ack")
            await guest.until_state(lambda line: line.table["seats"][2]["kind"] == "free")
        assert await players(nina, table) == [nina.id, None, None, None]


async def test_a_table_whose_host_is_gone_passes_on_to_somebody_who_is_there(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "HOST_GONE_MS", 0)
    async with people(url, "Nina", "Paul") as [nina, paul]:
        table = await two_seated([nina, paul])
        async with paul.at(table) as line:
            await line.until_state(lambda line: line.table["host"] == paul.id)
        assert await players(nina, table) == [nina.id, None, paul.id, None]  # and keeps his seat


async def test_lists_tell_who_is_there(url: str) -> None:
    async with people(url, "Nina", "Paul") as [nina, paul]:
        table = await two_seated([nina, paul])

        async def listed() -> Json:
            return next(one for one in (await nina.get("/tables"))["tables"] if one["id"] == table)

        async with paul.at(table):

            async def is_told() -> bool:
                return [seat["present"] for seat in (await listed())["seats"]] == [False, False, True, False]

            await eventually(is_told)


async def begin(who: Person, status: int = 200) -> str:
    """One more game with the house."""
    table = await open_table(who)
    await who.post(f"/tables/{table}/start", status=status)
    return table


async def is_playing(who: Person, table: str) -> bool:
    return bool((await who.get(f"/tables/{table}"))["status"] == "playing")


async def test_a_person_has_so_many_games_running_and_may_end_one_for_another(
    limited: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = Quota("games", 2)
    for module in (routes, lobby):
        monkeypatch.setattr(module, "GAMES_OF_PERSON", small)
    async with people(limited.url, "Nina", "Paul") as [nina, paul]:
        first, second = await begin(nina), await begin(nina)
        for table in (first, second):
            await eventually(partial(is_playing, nina, table))
        third = await begin(nina, status=409)
        answer = await nina.http.post(f"/api/v1/tables/{third}/ready")
        assert (answer.status_code, answer.json()["why"]) == (409, "too_many_games")
        assert not await is_playing(nina, third)
        await begin(paul)  # who is somebody else
        await nina.post(f"/tables/{first}/leave")
        await nina.post(f"/tables/{third}/start")


async def test_an_address_has_so_many_games_running(limited: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "GAMES_OF_ADDRESS", Quota("games", 2))
    async with people(limited.url, "Nina", "Paul", "Rosa") as three:
        tables: list[Any] = [await begin(who) for who in three[:2]]
        for who, table in zip(three, tables, strict=False):
            await eventually(partial(is_playing, who, table))
        await begin(three[2], status=409)


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "LOOK_SECONDS", 0.05)
