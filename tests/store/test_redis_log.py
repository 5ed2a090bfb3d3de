"""The log, its lock, its timers, the bell, presence, the lobby's index and the guests, on a real Valkey."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from app.embedded import running
from app.game.refusal import Refused, Why
from app.game.seats import SEATS, Seat
from app.store.bell import RedisBell
from app.store.company import PRESENT_MS, TALK_KEPT, RedisCompany
from app.store.dice import SystemDice
from app.store.guests import RedisGuests
from app.store.keys import GUEST_SECONDS, SHARDS, outboxes
from app.store.lobby import SEATS_KEPT, RedisLobby
from app.store.log import RedisLog
from app.store.server import connect
from app.tables.commands import Actor, GetReady, Sit
from app.tables.play import Tables
from app.tables.ports import Appended, Entry, Finished, Known, Rang, Said, Stale, Timer
from app.tables.table import ReadyChanged
from app.tables.tasks import end
from tests.people import PATIENCE
from tests.seats import NINA, PAUL, four_ready, four_seated, game_begun, opened

TABLE = "0f-k2m7q9x4wz"


@pytest.fixture
async def log(valkey: Redis) -> RedisLog:
    log = RedisLog(valkey)
    await log.prepare()
    await log.open(opened())
    return log


def entry(seq: int, ready: bool = True) -> Entry:
    return Entry(seq, NINA.id, GetReady(ready), (ReadyChanged(SEATS[0], ready),))


async def add(log: RedisLog, seq: int, cid: str | None = None, timer: Timer | None = None, **more: Any) -> object:
    """Append an entry that matters to nobody."""
    frame, finished = more.get("frame"), more.get("finished")
    return await log.append(TABLE, cid or f"{NINA.id}:c{seq}", entry(seq), timer, frame, finished)


async def appended(log: RedisLog, seq: int, timer: Timer | None = None, **more: Any) -> Appended:
    """The same, and it was taken."""
    answer = await add(log, seq, None, timer, **more)
    assert isinstance(answer, Appended)
    return answer


async def due(log: RedisLog, table: str = TABLE) -> int | None:
    stored = await log.load(table)
    assert stored is not None
    return stored.due


async def eventually(wanted: Callable[[], Any]) -> Any:
    """Ask until the answer is not false."""
    async with asyncio.timeout(PATIENCE):
        while not (found := await wanted()):  # noqa: ASYNC110 (the store has nothing to wait on)
            await asyncio.sleep(0.01)
    return found


# --- entries ---------------------------------------------------------------------------------------------------------


async def test_a_table_that_was_opened_can_be_loaded(log: RedisLog) -> None:
    stored = await log.load(TABLE)
    assert stored is not None
    assert (stored.epoch, stored.seq, stored.due, stored.entries) == (1, 0, None, ())
    assert stored.frame == opened()


@pytest.mark.parametrize(
    "name", ["00-nothere", "", "x", TABLE + ":log", TABLE + ":cmd", "../" + TABLE, "{lobby}tables", "0f-\x00", "0F-K2M7Q9X4WZ"]
)
async def test_there_is_no_table_of_another_name(log: RedisLog, name: str) -> None:
    await appended(log, 1)
    assert await log.load(name) is None


async def test_entries_come_back_as_they_were_written_one_number_after_the_other(log: RedisLog) -> None:
    answers = [await appended(log, seq) for seq in (1, 2, 3)]
    entries = await log.since(TABLE, 0)
    assert entries == tuple(replace(entry(answer.seq), at=answer.at) for answer in answers)
    assert [one.seq for one in await log.since(TABLE, 1)] == [2, 3]
    assert [one.seq for one in await log.between(TABLE, 2, 2)] == [2]
    assert await log.since(TABLE, 3) == ()


@pytest.mark.parametrize("seq", [0, 2, 4, 5, -1, 1])
async def test_only_the_next_number_is_taken(log: RedisLog, seq: int) -> None:
    await appended(log, 1)
    await appended(log, 2)
    assert await add(log, seq, "g_nina:other") == Stale(2)
    assert [one.seq for one in await log.since(TABLE, 0)] == [1, 2]


async def test_nothing_is_written_for_a_table_that_there_is_not(log: RedisLog) -> None:
    with pytest.raises(Refused, match="no_such_table"):
        await log.append("00-nothere", "g_nina:c1", entry(1), Timer(5), None, None)
    assert (await log.claim(1_000)).tables == ()


async def test_twenty_at_once_are_stored_one_by_one_each_under_a_number_of_its_own(log: RedisLog) -> None:
    won: list[int] = []

    async def one(number: int) -> None:
        seq = 1
        while True:
            answer = await add(log, seq, f"g_{number}:c")
            if isinstance(answer, Appended):
                won.append(answer.seq)
                return
            assert isinstance(answer, Stale)
            assert answer.seq >= seq
            seq = answer.seq + 1

    await asyncio.gather(*(one(number) for number in range(20)))
    assert sorted(won) == list(range(1, 21))
    assert [one.seq for one in await log.since(TABLE, 0)] == list(range(1, 21))


async def test_of_twenty_that_want_the_same_number_one_gets_it(log: RedisLog) -> None:
    answers = await asyncio.gather(*(add(log, 1, f"g_{number}:c") for number in range(20)))
    assert sum(isinstance(answer, Appended) for answer in answers) == 1
    assert answers.count(Stale(1)) == 19


# --- commands --------------------------------------------------------------------------------------------------------


async def test_a_known_command_is_answered_first_and_changes_nothing(log: RedisLog) -> None:
    await add(log, 1, "g_nina:a")
    await add(log, 2, "g_nina:b")
    for seq in (1, 2, 3, 99):
        assert await add(log, seq, "g_nina:a", Timer(5), frame=opened(), finished=Finished("x")) == Known(1)
    assert len(await log.since(TABLE, 0)) == 2
    assert await due(log) is None
    assert await log.find(TABLE, "g_nina:a") == 1
    assert await log.find(TABLE, "g_nina:c") is None


async def test_the_same_command_name_of_somebody_else_is_another_command(log: RedisLog) -> None:
    await add(log, 1, "g_nina:a")
    assert isinstance(await add(log, 2, "g_paul:a"), Appended)


async def test_a_command_sent_twenty_times_at_once_is_stored_once(log: RedisLog) -> None:
    answers = await asyncio.gather(*(add(log, 1, "g_nina:a") for _ in range(20)))
    assert sum(isinstance(answer, Appended) for answer in answers) == 1
    assert answers.count(Known(1)) == 19


async def test_the_last_sixty_four_commands_are_remembered(log: RedisLog) -> None:
    for seq in range(1, 67):
        await appended(log, seq)
    assert [await log.find(TABLE, f"{NINA.id}:c{seq}") for seq in (1, 2, 3, 66)] == [None, None, 3, 66]


async def test_a_stale_command_is_not_remembered(log: RedisLog) -> None:
    await add(log, 1, "g_nina:a")
    assert await add(log, 1, "g_nina:b") == Stale(1)
    assert await log.find(TABLE, "g_nina:b") is None


# --- games -----------------------------------------------------------------------------------------------------------


async def test_a_game_is_loaded_from_the_table_it_began_at(log: RedisLog) -> None:
    await appended(log, 1)
    await appended(log, 2, frame=four_ready())
    await appended(log, 3)
    stored = await log.load(TABLE)
    assert stored is not None
    assert stored.frame == four_ready()
    assert stored.seq == 3
    assert [one.seq for one in stored.entries] == [2, 3]


async def test_the_frame_holds_no_game(log: RedisLog) -> None:
    await appended(log, 1, frame=game_begun())
    stored = await log.load(TABLE)
    assert stored is not None
    assert stored.frame == replace(game_begun(), game=None)


async def test_the_end_of_a_game_is_put_out_for_the_archive_with_where_to_find_it(log: RedisLog, valkey: Redis) -> None:
    await appended(log, 1)
    await appended(log, 2, frame=four_ready())
    await appended(log, 3, finished=Finished(f"{TABLE}/1"))
    rows: Any = await valkey.xrange(f"{{s{TABLE[:2]}}}outbox")
    [(_, fields)] = rows
    assert {name: fields[name] for name in ("table", "game", "first", "last")} == {
        "table": TABLE,
        "game": f"{TABLE}/1",
        "first": "2",
        "last": "3",
    }


async def test_every_id_the_dice_give_has_an_outbox_that_is_read() -> None:
    for _ in range(200):
        assert f"{{s{SystemDice().table_id()[:2]}}}outbox" in outboxes()


# --- timers ----------------------------------------------------------------------------------------------------------

T = "0f-timers"


@pytest.fixture
async def timed(log: RedisLog) -> RedisLog:
    """A table on a shard that is claimed from."""
    await log.open(opened(id=T))
    return log


async def wind(log: RedisLog, seq: int, timer: Timer | None) -> Appended:
    answer = await log.append(T, f"g_nina:c{seq}", entry(seq), timer, None, None)
    assert isinstance(answer, Appended)
    return answer


async def test_a_deadline_is_stored_with_the_entry_and_moved_only_when_asked(timed: RedisLog) -> None:
    first = await wind(timed, 1, Timer(15_000))
    assert first.due == first.at + 15_000
    assert (await wind(timed, 2, None)).due == first.due
    assert await due(timed, T) == first.due
    third = await wind(timed, 3, Timer(30_000))
    assert third.due == third.at + 30_000
    assert (await wind(timed, 4, Timer(None))).due is None
    assert (await wind(timed, 5, None)).due is None
    assert [one.due for one in await timed.since(T, 0)] == [first.due, first.due, third.due, None, None]


async def test_what_is_not_due_is_not_claimed(timed: RedisLog) -> None:
    await wind(timed, 1, Timer(60_000))
    assert (await timed.claim(1_000)).tables == ()


async def test_what_is_due_is_claimed_by_one_of_many(timed: RedisLog) -> None:
    stored = await wind(timed, 1, Timer(0))

    async def claimed() -> list[str]:
        both = await asyncio.gather(*(timed.claim(60_000) for _ in range(5)))
        assert all(stored.due is not None and one.now >= stored.due for one in both if one.tables)
        return [table for one in both for table in one.tables]

    assert await eventually(claimed) == [T]
    assert (await timed.claim(1)).tables == ()


async def test_a_claimed_duty_comes_back_when_its_lease_has_run_out(timed: RedisLog) -> None:
    await wind(timed, 1, Timer(0))

    async def claimed() -> tuple[str, ...]:
        return tuple((await timed.claim(1)).tables)

    assert await eventually(claimed) == (T,)
    assert await eventually(claimed) == (T,)


async def test_a_claimed_duty_that_is_done_does_not_come_back(timed: RedisLog) -> None:
    await wind(timed, 1, Timer(0))

    async def claimed() -> tuple[str, ...]:
        return tuple((await timed.claim(1)).tables)

    await eventually(claimed)
    await wind(timed, 2, Timer(None))
    assert await claimed() == ()


async def test_a_claim_does_not_move_the_deadline_that_people_see(timed: RedisLog) -> None:
    stored = await wind(timed, 1, Timer(0))

    async def claimed() -> tuple[str, ...]:
        return tuple((await timed.claim(60_000)).tables)

    await eventually(claimed)
    assert await due(timed, T) == stored.due
    assert (await wind(timed, 2, None)).due == stored.due


async def test_tables_of_all_shards_are_claimed(log: RedisLog) -> None:
    names = [f"{shard}-shard" for shard in SHARDS]
    for name in names:
        await log.open(opened(id=name))
        await log.append(name, "g_nina:c", entry(1), Timer(0), None, None)
    found: set[str] = set()

    async def all_of_them() -> bool:
        found.update((await log.claim(60_000)).tables)
        return found == set(names)

    await eventually(all_of_them)


# --- the bell --------------------------------------------------------------------------------------------------------


@pytest.fixture
async def bell(valkey: Redis) -> AsyncIterator[RedisBell]:
    bell = RedisBell(valkey)
    await bell.prepare()
    yield bell
    await bell.close()


async def next_ring(bell: RedisBell) -> Rang:
    async with asyncio.timeout(PATIENCE):
        rang = await anext(bell.rings())
    assert isinstance(rang, Rang)
    return rang


async def test_the_bell_rings_for_an_entry_for_company_and_for_talk(log: RedisLog, valkey: Redis, bell: RedisBell) -> None:
    company = RedisCompany(valkey)
    await bell.follow(TABLE)
    assert await next_ring(bell) == Rang(TABLE)
    added = await appended(log, 1)
    assert await next_ring(bell) == Rang(TABLE, entry=(1, added.at))
    await company.here(TABLE, "tab", NINA.id)
    assert await next_ring(bell) == Rang(TABLE, here=True)
    said = Said(1, Seat.FIRST, "Nina", None, "<b>ça va ?</b>")
    await company.say(TABLE, said)
    assert await next_ring(bell) == Rang(TABLE, said=said)


async def test_a_bell_rings_when_it_begins_to_be_heard(log: RedisLog, bell: RedisBell) -> None:
    """What was written while one was still asking for it has rung for nobody."""
    await appended(log, 1)
    await bell.follow(TABLE)
    assert await next_ring(bell) == Rang(TABLE)


async def test_a_bell_that_is_not_followed_is_not_heard(log: RedisLog, valkey: Redis, bell: RedisBell) -> None:
    await log.open(opened(id="01-other"))
    await bell.follow(TABLE)
    await bell.follow("01-other")
    assert [await next_ring(bell), await next_ring(bell)] == [Rang(TABLE), Rang("01-other")]
    await bell.unfollow(TABLE)
    await appended(log, 1)
    await log.append("01-other", "g_nina:c", entry(1), None, None, None)
    assert (await next_ring(bell)).table == "01-other"


async def test_a_process_that_was_kept_from_listening_goes_on_hearing(bell: RedisBell) -> None:
    """It heard nothing for so long that a line would be dead, but it was not listening."""
    hearing = asyncio.create_task(next_ring(bell))
    await asyncio.sleep(0)
    time.sleep(1.1 * bell.SILENT_WAITS * bell.ECHO_SECONDS)  # noqa: ASYNC251 (it gets no processor)
    for number in range(20):
        await bell.follow(f"00-{number}")  # it would be refused while the line is down
        await asyncio.sleep(0.005)
    assert await hearing == Rang("00-0")


async def test_a_line_that_is_cut_again_and_again_is_made_anew(
    bell: RedisBell, valkey: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut at any moment, also while it is being made and while others write to it."""
    monkeypatch.setattr(bell, "PAUSE_SECONDS", 0.0, raising=False)
    tables = {f"00-{number}" for number in range(300)}
    heard: set[str] = set()

    async def listen() -> None:
        async for rang in bell.rings():
            assert isinstance(rang, Rang)
            heard.add(rang.table)

    async def follow(table: str) -> None:
        with suppress(Refused):
            await bell.follow(table)

    async def all_are_heard() -> bool:
        return heard == tables

    listening, cut = asyncio.create_task(listen()), 0
    for table in tables:
        asked = [asyncio.create_task(follow(table)) for _ in range(3)]
        cut += int(await valkey.client_kill_filter(_type="pubsub"))
        await asyncio.gather(*asked)
    assert cut > 20
    await eventually(all_are_heard)
    await end(listening)


