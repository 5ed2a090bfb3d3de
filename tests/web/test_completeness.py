"""The description of the API leaves nothing out, and its examples are such as the server gives."""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
import schemathesis

from app.tables.notices import EventType
from app.tables.table import Happened
from app.web.description import operations
from app.web.examples import FILE
from app.web.fields import FIELDS
from app.wire.codec import tag
from app.wire.hooks import PING
from app.wire.questions import Question
from tests.described import description, fits, shown
from tests.people import Json, running_site
from tests.web.recorded import recorded
from tests.web.test_secrecy import SECRET_KEYS, keys

OPERATIONS = {f"{method} {path}": operation for method, path, operation in operations(description())}
HOOKS = {f"hook {name}": told["post"] for name, told in description()["webhooks"].items()}
SCHEMAS = description()["components"]["schemas"]
EXAMPLES = json.loads(FILE.read_text())


def _bodies() -> Iterator[tuple[str, Json]]:
    for key, operation in (OPERATIONS | HOOKS).items():
        for kind, content in operation.get("requestBody", {}).get("content", {}).items():
            yield f"{key} asked as {kind}", content
        for status, response in operation["responses"].items():
            for kind, content in response.get("content", {}).items():
                yield f"{key} answered {status} as {kind}", content


def _parameters() -> Iterator[tuple[str, Json]]:
    for key, operation in (OPERATIONS | HOOKS).items():
        for one in operation.get("parameters", ()):
            yield f"{key} {one['name']}", one


BODIES = dict(_bodies())
"""All that is sent, in either direction, as it is described."""

PARAMETERS = dict(_parameters())


def fields(schema: Any, path: str) -> Iterator[tuple[str, Json]]:
    """All properties in a schema, also those of objects in it."""
    if isinstance(schema, dict):
        for name, told in schema.get("properties", {}).items():
            yield f"{path}.{name}", told
        for name, part in schema.items():
            yield from fields(part, f"{path}/{name}")
    if isinstance(schema, list):
        for part in schema:
            yield from fields(part, path)


# --- words -----------------------------------------------------------------------------------------------------------


def test_it_is_what_openapi_allows() -> None:
    schemathesis.openapi.from_dict(description()).validate()
    assert description()["openapi"].startswith("3.1.")
    assert description()["info"]["license"] == {"name": "MIT", "identifier": "MIT"}
    assert description()["servers"]


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_schema_and_each_of_its_fields_has_words(name: str) -> None:
    assert SCHEMAS[name]["description"]
    assert [path for path, told in fields(SCHEMAS[name], name) if not told.get("description")] == []


def test_no_words_are_for_nothing() -> None:
    names = {path for name, schema in SCHEMAS.items() if name not in ("Rules", "Options") for path, _ in fields(schema, name)}
    own = {word for word in FIELDS if "." in word}
    assert own <= names
    assert {word for word in FIELDS if "." not in word} <= {name.rpartition(".")[2] for name in names - own}


@pytest.mark.parametrize("key", PARAMETERS)
def test_each_parameter_has_words_and_an_example(key: str) -> None:
    told = PARAMETERS[key]
    assert told["description"]
    schema = told["schema"]
    examples = [told["example"]] if "example" in told else schema.get("examples", [])
    assert all(fits(schema, one) for one in examples)
    kinds = [schema, *schema.get("anyOf", ())]
    assert examples or "default" in schema or any("enum" in one or one.get("type") == "boolean" for one in kinds)


def test_each_header_has_words_and_an_example() -> None:
    for name, header in description()["components"]["headers"].items():
        assert header["description"], name
        assert fits(header["schema"], header["example"]), name
        assert f'"#/components/headers/{name}"' in json.dumps(description()["paths"]), name


def test_each_event_is_described() -> None:
    told = {schema["properties"]["kind"].get("const") for schema in SCHEMAS.values() if "kind" in schema.get("properties", {})}
    assert {tag(one) for one in get_args(Happened)} <= told
    assert set(description()["webhooks"]) == {*EventType, PING}


