"""The description of the API is complete, and the checks that compare answers with it do notice."""

import json
from typing import Any

import pytest
from httpx2 import AsyncClient, MockTransport, Request, Response

from app.game.refusal import Why
from app.game.rules import OPTIONS, PRESETS, override
from app.tables.tokens import Scope
from app.web.description import operations
from app.web.errors import MEDIA_TYPE, refused_with
from app.web.gate import NEEDS, OWN
from tests.described import as_described, description, shown
from tests.people import Person, person

OPERATIONS = [(f"{method} {path}", operation) for method, path, operation in operations(description())]
REASONS = {key: set(refused_with(operation["responses"])) for key, operation in OPERATIONS}


@pytest.fixture
async def stranger(url: str) -> Any:
    async with person(url) as one:
        yield one


# --- what is told ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "operation"), OPERATIONS, ids=[key for key, _ in OPERATIONS])
def test_an_operation_is_described(key: str, operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["description"].strip()
    assert len(operation["tags"]) == 1
    assert operation["operationId"].isidentifier()
    for one in operation.get("parameters", ()):
        assert one.get("description"), one["name"]
    good = [response for status, response in operation["responses"].items() if status < "300"]
    assert good
    for response in good:
        for content in response.get("content", {}).values():
            assert content["schema"] not in ({}, {"type": "object"}), "nothing is said of what is answered"


def test_names_and_tags_are_clear() -> None:
    names = [operation["operationId"] for _, operation in OPERATIONS]
    assert len(set(names)) == len(names)
    told = [one["name"] for one in description()["tags"]]
    assert {tag for _, operation in OPERATIONS for tag in operation["tags"]} <= set(told)


def test_what_is_referred_to_is_there() -> None:
    text = json.dumps(description())
    assert description()["openapi"].startswith("3.1")
    for word in text.split('"$ref": "')[1:]:
        found: Any = description()
        for step in word.partition('"')[0].removeprefix("#/").split("/"):
            found = found[step.replace("~1", "/").replace("~0", "~")]
        assert found


@pytest.mark.parametrize(("key", "operation"), [one for one in OPERATIONS if "/api/" in one[0]], ids=str)
def test_the_scopes_are_those_of_the_gate(key: str, operation: dict[str, Any]) -> None:
    need = NEEDS[key]
    scopes = [scope for one in operation["security"] for scope in one.get("token", ())]
    assert scopes == ([] if need is None else [Scope.ADMIN if need == OWN else need])
    assert (Why.MISSING_SCOPE in REASONS[key]) == (need is not None)
    is_for_anybody = need is None or {} in operation["security"]
    assert (Why.NOT_SIGNED_IN in REASONS[key]) != is_for_anybody


def test_every_problem_says_its_reasons() -> None:
    for key, operation in OPERATIONS:
        for status, response in operation["responses"].items():
            problems = response.get("content", {}).get(MEDIA_TYPE)
            assert (problems is not None) == (status >= "400" and (key, status) != ("GET /health/ready", "503"))
            for name, example in (problems or {"examples": {}})["examples"].items():
                assert (shown(example)["why"], shown(example)["status"]) == (name, int(status))


async def test_it_is_told_to_anybody(stranger: Person) -> None:
    assert (await stranger.http.get("/openapi.json")).json() == description()


# --- the check itself ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, {"id": "g_1"}, "application/json"),
        (200, {"id": "g_1", "name": 7}, "application/json"),
        (200, {"id": "g_1", "name": "Nina", "cards": ["JH"]}, "application/json"),
        (200, {"id": "g_1", "name": "Nina"}, "text/plain"),
        (201, {"id": "g_1", "name": "Nina"}, "application/json"),
        (401, {"type": "about:blank", "title": "Unauthorized", "status": 401, "why": "seat_taken"}, MEDIA_TYPE),
        (401, {"type": "about:blank", "title": "Unauthorized", "status": 404, "why": "bad_token"}, MEDIA_TYPE),
    ],
)
async def test_an_answer_that_is_not_as_described_is_noticed(status: int, body: Any, kind: str) -> None:
    def answer(request: Request) -> Response:
        return Response(status, content=json.dumps(body), headers={"Content-Type": kind})

    async with AsyncClient(transport=MockTransport(answer), event_hooks={"response": [as_described]}) as http:
        with pytest.raises(AssertionError):
            await http.get("http://site/api/v1/me")


# --- rules and words -------------------------------------------------------------------------------------------------


async def test_each_option_tells_its_default_and_its_words(stranger: Person) -> None:
    book = await stranger.get("/rules")
    words = (await stranger.get("/i18n/en"))["words"]
    assert [one["name"] for one in book["options"]] == list(OPTIONS)
    for one in book["options"]:
        assert one["default"] == book["presets"][book["default"]][one["name"]]
        assert words[one["words"]]
        assert all(words[f"{one['words']}.{choice}"] for choice in one.get("choices", ()))
    assert override(PRESETS["ffb-2000"], {one["name"]: one["default"] for one in book["options"]}) == PRESETS[book["default"]]


@pytest.mark.parametrize("language", ["en", "fr"])
async def test_every_code_has_words_in_each_language(stranger: Person, language: str) -> None:
    book = await stranger.get("/rules")
    assert language in book["languages"]
    told = await stranger.get(f"/i18n/{language}")
    assert told["language"] == language
    for what, begins in book["words"].items():
        codes = {one["group"] for one in book["options"]} if what == "groups" else book[what]
        assert all(told["words"][f"{begins}.{code}"] for code in codes)
    assert "lobby.title" not in told["words"]


@pytest.mark.parametrize("path", ["/api/v1/rules", "/api/v1/i18n/fr", "/openapi.json"])
async def test_what_one_has_already_is_not_sent_again(stranger: Person, path: str) -> None:
    first = await stranger.http.get(path)
    again = await stranger.http.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("language", ["de", "EN", "en.json", "..", "%2e%2e", "%00"])
async def test_there_are_no_words_of_that_language(stranger: Person, language: str) -> None:
    assert (await stranger.http.get(f"/api/v1/i18n/{language}")).json()["why"] == "not_found"
