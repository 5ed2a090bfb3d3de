"""A process of coinche without its web: tables, croupier and bell on a store, and somebody who plays there."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

from app.bots.player import choose
from app.game.actions import Deal
from app.game.refusal import Refused, Why
from app.game.seats import Seat
from app.game.view import view
from app.store.bell import RedisBell
from app.store.dice import SystemDice
from app.store.lobby import RedisLobby
from app.store.log import RedisLog
from app.store.server import Store, connect
from app.tables.commands import Actor, Command, InGame, ReadSheet, Sit, Start
from app.tables.croupier import Croupier
from app.tables.lobby import HOUSES
from app.tables.play import Tables
from app.tables.ports import At, Entry, Rang
from app.tables.table import Table
from tests.seats import NINA, RULES, opened

T = TypeVar("T")
LONG = replace(RULES, target=1_000)
"""Rules under which something can happen in the middle of a game."""


@dataclass
class Process:
    """What one process has of the tables."""

    redis: Store
    log: RedisLog
    bell: RedisBell
    lobby: RedisLobby
    tables: Tables
    heard: set[str] = field(default_factory=set)
    """The tables whose bell has rung here."""


@asynccontextmanager
async def process(url: str, replicas: int = 0) -> AsyncIterator[Process]:
    """A process at work on the store at this URL."""
    async with connect(url) as redis:
        log, bell, lobby = RedisLog(redis, replicas), RedisBell(redis), RedisLobby(redis)
        await log.prepare()
        await bell.prepare()
        tables = Tables(log, lobby)
        croupier = Croupier(tables, log, SystemDice())
        async with asyncio.TaskGroup() as group:
            made = Process(redis, log, bell, lobby, tables)
            working = [group.create_task(croupier.run()), group.create_task(_hear(made))]
            yield made
            for one in working:
                one.cancel()
        await bell.close()


async def _hear(one: Process) -> None:
    async for rang in one.bell.rings():
        if isinstance(rang, Rang):
            one.heard.add(rang.table)
            with suppress(Refused):
                await one.tables.mirror(rang.table)


@dataclass
class Nina:
    """Nina at a table with three players of the house. She asks now one process and now the other, until she is answered."""

    processes: Sequence[Process]
    table: str
    acks: dict[At, Command] = field(default_factory=dict)

    async def begin(self) -> None:
        """Open the table and let the house fill it."""
        await self._answer(lambda one: one.tables.open(opened(id=self.table, rules=LONG)))
        await self._do(Sit(NINA, Seat.FIRST), "sit")
        await self._do(Start(HOUSES), "start")

    async def play(self) -> None:
        """Play until the game is over."""
        await self.begin()
        over = False
        while not over:
            over = await self.move()
            await asyncio.sleep(0.01)

    async def move(self) -> bool:
        """Do what there is to do; whether the game is over."""
        table = await self.look()
        if table.game is None or table.is_playing:
            command = _wish(table)
            if command is not None:
                await self._do(command, f"{table.turn}:{command}", table.turn)
            return False
        return True

    async def look(self) -> Table:
        mirror = await self._answer(lambda one: one.tables.mirror(self.table))
        return mirror.table

    async def _do(self, command: Command, cid: str, turn: int | None = None) -> None:
        try:
            at = await self._answer(lambda one: one.tables.act(self.table, Actor(NINA.id), cid, command, turn))
        except Refused as refused:
            if refused.why not in (Why.STALE_TURN, Why.NOT_NOW):
                raise
        else:
            self.acks[at] = command

    async def _answer(self, ask: Callable[[Process], Awaitable[T]]) -> T:
        for number in range(10_000):
            try:
                return await ask(self.processes[number % len(self.processes)])
            except Refused as refused:
                if refused.why is not Why.BUSY:
                    raise
                await asyncio.sleep(0.05)
        raise AssertionError("nobody answers")

    def kept(self, entries: Sequence[Entry], epoch: int | None = None) -> bool:
        """Whether all that was acknowledged (in this epoch) stands in the log, at its place, as far back as that reaches."""
        stored = {entry.seq: (entry.by, entry.command) for entry in entries}
        mine = [(seq, command) for (of, seq), command in self.acks.items() if epoch in (None, of) and seq >= min(stored)]
        return all(stored.get(seq) == (NINA.id, command) for seq, command in mine)


def _wish(table: Table) -> Command | None:
    seat = table.seat_of(NINA.id)
    if table.game is None or seat is None:
        return None
    if table.in_turn is None:
        return ReadSheet() if table.game.deals and seat not in table.read else None
    action = choose(view(table.game, seat)) if table.in_turn is seat else None
    return None if action is None or isinstance(action, Deal) else InGame(action)
