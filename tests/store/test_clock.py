"""Whose time is up is decided by the store's clock alone; whoever sets a clock, here or there, takes and gives nobody time."""

import time

import pytest
from redis.asyncio import Redis

from app.store.clock import StoreClock
from app.store.keys import Keys
from app.store.limits import RedisLimits
from app.store.log import RedisLog
from app.tables.commands import GiveBack
from app.tables.limits import OPENING, Wish
from app.tables.ports import Appended, Entry, Timer
from app.tables.table import TimeGivenBack
from tests.seats import opened

HOUR_MS = 3_600_000
PLAYING, IDLE, LATE = "0f-playing", "0f-house", "0f-late"
"""Tables of one shard: at one a clock runs, at one the house is to move, at one the time was up before anybody looked away."""


class Monotonic:
    """A monotonic clock in the test's hands."""

    def __init__(self) -> None:
        self.now = 5_000.0

    def __call__(self) -> float:
        return self.now


def observed(store_ms: int, delay: float = 0.0) -> tuple[StoreClock, Monotonic]:
    """A clock that has learned the store's time from an answer that took so many ms."""
    monotonic = Monotonic()
    clock, sent = StoreClock(monotonic), monotonic.now
    monotonic.now += delay
    clock.observe(store_ms, sent)
    return clock, monotonic


@pytest.mark.parametrize("off", [-HOUR_MS, 0, HOUR_MS])
def test_the_wall_clock_of_the_host_is_not_believed(off: int) -> None:
    store_ms = int(time.time() * 1000) + off
    clock, monotonic = observed(store_ms)
    assert clock() - store_ms in (0, 1)  # the store answers in whole ms
    monotonic.now += 1_500
    assert clock() - store_ms in (1_500, 1_501)


def test_a_slow_answer_does_not_make_the_clock_jump() -> None:
    clock, monotonic = observed(1_000_000)
    sent = monotonic.now
    monotonic.now += 800
    before = clock()
    clock.observe(1_000_650, sent)
    assert clock() == before


@pytest.mark.parametrize("step", [-120_000, 120_000])
def test_a_step_of_the_store_is_followed_at_its_next_answer(step: int) -> None:
    clock, monotonic = observed(1_000_000)
    monotonic.now += 10
    clock.observe(1_000_010 + step, monotonic.now)
    assert clock() - step in (1_000_010, 1_000_011)


async def test_every_answer_of_the_log_keeps_the_clock_right(valkey: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    wall = time.time
    monkeypatch.setattr(time, "time", lambda: wall() + 3600)
    clock = StoreClock()
    log = RedisLog(valkey, clock=clock)

    async def is_right() -> bool:
        return abs(clock() - await _now(valkey)) < HOUR_MS / 60

    assert not await is_right()
    await log.prepare()
    assert await is_right()
    await log.open(opened(id=PLAYING))
    for ask in (log.load(PLAYING), log.tail(PLAYING, 0), log.append(PLAYING, "a", _entry(1), Timer(60_000), None, None)):
        clock.observe(0, clock.monotonic())
        assert not await is_right()
        await ask
        assert await is_right()


async def _now(valkey: Redis) -> int:
    seconds, micros = await valkey.time()
    return int(seconds) * 1000 + int(micros) // 1000


def _entry(seq: int) -> Entry:
    return Entry(seq, None, GiveBack(), (TimeGivenBack(),))


async def _wound(valkey: Redis) -> tuple[RedisLog, dict[str, int]]:
    """Three tables and when something falls due at each: 60 s ahead for a person, at once for the house, long ago."""
    log, dues = RedisLog(valkey), {}
    await log.prepare()
    await log.claim(1)  # somebody looks after duties
    for table, after in ((PLAYING, 60_000), (IDLE, 0), (LATE, 60_000)):
        await log.open(opened(id=table))
        answer = await log.append(table, "a", _entry(1), Timer(after), None, None)
        assert isinstance(answer, Appended)
        assert answer.due is not None
        dues[table] = answer.due
    return log, dues


async def _set_back(valkey: Redis, ms: int) -> None:
    """What the store has noted lies as far in the future as if its clock had been set back just now."""
    keys = Keys(PLAYING)
    await valkey.incrby(Keys.alive("0f"), ms)
    for table in (PLAYING, IDLE, LATE):
        await valkey.zincrby(keys.dues, ms, table)
        await valkey.hincrby(Keys(table).meta, "due", ms)


async def _noted(valkey: Redis, table: str) -> tuple[int, int]:
    """When its duty falls due: in the shard's list, and as the table's next entry would carry it on."""
    score = await valkey.zscore(Keys(table).dues, table)
    assert score is not None
    return int(score), int(await valkey.hget(Keys(table).meta, "due") or 0)


@pytest.mark.parametrize("ms", [2_500, 120_000, HOUR_MS])
async def test_a_clock_that_is_set_back_makes_no_turn_longer(valkey: Redis, ms: int) -> None:
    log, dues = await _wound(valkey)
    alive = int(await valkey.get(Keys.alive("0f")) or 0)
    await _set_back(valkey, ms)
    moved = (await log.claim(60_000)).moved
    assert set(moved) == {PLAYING, IDLE, LATE}  # each hears of it, for the processes have the old times in mind
    passed = int(await valkey.get(Keys.alive("0f")) or 0) - alive
    assert 0 <= passed < 60_000
    for table in (PLAYING, LATE):
        assert await _noted(valkey, table) == (dues[table] + passed, dues[table] + passed)


async def test_what_is_due_at_once_does_not_wait_for_the_hour_to_come_again(valkey: Redis) -> None:
    log, _ = await _wound(valkey)
    await _set_back(valkey, HOUR_MS)
    claimed = list((await log.claim(60_000)).tables)
    while IDLE not in claimed:
        claimed += (await log.claim(60_000)).tables
    assert PLAYING not in claimed


async def test_after_an_outage_time_is_given_back_where_somebody_waited_and_nowhere_else(valkey: Redis) -> None:
    log, dues = await _wound(valkey)
    last = dues[PLAYING] - 60_000 - 30_000
    await valkey.set(Keys.alive("0f"), last)  # nobody has looked for half a minute
    await valkey.zadd(Keys(LATE).dues, {LATE: last - 1})  # this was due before that began
    claimed = await log.claim(60_000)
    assert claimed.moved == (PLAYING,)
    assert LATE in claimed.tables
    gap = claimed.now - last
    assert gap >= 30_000
    assert await _noted(valkey, PLAYING) == (dues[PLAYING] + gap, dues[PLAYING] + gap)


async def test_small_steps_move_nothing(valkey: Redis) -> None:
    log, dues = await _wound(valkey)
    await valkey.set(Keys.alive("0f"), await _now(valkey) + 900)
    assert (await log.claim(60_000)).moved == ()
    assert await _noted(valkey, PLAYING) == (dues[PLAYING], dues[PLAYING])


async def test_nobody_is_refused_for_as_long_as_a_clock_was_set_back(valkey: Redis) -> None:
    log, limits = RedisLog(valkey), RedisLimits(valkey)
    await log.prepare()
    key = f"limit:{OPENING.name}:g_nina"
    await valkey.set(key, str(await _now(valkey) + HOUR_MS))  # full, by a clock that was an hour ahead
    [verdict] = await limits.ask(Wish(OPENING, "g_nina"))
    assert not verdict.allowed
    assert 0 < verdict.wait <= 2 * OPENING.window
