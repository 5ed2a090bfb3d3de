"""The examples work as they are told."""

import asyncio
import os
import sys
from pathlib import Path
from random import Random

from tests.people import PATIENCE, open_table, person, play

BOT = Path(__file__).parents[2] / "examples" / "bot.py"


async def test_the_bot_sits_down_by_a_link_and_plays_a_game(url: str) -> None:
    async with person(url, "Nina") as nina:
        table = await open_table(nina, "classic-1000", options={"target": 200})
        made = await nina.post("/me/bots", {"name": "Hal"}, 201)
        bot = await asyncio.create_subprocess_exec(
            *(sys.executable, str(BOT), f"{url}/t/{table}"),
            env=os.environ | {"COINCHE_TOKEN": made["token"]["secret"], "PYTHONPATH": str(BOT.parents[1])},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        async with nina.at(table) as line:
            await line.until_state(lambda line: any(seat["bot"] and seat["ready"] for seat in line.table["seats"]))
            await nina.post(f"/tables/{table}/start")
            async with asyncio.timeout(2 * PATIENCE):
                await play(line, Random(5))
                said, _ = await bot.communicate()
            assert line.view is not None
            assert said.decode() == f"side {line.view['winner']} has won\n"
            assert not any(seat["away"] for seat in line.table["seats"])
    assert bot.returncode == 0
