"""The one path by which anything happens at a table: load, judge, append, and if the log has moved on, once more."""

import asyncio
import random
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import structlog

from app import metrics
from app.game.events import GameWon
from app.game.refusal import Refused, Why
from app.tables.commands import Actor, Command
from app.tables.duty import duty
from app.tables.judge import decide, may_close
from app.tables.mirror import End, Mirror
from app.tables.notices import notice_of
from app.tables.ports import Appended, At, Entry, Finished, GameLog, Known, Lobby, NewerFormat, Stale, Tail, Timer
from app.tables.table import (
    GameAbandoned,
    GameStarted,
    Happened,
    HostChanged,
    Place,
    ReadyChanged,
    SeatLeft,
    SeatTaken,
    Table,
    evolve_all,
)

TRIES = 40
"""How often an action is judged because others acted in between: four seats and the house may all do so at once."""

PAUSE_SECONDS = 0.005
"""After the n-th try one waits up to n times so long: whoever is alone then gets through."""

KEPT = 2_000
"""How many tables a process keeps at hand."""

_log = structlog.get_logger()


class Tables:
    """The live tables, as one process sees them."""

    def __init__(self, log: GameLog, lobby: Lobby) -> None:
        self._log = log
        self._lobby = lobby
        self._mirrors: OrderedDict[str, Mirror] = OrderedDict()
        self._newer: set[str] = set()
        self.on_duty: Callable[[str], None] = lambda table: None
        """Called with a table where the house has something to do at once."""

    async def open(self, table: Table) -> Mirror:
        """Open a table; nobody sits at it yet."""
        epoch = await self._log.open(table)
        return self._keep(Mirror(epoch, table, 0, None))

    async def mirror(self, table: str) -> Mirror:
        """The table as the log has it now. Raises `Refused` if there is none of that name, `NewerFormat` as `catch_up` does."""
        known = self._mirrors.get(table)
        if known is None:
            try:
                stored = await self._log.load(table)
            except NewerFormat as newer:
                self._note_newer(table, newer)
                raise
            if stored is None:
                raise Refused(Why.NO_SUCH_TABLE)
            # Another task may have loaded it meanwhile; there is one mirror of a table, or watchers would miss entries.
            known = self._mirrors.get(table) or self._keep(Mirror.of(stored))
        self._mirrors.move_to_end(table)
        await self.catch_up(known)
        return known

    def at_hand(self, table: str) -> Mirror | None:
        """The table as this process last saw it, if it did."""
        return self._mirrors.get(table)

    async def catch_up(self, mirror: Mirror) -> bool:
        """Take up what others have written; whether there was anything.

        A log that has lost its end begins a new epoch, and the mirror begins anew. Raises `NewerFormat` where only a newer
        release can read on; this process then serves the table no longer.
        """
        known = mirror.at
        try:
            while not await self._take_up(mirror):
                pass
        except NewerFormat as newer:
            self._note_newer(mirror.table.id, newer)
            self._end(mirror, "newer_release")
            raise
        except Refused as refused:
            if refused.why is Why.NO_SUCH_TABLE:
                self._end(mirror, "no_such_table")
            raise
        return mirror.at != known

    async def _take_up(self, mirror: Mirror) -> bool:
        """Look into the log once; whether the mirror is now what it tells."""
        asked = mirror.at
        tail = await self._log.tail(mirror.table.id, mirror.seq)
        if tail is None:
            raise Refused(Why.NO_SUCH_TABLE)
        if mirror.at != asked:  # another task was faster; what was found may be older than what it found
            return mirror.at >= tail.at
        if mirror.is_ahead_of(tail):
            await self._begin_epoch(mirror, tail)
            return False
        if mirror.is_followed_by(tail):
            for entry in tail.entries:
                mirror.apply(entry)
            return True
        stored = await self._log.load(mirror.table.id)
        if stored is None:
            raise Refused(Why.NO_SUCH_TABLE)
        if (stored.epoch, stored.seq) > mirror.at:
            mirror.start_anew(stored)
        return True

    async def _begin_epoch(self, mirror: Mirror, tail: Tail) -> None:
        """All processes find the same loss; one of them begins the epoch, and the others find that too."""
        epoch = max(mirror.epoch, tail.at[0]) + 1
        if await self._log.begin_epoch(mirror.table.id, tail.at, epoch):
            metrics.lost_ends.inc()
            _log.error("a log has lost its end", table=mirror.table.id, had=mirror.at, has=tail.at, epoch=epoch)

    def _note_newer(self, table: str, newer: NewerFormat) -> None:
        """Say once of each table that it is left to a newer release: after going back to this one there may be none."""
        if table not in self._newer and len(self._newer) < KEPT:
            self._newer.add(table)
            _log.warning("a newer release has written this table, and it is left to that", table=table, newer=str(newer))

    def _end(self, mirror: Mirror, why: End) -> None:
        if self._mirrors.get(mirror.table.id) is mirror:
            del self._mirrors[mirror.table.id]
        for watcher in tuple(mirror.watchers):
            watcher.on_end(mirror, why)

    async def act(self, table: str, by: Actor, cid: str, command: Command, turn: int | None = None) -> At:
        """Do what is asked, once for each `cid` of one asker; returns the moment it was stored.

        Raises `Refused`: also with `STALE_TURN` when a turn is named that is no longer the current one, and with `BUSY` when
        others were faster too often.
        """
        mirror = self._mirrors.get(table) or await self.mirror(table)
        name = _name(by, cid)
        for attempt in range(TRIES):
            refused: Refused | None = None
            try:
                events = self._judge(mirror.table, by, command, turn)
            except Refused as no:
                events, refused = (), no
            if not events:
                # Judged on an old state, or answered before: only the log knows.
                if await self.catch_up(mirror):
                    continue
                judged_at = mirror.at
                known = await self._log.find(table, name)
                if known is None and refused is not None:
                    raise refused
                return judged_at if known is None else (mirror.epoch, known)
            before = mirror.table
            match await self._append(mirror, by, name, command, events):
                case Appended(seq=seq):
                    await self._after(before, mirror, events)
                    return (mirror.epoch, seq)
                case Known(seq=seq):
                    await self.catch_up(mirror)
                    return (mirror.epoch, seq)
                case Stale():
                    await asyncio.sleep(random.uniform(0, PAUSE_SECONDS * attempt))
                    await self.catch_up(mirror)
        raise Refused(Why.BUSY)

    async def refuse(self, table: str, by: Actor, cid: str, why: Why) -> At:
        """Raises `Refused`, unless this command was stored before: then it is answered as it was."""
        mirror = await self.mirror(table)
        known = await self._log.find(table, _name(by, cid))
        if known is None:
            raise Refused(why)
        return (mirror.epoch, known)

    async def close(self, table: str, by: Actor) -> None:
        """Close a table for good, whoever is connected; raises `Refused`, with `BUSY` while a finished game is not archived."""
        for attempt in range(TRIES):
            mirror = await self.mirror(table)
            may_close(mirror.table, by)
            if await self._log.forget(table, mirror.at) == "forgotten":
                self._end(mirror, "no_such_table")
                with suppress(Refused):
                    await self._show(mirror.table, replace(mirror.table, places=(Place(),) * 4))
                return
            await asyncio.sleep(random.uniform(0, PAUSE_SECONDS * attempt))
        raise Refused(Why.BUSY)

    def _judge(self, table: Table, by: Actor, command: Command, turn: int | None) -> tuple[Happened, ...]:
        if turn is not None and turn != table.turn:
            raise Refused(Why.STALE_TURN)
        return decide(table, by, command)

    async def _append(
        self, mirror: Mirror, by: Actor, name: str, command: Command, events: tuple[Happened, ...]
    ) -> Appended | Known | Stale:
        before = mirror.table
        entry = Entry(mirror.seq + 1, by.person, command, events)
        begins = any(isinstance(event, GameStarted) for event in events)
        ends = before.game is not None and any(isinstance(event, GameWon | GameAbandoned) for event in events)
        epoch, after = mirror.epoch, evolve_all(before, events)
        answer = await self._log.append(
            before.id,
            name,
            entry,
            _timer(before, after),
            before if begins else None,
            Finished(before.game.id) if ends and before.game is not None else None,
            mirror.end,
            notice_of(before, after, entry.seq, epoch),
        )
        if isinstance(answer, Appended):
            if mirror.epoch != epoch:  # a store that has lost its end meanwhile may have lost this too
                return Stale(answer.seq)
            mirror.apply(replace(entry, at=answer.at, due=answer.due))
        return answer

    async def _after(self, before: Table, mirror: Mirror, events: tuple[Happened, ...]) -> None:
        table = mirror.table
        pending = duty(table)
        if pending is not None and pending.after == 0:
            self.on_duty(table.id)
        if any(isinstance(event, _OF_THE_LOBBY) for event in events):
            with suppress(Refused):  # what is done is done; the lobby shows the next change
                await self._show(before, table)

    async def _show(self, before: Table, after: Table) -> None:
        """Keep the indices; where a game begins all is written once more, in case something was lost."""
        await self._lobby.show(after)
        sat, sit = ({person.id for person in table.people} for table in (before, after))
        for person in sit if after.games > before.games else sit - sat:
            await self._lobby.seat(person, after.id)
        for person in sat - sit:
            await self._lobby.unseat(person, after.id)

    def _keep(self, mirror: Mirror) -> Mirror:
        self._mirrors[mirror.table.id] = mirror
        while len(self._mirrors) > KEPT:
            idle = next((one for one in self._mirrors.values() if not one.watchers), None)
            if idle is None:
                break
            del self._mirrors[idle.table.id]
        return mirror


_OF_THE_LOBBY = (SeatTaken, SeatLeft, HostChanged, ReadyChanged, GameStarted, GameWon, GameAbandoned)
"""What changes the table's line in the lobby."""


def _name(by: Actor, cid: str) -> str:
    """What a command is known by."""
    return f"{'house' if by.person is None else by.person}:{cid}"


def _timer(before: Table, after: Table) -> Timer | None:
    """A duty's time begins with the turn it belongs to; nothing that leaves the duty as it was moves it."""
    old, new = duty(before), duty(after)
    if old == new:
        return None
    return Timer(None) if new is None else Timer(new.after, new.seat)
