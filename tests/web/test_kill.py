"""A server that is killed in the middle of a trick, and started again: nobody at the table has lost anything."""

import asyncio
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

from app.embedded import running
from app.store.log import RedisLog
from app.store.server import connect
from app.tables.commands import InGame
from app.tables.mirror import Mirror
from tests.people import Json, Line, choice, elsewhere, people, play, started
from tests.serving import serving, settled

NAMES = ("Nina", "Paul", "Rosa", "Omar")


async def play_into_a_trick(lines: list[Line], dice: Random) -> tuple[list[Json], Json]:
    """Until two cards lie in the third trick; returns every acknowledgement there was, and the card to be played next."""
    acks: list[Json] = []
    while True:
        for line in lines:
            await line.until_state(lambda line: line.view is not None and line.view["phase"] != "dealing")
        view = lines[0].view
        assert view is not None
        line = lines[view["turn"]]
        action = choice(line.state, dice)
        assert action is not None
        if view["phase"] == "playing" and view["trick"]["number"] == 3 and len(view["trick"]["cards"]) == 2:
            return acks, action
        answer = await line.ask(action)
        assert answer["type"] == "ack"
        acks.append(answer)
        for one in lines:
            await one.until_at(answer["at"])


async def test_killed_in_the_middle_of_a_trick_the_game_goes_on(tmp_path: Path) -> None:
    dice = Random(4)
    async with AsyncExitStack() as stack:
        with serving(tmp_path) as coinche:
            four = await stack.enter_async_context(people(coinche.url, *NAMES))
            table = await started(four, "contree-701", options={"target": 200})
            lines = [await stack.enter_async_context(one.at(table)) for one in four]
            acks, action = await play_into_a_trick(lines, dice)
            before = [line.view or {} for line in lines]
            seat, turn = before[0]["turn"], lines[0].turn
            await lines[seat].act(action, turn, "on-its-way")
            coinche.stop(signal.SIGKILL)
            for line in lines:
                await line.closed()
        assert settled(tmp_path) == []

        with serving(tmp_path) as coinche:
            back = [await stack.enter_async_context(elsewhere(one, coinche.url)) for one in four]
            lines = [await stack.enter_async_context(one.at(table)) for one in back]
            for line, seen in zip(lines, before, strict=True):
                assert line.view is not None
                gone = {action["card"]} if line.view["turn"] != seat and seen["viewer"] == seat else set()
                assert set(line.view["hand"]) == set(seen["hand"]) - gone
            answer = await lines[seat].ask(action, turn, "on-its-way")
            assert answer["type"] == "ack"
            acks.append(answer)
            refused = await asyncio.gather(*(play(line, Random(number)) for number, line in enumerate(lines)))
            assert {no["why"] for one in refused for no in one} <= {"stale_turn", "not_now"}
            totals = lines[0].view["totals"]  # type: ignore[index]
            for line in lines:
                await line.websocket.close()
            coinche.stop(signal.SIGTERM)

    with running(tmp_path) as servers:
        async with connect(servers.redis_url) as redis:
            stored = await RedisLog(redis).load(table)
    assert stored is not None
    assert [entry.seq for entry in stored.entries] == list(range(stored.entries[0].seq, stored.seq + 1))
    by_seq = {entry.seq: entry for entry in stored.entries}
    assert len({ack["at"][1] for ack in acks}) == len(acks)
    assert all(isinstance(by_seq[ack["at"][1]].command, InGame) for ack in acks)
    game = Mirror.of(stored).table.game
    assert game is not None
    assert totals == {"A": game.totals.A, "B": game.totals.B}
