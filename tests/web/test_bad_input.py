"""Whatever is wrong with a question to any operation, the answer is a problem with a reason, and nothing has changed."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx2 import AsyncClient, Response
from redis.asyncio import Redis
from sqlalchemy import MetaData, make_url, select
from sqlalchemy.ext.asyncio import AsyncEngine

from app.embedded import Servers
from app.game.refusal import Why
from app.store.postgres import connect as connect_postgres
from app.tables.hooks import Hooks, HookScope
from app.tables.notices import EventType
from app.web.description import operations
from app.web.errors import MEDIA_TYPE
from tests.described import as_described, description, fits
from tests.people import PATIENCE, Json, Person, Site, open_table, people

OPERATIONS = [(method, path, operation) for method, path, operation in operations(description()) if path.startswith("/api/")]
CHANGING = [one for one in OPERATIONS if one[0] != "GET"]
WITH_BODY = [one for one in CHANGING if "requestBody" in one[2] and one[2]["operationId"] != "ask_referee"]
FOR_SOMEBODY = [one for one in OPERATIONS if {} not in one[2]["security"] and one[2]["security"]]
PASSING = re.compile(rb"^limit:|^guest:|:here$|used$|alive$|notices$")
"""Keys of guests, of who is here and how often they asked; and what the office takes up by itself."""


def named(chosen: list[tuple[str, str, Json]]) -> pytest.MarkDecorator:
    """A test for each of these operations."""
    return pytest.mark.parametrize(("method", "path", "operation"), chosen, ids=[f"{one[0]} {one[1]}" for one in chosen])


Stored = tuple[dict[bytes, object], dict[str, list[str]]]


class World:
    """Two guests, a table of one of them with a token and a bot; and all that is stored."""

    def __init__(self, nina: Person, paul: Person, redis: Redis, engine: AsyncEngine, hooks: Hooks) -> None:
        self.nina, self.paul, self.http = nina, paul, nina.http
        self._redis, self._engine, self._tables, self._hooks = redis, engine, MetaData(), hooks
        self.ids: dict[str, str] = {}

    async def settle(self) -> None:
        token = await self.nina.post("/me/tokens", {"name": "T", "scopes": ["read", "play", "tables"]}, 201)
        bot = await self.nina.post("/me/bots", {"name": "Hal"}, 201)
        made = await self._hooks.add(self.nina.id, "https://club.example.org/", (EventType.TURN_DUE,), HookScope.MINE)
        assert made is not None
        self.secret = token["secret"]
        self.ids = {
            "table": await open_table(self.nina),
            "token": token["id"],
            "bot": bot["id"],
            "hook": made[0].id,
            "seat": "1",
        }
        self.ids |= {"player": self.nina.id, "number": "1", "lang": "en"}

    def path(self, path: str, **others: str) -> str:
        ids = self.ids | others
        return re.sub(r"\{(\w+)\}", lambda found: ids[found[1]], path)

    async def _value(self, key: bytes) -> object:
        """What stands there; of a stream what was written, not who has read it."""
        return await (self._redis.xrange(key) if await self._redis.type(key) == b"stream" else self._redis.dump(key))

    async def stored(self) -> "Stored":
        """Every key of the Valkey but those that pass, and every row of the Postgres."""
        keys = [key async for key in self._redis.scan_iter(count=1000) if PASSING.search(key) is None]
        kept = {key: await self._value(key) for key in keys}
        async with self._engine.connect() as connection:
            if not self._tables.tables:
                await connection.run_sync(self._tables.reflect)
            tables = self._tables.tables.items()
            rows = {name: sorted(map(str, (await connection.execute(select(table))).all())) for name, table in tables}
        return kept, rows


def changes(before: Stored, after: Stored) -> list[str]:
    """What is stored otherwise now."""
    keys = {key for key in before[0].keys() | after[0].keys() if before[0].get(key) != after[0].get(key)}
    return [*map(str, sorted(keys)), *(name for name in after[1] if after[1][name] != before[1].get(name))]


@pytest.fixture(scope="module")
async def world(site: Site, migrated: Servers) -> AsyncIterator[World]:
    database = make_url(migrated.database_url).set(database=__name__.rpartition(".")[2])
    engine = connect_postgres(database.render_as_string(hide_password=False))
    async with people(site.url, "Nina", "Paul") as (nina, paul), Redis.from_url(migrated.redis_url) as redis:
        one = World(nina, paul, redis, engine, site.parts.hooks)
        await one.settle()
        yield one
    await engine.dispose()


def refused(response: Response, *statuses: int) -> str:
    """The reason of a problem document that is as it should be."""
    assert response.status_code in (statuses or range(400, 500)), (response.status_code, response.text[:300])
    assert response.headers["content-type"] == MEDIA_TYPE
    body = response.json()
    assert body["status"] == response.status_code
    assert body["why"] in list(Why)
    return str(body["why"])


# --- bodies ----------------------------------------------------------------------------------------------------------

JSON = {"Content-Type": "application/json"}
UNREADABLE = {
    "no JSON": b"{",
    "a huge one": b'{"name": "' + b"x" * 100_000 + b'"}',
    "a huge one in pieces": b" " * 65_537,
    "deep": b"[" * 8_000,
    "deep objects": b'{"a":' * 1_600,
    "not UTF-8": b'{"name": "\xff\xfe"}',
    "half a UTF-16": '{"name": "N"}'.encode("utf-16")[:-1],
    "NUL": b"\0",
    "a list": b"[]",
    "a number": b"7",
    "text": b'"name"',
    "true": b"true",
}
KINDS = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", "", "x"]
MISFITS: list[Any] = [
    None,
    float("nan"),
    True,
    7,
    -1,
    1.5,
    10**30,
    "",
    "x",
    "x" * 5000,
    "\0",
    "\ud800",
    [],
    {},
    [[]],
    [None],
    {"": {}},
]


@named(WITH_BODY)
async def test_a_body_that_cannot_be_read_changes_nothing(world: World, method: str, path: str, operation: Json) -> None:
    before = await world.stored()
    for what, body in UNREADABLE.items():
        response = await world.http.request(method, world.path(path), content=body, headers=JSON)
        assert refused(response, 400, 413, 422) in ("bad_request", "too_large", "wrong_type", "missing", "bad_name"), what
    assert changes(before, await world.stored()) == []


@named(WITH_BODY)
async def test_a_body_of_another_kind_changes_nothing(world: World, method: str, path: str, operation: Json) -> None:
    before = await world.stored()
    body = json.dumps(an_example(operation)).encode()
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "",
        "x",
    ):
        response = await world.http.request(method, world.path(path), content=body, headers={"Content-Type": kind})
        assert refused(response) == "wrong_media_type", kind
    assert changes(before, await world.stored()) == []


@named(WITH_BODY)
async def test_a_field_of_another_type_changes_nothing(world: World, method: str, path: str, operation: Json) -> None:
    example, schema = an_example(operation), the_schema(operation)
    before = await world.stored()
    for name in schema["properties"]:
        for value in MISFITS:
            if fits(schema["properties"][name], value):
                continue  # what is right by its type alone
            body = json.dumps(example | {name: value})
            response = await world.http.request(method, world.path(path), content=body, headers=JSON)
            refused(response, 404, 422)
    for name in schema.get("required", ()):
        body = json.dumps({key: value for key, value in example.items() if key != name})
        assert refused(await world.http.request(method, world.path(path), content=body, headers=JSON), 422) == "missing"
    assert changes(before, await world.stored()) == []


def the_schema(operation: Json) -> Json:
    """The object that an operation takes, its references followed."""
    schema: Json = operation["requestBody"]["content"]["application/json"]["schema"]
    for one in schema.get("anyOf", ()):
        schema = one if "$ref" in one else schema
    if "$ref" in schema:
        schema = description()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def an_example(operation: Json) -> Json:
    """A body that would be understood."""
    properties = the_schema(operation)["properties"]
    return {name: one["examples"][0] for name, one in properties.items() if "examples" in one}


# --- addresses -------------------------------------------------------------------------------------------------------

WORDS = [
    "x",
    "00-2222222222",
    "x" * 41,
    "x" * 3000,
    "%00",
    "%FF",
    "%ED%A0%80",
    "%2e%2e",
    "a%2Fb",
    "{table}",
    "é",
    "-1",
    "1.5",
    "9" * 30,
]


@named([one for one in OPERATIONS if "{" in one[1]])
async def test_what_is_not_there_changes_nothing(world: World, method: str, path: str, operation: Json) -> None:
    body = an_example(operation) if (method, path, operation) in WITH_BODY else None
    before = await world.stored()
    for name in re.findall(r"\{(\w+)\}", path):
        for word in WORDS:
            response = await world.http.request(method, world.path(path, **{name: word}), json=body)
            if response.status_code == 200:
                assert path.endswith("/players/{player}/games"), word  # who has played none has an empty list
                continue
            refused(response, 403, 404, 405, 409, 422)
    assert changes(before, await world.stored()) == []


@named([one for one in OPERATIONS if "{token}" in one[1] or "{bot}" in one[1]])
async def test_what_belongs_to_another_is_as_unknown(world: World, method: str, path: str, operation: Json) -> None:
    body = an_example(operation) if (method, path, operation) in WITH_BODY else None
    before = await world.stored()
    assert refused(await world.paul.http.request(method, world.path(path), json=body)) == "not_found"
    assert changes(before, await world.stored()) == []


@named([one for one in OPERATIONS if any(two["in"] == "query" for two in one[2].get("parameters", ()))])
async def test_a_parameter_that_does_not_fit_is_refused(world: World, method: str, path: str, operation: Json) -> None:
    words = ["%00", "%ED%A0%80", "%FF", "-1", "1e9", "x" * 3000, "9" * 30, ""]
    known = [one for one in operation["parameters"] if one["in"] == "query"]
    for one in known:
        answers = [await world.http.request(method, f"{world.path(path)}?{one['name']}={word}") for word in words]
        for answer in answers:
            if answer.status_code not in (200, 404):
                refused(answer, 422)
        assert 422 in {answer.status_code for answer in answers}


# --- who asks, and how -----------------------------------------------------------------------------------------------

FORGED = ["coinche_", "coinche_x", "x", "coinche_" + "A" * 43, "coinche_" + "x" * 5000, "\xff", "a b"]


@named(OPERATIONS)
async def test_a_forged_token_changes_nothing(world: World, method: str, path: str, operation: Json) -> None:
    body = an_example(operation) if (method, path, operation) in WITH_BODY else None
    before = await world.stored()
    for secret in (*FORGED, world.secret[:-1], world.secret + "x", world.secret.upper()):
        headers = {b"Authorization": f"Bearer {secret}".encode("latin-1")}
        response = await world.http.request(method, world.path(path), json=body, headers=headers)
        assert refused(response, 401) == "bad_token", secret
        assert "invalid_token" in response.headers["www-authenticate"]
    assert changes(before, await world.stored()) == []


@named(FOR_SOMEBODY)
async def test_a_forged_cookie_changes_nothing(url: str, world: World, method: str, path: str, operation: Json) -> None:
    body = an_example(operation) if (method, path, operation) in WITH_BODY else None
    before = await world.stored()
    real = world.nina.cookie.partition("=")[2]
    async with AsyncClient(base_url=url, timeout=PATIENCE, event_hooks={"response": [as_described]}) as http:
        for cookie in ("x", "", real[:-1], real + "x", real.swapcase(), f'"{real}x"', "x" * 3000):
            headers = {"Cookie": f"coinche_guest={cookie}"}
            assert refused(await http.request(method, world.path(path), json=body, headers=headers), 401) == "not_signed_in"
    assert changes(before, await world.stored()) == []


@named(CHANGING)
async def test_a_foreign_page_changes_nothing(world: World, method: str, path: str, operation: Json) -> None:
    body = an_example(operation) if (method, path, operation) in WITH_BODY else None
    before = await world.stored()
    response = await world.http.request(method, world.path(path), json=body, headers={"Origin": "https://evil.example"})
    assert refused(response, 403) == "bad_origin"
    assert changes(before, await world.stored()) == []


@pytest.mark.parametrize("path", sorted({path for _, path, _ in OPERATIONS}))
async def test_another_method_changes_nothing(world: World, path: str) -> None:
    allowed = {method for method, one, _ in OPERATIONS if one == path}
    before = await world.stored()
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"} - allowed:
        if path.endswith("/export") and method == "GET":
            continue
        response = await world.http.request(method, world.path(path))
        assert refused(response, 405) == "not_allowed", method
        assert allowed <= set(response.headers["allow"].split(", "))
    assert changes(before, await world.stored()) == []


# --- again -----------------------------------------------------------------------------------------------------------


async def test_what_is_asked_again_is_done_once(world: World) -> None:
    table = world.ids["table"]
    await world.paul.post(f"/tables/{table}/sit", {"seat": 1})
    for path, body in (("sit", None), ("sit", {"seat": 1}), ("ready", {"ready": False})):
        before = await world.stored()
        for _ in range(3):
            await world.paul.post(f"/tables/{table}/{path}", body)
        assert [key for key in changes(before, await world.stored()) if ":log" in key] == []
