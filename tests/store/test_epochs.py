"""A log that has lost its end: found by whoever knew more, once for all, and nobody goes on with what is gone."""

from collections.abc import AsyncIterator, Sequence

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from app.game.refusal import Refused
from app.game.seats import Seat
from app.store.lobby import RedisLobby
from app.store.log import RedisLog
from app.store.server import Store, connect
from app.tables.commands import Actor, GetReady, Sit
from app.tables.mirror import End, Mirror
from app.tables.play import Tables
from app.tables.ports import Entry, Last, Stale
from app.tables.table import ReadyChanged
from tests.losses import keep
from tests.seats import FOUR, NINA, PAUL, ROSA, UMA, opened

TABLE = opened().id


@pytest.fixture
async def store(redis_url: str) -> AsyncIterator[Store]:
    async with connect(redis_url) as client:
        yield client


@pytest.fixture
async def log(store: Store) -> RedisLog:
    log = RedisLog(store)
    await log.prepare()
    return log


@pytest.fixture
async def two(log: RedisLog, store: Store) -> Sequence[Tables]:
    """Two processes, and a table where Nina sits."""
    both = [Tables(log, RedisLobby(store)) for _ in range(2)]
    await both[0].open(opened())
    await sit(both[0], 0)
    return both


async def sit(tables: Tables, seat: int, cid: str = "sit") -> tuple[int, int]:
    person = FOUR[seat]
    return await tables.act(TABLE, Actor(person.id), cid, Sit(person, Seat(seat)))


class Watcher:
    """Somebody who writes down what it hears."""

    def __init__(self) -> None:
        self.heard: list[object] = []

    def on_entry(self, mirror: Mirror, entry: Entry) -> None:
        self.heard.append(mirror.at)

    def on_anew(self, mirror: Mirror) -> None:
        self.heard.append(("anew", mirror.at))

    def on_end(self, mirror: Mirror, why: End) -> None:
        self.heard.append(why)


async def test_nothing_is_lost_and_the_epoch_stays(two: Sequence[Tables]) -> None:
    for turn in range(3):
        assert await sit(two[turn % 2], turn + 1) == (1, turn + 2)
    for tables in two:
        assert (await tables.mirror(TABLE)).at == (1, 4)


async def test_whoever_knew_more_begins_a_new_epoch(two: Sequence[Tables], redis: Redis) -> None:
    then = await keep(redis, TABLE)
    await sit(two[0], 1)
    await sit(two[0], 2)
    watcher = Watcher()
    (await two[0].mirror(TABLE)).watchers.append(watcher)
    await then.bring_back(redis)
    with capture_logs() as said:
        mirror = await two[0].mirror(TABLE)
    assert mirror.at == (2, 1)
    assert mirror.table.people == (NINA,)
    assert watcher.heard == [("anew", (2, 1))]
    assert [(one["event"], one["had"], one["has"], one["epoch"]) for one in said] == [
        ("a log has lost its end", (1, 3), (1, 1), 2)
    ]
    assert await sit(two[0], 3) == (2, 2)


async def test_an_action_on_what_is_lost_is_judged_again_on_what_is_there(two: Sequence[Tables], redis: Redis) -> None:
    then = await keep(redis, TABLE)
    await sit(two[0], 1)
    await then.bring_back(redis)
    assert await sit(two[0], 2) == (2, 2)
    assert (await two[0].mirror(TABLE)).table.people == (NINA, ROSA)
    assert await sit(two[0], 1) == (2, 3)  # the same command again: it is not known any more, and done


async def test_all_processes_begin_the_same_epoch_once(two: Sequence[Tables], redis: Redis) -> None:
    then = await keep(redis, TABLE)
    await sit(two[0], 1)
    await sit(two[0], 2)
    await two[1].mirror(TABLE)
    await then.bring_back(redis)
    mirrors = [await tables.mirror(TABLE) for tables in two]
    assert [mirror.at for mirror in mirrors] == [(2, 1), (2, 1)]
    assert await sit(two[1], 3) == (2, 2)
    assert (await two[0].mirror(TABLE)).at == (2, 2)


async def test_a_process_that_knew_nothing_of_the_end_is_told_of_the_epoch(two: Sequence[Tables], redis: Redis) -> None:
    watcher = Watcher()
    (await two[1].mirror(TABLE)).watchers.append(watcher)
    then = await keep(redis, TABLE)
    await sit(two[0], 1)
    await then.bring_back(redis)
    await two[0].mirror(TABLE)
    await two[1].mirror(TABLE)
    assert watcher.heard == [("anew", (2, 1))]


async def test_a_log_that_has_grown_again_to_the_same_number_is_another_log(two: Sequence[Tables], redis: Redis) -> None:
    then = await keep(redis, TABLE)
    await sit(two[0], 1)
    await sit(two[0], 2)
    await then.bring_back(redis)
    for seat in (3, 2):  # by a process that knows nothing of what was there
        await sit(two[1], seat, f"other{seat}")
    assert (await two[1].mirror(TABLE)).at == (1, 3)
    assert await two[0].act(TABLE, Actor(FOUR[1].id), "later", Sit(PAUL)) == (2, 4)
    for tables in two:
        mirror = await tables.mirror(TABLE)
        assert mirror.at == (2, 4)
        assert mirror.table.people == FOUR


async def test_an_epoch_that_is_lost_itself_is_not_begun_twice(two: Sequence[Tables], redis: Redis) -> None:
    then = await keep(redis, TABLE)
    await sit(two[0], 1)
    await then.bring_back(redis)
    await two[0].mirror(TABLE)
    await two[1].mirror(TABLE)
    await then.bring_back(redis)
    assert [(await tables.mirror(TABLE)).at for tables in two] == [(3, 1), (3, 1)]


async def test_an_entry_is_refused_that_follows_another_than_the_last(log: RedisLog, two: Sequence[Tables]) -> None:
    mirror = await two[0].mirror(TABLE)
    entry = Entry(2, NINA.id, GetReady(True), (ReadyChanged(Seat.FIRST, True),))
    for last in (Last(2, mirror.end.at), Last(1, mirror.end.at - 1), Last(1, 0)):
        assert await log.append(TABLE, "x:1", entry, None, None, None, last) == Stale(1)
    assert await log.append(TABLE, "x:1", entry, None, None, None, mirror.end) != Stale(1)


async def test_a_table_that_the_store_has_forgotten_is_followed_no_longer(two: Sequence[Tables], redis: Redis) -> None:
    mirror = await two[0].mirror(TABLE)
    watcher = Watcher()
    mirror.watchers.append(watcher)
    await redis.flushall()
    with pytest.raises(Refused, match="no_such_table"):
        await two[0].catch_up(mirror)
    assert watcher.heard == ["no_such_table"]
    with pytest.raises(Refused, match="no_such_table"):
        await sit(two[0], 1)


async def test_a_process_that_was_away_for_whole_games_reads_anew_and_nothing_is_lost(
    log: RedisLog, two: Sequence[Tables], redis: Redis
) -> None:
    slow = await two[1].mirror(TABLE)
    watcher = Watcher()
    slow.watchers.append(watcher)
    await sit(two[0], 1)
    frame = (await two[0].mirror(TABLE)).table
    entry = Entry(3, UMA.id, Sit(UMA), ())
    await log.append(TABLE, "x:1", entry, None, frame, None)
    await redis.xtrim(f"{{s{TABLE[:2]}}}t:{TABLE}:log", minid="3", approximate=False)
    assert await two[1].catch_up(slow)
    assert slow.at == (1, 3)
    assert watcher.heard == [("anew", (1, 3))]
