"""The people of the load: they play what is offered, and they have the habits of people with phones."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from random import Random
from typing import Any

from app.client import Guest, TableLine
from app.game.refusal import Refused
from app.load.book import Asked, Book
from app.load.ear import Ear

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Habits:
    """How often a turn brings what, from 0 to 1; `think` is the mean pause before an action in seconds."""

    think: float = 0.2
    twice: float = 0.08
    again: float = 0.08
    late: float = 0.08
    drop: float = 0.05
    reload: float = 0.05
    absent: float = 0.03
    second: float = 0.05
    leave: float = 0.01


class Stuck(Exception):
    """Nothing is heard of a game that is not over."""


@dataclass
class Counts:
    """What was done that is not to be seen in the books."""

    resends: int = 0
    reconnects: int = 0


class Player:
    """One person at one table, perhaps with several connections."""

    def __init__(
        self,
        guest: Guest,
        book: Book,
        seat: int,
        dice: Callable[[str], Random],
        habits: Habits,
        patience: float,
        counts: Counts,
    ) -> None:
        self.guest = guest
        self.seat = seat
        self._book = book
        self._dice = dice
        self._habits = habits
        self._patience = patience
        self._counts = counts
        self._lines: list[tuple[TableLine, AsyncExitStack, Ear]] = []
        self._answered: list[Asked] = []
        self._number = 0

    async def __aenter__(self) -> "Player":
        await self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        while self._lines:
            await self._close()

    @property
    def _line(self) -> TableLine:
        return self._lines[-1][0]

    async def play(self, game: int) -> None:
        """Play the game of this number to its end. Raises `Stuck`."""
        done, clicked = -1, 0.0
        while not self._is_over(game):
            moment = self._line.moment
            action = None if moment is None or self._lines[-1][2].game != game else choice(moment, self.seat, self._of(moment))
            # Who sees no effect of a click clicks again after a while.
            if (
                action is not None
                and moment is not None
                and (moment["turn"] != done or time.monotonic() - clicked > self._patience / 4)
            ):
                done = moment["turn"]
                await self._turn(moment, action)
                clicked = time.monotonic()
                continue
            await self._news()

    def _is_over(self, game: int) -> bool:
        line, _, ear = self._lines[-1]
        return ear.game > game or (ear.game == game and line.view is not None and line.view["phase"] == "over")

    def _of(self, moment: Json) -> Random:
        """The dice for this turn, the same in each run of one seed."""
        return self._dice(f"{self.seat}/{moment['turn']}")

    async def _news(self) -> None:
        try:
            async with asyncio.timeout(1):
                await self._line.news(self._line.at)
        except TimeoutError:
            if self._book.silent_for > self._patience:
                raise Stuck from None

    async def _turn(self, moment: Json, action: Json) -> None:
        """Do what was chosen, in this person's way."""
        dice, habits = self._of(moment), self._habits
        if dice.random() < habits.second:
            await (self._close() if len(self._lines) > 1 else self._open())
        if dice.random() < habits.absent:
            await self._be_absent(0.2 + dice.random() * 2)
        if dice.random() < habits.leave:
            await self._leave()
        await asyncio.sleep(dice.expovariate(1 / habits.think) if habits.think else 0)
        if dice.random() < habits.late and self._answered:
            await self._send(dice.choice(self._answered))
        first = self._ask(moment, action, is_move=True)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._act(first))
            if dice.random() < habits.again:
                group.create_task(self._send(first))
            if dice.random() < habits.twice:
                group.create_task(self._act(self._ask(moment, action, is_move=False)))
            if dice.random() < habits.drop:
                await asyncio.sleep(dice.random() * 0.005)
                self._line.drop()
            if dice.random() < habits.reload:
                await asyncio.sleep(dice.random() * 0.005)
                await self._reload(first)

    def _ask(self, moment: Json, action: Json, is_move: bool) -> Asked:
        self._number += 1
        view = moment["view"]
        turn = None if action["kind"] in ("coinche", "return") else moment["turn"]
        asked = Asked(
            cid=f"{self._number}-{self._dice(f'{self.seat}/{self._number}').getrandbits(48):012x}",
            seat=self.seat,
            action=action,
            turn=turn,
            game=self._lines[-1][2].game,
            deal=view["deal"],
            spoken=len(view["calls"]),
            is_move=is_move,
        )
        return self._book.ask(asked)

    async def _act(self, asked: Asked) -> None:
        """Send a command until it is answered, over whatever connection there is by then."""
        while asked.at is None and asked.refused is None:
            line = self._line
            try:
                async with asyncio.timeout(2):
                    await line.act(asked.action, asked.turn, asked.cid)
            except Refused:
                return
            except ConnectionAbortedError:
                continue  # the page was loaded again
            except TimeoutError:
                self._counts.resends += 1
                if self._book.silent_for > self._patience:
                    raise Stuck from None
        if asked.at is not None:
            self._answered.append(asked)

    async def _send(self, asked: Asked) -> None:
        """Send the same command once more."""
        self._counts.resends += 1
        message = {"type": "act", "cid": asked.cid, "action": asked.action}
        await self._line.send(message if asked.turn is None else message | {"turn": asked.turn})

    async def _open(self) -> None:
        """Another connection; the newest is the one that is used."""
        stack = AsyncExitStack()
        line = self.guest.follow(self._book.table)
        ear = Ear(self._book, self.seat)
        line.on_message = ear.hear
        await stack.enter_async_context(line)
        self._lines.append((line, stack, ear))
        while line.moment is None:
            await self._news()

    async def _close(self) -> None:
        line, stack, _ = self._lines.pop(0)
        self._counts.reconnects += line.connections
        await stack.aclose()

    async def _reload(self, pending: Asked) -> None:
        """The page is loaded again while a command is under way, and sends it again."""
        await self._open()
        while len(self._lines) > 1:
            await self._close()
        await self._send(pending)

    async def _be_absent(self, seconds: float) -> None:
        """No connection for a while."""
        while self._lines:
            await self._close()
        await asyncio.sleep(seconds)
        await self._open()
        self._book.excuse()

    async def _leave(self) -> None:
        """Get up from the table; the stand-in plays until the next action."""
        try:
            await self.guest.ask("POST", f"/tables/{self._book.table}/leave")
        except (Refused, OSError):
            return


