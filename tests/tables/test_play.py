"""Two processes, a store, and the house at work in both: everything happens once, and both see the same."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from app.game.actions import Deal, Speak
from app.game.auction import Say
from app.game.events import DealCommitted, DealScored, GameWon
from app.game.refusal import Refused, Why
from app.game.rules import PRESETS
from app.game.seats import SEATS, Seat
from app.store.company import RedisCompany
from app.store.lobby import RedisLobby
from app.store.log import RedisLog
from app.store.server import connect
from app.tables import croupier as croupiers
from app.tables import duty as duties
from app.tables import presence
from app.tables.commands import (
    Actor,
    CallStandIn,
    GetReady,
    HouseDeals,
    HousePlays,
    InGame,
    Leave,
    ReadSheet,
    Return,
    Sit,
    Start,
)
from app.tables.croupier import Croupier
from app.tables.lobby import HOUSES
from app.tables.mirror import Mirror
from app.tables.play import Tables
from app.tables.table import GameAbandoned, Person, SeatAway, Table
from tests.people import PATIENCE
from tests.seats import FOUR, NINA, OMAR, PAUL, ROSA, RULES, UMA, a_deal, by, opened

TABLE = "0f-k2m7q9x4wz"
S0, S1, S2, S3 = SEATS


class LoadedDice:
    """Dice that fall the same way each time."""

    def __init__(self) -> None:
        self._random = Random(1)

    def table_id(self) -> str:
        return TABLE

    def dealer(self) -> Seat:
        return S3

    def deal(self) -> Deal:
        return a_deal(self._random.randrange(1000))


@dataclass
class Process:
    """What one process has of the tables."""

    log: RedisLog
    tables: Tables
    company: RedisCompany

    async def act(self, who: Any, command: Any, cid: str = "", turn: int | None = None, table: str = TABLE) -> tuple[int, int]:
        """Do something that is done once, unless it is named."""
        return await self.tables.act(table, by(who), cid or f"{id(command)}", command, turn)

    async def now(self, table: str = TABLE) -> Table:
        return (await self.tables.mirror(table)).table

    async def until(self, wanted: Callable[[Table], object], table: str = TABLE) -> Table:
        """Look into the log until the table is as wanted."""
        async with asyncio.timeout(PATIENCE):
            while not wanted(now := await self.now(table)):  # noqa: ASYNC110 (what is waited for happens in a store)
                await asyncio.sleep(0.01)
        return now

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """The house at work in this process."""
        task = asyncio.create_task(Croupier(self.tables, self.log, LoadedDice()).run())
        try:
            yield
            assert not task.done()
        finally:
            task.cancel()
            await asyncio.wait([task])


@asynccontextmanager
async def _process(redis_url: str) -> AsyncIterator[Process]:
    async with connect(redis_url) as redis:
        log = RedisLog(redis)
        await log.prepare()
        yield Process(log, Tables(log, RedisLobby(redis)), RedisCompany(redis))


@pytest.fixture
async def two(redis_url: str) -> AsyncIterator[tuple[Process, Process]]:
    async with _process(redis_url) as one, _process(redis_url) as other:
        yield one, other


async def seat_all(process: Process, table: Table) -> None:
    await process.tables.open(table)
    for seat, who in zip(SEATS, FOUR, strict=True):
        await process.act(who, Sit(who, seat), "sit", table=table.id)


async def begin(process: Process, table: Table) -> Table:
    """A table where four people play and the first hand is dealt, Nina's turn; the house has to be at work."""
    await seat_all(process, table)
    for who in FOUR:
        await process.act(who, GetReady(True), "ready", table=table.id)
    return await process.until(lambda now: now.in_turn is S0, table.id)


# --- two processes ---------------------------------------------------------------------------------------------------


async def test_one_may_act_at_either_process_and_both_see_the_same(two: tuple[Process, Process]) -> None:
    one, other = two
    await seat_all(one, opened())
    for turn, who in enumerate(FOUR):
        await two[turn % 2].act(who, GetReady(True), "ready")
    assert await one.now() == await other.now()
    assert all(place.ready for place in (await other.now()).places)


