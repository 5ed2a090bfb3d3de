"""A release with an option, a field and an event that this one does not know: side by side with it, and after going back."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest
from httpx2 import AsyncClient
from redis.asyncio import Redis
from structlog.testing import capture_logs

from app.store.keys import Keys
from tests.people import PATIENCE, Person, elsewhere, open_table, running_site
from tests.releases.newer import tree
from tests.serving import serving


async def stored(redis: Redis, table: str) -> tuple[Any, ...]:
    """All that stands of a table in the store, but for how long it is kept and who is there."""
    keys = Keys(table)
    meta = await redis.hgetall(keys.meta)
    return meta, await redis.xrange(keys.log), await redis.hget("{lobby}tables", table)


async def left_alone(nina: Person, table: str) -> None:
    """This release serves nothing of the table, and says why."""
    assert (await nina.get(f"/tables/{table}", 503))["why"] == "newer_release"
    assert (await nina.post(f"/tables/{table}/ready", status=503))["why"] == "newer_release"
    assert table not in [one["id"] for one in (await nina.get("/tables"))["tables"]]
    assert table not in [one["id"] for one in (await nina.get("/me/tables"))["tables"]]
    async with nina.socket() as line:
        await line.send({"type": "join", "table": table})
        assert (await line.until(lambda frame: frame["type"] == "bye"))["why"] == "newer_release"


@pytest.mark.parametrize("has_new_number", [True, False], ids=["with a new number", "number forgotten"])
async def test_what_a_newer_release_has_written_is_left_to_it_and_stays_as_it_is(
    has_new_number: bool, tmp_path: Path, redis: Redis, redis_url: str, database_url: str
) -> None:
    newer_tree = tree(tmp_path / "newer", has_new_number)
    of_that_tree = {"PYTHONPATH": str(newer_tree), "PYTHONSAFEPATH": "1"}
    urls = {"REDIS_URL": redis_url, "DATABASE_URL": database_url}
    with serving(tmp_path, **of_that_tree, **urls) as newer, capture_logs() as logs:
        async with (
            running_site(redis_url, database_url) as today,
            AsyncClient(base_url=newer.url, timeout=PATIENCE) as http,
        ):
            there = Person(http)
            there.id = (await there.post("/me", {"name": "Nina"}))["id"]
            theirs = await open_table(there, options={"lucky": True})
            assert (await there.post(f"/tables/{theirs}/ready"))["rules"]["lucky"] is True
            rows: Any = await redis.xrange(Keys(theirs).log)
            entries = [json.loads(fields[b"entry"]) for _, fields in rows]
            assert "cheered" in [event["kind"] for entry in entries for event in entry["events"]]
            frame = json.loads(await redis.hget(Keys(theirs).meta, "frame") or "")
            assert (frame["motto"], frame["rules"]["lucky"]) == ("salut", True)
            async with elsewhere(there, today.url) as here:
                before = await stored(redis, theirs)
                await left_alone(here, theirs)
                ours = await open_table(here)
                assert (await there.get(f"/tables/{ours}"))["rules"]["lucky"] is False  # what is older is read
                await there.post(f"/tables/{theirs}/start")  # and the newer one goes on
                await asyncio.to_thread(newer.stop, signal.SIGTERM)
                assert await stored(redis, theirs) != before
                before = await stored(redis, theirs)
                await left_alone(here, theirs)
                await here.post(f"/tables/{ours}/start")
                assert await stored(redis, theirs) == before
    said = [line for line in logs if line["event"].startswith("a newer release has written this table")]
    assert [line["table"] for line in said] == [theirs]