# --- company ---------------------------------------------------------------------------------------------------------


async def test_each_connection_is_present_until_it_is_gone(valkey: Redis) -> None:
    company = RedisCompany(valkey)
    for connection, person in (("tab", NINA.id), ("phone", NINA.id), ("stranger", None), ("tab", NINA.id)):
        await company.here(TABLE, connection, person)
    assert sorted(map(str, await company.present(TABLE))) == ["None", NINA.id, NINA.id]
    await company.gone(TABLE, "tab", NINA.id)
    await company.gone(TABLE, "tab", NINA.id)
    assert sorted(map(str, await company.present(TABLE))) == ["None", NINA.id]


async def test_who_is_not_heard_of_any_more_is_not_present(valkey: Redis) -> None:
    now = 1_796_000_000_000
    company = RedisCompany(valkey, clock=lambda: now)
    await company.here(TABLE, "tab", NINA.id)
    await company.here(TABLE, "other", PAUL.id)
    now += PRESENT_MS // 2
    await company.here(TABLE, "tab", NINA.id)
    now += PRESENT_MS // 2 + 1
    assert await company.present(TABLE) == (NINA.id,)


async def test_the_last_words_are_kept_in_order(log: RedisLog, valkey: Redis) -> None:
    company = RedisCompany(valkey)
    for number in range(TALK_KEPT + 5):
        await company.say(TABLE, Said(1 + number, Seat.FIRST, "Nina", None, f"{number}"))
    assert [said.at for said in await company.talk(TABLE)] == list(range(6, TALK_KEPT + 6))


