"""Sets tables up, lets them play game after game for a time, and sums up: the one JSON result of `coinche load`."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console

from app.client import Guest
from app.game.refusal import Refused, Why
from app.load.book import Book
from app.load.check_archive import check_game
from app.load.check_log import check_log
from app.load.players import Counts, Habits, Player, Stuck

Json = dict[str, Any]

_SETTLED = (Why.GAME_RUNNING, Why.STALE_TURN)
_NAMES = ("Agathe", "Bruno", "Colette", "Didier")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be played, where and for how long."""

    url: str
    tables: int
    seconds: float
    seed: int
    people: int
    presets: tuple[str, ...]
    target: int
    clocks: tuple[int | None, ...]
    patience: float
    archive: float
    habits: Habits = Habits()


@dataclass
class Load:
    """The whole run."""

    plan: Plan
    books: list[Book] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    games: list[tuple[Book, int]] = field(default_factory=list)
    archived: int = 0
    deals: int = 0
    began: float = field(default_factory=time.monotonic)

    async def run(self) -> Json:
        """Play, wait for the archive, compare; the result."""
        async with asyncio.TaskGroup() as group:
            for number in range(self.plan.tables):
                group.create_task(self._table(number))
        return self._result()

    @property
    def actions(self) -> int:
        return sum(len(book.asked) for book in self.books)

    @property
    def acks(self) -> int:
        return sum(one.at is not None for book in self.books for one in book.asked.values())

    @property
    def differences(self) -> list[str]:
        return [line for book in self.books for line in book.differences]

    def promises(self) -> list[Json]:
        """Every command that was sent, with the moment at which it is said to be stored."""
        return [
            {"table": book.table, "seat": one.seat, "cid": one.cid, "turn": one.turn, "action": one.action, "at": one.at}
            for book in self.books
            for one in book.asked.values()
        ]

    async def _table(self, number: int) -> None:
        """One table with its people, game after game until the time is up."""
        plan = self.plan
        async with AsyncExitStack() as stack:
            guests = [await stack.enter_async_context(Guest(plan.url)) for _ in range(plan.people)]
            for guest, name in zip(guests, _NAMES, strict=False):
                await self._insist(lambda guest=guest, name=name: guest.sign_in(name))  # type: ignore[misc]
            order = {
                "preset": plan.presets[number % len(plan.presets)],
                "options": {"target": plan.target},
                "clock": plan.clocks[number % len(plan.clocks)],
                "listed": False,
            }
            opened = await self._insist(lambda: guests[0].ask("POST", "/tables", order))
            book = Book(opened["id"], range(plan.people))
            self.books.append(book)
            try:
                games = await self._games(number, guests, book)
            except* Stuck:
                book.differ(
                    f"nothing was heard for {plan.patience:g} seconds; the game is stuck at {max(book.steps, default=None)}"
                )
                games = 0
            check_log(book)
            for game in range(1, games + 1):
                await self._compare(guests[0], book, game)
            if games:
                await self._count(guests, book, games)

    async def _games(self, number: int, guests: list[Guest], book: Book) -> int:
        plan, game = self.plan, 0
        until = self.began + plan.seconds
        async with AsyncExitStack() as stack:
            players = [
                await stack.enter_async_context(
                    Player(guest, book, seat, self._dice(number), plan.habits, plan.patience, self.counts)
                )
                for seat, guest in enumerate(guests)
            ]
            while game == 0 or time.monotonic() < until:
                game += 1
                await self._begin(guests, book)
                async with asyncio.TaskGroup() as group:
                    for player in players:
                        group.create_task(player.play(game))
                self.games.append((book, game))
        return game

    def _dice(self, number: int) -> Callable[[str], Random]:
        return lambda what: Random(f"{self.plan.seed}/{number}/{what}")

    async def _begin(self, guests: list[Guest], book: Book) -> None:
        """All sit where they belong and are ready, house players on the other seats."""
        table = f"/tables/{book.table}"
        for seat, guest in enumerate(guests):
            await self._insist(lambda guest=guest, seat=seat: guest.ask("POST", f"{table}/sit", {"seat": seat}))  # type: ignore[misc]
        host = (await self._insist(lambda: guests[0].ask("GET", table)))["host"]
        for guest in guests:
            what = "start" if guest.id == host else "ready"
            await self._insist(lambda guest=guest, what=what: guest.ask("POST", f"{table}/{what}", {}))  # type: ignore[misc]

    async def _insist(self, ask: Callable[[], Awaitable[Json]]) -> Json:
        """Ask until there is an answer. Once more is no fault: sitting, being ready and starting are the same again."""
        deadline = time.monotonic() + self.plan.patience
        while True:
            try:
                return await ask()
            except ConnectionError:
                if time.monotonic() > deadline:
                    raise
            except Refused as no:
                if no.why in _SETTLED:
                    return {}
                if no.why not in (Why.BUSY, Why.NEWER_RELEASE, Why.INTERNAL) or time.monotonic() > deadline:
                    raise
            await asyncio.sleep(0.3)

    async def _compare(self, guest: Guest, book: Book, game: int) -> None:
        """What the archive has of a game against the book; the archive may be late."""
        deadline = time.monotonic() + self.plan.archive
        while True:
            try:
                record = await guest.ask("GET", f"/games/{book.table}/{game}")
                break
            except (ConnectionError, Refused) as error:
                if time.monotonic() > deadline:
                    book.differ(f"game {game} is finished and not archived ({error})")
                    return
            await asyncio.sleep(0.5)
        self.archived += 1
        self.deals += len(record["deals"])
        check_game(book, game, record)

    async def _count(self, guests: list[Guest], book: Book, games: int) -> None:
        """A game that is archived counts once for each who played it."""
        for guest in guests:
            player = await self._insist(lambda guest=guest: guest.ask("GET", f"/players/{guest.id}"))  # type: ignore[misc]
            if player["games"] != games:
                book.differ(f"{games} games were played to their end, the archive counts {player['games']}")

    def _result(self) -> Json:
        plan = self.plan
        latencies = sorted(1000 * one for book in self.books for one in book.latencies)
        refusals: dict[str, int] = {}
        for book in self.books:
            for why, count in book.refusals.items():
                refusals[why] = refusals.get(why, 0) + count
        longest = max(self.books, key=lambda book: book.gap)
        return {
            "url": plan.url,
            "seed": plan.seed,
            "tables": plan.tables,
            "seconds": round(time.monotonic() - self.began, 1),
            "games": len(self.games),
            "archived": self.archived,
            "deals": self.deals,
            "entries": sum(len(book.steps) for book in self.books),
            "unheard": sum(book.unheard for book in self.books),
            "actions": self.actions,
            "acks": self.acks,
            "refusals": refusals,
            "resends": self.counts.resends,
            "reconnects": self.counts.reconnects,
            "ack_ms": {"p50": _share(latencies, 0.5), "p99": _share(latencies, 0.99), "longest": _share(latencies, 1)},
            "longest_silence_ms": round(1000 * longest.gap),
            "longest_silence_ended": round(longest.gap_ended - self.began, 1),
            "differences": self.differences,
        }


