"""docs/api.md says what the server does: routes, reasons and limits are compared, and a client written from it alone plays."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.game.refusal import Why
from app.tables import limits
from app.tables.limits import Policy
from app.tables.tokens import Scope
from app.web.description import operations
from app.web.errors import Problem
from tests.described import description
from tests.people import PATIENCE

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "api.md").read_text()


def section(title: str) -> str:
    """What stands under a heading."""
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    """The cells of the tables under a heading."""
    return [line.strip("| ").split(" | ") for line in section(title).splitlines() if line.startswith("| ")]


def test_the_table_of_routes_is_the_routes() -> None:
    told: set[tuple[str, str]] = set()
    for first, *_ in rows("REST"):
        method = "GET"
        for words in re.findall(r"`([^`]+)`", first):
            path = words.split()[-1]
            if words.split()[0] in ("GET", "POST", "DELETE", "PUT", "PATCH"):
                method = words.split()[0]
            told.add((method, re.sub(r"\{[^}]*\}", "{}", path)))
    assert told == {(method, re.sub(r"\{[^}]*\}", "{}", path)) for method, path, _ in operations(description())}


def test_each_status_has_the_reasons_that_are_told() -> None:
    told = {int(status): set(re.findall(r"`(\w+)`", cells[0])) for status, *cells in rows("Errors") if status.isdigit()}
    real: dict[int, set[str]] = {}
    for one in map(Problem.of, Why):
        real.setdefault(one.status, set()).add(one.why.value)
    del real[422]
    assert told == real


def test_the_limits_are_those_that_are_told() -> None:
    told = {
        name.strip("`"): (rate, int(burst))
        for name, _, rate, burst in (row for row in rows("Limits") if row[0].startswith("`"))
    }
    real = {one.name: one for one in vars(limits).values() if isinstance(one, Policy)}
    assert told.keys() == real.keys()
    for name, (rate, burst) in told.items():
        above, _, below = rate.partition("/")
        assert int(above) / int(below or 1) == pytest.approx(real[name].rate)
        assert burst == real[name].burst


def test_the_scopes_are_those_that_are_told() -> None:
    assert [name.strip("`") for name, _ in rows("Who is asking")[1:]] == list(Scope)


def test_a_problem_looks_as_shown() -> None:
    [block] = re.findall(r"^```json problem\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert json.loads(block) == Problem.of(Why.SEAT_TAKEN).body


def test_no_link_is_broken() -> None:
    for name in ("api.md", "protocol.md"):
        for page, anchor in re.findall(r"\]\(([\w./-]*)(?:#([\w-]+))?\)", (DOCS / name).read_text()):
            other = DOCS / (page or name)
            assert other.exists(), (name, page)
            heads = re.findall(r"^#+ (.*)$", other.read_text(), re.MULTILINE) if anchor else []
            anchors = {re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-") for head in heads}
            assert not anchor or anchor in anchors, (name, page, anchor)


# --- a client written from the page ----------------------------------------------------------------------------------


async def test_a_client_of_somebody_else_plays_a_whole_game(url: str) -> None:
    """Plain HTTP and JSON; a token acts, long polls hear, each action is sent twice under its key."""
    async with httpx.AsyncClient(base_url=f"{url}/api/v1", timeout=2 * PATIENCE) as http:
        await http.post("/me", json={"name": "Foreign"})
        made = await http.post("/me/tokens", json={"name": "Foreign", "scopes": ["read", "play", "tables"], "expires": 1})
        known_by = {"Authorization": f"Bearer {made.json()['secret']}"}
    async with httpx.AsyncClient(base_url=f"{url}/api/v1", timeout=2 * PATIENCE, headers=known_by) as http:
        opened = await http.post("/tables", json={"preset": "contree-701", "options": {"target": 200}})
        at_table = opened.headers["Location"].removeprefix("/api/v1")
        assert (await http.post(f"{at_table}/start")).status_code == 200
        moment = (await http.get(f"{at_table}/game")).json()
        after, acted = moment["at"], None
        while moment["view"] is None or moment["view"]["phase"] != "over":
            action = what_to_do(moment)
            if action is not None and acted != moment["turn"]:
                acted = moment["turn"]
                ask, key = {"turn": acted, "action": action}, {"Idempotency-Key": f"turn-{acted}"}
                first, again = [await http.post(f"{at_table}/actions", json=ask, headers=key) for _ in range(2)]
                assert first.status_code == again.status_code, (first.text, again.text)
                assert first.json() == again.json()
                assert first.status_code == 200 or first.json()["why"] in ("stale_turn", "not_now"), first.text
            heard = (await http.get(f"{at_table}/events?after={after[0]}.{after[1]}&wait=20")).json()
            after = heard["at"]
            for message in heard["events"]:
                if message["type"] in ("welcome", "step"):
                    moment = message
        seen = moment["view"]
        assert seen["viewer"] == host_seat(opened.json())
        assert seen["totals"][seen["winner"]] >= 200
        assert sum(row["score"]["A"] for row in seen["sheet"]) == seen["totals"]["A"]


def host_seat(table: dict[str, Any]) -> int:
    """The host's seat."""
    return [one["player"] for one in table["seats"]].index(table["host"])


def what_to_do(moment: dict[str, Any]) -> dict[str, Any] | None:
    """Pass, and play the first card that is legal."""
    view = moment["view"]
    if view is None:
        return None
    moves = view["moves"]
    if view["phase"] == "dealing":
        return {"kind": "next"} if view["sheet"] and view["viewer"] not in moment["next"] else None
    if moves is None or (moves["kind"] == "calls" and not moves["pass"]):
        return None
    if moves["kind"] == "calls":
        return {"kind": "pass"}
    return {"kind": "play", "card": next(one["card"] for one in moves["cards"] if one["why"] is None)}
