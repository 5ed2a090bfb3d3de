"""Four people play whole games over their sockets."""

import asyncio
from contextlib import AsyncExitStack
from random import Random

import pytest

from app.game.rules import PRESETS
from tests.people import people, play, started


@pytest.mark.parametrize("preset", PRESETS)
async def test_a_game_is_played_to_its_end(url: str, preset: str) -> None:
    async with people(url, "Nina", "Paul", "Rosa", "Omar") as four, AsyncExitStack() as stack:
        table = await started(four, preset, options={"target": 300})
        lines = [await stack.enter_async_context(one.at(table)) for one in four]
        refused = await asyncio.gather(*(play(line, Random(seat)) for seat, line in enumerate(lines)))
        assert [no for one in refused for no in one if no["why"] not in ("stale_turn", "not_now", "other_bid")] == []
        assert len({str(line.view and (line.view["totals"], line.view["sheet"])) for line in lines}) == 1
        assert max(lines[0].view["totals"].values()) >= 300  # type: ignore[index]