# --- examples --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", BODIES)
def test_whatever_is_sent_has_whole_examples_that_fit(key: str) -> None:
    content = BODIES[key]
    assert content["examples"]
    for name, example in content["examples"].items():
        assert fits(content["schema"], shown(example)), name


def test_each_action_and_each_question_is_shown() -> None:
    actions, questions = (
        set(OPERATIONS[key]["requestBody"]["content"]["application/json"]["examples"])
        for key in ("POST /api/v1/tables/{table}/actions", "POST /api/v1/referee")
    )
    assert actions == set(SCHEMAS["ActIn"]["properties"]["action"]["discriminator"]["mapping"])
    assert {SCHEMAS[one.__name__]["properties"]["op"]["const"] for one in get_args(Question)} <= questions


def test_streams_show_messages_as_they_come() -> None:
    for key, content in BODIES.items():
        forms = content["schema"].get("contentSchema", {}).get("items")
        for example in content["examples"].values() if forms else ():
            said = re.sub(r"^(?:id|event|retry): .*\n", "", shown(example), flags=re.MULTILINE)
            lines = [line.removeprefix("data: ") for line in said.splitlines() if line]
            assert lines, key
            assert all(fits(forms, json.loads(line)) for line in lines), key


def test_no_example_is_for_nothing() -> None:
    shown = set(description()["components"]["examples"])
    assert set(EXAMPLES["bodies"]) <= shown
    assert set(EXAMPLES["streams"]) <= {name.rpartition(".")[0] for name in shown}


def test_nothing_secret_is_shown() -> None:
    text = FILE.read_text()
    signing, opening = re.findall(r"whsec_[^\"]+", text), re.findall(r"coinche_[gb]_[^\"]+", text)
    assert {base64.b64decode(secret.removeprefix("whsec_")) for secret in signing} == {b"an example that signs nothing"}
    assert {secret.rpartition("_")[2] for secret in opening} == {"an-example-that-opens-nothing"}
    live = [EXAMPLES["bodies"]["Welcome"], EXAMPLES["bodies"]["News"], *EXAMPLES["streams"]["hear"]]
    assert not SECRET_KEYS & set(keys(live))
    views = [one["view"] for one in live if one.get("view")]
    assert len(views) > 1
    assert {one["viewer"] for one in views} == {0}
    assert all(len(one["hand"]) == one["counts"][0] for one in views)
    assert "hands" not in set(keys(live))


# --- and real answers ------------------------------------------------------------------------------------------------


def shapes(value: Any, path: str = "") -> Iterator[tuple[str, frozenset[str]]]:
    """The names in each object of a value, by where it stands and of which kind it is."""
    if isinstance(value, dict):
        path += "".join(f"<{value[name]}>" for name in ("type", "kind", "op", "event") if isinstance(value.get(name), str))
        yield path, frozenset(value)
        for name, one in value.items():
            yield from shapes(one, f"{path}.{name}")
    if isinstance(value, list):
        for one in value:
            yield from shapes(one, f"{path}[]")


async def test_examples_are_like_real_answers_and_like_the_pages(redis_url: str, database_url: str) -> None:
    async with running_site(redis_url, database_url, hooks_inside=("127.0.0.0/8",)) as site:
        real = await recorded(site, redis_url)
    for part in ("bodies", "streams"):
        assert set(EXAMPLES[part]) == set(real[part])
        for name, example in EXAMPLES[part].items():
            answered: dict[str, set[frozenset[str]]] = {}
            for path, names in shapes(real[part][name]):
                answered.setdefault(path, set()).add(names)
            both = [(path, names) for path, names in shapes(example) if path in answered]
            assert both or not isinstance(example, dict), name
            assert [(path, names) for path, names in both if names not in answered[path]] == [], name
    same = {name for name in real["bodies"] if re.search(r"^(?:ActIn|Question)\.|(?:Answer|Payload)$", name)}
    assert {name: EXAMPLES["bodies"][name] for name in same} == {name: real["bodies"][name] for name in same}
