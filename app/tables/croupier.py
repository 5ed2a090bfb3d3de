"""What the house does unasked: it starts games, deals, plays for its own players and for those whose time is up."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal

import structlog

from app import metrics
from app.bots.player import choose
from app.game.actions import Deal, Play, Redeal, Speak
from app.game.refusal import Refused, Why
from app.game.view import view
from app.tables.commands import HOUSE, Command, GiveBack, HouseDeals, HousePlays, HouseStarts
from app.tables.duty import Duty, duty
from app.tables.mirror import Mirror
from app.tables.play import Tables
from app.tables.ports import Dice, GameLog, NewerFormat
from app.tables.table import Table
from app.tables.tasks import KeyedWorkers, heed

LOOK_SECONDS = 0.2
"""How often the croupier looks for duties whose time has come."""

AWAY_SECONDS = 1.0
"""How long it waits before it asks a store again that did not answer."""

TABLES_AT_ONCE = 64
"""At so many tables something is done at the same time, so that none waits while the store answers for another."""

LEASE_MS = 3_000
"""How long one process may take over a duty before another may try."""

_log = structlog.get_logger()

_SETTLED = (Why.STALE_TURN, Why.NOT_NOW, Why.NOT_YOUR_TURN, Why.NO_GAME, Why.NOT_READY, Why.GAME_RUNNING, Why.BUSY)
"""Refusals that mean only that somebody else was faster."""


@dataclass(frozen=True, slots=True)
class _Look:
    """Why a table is looked at: its duty became due at once, here or elsewhere (`called`); or at `now` it was claimed, or its
    time was moved.
    """

    why: Literal["at_once", "called", "claimed", "moved"]
    now: int | None = None


class Croupier:
    """Does the duties of all tables, together with the croupiers of other processes; twice is once."""

    def __init__(self, tables: Tables, log: GameLog, dice: Dice) -> None:
        self._tables = tables
        self._log = log
        self._dice = dice
        self._workers = KeyedWorkers(self._attend, TABLES_AT_ONCE)
        self._is_leaving = False

    async def run(self, calls: AsyncIterator[str] | None = None) -> None:
        """Work until cancelled: on what this process makes due, what `calls` tells of others, and what nobody has done."""
        self._tables.on_duty = lambda table: self._workers.submit(table, _Look("at_once"))
        async with asyncio.TaskGroup() as group:
            group.create_task(self._workers.run())
            group.create_task(self._look())
            if calls is not None:
                group.create_task(self._listen(calls))

    def leave(self) -> None:
        """Take no more work from others; what this process makes due itself it still does."""
        self._is_leaving = True

    async def _listen(self, calls: AsyncIterator[str]) -> None:
        async for table in calls:
            self._workers.submit(table, _Look("called"))

    async def _attend(self, table: str, look: _Look) -> None:
        """Do what is to be done at a table; where one duty follows another the table comes back by itself."""
        if look.why == "moved":
            await self._tell(table, look.now)
        else:
            await self._do(table, look)

    async def _look(self) -> None:
        """What has become due by the store's clock, whoever made it so."""
        while not self._is_leaving:
            heed()
            try:
                claimed = await self._log.claim(LEASE_MS)
            except Refused:
                await asyncio.sleep(AWAY_SECONDS)
                continue
            except Exception:
                _log.exception("no duties can be claimed")
                await asyncio.sleep(AWAY_SECONDS)
                continue
            for table in claimed.moved:
                self._workers.submit(table, _Look("moved", claimed.now))
            for table in claimed.tables:
                self._workers.submit(table, _Look("claimed", claimed.now))
            await asyncio.sleep(LOOK_SECONDS)

    async def _do(self, table: str, look: _Look) -> None:
        """Do the table's duty if its time has come."""
        try:
            if look.why == "called" and (self._is_leaving or not await self._log.take(table, LEASE_MS)):
                return
            # What has become due here is known here; if others were faster, the append says so.
            at_hand = self._tables.at_hand(table) if look.why == "at_once" else None
            mirror = at_hand or await self._tables.mirror(table)
            pending = duty(mirror.table)
            if pending is not None and _is_due(mirror, pending, look.now):
                await self._tables.act(table, HOUSE, f"{pending.turn}", self._command(mirror.table, pending), pending.turn)
                metrics.duties.inc()
        except NewerFormat:
            pass  # a newer process does it
        except Refused as refused:
            if refused.why not in _SETTLED:
                _log.error("duty refused", table=table, why=refused.why.value)
        except Exception:
            # One table's trouble is not the others'; the duty stays in the store and comes back.
            _log.exception("duty failed", table=table)

    async def _tell(self, table: str, now: int | None) -> None:
        """The store has already moved the time; this only lets the table see it."""
        try:
            await self._tables.act(table, HOUSE, f"back:{now}", GiveBack())
        except NewerFormat:
            pass
        except Refused as refused:
            _log.warning("time given back untold", table=table, why=refused.why.value)
        except Exception:
            _log.exception("time given back untold", table=table)

    def _command(self, table: Table, pending: Duty) -> Command:
        if pending.seat is None:
            return HouseDeals(self._dice.deal()) if table.is_playing else HouseStarts(self._dice.dealer())
        return HousePlays(_choice(table, pending))


def _is_due(mirror: Mirror, pending: Duty, now: int | None) -> bool:
    if now is None:
        return pending.after == 0
    return mirror.due is not None and mirror.due <= now


def _choice(table: Table, pending: Duty) -> Speak | Redeal | Play:
    """What the player of the house does on that seat; it is shown that seat's view and nothing else."""
    if table.game is None or pending.seat is None:
        raise Refused(Why.NO_GAME)
    action = choose(view(table.game, pending.seat))
    if action is None or isinstance(action, Deal):
        raise Refused(Why.NOT_YOUR_TURN)
    return action