async def test_a_mirror_that_heard_no_bell_catches_up_entry_by_entry(two: tuple[Process, Process]) -> None:
    one, other = two
    await one.tables.open(opened())
    mirror = await other.tables.mirror(TABLE)

    class Ear:
        def __init__(self) -> None:
            self.heard: list[int] = []

        def on_entry(self, mirror: Mirror, entry: Any) -> None:
            self.heard.append(entry.seq)

        def on_anew(self, mirror: Mirror) -> None:
            raise AssertionError

        def on_end(self, mirror: Mirror, why: Any) -> None:
            raise AssertionError

    ear = Ear()
    mirror.watchers.append(ear)
    for number in range(30):
        await one.act(NINA, Sit(NINA) if number % 2 == 0 else Leave(), f"c{number}")
    await asyncio.gather(*(other.tables.catch_up(mirror) for _ in range(5)))
    assert ear.heard == list(range(1, 31))
    assert mirror.table == await one.now()


async def test_the_same_command_at_both_processes_is_done_once_and_answered_the_same(two: tuple[Process, Process]) -> None:
    one, other = two
    await one.tables.open(opened())
    await other.tables.mirror(TABLE)
    answers = await asyncio.gather(*(process.act(NINA, Sit(NINA), "sit") for process in two for _ in range(5)))
    assert set(answers) == {(1, 1)}
    await one.act(PAUL, Sit(PAUL), "sit")
    assert await other.act(NINA, Sit(NINA), "sit") == (1, 1)


async def test_a_command_that_changes_nothing_any_more_is_answered_as_the_first_time(two: tuple[Process, Process]) -> None:
    one, other = two
    await seat_all(one, opened())
    ready = await one.act(PAUL, GetReady(True), "ready")
    await other.act(ROSA, GetReady(True), "ready")
    assert await one.act(PAUL, GetReady(True), "ready") == ready
    assert await other.act(PAUL, GetReady(True), "ready") == ready


