"""Which tables all may find: those at which somebody was lately."""

from dataclasses import replace

from redis.asyncio import Redis

from app.store.company import RedisCompany
from app.store.lobby import DEAD_MS, IDLE_MS, RedisLobby
from app.tables.table import HOUR
from tests.seats import NINA, bidding, four_seated, opened

TABLE = opened().id


async def test_a_table_where_nobody_is_any_more_leaves_the_lobby_until_somebody_comes_back(valkey: Redis) -> None:
    now = 1_796_000_000_000
    lobby = RedisLobby(valkey, lambda: now)
    table = four_seated()
    await lobby.show(table)
    now += DEAD_MS - 1
    assert len(await lobby.tables()) == 1
    now += 1
    assert await lobby.tables() == []
    await lobby.touch([table.id])  # somebody comes back
    now += DEAD_MS - 1
    assert len(await lobby.tables()) == 1
    now += IDLE_MS
    assert await valkey.hlen(RedisLobby.KEY) == 1
    assert await lobby.tables() == []
    assert await valkey.hlen(RedisLobby.KEY) == 0
    await lobby.touch(["0f-other"])
    assert await valkey.zrange(RedisLobby.ALIVE, 0, -1) == ["0f-other"]


async def test_a_slow_game_need_have_nobody_there_to_be_in_the_lobby(valkey: Redis) -> None:
    now = 1_796_000_000_000
    lobby = RedisLobby(valkey, lambda: now)
    for number, table in enumerate((four_seated(24 * HOUR), bidding(60), bidding(24 * HOUR))):
        await lobby.show(replace(table, id=f"0f-{number}"))
    now += DEAD_MS
    assert [one.table.id for one in await lobby.tables()] == ["0f-2"]


async def test_who_is_at_several_tables_is_told_at_once(valkey: Redis) -> None:
    company = RedisCompany(valkey)
    await company.here(TABLE, "tab", NINA.id)
    await company.here("03-other", "tab", None)
    assert await company.present_at(["0f-nobody", TABLE, "03-other"]) == [(), (NINA.id,), (None,)]