def choice(moment: Json, seat: int, dice: Random) -> Json | None:
    """Something that the view offers this seat to do now, or None. Bids are low and rare, so that deals are played."""
    view = moment["view"]
    if view is None:
        return None
    if view["phase"] == "dealing":
        is_reading = bool(view["sheet"]) and seat not in moment["next"]
        return {"kind": "next"} if is_reading else None
    moves = view["moves"]
    if moves is None:
        return None
    if moves["kind"] == "cards":
        card = dice.choice([one["card"] for one in moves["cards"] if one["why"] is None])
        return {"kind": "play", "card": card} | ({"belote": True} if card in moves["belote"] else {})
    return _call(moves, dice)


def _call(moves: Json, dice: Random) -> Json | None:
    whim = dice.random()
    if moves["coinche"] is not None and whim < 0.25:
        return {"kind": "coinche", "on": moves["coinche"]}
    if not moves["pass"]:
        return None  # not in turn: a coinche would be all
    if moves["redeal"]:
        return {"kind": "redeal", "right": moves["redeal"][0]}
    if moves["surcoinche"] and whim < 0.5:
        return {"kind": "surcoinche"}
    bids = moves["bids"]
    if bids is not None and bids["lowest"] is not None and whim < 0.4:
        return {"kind": "bid", "value": bids["lowest"], "trump": dice.choice(bids["trumps"])}
    return {"kind": "pass"}