async def test_a_command_that_changes_nothing_is_answered_with_the_moment_at_which_it_did_not(
    two: tuple[Process, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others act in the same process while the log is asked whether it knows the command."""
    one, _ = two
    await seat_all(one, opened())
    ready = await one.act(PAUL, GetReady(True), "ready")
    find = one.log.find

    async def find_later(table: str, cid: str) -> int | None:
        await one.act(ROSA, GetReady(True), "ready")
        return await find(table, cid)

    monkeypatch.setattr(one.log, "find", find_later)
    assert await one.act(PAUL, GetReady(True), "again") == ready


async def test_a_command_judged_on_an_old_table_is_judged_again(two: tuple[Process, Process]) -> None:
    one, other = two
    await one.tables.open(opened())
    await other.tables.mirror(TABLE)
    await one.act(NINA, Sit(NINA, S0), "sit")
    with pytest.raises(Refused) as refused:
        await other.act(PAUL, Sit(PAUL, S0), "sit")
    assert refused.value.why is Why.SEAT_TAKEN
    await other.act(NINA, GetReady(True), "ready")


async def test_twenty_who_want_four_seats_at_once_get_four(two: tuple[Process, Process]) -> None:
    one, other = two
    await one.tables.open(opened())
    many = [replace(UMA, id=f"g_{number}") for number in range(20)]
    answers = await asyncio.gather(
        *(two[number % 2].act(who, Sit(who), "sit") for number, who in enumerate(many)), return_exceptions=True
    )
    refused = [answer.why for answer in answers if isinstance(answer, Refused)]
    assert len(answers) - len(refused) == 4 == len((await other.now()).people)
    assert set(refused) <= {Why.TABLE_FULL, Why.BUSY}


async def test_four_who_act_at_once_are_all_served(two: tuple[Process, Process]) -> None:
    one, other = two
    await seat_all(one, opened())
    async with one.working(), other.working():
        for number in range(25):
            await asyncio.gather(
                *(
                    two[(seat + number) % 2].act(who, GetReady(number % 2 == 0), f"r{number}")
                    for seat, who in enumerate(FOUR[:3])
                )
            )
        await asyncio.gather(*(two[seat % 2].act(who, GetReady(True), "last") for seat, who in enumerate(FOUR)))
        assert (await other.until(lambda now: now.in_turn is not None)).games == 1


async def test_the_fourth_comes_while_another_leaves(two: tuple[Process, Process]) -> None:
    """Whichever is first, the table is in order and a game begins only with four."""
    one, other = two
    async with one.working(), other.working():
        for number in range(50):
            table = replace(opened(), id=f"{number % 16:02x}-table{number}")
            await one.tables.open(table)
            for who in (NINA, PAUL, ROSA):
                await one.act(who, Sit(who), "sit", table=table.id)
                await one.act(who, GetReady(True), "ready", table=table.id)

            async def come(table: str = table.id) -> None:
                await other.act(OMAR, Sit(OMAR), "sit", table=table)
                await other.act(OMAR, GetReady(True), "ready", table=table)

            await asyncio.gather(come(), one.act(PAUL, Leave(), "leave", table=table.id))
            now = await other.until(lambda now: now.in_turn is not None or len(now.people) == 3, table.id)
            assert OMAR in now.people
            assert (now.games == 1) == (len(now.people) == 4)
            assert now.games == 0 or now.places[S1].person == PAUL


# --- the house -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
async def test_with_two_at_work_a_whole_game_is_played_once(
    two: tuple[Process, Process], preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duties, "STAND_IN_SECONDS", 0)
    monkeypatch.setattr(duties, "SHEET_SECONDS", 0)
    one, other = two
    await one.tables.open(opened(rules=replace(PRESETS[preset], target=300)))
    await one.act(NINA, Sit(NINA), "sit")
    async with one.working(), other.working():
        await other.act(NINA, Start(HOUSES), "start")
        await other.until(lambda now: now.is_playing)
        await other.act(NINA, CallStandIn(S0), "stand-in")
        await one.until(lambda now: now.games == 1 and not now.is_playing)
        await other.until(lambda now: not now.is_playing)
    stored = await one.log.load(TABLE)
    assert stored is not None
    assert Mirror.of(stored).table == await one.now() == await other.now()
    events = [event for entry in stored.entries for event in entry.events]
    deals = [event.deal for event in events if isinstance(event, DealCommitted)]
    assert deals == list(range(1, len(deals) + 1))
    assert sum(isinstance(event, GameWon) for event in events) == 1
    assert len([entry for entry in stored.entries if isinstance(entry.command, HouseDeals)]) == len(deals)


async def test_a_turn_that_times_out_is_played_by_the_stand_in(two: tuple[Process, Process]) -> None:
    one, other = two
    async with one.working(), other.working():
        turn = (await begin(one, opened(clock=1))).turn
        now = await other.until(lambda now: now.turn > turn)
        assert now.places[S0].away
        mirror = await other.tables.mirror(TABLE)
        stored = await one.log.load(TABLE)
        assert stored is not None
        entry = next(entry for entry in stored.entries if isinstance(entry.command, HousePlays))
        before = next(one for one in reversed(stored.entries) if one.seq < entry.seq and one.due is not None)
        assert entry.events[0] == SeatAway(S0)
        assert before.due is not None
        assert entry.at >= before.due >= before.at + 1_000
        assert mirror.deadline is not None
        assert await one.act(NINA, Return(), "back")
        assert not (await other.now()).places[S0].away


async def test_nobody_who_acts_in_time_is_played_for(two: tuple[Process, Process]) -> None:
    one, other = two
    async with one.working(), other.working():
        await begin(one, opened(clock=60))
        for number, (who, seat) in enumerate(zip(FOUR[:3], SEATS[:3], strict=True)):
            turn = (await one.now()).turn
            await two[number % 2].act(who, InGame(Speak(seat, Say.PASS)), f"p{number}", turn)
        assert not any(place.away for place in (await one.now()).places)


async def test_the_stand_in_gives_an_absent_owner_the_chance_to_return(
    two: tuple[Process, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duties, "STAND_IN_SECONDS", 600)
    one, other = two
    async with one.working(), other.working():
        await begin(one, opened())
        await one.act(NINA, Leave(), "leave")
        mirror = await other.tables.mirror(TABLE)
        assert mirror.due is not None
        assert mirror.last is not None
        assert mirror.due == mirror.last.at + 600_000
        await other.act(NINA, InGame(Speak(S0, Say.PASS)), "pass")
        assert not (await one.now()).places[S0].away


@pytest.mark.parametrize("all_read", [True, False])
async def test_the_next_deal_waits_for_the_sheet_to_be_read_or_for_its_time(
    two: tuple[Process, Process], monkeypatch: pytest.MonkeyPatch, all_read: bool
) -> None:
    monkeypatch.setattr(duties, "STAND_IN_SECONDS", 0)
    monkeypatch.setattr(duties, "SHEET_SECONDS", 600 if all_read else 1)
    one, other = two
    await seat_all(one, opened(600, rules=replace(RULES, target=10_000)))
    async with one.working(), other.working():
        for who in FOUR:
            await one.act(who, GetReady(True), "ready")
        await one.until(lambda now: now.in_turn is S0)
        for who in FOUR[1:]:
            await one.act(who, Leave(), "leave")
        number = 0
        while True:
            now = await one.until(lambda now: now.in_turn is S0 or (now.in_turn is None and _is_scored(now)))
            if now.in_turn is None:
                break
            number += 1
            action = croupiers._choice(now, duties.Duty(now.turn, S0, 0))
            await two[number % 2].act(NINA, InGame(action), f"n{number}", now.turn)
        deals = len(now.game.deals) if now.game is not None else 0
        stored = await one.log.load(TABLE)
        assert stored is not None
        scored = next(one for one in reversed(stored.entries) if any(isinstance(event, DealScored) for event in one.events))
        assert scored.due == scored.at + (600_000 if all_read else 1_000)
        if all_read:
            await other.act(NINA, ReadSheet(), "read", now.turn)
        after = await other.until(lambda after: after.turn > now.turn)
        assert after.game is not None
        assert after.game.deal == deals + 1


def _is_scored(now: Table) -> bool:
    return now.game is not None and bool(now.game.deals) and now.game.deals[-1].score is not None


async def test_the_host_calls_the_stand_in_only_for_who_is_absent_or_does_not_move(two: tuple[Process, Process]) -> None:
    one, other = two
    now = 0

    async def call(by_whom: Person, cid: str) -> None:
        await presence.call_stand_in(one.tables, one.company, lambda: now, TABLE, by(by_whom), cid, S1)

    async with one.working():
        await begin(one, opened())
        now = (await one.tables.mirror(TABLE)).turned + presence.IDLE_MS
        await other.company.here(TABLE, "tab", PAUL.id)
        with pytest.raises(Refused) as refused:  # it is not even his turn
            await call(NINA, "call")
        assert refused.value.why is Why.STILL_HERE
        await other.act(NINA, InGame(Speak(S0, Say.PASS)), "pass")
    now = (await one.tables.mirror(TABLE)).turned + presence.IDLE_MS - 1
    with pytest.raises(Refused) as refused:
        await call(NINA, "call")
    assert refused.value.why is Why.STILL_HERE
    now += 1
    await call(NINA, "call")
    assert (await other.now()).places[S1].away
    await other.act(PAUL, Return(), "back")
    now -= 1
    await call(NINA, "call")  # known by its name: answered as it was, and done once
    assert not (await other.now()).places[S1].away
    await other.company.gone(TABLE, "tab", PAUL.id)
    await call(NINA, "again")
    assert (await other.now()).places[S1].away


async def test_all_others_may_free_the_seat_of_a_host_who_does_nothing(two: tuple[Process, Process]) -> None:
    one, other = two
    now = 0

    async def free(by_whom: Person, cid: str) -> None:
        await presence.free_seat(one.tables, lambda: now, TABLE, by(by_whom), cid, S0)

    await seat_all(one, opened())
    now = (await other.tables.mirror(TABLE)).acted[NINA.id] + presence.IDLE_MS - 1
    with pytest.raises(Refused) as refused:
        await free(PAUL, "early")
    assert refused.value.why is Why.NOT_HOST
    now += 1
    for person in (PAUL, ROSA):
        await free(person, "late")
    assert (await other.now()).host == NINA.id
    await free(OMAR, "late")
    assert (await other.now()).host == PAUL.id
    assert (await other.now()).places[S0].person is None
    await one.act(NINA, Sit(NINA, S0), "again")
    with pytest.raises(Refused) as refused:  # who is host just now has had no time to do anything
        await presence.free_seat(one.tables, lambda: now, TABLE, by(NINA), "own", S1)
    assert refused.value.why is Why.NOT_HOST


async def test_a_game_that_all_have_left_waits_for_the_archive_and_its_table_is_empty(two: tuple[Process, Process]) -> None:
    one, other = two
    async with one.working(), other.working():
        await begin(one, opened())
        for person in FOUR:
            await other.act(person, Leave(), "leave")
    now = await one.now()
    assert (now.game, now.people, now.games) == (None, (), 1)
    stored = await one.log.load(TABLE)
    assert stored is not None
    assert Mirror.of(stored).table == now == await other.now()
    assert stored.due is None
    assert sum(isinstance(event, GameAbandoned) for entry in stored.entries for event in entry.events) == 1


async def test_a_table_in_trouble_is_no_trouble_of_the_others(
    two: tuple[Process, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A house player that fails, or does what is not allowed, costs its own table the turn and nobody else anything."""
    one, _ = two
    honest, failures = croupiers._choice, [RuntimeError("bot"), Refused(Why.MUST_FOLLOW)]

    def choice(table: Table, pending: Any) -> Any:
        if table.id == TABLE and failures:
            raise failures.pop()
        return honest(table, pending)

    monkeypatch.setattr(croupiers, "_choice", choice)
    monkeypatch.setattr(croupiers, "LEASE_MS", 50)
    async with one.working():
        for table in (opened(), replace(opened(), id="00-other")):
            await one.tables.open(table)
            await one.act(NINA, Sit(NINA, S3), "sit", table=table.id)
            await one.act(NINA, Start(HOUSES), "start", table=table.id)
        await one.until(lambda now: now.in_turn is S3, "00-other")
        await one.until(lambda now: now.in_turn is S3)
        assert failures == []


async def test_a_stand_in_cannot_be_called_where_nobody_plays(two: tuple[Process, Process]) -> None:
    one, _ = two
    await seat_all(one, opened())
    with pytest.raises(Refused) as refused:
        await one.tables.act(TABLE, Actor(NINA.id), "call", CallStandIn(S1))
    assert refused.value.why is Why.NO_GAME


async def test_the_house_stops_whenever_it_is_told_to(two: tuple[Process, Process], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is waiting for at that moment: the clients of stores have been seen to swallow the word."""
    monkeypatch.setattr(croupiers, "LOOK_SECONDS", 0)
    one, _ = two
    dice = Random(1)
    for _ in range(150):
        task = asyncio.create_task(Croupier(one.tables, one.log, LoadedDice()).run())
        await asyncio.sleep(dice.random() / 100)
        for _ in range(dice.randrange(12)):
            await asyncio.sleep(0)
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=PATIENCE)
        assert done


async def test_all_who_act_at_once_in_many_processes_get_through(redis_url: str) -> None:
    async with AsyncExitStack() as stack:
        processes = [await stack.enter_async_context(_process(redis_url)) for _ in range(8)]
        await seat_all(processes[0], opened())

        async def changes_his_mind(who: Person, process: Process) -> None:
            for number in range(12):
                await process.act(who, GetReady(number % 2 == 0), f"{id(process)} {number}")

        # The fourth is never ready, so that no game begins.
        await asyncio.gather(*(changes_his_mind(who, process) for who in FOUR[:3] for process in processes))
