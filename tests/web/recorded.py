"""What a real coinche is asked and answers: `make examples` writes it into `app/web/examples.json`, and a test compares."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from app.game.rules import PRESETS, override
from app.store.log import RedisLog
from app.store.server import connect
from app.web.media import LINES
from tests.described import fits, told_in_lines
from tests.finished import played, store
from tests.people import MONITORING, PATIENCE, Json, Person, Site, choice, people
from tests.receiver import eventually, receiving

DOCS = Path(__file__).parents[2] / "docs"

RATED = played(PRESETS["announced-701"], 1, table="0f-k2m7q9x4wz")
SHORT = played(override(PRESETS["announced-701"], {"target": 100}), 4, table="0e-8d3np5r6ty")

PAYLOADS = {"table_opened": "TableOpened", "game_finished": "GameFinished", "turn_due": "TurnDue", "ping": "Ping"}
ANSWERS = {
    "legal": "Legal",
    "auction": "Auction",
    "redeal": "Redeal",
    "melds": "Melds",
    "score": "Score",
    "deal": "Deal",
    "end": "End",
}


def blocks(page: str, kind: str) -> list[Json]:
    """The JSON of every block of a page in docs that is marked so."""
    text = (DOCS / page).read_text()
    return [json.loads(one) for one in re.findall(rf"^```json {kind}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]


async def recorded(site: Site, redis_url: str) -> Json:
    """Examples of all bodies and streams, named as `app/web/examples.py` tells. Hooks must be let to this machine."""
    bodies: Json = {"NameIn": {"name": "Nina"}}
    streams: Json = {}
    async with people(site.url, "Nina", "Paul") as [nina, paul]:
        bodies["Guest"] = await nina.get("/me")
        played, streams = await _playing(nina)
        bodies |= await _tokens(nina) | await _hooks(nina) | await _tables(nina, paul) | played
        history, streams["export_games"] = await _history(nina, redis_url)
        judged, asked, streams["ask_referee"] = await _referee(nina)
        streams["ask_referee_asked"] = asked
        bodies |= history | judged | await _words(nina) | await _health(nina)
    bodies |= {f"{PAYLOADS[one['event']]}Payload": one for one in blocks("webhooks.md", "hook")}
    return {"bodies": bodies, "streams": streams}


async def _tokens(nina: Person) -> Json:
    asked: Json = {
        "TokenIn": {"name": "Ranking of the club", "scopes": ["read"], "expires": 365},
        "BotIn": {"name": "Hal", "scopes": ["read", "play"], "expires": None},
    }
    told: Json = {
        "NewToken": await nina.post("/me/tokens", asked["TokenIn"], 201),
        "TokenList": await nina.get("/me/tokens"),
        "NewBot": await nina.post("/me/bots", asked["BotIn"], 201),
        "BotList": await nina.get("/me/bots"),
    }
    return asked | told | {"Bot": told["BotList"]["bots"][0]}


async def _hooks(nina: Person) -> Json:
    async with receiving() as server:
        asked = {"url": server.url, "events": ["game_finished", "turn_due"], "scope": "mine"}
        made = await nina.post("/me/hooks", asked, 201)
        queued = await nina.post(f"/me/hooks/{made['id']}/test", status=202)

        async def has_come() -> bool:
            return (await nina.get("/me/hooks"))["hooks"][0]["last"] is not None

        await eventually(has_come)
        return {"HookIn": asked, "NewHook": made, "Queued": queued, "HookList": await nina.get("/me/hooks")}


async def _tables(nina: Person, paul: Person) -> Json:
    asked: Json = {
        "OpenIn": {
            "preset": "announced-701",
            "options": {"target": 300},
            "clock": None,
            "listed": True,
            "seat": 0,
            "house": [1],
        },
        "SeatIn": {"seat": 2},
        "ReadyIn": {"ready": True},
        "ThatSeatIn": {"seat": 2},
    }
    opened = await nina.post("/tables", asked["OpenIn"], 201)
    at = f"/tables/{opened['id']}"
    told: Json = {"Table": await paul.post(f"{at}/sit", asked["SeatIn"]), "Tables": await nina.get("/tables?limit=1")}
    told["start"] = await nina.post(f"{at}/start")
    await paul.post(f"{at}/ready", asked["ReadyIn"])  # last, or the start might be answered in a game

    async def is_playing() -> bool:
        return bool((await nina.get(at))["status"] == "playing")

    await eventually(is_playing)
    told["call_stand_in"] = await nina.post(f"{at}/stand-in", asked["ThatSeatIn"])
    await paul.post(f"{at}/leave")
    await nina.post(f"{at}/leave")
    acts = [one for one in blocks("protocol.md", "in") if one["type"] == "act"]
    for act in reversed(acts):
        asked[f"ActIn.{act['action']['kind']}"] = {name: act[name] for name in ("turn", "action") if name in act}
    return asked | told


async def _playing(nina: Person) -> tuple[Json, Json]:
    """One game, played without a socket: what is read at its best moment, and what is told of it from beginning to end."""
    async with _overheard(nina, "/me/events") as own:
        table = (await nina.post("/tables", {"options": {"target": 100}, "listed": False}, 201))["id"]
        at = f"/tables/{table}"
        await _until(own, lambda one: one["type"] == "table" and one["table"]["id"] == table)
        async with _overheard(nina, f"{at}/events") as heard:
            await nina.post(f"{at}/start")
            told = await _play(nina, at)
            await _until(heard, lambda one: one["type"] == "step" and one["view"] and one["view"]["phase"] == "over")
        await _until(own, lambda one: one["type"] == "finished")
        await nina.post(f"{at}/leave")
        await _until(own, lambda one: one["type"] == "left")
    first = {one["type"]: one for one in reversed(own)}
    steps = [one for one in heard if one["type"] == "step"]
    calls = next(place for place, one in enumerate(steps) if one["events"][0]["kind"] == "call_made")
    of_the_table = next(one for one in heard if one["type"] == "table")
    return told, {
        "my_events": [first[kind] for kind in ("table", "started", "turn", "finished", "left")],
        "hear": [heard[0], of_the_table, *steps[calls : calls + 2]],
    }


async def _play(nina: Person, at: str) -> Json:
    """Play a game to its end by long polls."""
    told: Json = {}
    dice, acted = Random(1), -1
    moment = await nina.get(f"{at}/game")
    while moment["view"] is None or moment["view"]["phase"] != "over":
        action = choice(moment, dice)
        if action is not None and acted != moment["turn"]:
            acted = moment["turn"]
            now = await nina.get(f"{at}/game")
            if action["kind"] == "play" and now["view"]["last_trick"]:
                told.setdefault("Welcome", now)
            told["OwnTables"] = await nina.get("/me/tables")
            epoch, number = now["at"]
            told["News"] = await nina.get(f"{at}/events?after={epoch}.{number - 1}")
            told["Stored"] = await nina.post(f"{at}/actions", {"turn": acted, "action": action})
        epoch, number = moment["at"]
        news = await nina.get(f"{at}/events?after={epoch}.{number}&wait={PATIENCE}")
        moment = next((one for one in reversed(news["events"]) if one["type"] in ("welcome", "step")), moment)
    return told


@asynccontextmanager
async def _overheard(who: Person, path: str) -> AsyncIterator[list[Json]]:
    """What a stream tells while something happens; it has begun when this does."""
    messages: list[Json] = []
    async with who.http.stream("GET", f"/api/v1{path}", headers={"Accept": LINES}) as answer:

        async def listen() -> None:
            async for line in answer.aiter_lines():
                if line:
                    messages.append(json.loads(line))  # noqa: PERF401 -- they are wanted as they come

        listening = asyncio.create_task(listen())
        yield messages
        listening.cancel()
    assert all(fits(told_in_lines(f"/api/v1{path}"), one) for one in messages)


async def _until(messages: list[Json], wanted: Any) -> None:
    async def is_told() -> bool:
        return any(map(wanted, messages))

    await eventually(is_told)


async def _history(nina: Person, redis_url: str) -> tuple[Json, list[Json]]:
    short = f"/games/{SHORT.game.id}"
    async with connect(redis_url) as redis:
        for game in (SHORT, RATED):
            await store(RedisLog(redis), game)

    async def is_there() -> bool:
        return all([(await nina.http.get(f"/api/v1/games/{one.game.id}")).status_code == 200 for one in (SHORT, RATED)])

    await eventually(is_there)
    players = await nina.get("/players")
    answer = await nina.http.get("/api/v1/games/export", params={"player": "g_paul", "preset": "announced-701"})
    sheets = [json.loads(line) for line in answer.text.splitlines()]
    assert all(fits(told_in_lines("/api/v1/games/export"), one) for one in sheets)
    return {
        "Players": players | {"players": players["players"][:2]},
        "PlayerRow": await nina.get("/players/g_paul"),
        "Statistics": await nina.get("/players/g_paul/statistics"),
        "Games": await nina.get("/games?player=g_paul&limit=1"),
        "GameRecord": await nina.get(short),
    }, sheets


async def _referee(nina: Person) -> tuple[Json, list[Json], list[Json]]:
    bodies: Json = {}
    asked: list[Json] = []
    for question in blocks("rules.md", "ask"):
        answer = await nina.post("/referee", question)
        what = "Fault" if "error" in answer else "NoDeal" if answer.get("result", "") is None else ANSWERS[question["op"]]
        if f"{what}Answer" not in bodies:
            asked.append(question)
            bodies |= {f"Question.{what.lower()}": question, f"{what}Answer": answer}
    body = "".join(json.dumps(one) + "\n" for one in asked[:2])
    lines = await nina.http.post("/api/v1/referee", content=body, headers={"Content-Type": LINES})
    return bodies, asked[:2], [json.loads(line) for line in lines.text.splitlines()]


async def _words(nina: Person) -> Json:
    """Of these long answers so much that each kind of thing in them is shown."""
    book, words = await nina.get("/rules"), await nina.get("/i18n/fr")
    kinds = {one["kind"]: one for one in reversed(book["options"])}
    shown = {name: words["words"][name] for name in ("reason.not_host", "option.target", "phrase.hello")}
    return {
        "RuleBook": book
        | {"presets": {book["default"]: book["presets"][book["default"]]}, "options": list(kinds.values())}
        | {"reasons": book["reasons"][:3], "phrases": book["phrases"][:3]},
        "Words": words | {"words": shown},
    }


async def _health(nina: Person) -> Json:
    told = [(await nina.http.get(path, headers=MONITORING)) for path in ("/health/live", "/health/ready", "/metrics")]
    some = [line for line in told[2].text.splitlines() if "coinche_connections" in line or "coinche_rooms" in line]
    return {
        "Live": told[0].json(),
        "Readiness": told[1].json(),
        "is_ready_503": {"status": "not ready", "stores": {"redis": False, "postgres": True}},
        "read_metrics": "\n".join(some) + "\n",
    }
