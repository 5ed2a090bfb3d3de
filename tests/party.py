"""Four people who play game after game through `app.client`, while a test does something to the processes that serve them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from app.client import Guest, TableLine
from app.game.refusal import Refused, Why
from tests.people import choice

Json = dict[str, Any]

PATIENCE = 120  # seconds after which something hangs; never a measure of speed


@dataclass(eq=False)
class Party:
    """A table, its guests, and what they have done so far. `refused` stays empty as long as nothing is lost or doubled."""

    table: str
    guests: list[Guest]
    lines: list[TableLine]
    pause: float
    acks: list[tuple[int, int]] = field(default_factory=list)
    refused: list[Json] = field(default_factory=list)
    games: int = 0
    _is_last: bool = False
    playing: asyncio.Task[None] = field(init=False)

    async def more(self, moves: int = 12) -> None:
        """Wait until so many more moves have been acknowledged."""
        wanted = len(self.acks) + moves
        try:
            async with asyncio.timeout(PATIENCE):
                while len(self.acks) < wanted and not self.playing.done():  # noqa: ASYNC110 -- four are waited for at once
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(f"the game is stuck: {self}") from None

    def __str__(self) -> str:
        seen = [(line.at, line.moment and line.moment["turn"], line.view and line.view["phase"]) for line in self.lines]
        return f"{self.games} games, {len(self.acks)} acks, the four see {seen}"

    def end(self) -> None:
        """The game that runs is the last one."""
        self._is_last = True

    async def ended(self) -> None:
        """Wait for the end of the last game."""
        async with asyncio.timeout(PATIENCE):
            await asyncio.shield(self.playing)

    async def play(self) -> None:
        """Play until `end`, and then that game to its end."""
        while not (self._is_last and self.games):
            await asyncio.gather(*(self._begin(guest) for guest in self.guests))
            await asyncio.gather(*(self._play(seat, line) for seat, line in enumerate(self.lines)))
            self.games += 1

    async def _begin(self, guest: Guest) -> None:
        what = "start" if guest is self.guests[0] else "ready"
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    await guest.ask("POST", f"/tables/{self.table}/{what}", {})
                except ConnectionError:  # its answer was lost
                    await asyncio.sleep(0.05)
                except Refused as no:
                    if no.why not in (Why.BUSY, Why.NEWER_RELEASE):  # the one whose answer was lost had done it
                        return
                    await asyncio.sleep(0.05)
                else:
                    return

    async def _play(self, seat: int, line: TableLine) -> None:
        dice, done, is_new = Random(seat), -1, False
        while True:
            moment = line.moment
            is_over = moment is None or moment["view"] is None or moment["view"]["phase"] == "over"
            if moment is None or (is_over and not is_new):
                await self._news(line)
                continue
            if is_over:
                return
            is_new = True
            action = choice(moment, dice) if moment["turn"] != done else None
            if moment["view"]["phase"] == "dealing" and moment["turn"] != done and seat not in moment["next"]:
                action = {"kind": "next"}
            if action is None:
                await self._news(line)
                continue
            done = moment["turn"]
            await asyncio.sleep(self.pause)
            try:
                async with asyncio.timeout(PATIENCE):
                    self.acks.append(await line.act(action, None if action["kind"] == "coinche" else done))
            except Refused as no:
                if action["kind"] not in ("next", "coinche"):  # the sheet is gone by itself, or another was faster
                    self.refused.append(action | {"seat": seat, "why": no.why.value})

    async def _news(self, line: TableLine) -> None:
        async with asyncio.timeout(PATIENCE):
            await line.news(line.at)


@asynccontextmanager
async def party(url: str, people: int = 4, pause: float = 0.02) -> AsyncIterator[Party]:
    """People at a table behind this address, who have begun to play; the house takes the other seats."""
    async with AsyncExitStack() as stack:
        guests = [await stack.enter_async_context(Guest(url)) for _ in range(people)]
        for number, guest in enumerate(guests):
            await guest.sign_in(f"Guest {number}")
        opened = await guests[0].ask("POST", "/tables", {"options": {"target": 200}, "listed": False})
        for seat, guest in enumerate(guests[1:], 1):
            await guest.ask("POST", f"/tables/{opened['id']}/sit", {"seat": seat})
        lines = [await stack.enter_async_context(guest.follow(opened["id"])) for guest in guests]
        one = Party(opened["id"], guests, lines, pause)
        one.playing = asyncio.create_task(one.play())
        try:
            yield one
            one.end()
            await one.ended()
        finally:
            one.playing.cancel()
            await asyncio.gather(one.playing, return_exceptions=True)