def _share(values: list[float], share: float) -> float | None:
    """The value that this share of them does not exceed."""
    return round(values[min(len(values) - 1, int(share * len(values)))], 1) if values else None


@dataclass(frozen=True, slots=True)
class Result:
    """What `coinche load` says in the end."""

    text: str
    differences: bool


def play(plan: Plan, promises: str | None) -> Result:
    """Run the load, with its progress on standard error; where it is wanted, a file of all commands and acks is left."""
    load = Load(plan)
    with Console(stderr=True).status("") as status:
        result = asyncio.run(_play(load, status.update))
    if promises is not None:
        Path(promises).write_text("".join(f"{json.dumps(one)}\n" for one in load.promises()))
    return Result(json.dumps(result, indent=2), bool(result["differences"]))


async def _play(load: Load, show: Callable[[str], None]) -> Json:
    async with asyncio.TaskGroup() as group:
        telling = group.create_task(_tell(load, show))
        result = await load.run()
        telling.cancel()
    return result


async def _tell(load: Load, show: Callable[[str], None]) -> None:
    while True:
        left = max(0.0, load.plan.seconds - (time.monotonic() - load.began))
        show(
            f"{load.acks} acknowledged, {len(load.games)} games, {load.archived} compared with the archive, "
            f"{len(load.differences)} differences; " + (f"{left:.0f} s left" if left else "the last games end")
        )
        await asyncio.sleep(1)