# --- the lobby -------------------------------------------------------------------------------------------------------


async def test_the_lobby_shows_the_newest_first_and_what_is_played(valkey: Redis) -> None:
    lobby = RedisLobby(valkey)
    older = four_seated()
    newer = replace(game_begun(), id="01-newer", created=older.created + 1)
    await lobby.show(older)
    await lobby.show(newer)
    shown = await lobby.tables()
    assert [(one.table, one.playing) for one in shown] == [(replace(newer, game=None), True), (older, False)]


async def test_what_is_private_or_empty_is_not_in_the_lobby(valkey: Redis) -> None:
    lobby = RedisLobby(valkey)
    await lobby.show(replace(four_seated(), listed=False))
    assert await lobby.tables() == []
    await lobby.show(four_seated())
    await lobby.show(opened())
    assert await lobby.tables() == []


# --- guests ----------------------------------------------------------------------------------------------------------


async def test_a_guest_is_known_by_a_token_that_is_stored_nowhere(valkey: Redis) -> None:
    guests = RedisGuests(valkey)
    person, token = await guests.welcome("Nina")
    assert await guests.by_token(token) == person
    renamed = await guests.rename(token, "Ninon")
    assert renamed is not None
    assert (renamed.id, renamed.name) == (person.id, "Ninon")
    assert await guests.by_token(token) == renamed
    for key in await valkey.keys("*"):
        assert token not in key
        assert token not in str(await valkey.hgetall(key))
        assert 0 < await valkey.ttl(key) <= GUEST_SECONDS


