"""What is kept, and how long: a table nobody uses, a game the archive does not have yet, a guest who stays away."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine

from app.game.refusal import Refused, Why
from app.game.rules import PRESETS
from app.game.seats import Seat
from app.store.archive import TRIES, Archive
from app.store.company import RedisCompany
from app.store.guests import RedisGuests
from app.store.keys import GUEST_SECONDS, TABLE_DAYS, Keys
from app.store.lobby import RedisLobby
from app.store.log import RedisLog
from app.tables import play
from app.tables.commands import Actor, GetReady
from app.tables.ports import Appended, Entry, Finished, Said, Timer
from app.tables.table import ReadyChanged
from tests.finished import Script, played
from tests.finished import store as put
from tests.people import PATIENCE
from tests.seats import NINA, opened

DAY = 24 * 3600
SCRIPT = played(PRESETS["contree-701"], seed=2)
TABLE = SCRIPT.opened.id
KEYS = Keys(TABLE)


@pytest.fixture
async def log(valkey: Redis) -> RedisLog:
    log = RedisLog(valkey)
    await log.prepare()
    return log


@pytest.fixture
def archive(valkey: Redis, postgres: AsyncEngine) -> Archive:
    return Archive(valkey, postgres, stale_ms=0)


async def ends(valkey: Redis) -> set[int]:
    """When the keys of the table that are there expire, as seconds since 1970; -1 for never."""
    return {await valkey.expiretime(key) for key in KEYS.lasting if await valkey.exists(key)}


async def days_left(valkey: Redis) -> float:
    """Days until all of them expire, at the same moment."""
    [_] = await ends(valkey)
    return round(await valkey.ttl(KEYS.meta) / DAY, 1)


async def letters(valkey: Redis, stream: str) -> list[tuple[str, dict[Any, Any]]]:
    rows: Any = await valkey.xrange(stream)
    return list(rows)


async def hurry(valkey: Redis) -> None:
    """As if the table had been left alone for most of its time."""
    tomorrow = int(time.time()) + DAY
    for key in KEYS.lasting:
        await valkey.expireat(key, tomorrow)


async def add(log: RedisLog, seq: int, timer: Timer | None = None) -> None:
    entry = Entry(seq, NINA.id, GetReady(True), (ReadyChanged(Seat.FIRST, True),))
    assert isinstance(await log.append(TABLE, f"g_nina:{seq}", entry, timer, None, None), Appended)


async def test_a_table_is_kept_for_a_while_after_it_was_opened(log: RedisLog, valkey: Redis) -> None:
    await log.open(opened(id=TABLE))
    assert await days_left(valkey) == TABLE_DAYS


async def test_each_use_begins_the_time_anew_for_all_its_keys_together(log: RedisLog, valkey: Redis) -> None:
    company = RedisCompany(valkey)
    await log.open(opened(id=TABLE))
    await add(log, 1)
    await company.say(TABLE, Said(1, Seat.FIRST, "Nina", "hello", None))
    assert await valkey.exists(*KEYS.lasting) == len(KEYS.lasting)
    uses: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: add(log, 2),
        lambda: company.here(TABLE, "tab", NINA.id),
        lambda: company.here(TABLE, "tab", NINA.id),
        lambda: company.say(TABLE, Said(1, Seat.FIRST, "Nina", "hello", None)),
    )
    for use in uses:
        await hurry(valkey)
        await use()
        assert await days_left(valkey) == TABLE_DAYS


async def test_reading_is_no_use(log: RedisLog, valkey: Redis) -> None:
    await log.open(opened(id=TABLE))
    await hurry(valkey)
    await log.load(TABLE)
    await log.tail(TABLE, 0)
    assert await days_left(valkey) == 1


async def test_a_table_is_closed_when_the_archive_has_its_finished_games(
    log: RedisLog, valkey: Redis, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play, "PAUSE_SECONDS", 0.0)
    await put(log, SCRIPT)
    tables, host = play.Tables(log, RedisLobby(valkey)), Actor(NINA.id)
    with pytest.raises(Refused) as refused:
        await tables.close(TABLE, host)
    assert refused.value.why is Why.BUSY
    assert (await tables.mirror(TABLE)).table.games == 1
    assert await archive.drain_once() == 1
    await tables.close(TABLE, host)
    assert await valkey.keys(f"*{TABLE}*") == []
    with pytest.raises(Refused) as refused:
        await play.Tables(log, RedisLobby(valkey)).mirror(TABLE)
    assert refused.value.why is Why.NO_SUCH_TABLE


async def test_nothing_is_kept_of_who_comes_to_a_table_that_is_gone(log: RedisLog, valkey: Redis) -> None:
    company = RedisCompany(valkey)
    await log.open(opened(id=TABLE))
    assert await log.forget(TABLE, (1, 1)) == "stale"
    assert await log.forget(TABLE, (1, 0)) == "forgotten"
    await company.lag(TABLE, Seat.FIRST, 20)
    await company.here(TABLE, "tab", NINA.id)
    with pytest.raises(Refused) as refused:
        await company.say(TABLE, Said(1, Seat.FIRST, "Nina", "hello", None))
    assert refused.value.why is Why.NO_SUCH_TABLE
    assert await valkey.keys(f"*{TABLE}*") == [KEYS.here]
    assert await valkey.ttl(KEYS.here) > 0


async def test_how_long_is_a_setting(valkey: Redis) -> None:
    log = RedisLog(valkey, days=3)
    await log.prepare()
    await log.open(opened(id=TABLE))
    assert await days_left(valkey) == 3
    await hurry(valkey)
    await RedisCompany(valkey, days=5).here(TABLE, "tab", NINA.id)
    assert await days_left(valkey) == 5


async def test_a_finished_game_holds_its_table_until_it_is_archived(log: RedisLog, valkey: Redis, archive: Archive) -> None:
    await put(log, SCRIPT)
    assert await ends(valkey) == {-1}
    await RedisCompany(valkey).here(TABLE, "tab", NINA.id)
    await add(log, len(SCRIPT.entries) + 1)
    assert await ends(valkey) == {-1}
    assert await archive.drain_once() == 1
    assert await days_left(valkey) == TABLE_DAYS


async def test_of_two_finished_games_both_must_be_archived(log: RedisLog, valkey: Redis, archive: Archive) -> None:
    await put(log, SCRIPT)
    await again(log, SCRIPT)
    [_, (second, fields)] = await letters(valkey, KEYS.outbox)
    await valkey.xdel(KEYS.outbox, second)
    assert await archive.drain_once() == 1
    assert await ends(valkey) == {-1}
    assert await valkey.xlen(KEYS.log) == 2 * len(SCRIPT.entries)
    await valkey.xadd(KEYS.outbox, fields)
    assert await archive.drain_once() == 1
    assert await days_left(valkey) == TABLE_DAYS


async def again(log: RedisLog, script: Script) -> None:
    """The same game once more at the same table."""
    for entry in script.entries:
        seq = entry.seq + len(script.entries)
        answer = await log.append(
            TABLE,
            f"test:{seq}",
            replace(entry, seq=seq),
            None,
            script.opened if entry is script.entries[0] else None,
            Finished(script.game.id) if entry is script.entries[-1] else None,
        )
        assert isinstance(answer, Appended)


async def numbers(log: RedisLog) -> Sequence[int]:
    return [entry.seq for entry in await log.since(TABLE, 0)]


async def test_games_before_the_present_one_leave_the_log_once_they_are_archived(
    log: RedisLog, valkey: Redis, archive: Archive
) -> None:
    await put(log, SCRIPT)
    await archive.drain_once()
    count = len(SCRIPT.entries)
    assert await numbers(log) == list(range(1, count + 1))  # it is still the game that lies on the table
    await again(log, SCRIPT)
    assert await numbers(log) == list(range(1, 2 * count + 1))
    await archive.drain_once()
    assert await numbers(log) == list(range(count + 1, 2 * count + 1))
    stored = await log.load(TABLE)
    assert stored is not None
    assert [entry.seq for entry in stored.entries] == await numbers(log)


async def test_a_game_that_was_put_aside_holds_its_table(log: RedisLog, valkey: Redis, archive: Archive) -> None:
    await put(log, SCRIPT)
    [(_, fields)] = await letters(valkey, KEYS.outbox)
    await valkey.xdel(KEYS.log, "5-0")
    for _ in range(TRIES):
        await archive.drain_once()
    [(_, put_aside)] = await letters(valkey, f"{KEYS.outbox}:dead")
    assert put_aside == fields | {"error": "ValueError"}
    assert await ends(valkey) == {-1}


async def test_a_letter_that_is_taken_out_twice_counts_once(log: RedisLog, valkey: Redis, archive: Archive) -> None:
    await put(log, SCRIPT)
    await again(log, SCRIPT)
    await archive._make_groups()
    [letter, _] = await archive._letters()
    assert await archive._archive(letter)
    assert await archive._archive(letter)  # as by another process that had read it too
    assert await valkey.hget(KEYS.meta, "owed") == "1"
    assert await ends(valkey) == {-1}


async def test_what_is_forgotten_is_no_duty_any_more(log: RedisLog, valkey: Redis) -> None:
    await log.open(opened(id=TABLE))
    await add(log, 1, Timer(0))
    await valkey.delete(*KEYS.lasting)
    await valkey.zadd(KEYS.dues, {TABLE: 1})
    assert (await log.claim(1_000)).tables == ()
    assert await valkey.zcard(KEYS.dues) == 0
    assert await log.load(TABLE) is None
    assert await log.tail(TABLE, 1) is None


async def test_a_guest_is_kept_as_long_as_it_comes_back(valkey: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    guests = RedisGuests(valkey)
    person, token = await guests.welcome("Nina")
    [key] = await valkey.keys("guest:*")
    assert GUEST_SECONDS - PATIENCE < await valkey.ttl(key) <= GUEST_SECONDS
    await valkey.expire(key, GUEST_SECONDS - DAY // 2)
    await guests.by_token(token)
    assert await valkey.ttl(key) <= GUEST_SECONDS - DAY // 2  # not written for each request
    await valkey.expire(key, 100)
    assert await guests.by_token(token) == person
    assert await valkey.ttl(key) > GUEST_SECONDS - PATIENCE
    assert GUEST_SECONDS == 400 * DAY
