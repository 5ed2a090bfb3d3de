"""People at a table whose log has lost its end, each at a process of their own: they see where it stands, and play on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from random import Random

import pytest
from redis.asyncio import Redis

from tests.losses import keep
from tests.people import Line, Site, person, play, running_site, started


@pytest.fixture
async def sites(redis_url: str, database_url: str) -> AsyncIterator[list[Site]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(running_site(redis_url, database_url)) for _ in range(2)]


async def test_all_are_welcomed_anew_and_the_game_goes_on(sites: list[Site], redis: Redis) -> None:
    async with AsyncExitStack() as stack:
        four = [
            await stack.enter_async_context(person(sites[number % 2].url, name))
            for number, name in enumerate(("Nina", "Paul", "Rosa", "Omar"))
        ]
        table = await started(four, options={"target": 300})
        lines = [await stack.enter_async_context(one.at(table)) for one in four]
        await _moves(lines, 5)
        then = await keep(redis, table)
        await _moves(lines, 3)
        lost = [line.at for line in lines]
        await then.bring_back(redis)
        for line in lines:
            welcome = await line.until(lambda frame: frame["type"] == "welcome")
            assert welcome["at"][0] == 2
            assert welcome["at"][1] < min(at[1] for at in lost)
        await asyncio.gather(*(play(line, Random(number)) for number, line in enumerate(lines)))
        assert {tuple(line.at) for line in lines} == {tuple(lines[0].at)}
        assert lines[0].at[0] == 2
        for line in lines:
            moments = [frame["at"] for frame in line.frames if frame["type"] in ("welcome", "step")]
            assert moments == sorted(moments)
            assert len(line.of("welcome")) == 2


async def _moves(lines: list[Line], count: int) -> None:
    """So many moves by whoever's turn it is; all have heard of the last."""
    for _ in range(count):
        for line in lines:
            await line.until_state(lambda one: _seat_in_turn(one) is not None)
        seat = _seat_in_turn(lines[0])
        assert seat is not None
        mover = lines[seat]
        before, moves = mover.turn, (mover.view or {})["moves"]
        if moves["kind"] == "calls":
            action = {"kind": "pass"}
        else:
            action = {"kind": "play", "card": next(one["card"] for one in moves["cards"] if one["why"] is None)}
        assert (await mover.ask(action))["type"] == "ack"
        for line in lines:
            await line.until_state(lambda one, turn=before: one.turn > turn)  # type: ignore[misc]


def _seat_in_turn(line: Line) -> int | None:
    return None if line.view is None else line.view["turn"]
