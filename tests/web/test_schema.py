"""Schemathesis asks each operation what its schema allows and forbids: a guest, a token and nobody. It finds nothing."""

import asyncio
import json
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import pytest

from app.embedded import Servers
from app.game.rules import PRESETS
from app.store.log import RedisLog
from app.store.server import connect
from app.web.address import COOKIE
from app.web.media import LINES
from tests.described import description
from tests.finished import played, store
from tests.people import PATIENCE, Json, Person, open_table, person
from tests.serving import serving

GAME = played(PRESETS["announced-701"], 1, table="0b-schema9x4wz")

SETTINGS = """
base-url = "{url}"
continue-on-failure = true
warnings = false

[generation]
deterministic = true
with-security-parameters = false

[checks]
# What no schema says: a name that shows nothing, a cursor of another list, filters that want each other.
positive_data_acceptance.expected-statuses = ["2xx", "304", "401", "403", "404", "409", "422"]
negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "405", "409", "413", "415", "422"]

# Who is known would listen for ever.
[[operations]]
include-operation-id = "my_events"
enabled = {endless}

[headers]
{header}
"""

REAL_IDS = """
[parameters]
"path.table" = "{table}"
"path.token" = "{token}"
"path.bot" = "{bot}"
"path.player" = "g_nina"

[[operations]]
include-path = "/api/v1/games/{{table}}/{{number}}"
parameters = {{ "path.table" = "{finished}", "path.number" = 1 }}
"""


async def a_finished_game(nina: Person, redis_url: str) -> str:
    """The table of a game that can be read."""
    path = f"/api/v1/games/{GAME.opened.id}/1"
    async with connect(redis_url) as redis:
        await store(RedisLog(redis), GAME)
        async with asyncio.timeout(PATIENCE):
            while (await nina.http.get(path)).status_code == 404:  # noqa: ASYNC110 -- the archive tells nobody
                await asyncio.sleep(0.05)
    return GAME.opened.id


@pytest.fixture(scope="module")
def url(migrated: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a coinche answers that is a process of its own."""
    data = tmp_path_factory.mktemp("schema")
    with serving(data, REDIS_URL=migrated.redis_url, DATABASE_URL=migrated.database_url) as one:
        yield one.url


async def found(tmp_path: Path, settings: str, *words: str, told: Json | None = None) -> str:
    """What Schemathesis says when it has found something."""
    (tmp_path / "schemathesis.toml").write_text(settings)
    (tmp_path / "openapi.json").write_text(json.dumps(told or description()))
    asking = await asyncio.create_subprocess_exec(
        *(str(Path(sys.executable).with_name("schemathesis")), "run", "openapi.json", "--no-color", *words),
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asking.communicate()
    return said.decode() if asking.returncode else ""


def token_for(*scopes: str) -> Json:
    return {"name": "Test", "scopes": list(scopes)}


async def test_a_guest_who_tries_every_edge_finds_nothing(url: str, tmp_path: Path) -> None:
    async with person(url, "Nina") as nina:
        settings = SETTINGS.format(url=url, header=f'Cookie = "{COOKIE}={nina.cookie.partition("=")[2]}"', endless="false")
        said = await found(tmp_path, settings, "--phases", "coverage")
        assert not said, said


async def test_a_token_at_what_is_really_there_finds_nothing(url: str, migrated: Servers, tmp_path: Path) -> None:
    async with person(url, "Nina") as nina:
        token = await nina.post("/me/tokens", token_for("read", "play", "tables"), 201)
        ids = REAL_IDS.format(
            table=await open_table(nina),
            token=token["id"],
            bot=(await nina.post("/me/bots", {"name": "Hal"}, 201))["id"],
            finished=await a_finished_game(nina, migrated.redis_url),
        )
        settings = SETTINGS.format(url=url, header=f'Authorization = "Bearer {token["secret"]}"', endless="false") + ids
        words = ("--phases", "examples,fuzzing", "--max-examples", "10")
        told = deepcopy(description())
        del told["paths"]["/api/v1/referee"]["post"]["requestBody"]["content"][LINES]  # which Schemathesis cannot write
        said = await found(tmp_path, settings, *words, told=told)
        assert not said, said


async def test_nobody_finds_nothing(url: str, tmp_path: Path) -> None:
    settings = SETTINGS.format(url=url, header="", endless="true")
    said = await found(tmp_path, settings, "--phases", "fuzzing", "--max-examples", "5")
    assert not said, said


async def test_what_is_wrong_would_be_found(url: str, tmp_path: Path) -> None:
    told = deepcopy(description())
    del told["paths"]["/api/v1/me"]["get"]["responses"]["401"]
    words = ("--phases", "fuzzing", "--max-examples", "2", "--include-operation-id", "who_am_i")
    said = await found(tmp_path, SETTINGS.format(url=url, header="", endless="true"), *words, told=told)
    assert "Undocumented" in said
