"""The lobby's board, by a clock of ours."""

import asyncio
from collections.abc import Sequence

import pytest

from app.game.refusal import Refused, Why
from app.tables.lobby import LOOK_MS, TOUCH_MS, Board
from app.tables.ports import Listed
from app.tables.table import Table
from tests.seats import four_seated, opened


class Index:
    """Counts how often it is looked into; answers when it is let."""

    def __init__(self) -> None:
        self.looks = 0
        self.shown: list[Table] = []
        self.touched: list[Sequence[str]] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.is_away = False

    async def touch(self, tables: Sequence[str]) -> None:
        if self.is_away:
            raise Refused(Why.BUSY)
        self.touched.append(tables)

    async def show(self, table: Table) -> None:
        self.shown.append(table)

    async def tables(self) -> list[Listed]:
        self.looks += 1
        await self.may_answer.wait()
        if self.is_away:
            raise Refused(Why.BUSY)
        return [Listed(table, playing=False) for table in self.shown]

    async def seat(self, person: str, table: str) -> None: ...

    async def unseat(self, person: str, table: str) -> None: ...

    async def seats(self, person: str) -> list[str]:
        return [person]


class Ticks:
    """A clock."""

    now = 0

    def __call__(self) -> int:
        return self.now


async def test_a_hundred_who_ask_at_once_are_one_look() -> None:
    index = Index()
    board = Board(index, Ticks())
    index.may_answer.clear()
    asking = [asyncio.create_task(board.tables()) for _ in range(100)]
    await asyncio.sleep(0)
    index.may_answer.set()
    assert await asyncio.gather(*asking) == [[]] * 100
    assert index.looks == 1


async def test_what_another_process_shows_is_seen_after_a_second() -> None:
    index, clock = Index(), Ticks()
    board = Board(index, clock)
    assert await board.tables() == []
    index.shown.append(opened())
    clock.now = LOOK_MS - 1
    assert await board.tables() == []
    clock.now = LOOK_MS
    assert await board.tables() == [Listed(opened(), playing=False)]


async def test_what_this_process_shows_is_seen_at_once() -> None:
    index = Index()
    board = Board(index, Ticks())
    assert await board.tables() == []
    await board.show(four_seated())
    assert await board.tables() == [Listed(four_seated(), playing=False)]


async def test_one_who_goes_away_takes_the_answer_from_nobody() -> None:
    index = Index()
    board = Board(index, Ticks())
    index.may_answer.clear()
    first, second = asyncio.create_task(board.tables()), asyncio.create_task(board.tables())
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    index.may_answer.set()
    assert await second == []


async def test_an_index_that_is_away_is_asked_again() -> None:
    index, clock = Index(), Ticks()
    board = Board(index, clock)
    index.is_away = True
    with pytest.raises(Refused):
        await board.tables()
    index.is_away, clock.now = False, LOOK_MS
    assert await board.tables() == []


async def test_that_somebody_is_there_is_said_once_a_minute() -> None:
    index, clock = Index(), Ticks()
    board = Board(index, clock)
    await board.touch(["a", "b"])
    clock.now += TOUCH_MS - 1
    await board.touch(["a", "c"])
    await board.touch([])
    clock.now += 1
    await board.touch(["a", "b", "c"])
    assert index.touched == [["a", "b"], ["c"], ["a", "b"]]


async def test_what_could_not_be_said_is_said_again() -> None:
    index = Index()
    board = Board(index, Ticks())
    index.is_away = True
    with pytest.raises(Refused):
        await board.touch(["a"])
    index.is_away = False
    await board.touch(["a"])
    assert index.touched == [["a"]]
