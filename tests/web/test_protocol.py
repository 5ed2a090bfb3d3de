"""docs/protocol.md says what the server does: its examples are compared, and a client written from it alone plays."""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
from httpx2 import AsyncClient
from websockets.asyncio.client import connect

from app.game.events import DealPassedOut
from app.game.rules import PRESETS
from app.game.seats import SEATS
from app.game.view import Seen, redact, view
from app.tables.table import (
    GameAbandoned,
    GameStarted,
    HostChanged,
    ReadyChanged,
    SeatLeft,
    SeatTaken,
    TableEvent,
    TimeGivenBack,
)
from app.web import socket
from app.wire import messages
from app.wire.codec import tag
from tests.game.strategies import walk
from tests.people import PATIENCE, Json, Site, open_table, person
from tests.stacked import decide

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()
SITTING = {SeatTaken, SeatLeft, HostChanged, ReadyChanged}


def blocks(kind: str) -> list[Json]:
    """The JSON of every block that is marked so."""
    found = re.findall(rf"^```json {kind}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return [json.loads(one) for one in found]


def section(title: str) -> str:
    """What stands under a heading."""
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def differences(told: Any, real: Any, path: str = "") -> Iterator[str]:
    """Where the names in two values differ; where one is empty there is nothing to compare."""
    if path in ("step.events[]", "step.view"):  # compared by themselves
        return
    if isinstance(told, dict) and isinstance(real, dict):
        if set(told) != set(real) and not path.endswith(".rules"):
            yield f"{path}: {sorted(set(told) ^ set(real))}"
        for name in set(told) & set(real):
            yield from differences(told[name], real[name], f"{path}.{name}")
    if isinstance(told, list) and isinstance(real, list) and real:
        for one in told:
            yield from differences(one, real[0], f"{path}[]")


# --- in --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", blocks("in"), ids=lambda block: block.get("cid") or block["type"])
def test_what_may_be_sent_is_read(block: Json) -> None:
    read = messages.read_message(json.dumps(block))
    if isinstance(read, messages.Act) and not isinstance(read.action, messages.OF_THE_TABLE):
        assert messages.command_of(read.action, SEATS[0]) is not None
        assert isinstance(read.action, messages.NEEDS_TURN) == ("turn" in block)


def test_everything_that_may_be_sent_is_shown() -> None:
    kinds = {get_args(one.model_fields["type"].annotation)[0] for one in get_args(messages.In)}
    assert {block["type"] for block in blocks("in")} == kinds
    actions = {get_args(one.model_fields["kind"].annotation)[0] for one in get_args(get_args(messages.ActionIn)[0])}
    assert {block["action"]["kind"] for block in blocks("in") if block["type"] == "act"} == actions


# --- out -------------------------------------------------------------------------------------------------------------


async def real_messages(site: Site) -> dict[str, Json]:
    """One message of each type, as it is really sent."""
    async with person(site.url, "Nina") as nina:
        table = await open_table(nina)
        async with nina.at(table) as line:
            await line.send({"type": "chat", "phrase": "hello"})
            await line.send({"type": "ping"})
            await line.ask({"kind": "return"})
            await line.ask({"kind": "pass"})
            await nina.post(f"/tables/{table}/start")
            await line.until_state(lambda line: line.view)
            wanted = {"chat", "pong", "ack", "refused", "step", "table", "probe", "welcome"}
            while not wanted <= {frame["type"] for frame in line.frames}:
                await line.hear()
            by_type = {frame["type"]: frame for frame in line.frames}
            by_type["welcome"] = await line.join(table)
    return by_type | {"bye": json.loads(messages.bye("going_away", 350))}


async def test_what_is_sent_is_what_is_shown(site: Site) -> None:
    real = await real_messages(site)
    assert {block["type"] for block in blocks("out")} == set(real)
    for block in blocks("out"):
        sent = real[block["type"]]
        elsewhere: Json = {
            name: empty for name, empty in (("view", None), ("events", [])) if name in sent
        }  # shown under their own heads
        assert list(differences(block, sent | elsewhere, block["type"])) == []


def test_a_view_has_what_is_shown() -> None:
    [told] = blocks("view")
    real: Json = {}
    for game, seat in some_games():
        for name, value in messages.view_json(view(game, seat)).items():
            if name != "moves" or value is None or value["kind"] == "cards":
                real[name] = value or real.get(name, value)
    assert all(real[name] for name in ("contract", "trick", "last_trick", "belotes", "melds", "melds_shown", "moves", "sheet"))
    assert list(differences(told, real, "view")) == []
    for name in real:
        assert f"`{name}`" in section("The view")


def some_games() -> Iterator[Any]:
    """Every moment of a few games, as somebody sees it."""
    for name in PRESETS:
        for game, _, after in walk(replace(PRESETS[name], target=500), Random(3), deals=8):
            yield game, SEATS[1]
            yield after, None


def test_the_moves_have_what_is_shown() -> None:
    told = " ".join(section("The view").split())
    calls = next(
        found
        for game, _ in some_games()
        for seat in SEATS
        if (found := messages.view_json(view(game, seat))["moves"]) and "bids" in found
    )
    assert list(calls) == ["kind", "pass", "bids", "coinche", "surcoinche", "redeal"]
    assert "{kind: `calls`, pass, bids: {" + ", ".join(calls["bids"]) + "}" in told


# --- events ----------------------------------------------------------------------------------------------------------

EVENTS = {
    kind: set(re.findall(r"(?:^|, )(\w+)(?=[,:]|$)", re.sub(r"\[.*?\]", "", names)))
    for kind, names in re.findall(r"`(\w+)` \{(.*?)\}(?=[,;.\s])", " ".join(section("Events").split()))
}


def test_every_event_is_named_and_no_other() -> None:
    seen = {"hands_dealt" if one.__name__ == "HandsSeen" else tag(one) for one in get_args(Seen)}
    table = {tag(one) for one in get_args(TableEvent) if one not in SITTING}
    assert set(EVENTS) == seen | table


def test_events_have_what_is_told_of_them() -> None:
    found: dict[str, set[str]] = {}
    for name in PRESETS:
        rules = replace(PRESETS[name], target=500, misere=True)
        for game, action, after in walk(rules, Random(4), deals=12):
            for event in decide(game, action):
                shown = messages.event_json(rules, redact(event, SEATS[0]), view(after, SEATS[0]))
                found[shown["kind"]] = set(shown) - {"kind"}
    for happened in (
        DealPassedOut(),
        TimeGivenBack(),
        GameAbandoned(),
        GameStarted("x/1", 1, SEATS[0]),
        *(one(SEATS[0]) for one in get_args(TableEvent) if one.__name__ in ONE_SEAT),
    ):
        shown = messages.event_json(PRESETS["ffb-2000"], happened)
        found[shown["kind"]] = set(shown) - {"kind"}
    assert found == EVENTS


ONE_SEAT = ("SeatAway", "SeatBack", "SheetRead", "HostAskedToMove")

# --- codes ------------------------------------------------------------------------------------------------


def test_every_close_code_is_named_and_no_other() -> None:
    told = {int(code) for code in re.findall(r"\b[14]\d{3}\b", PAGE.partition("Close codes:")[2].partition("\n\n")[0])}
    ours = {
        getattr(socket, name)
        for name in ("POLICY", "INTERNAL", "TRY_AGAIN", "BAD_TOKEN", "NO_SUCH_TABLE", "TOO_SLOW", "TOO_FAST")
    }
    by_the_server_below = {1007, 1009, 1012}
    assert told == ours | by_the_server_below


# --- a client written from the page ----------------------------------------------------------------------------------


async def test_a_client_of_somebody_else_plays_a_whole_game(url: str) -> None:
    """Plain HTTP, plain WebSocket, plain JSON; it passes, and plays the first card that is legal."""
    async with AsyncClient(base_url=url, timeout=PATIENCE) as http:
        me = (await http.post("/api/v1/me", json={"name": "Foreign"})).json()
        table = (await http.post("/api/v1/tables", json={"preset": "classic-1000", "options": {"target": 200}})).json()
        cookie = "; ".join(f"{one.name}={one.value}" for one in http.cookies.jar)
        async with connect(url.replace("http", "ws") + "/ws?v=1", additional_headers={"Cookie": cookie}, proxy=None) as ws:
            await ws.send(json.dumps({"type": "join", "table": table["id"]}))
            await http.post(f"/api/v1/tables/{table['id']}/start")
            at, acted, sent = [0, 0], None, 0
            async with asyncio.timeout(2 * PATIENCE):
                async for frame in ws:
                    message = json.loads(frame)
                    assert message["type"] != "refused", message
                    if message["type"] == "probe":
                        await ws.send(frame)
                    if message["type"] not in ("welcome", "step") or message["at"] <= at or message["view"] is None:
                        continue
                    at, seen = message["at"], message["view"]
                    if seen["phase"] == "over":
                        break
                    action = what_to_do(seen, message["next"])
                    if action is not None and acted != message["turn"]:
                        acted, sent = message["turn"], sent + 1
                        act = {"type": "act", "cid": f"f{sent}", "turn": acted, "action": action}
                        await ws.send(json.dumps(act))
        assert seen["viewer"] == 0
        assert seen["winner"] in ("A", "B")
        assert seen["totals"][seen["winner"]] >= 200
        assert sum(row["score"]["A"] for row in seen["sheet"]) == seen["totals"]["A"]
        assert me["name"] == "Foreign"


def what_to_do(seen: Json, read: list[int]) -> Json | None:
    moves = seen["moves"]
    if seen["phase"] == "dealing" and seen["sheet"] and seen["sheet"][-1]["contract"] and seen["viewer"] not in read:
        return {"kind": "next"}
    if moves is None or (moves["kind"] == "calls" and not moves["pass"]):
        return None
    if moves["kind"] == "calls":
        return {"kind": "pass"}
    return {"kind": "play", "card": next(one["card"] for one in moves["cards"] if one["why"] is None)}


def test_the_lines_of_a_score_add_up_as_told() -> None:
    for game, seat in some_games():
        for row in messages.view_json(view(game, seat))["sheet"]:
            for side in "AB":
                assert sum(line["points"] for line in row["lines"] if line["side"] == side) == row["score"][side]
