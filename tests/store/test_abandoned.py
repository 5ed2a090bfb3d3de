"""What the history has of a game that all have left, and which games are rated."""

from typing import Any

import pytest
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine

from app.game.rules import PRESETS
from app.game.seats import SEATS, Seat
from app.store.archive import Archive
from app.store.history import SqlHistory
from app.store.log import RedisLog
from app.tables.history import Ended, Filter
from app.tables.notices import GameFinished
from app.wire.hooks import read_notice
from tests.finished import FOUR, Script, abandoned, played, played_for, store

RULES = PRESETS["announced-701"]
NINA = FOUR[0].id


async def archived(valkey: Redis, postgres: AsyncEngine, *scripts: Script) -> SqlHistory:
    """The history with these games."""
    for script in scripts:
        await store(RedisLog(valkey), script)
    assert await Archive(valkey, postgres, stale_ms=0).drain_once() == len(scripts)
    return SqlHistory(postgres)


async def test_a_game_that_all_have_left_is_kept_as_such(valkey: Redis, postgres: AsyncEngine) -> None:
    script = abandoned(played(RULES), 60)
    history = await archived(valkey, postgres, script)
    [row] = await history.games(Filter(player=NINA), NINA, None, 10)
    assert (row.ended, row.winner, row.won, row.rated) == (Ended.ABANDONED, None, None, False)
    assert [(seat.player, seat.rating_after) for seat in row.seats] == [(one.id, None) for one in FOUR]
    record = await history.game(row.id)
    assert record is not None
    assert len(record.deals) == row.deal_count > 0
    [sheet] = [one async for one in history.export(Filter(), None, whole=False)]
    assert (sheet.ended, sheet.id) == (Ended.ABANDONED, row.id)
    for won in (True, False):
        assert await history.games(Filter(player=NINA, won=won), NINA, None, 10) == []


@pytest.mark.parametrize("after", [6, 12])
async def test_it_may_end_before_its_first_deal_has(after: int, valkey: Redis, postgres: AsyncEngine) -> None:
    history = await archived(valkey, postgres, abandoned(played(RULES), after))
    [row] = await history.games(Filter(player=NINA), NINA, None, 10)
    record = await history.game(row.id)
    assert record is not None
    assert (row.ended, row.deal_count, list(record.deals)) == (Ended.ABANDONED, 0, [])


async def test_it_counts_for_nobody(valkey: Redis, postgres: AsyncEngine) -> None:
    left, whole = abandoned(played(RULES), 60), played(RULES, table="0b-other")
    history = await archived(valkey, postgres, left)
    assert await history.players(True, None, None, 10) == []
    history = await archived(valkey, postgres, whole)
    player, told = await history.player(NINA), await history.statistics(NINA)
    assert player is not None
    assert told is not None
    assert (player.games, told.games, len(told.form)) == (1, 1, 1)
    assert told.best_partner is None or told.best_partner.games == 1


async def test_hooks_hear_how_it_ended(valkey: Redis, postgres: AsyncEngine) -> None:
    await archived(valkey, postgres, abandoned(played(RULES), 60))
    [(_, fields)] = list(await valkey.xrange("{s0b}notices") or ())
    notice = read_notice(dict[Any, Any](fields or {})["notice"], None)
    assert isinstance(notice, GameFinished)
    assert (notice.ended, notice.winner) == ("abandoned", None)


@pytest.mark.parametrize("idle", [(), *((seat,) for seat in SEATS), SEATS], ids=str)
async def test_a_game_in_which_somebody_took_no_part_is_not_rated(
    idle: tuple[Seat, ...], valkey: Redis, postgres: AsyncEngine
) -> None:
    history = await archived(valkey, postgres, played_for(played(RULES), *idle))
    [row] = await history.games(Filter(), None, None, 10)
    assert row.ended is Ended.PLAYED
    assert row.rated is not bool(idle)
    found = [await history.player(one.id) for one in FOUR]
    assert {one.rated for one in found if one is not None} == {0 if idle else 1}