async def test_nobody_is_known_by_another_token(valkey: Redis) -> None:
    guests = RedisGuests(valkey)
    person, token = await guests.welcome("Nina")
    for other in ("", "x", token[:-1], token + "x", person.id):
        assert await guests.by_token(other) is None
        assert await guests.rename(other, "Paul") is None


async def test_the_newest_seats_of_somebody_are_known_and_not_all(redis_url: str) -> None:
    async with connect(redis_url) as redis:
        lobby = RedisLobby(redis)
        for number in range(SEATS_KEPT + 5):
            await lobby.seat(NINA.id, f"0f-{number}")
            await asyncio.sleep(0.002)  # the order is that of the milliseconds
        assert await lobby.seats(NINA.id) == [f"0f-{number}" for number in range(SEATS_KEPT + 4, 4, -1)]
        await lobby.unseat(NINA.id, "0f-7")
        assert "0f-7" not in await lobby.seats(NINA.id)
        assert await lobby.seats(PAUL.id) == []


# --- a store that goes away ------------------------------------------------------------------------------------------


async def test_a_store_that_is_away_is_busy_and_everything_works_when_it_is_back(tmp_path: Path) -> None:
    unused = "postgresql+asyncpg://nobody@/nothing"
    with running(tmp_path, None, unused) as servers:
        redis = connect(servers.redis_url)
        log, bell = RedisLog(redis), RedisBell(redis)
        company, lobby, guests = RedisCompany(redis), RedisLobby(redis), RedisGuests(redis)
        await log.prepare()
        await bell.prepare()
        tables = Tables(log, lobby)
        await tables.open(opened())
        await bell.follow(TABLE)
        assert await next_ring(bell) == Rang(TABLE)
        first = await tables.act(TABLE, Actor(NINA.id), "sit", Sit(NINA))
        assert (await next_ring(bell)).entry is not None
        person, token = await guests.welcome("Nina")
        hearing = asyncio.create_task(next_ring(bell))
        await asyncio.sleep(0)

    said = Said(1, Seat.FIRST, "Nina", "hello", None)
    asked: tuple[Callable[[], Awaitable[Any]], ...] = (
        lambda: tables.act(TABLE, Actor(NINA.id), "ready", GetReady(True)),
        lambda: tables.mirror(TABLE),
        lambda: log.load(TABLE),
        lambda: log.open(opened(id="00-new")),
        lambda: log.claim(1_000),
        lambda: bell.follow("00-new"),
        lambda: company.here(TABLE, "tab", NINA.id),
        lambda: company.gone(TABLE, "tab", NINA.id),
        lambda: company.present(TABLE),
        lambda: company.say(TABLE, said),
        lambda: company.talk(TABLE),
        lobby.tables,
        lambda: lobby.seat(NINA.id, TABLE),
        lambda: lobby.unseat(NINA.id, TABLE),
        lambda: lobby.seats(NINA.id),
        lambda: log.forget(TABLE, (1, 1)),
        lambda: guests.by_token(token),
        lambda: guests.welcome("Paul"),
    )
    for ask in asked:
        with pytest.raises(Refused) as refused:
            await ask()
        assert refused.value.why is Why.BUSY

    with running(tmp_path, None, unused):
        assert await tables.act(TABLE, Actor(NINA.id), "sit", Sit(NINA)) == first
        assert await tables.act(TABLE, Actor(NINA.id), "ready", GetReady(True)) == (1, 2)
        assert await guests.by_token(token) == person
        assert len(await lobby.tables()) == 1

        assert await hearing == Rang(TABLE)  # nobody knows what was missed
        await company.say(TABLE, said)
        heard = []
        while (rang := await next_ring(bell)) != Rang(TABLE, said=said):
            heard.append(rang.table)
        assert "00-new" in heard  # what was asked for meanwhile is heard as well
        await bell.close()
        await redis.aclose()
