"""Whole games watched by everybody: nobody is ever sent a card that he must not know, nor anything a deal was shuffled from.

The oracle is the server's own table, entry by entry. The last tests let the server leak on purpose, and the watch must notice.
"""

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pytest
import structlog
from httpx2 import Response

from app.game.actions import Deal
from app.game.cards import Card
from app.game.events import Event, HandsDealt
from app.game.rules import PRESETS
from app.game.seats import SEATS, Seat
from app.game.state import Bidding, Game, Playing
from app.game.view import Seen, View, Viewer, public_view, redact, view
from app.tables import mirror as mirrors
from app.tables.commands import HouseDeals
from app.tables.mirror import End, Mirror, Step
from app.tables.ports import Entry
from app.tables.table import Table
from tests.people import Json, Line, Person, Site, people, person, play, started

CARD = re.compile(r"(?<![A-Za-z0-9_-])(?:[789JQKA]|10)[SHDC](?![A-Za-z0-9_-])")
SECRET_KEYS = {"seed", "salt", "cut", "pack", "token", "due", "command", "by"}


def keys(value: Any) -> Iterator[str]:
    """Every name in a JSON value."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from keys(one)


def hidden_from(table: Table, viewer: Viewer) -> set[Card]:
    """The cards that lie in the hands of others and have not been shown."""
    phase = None if table.game is None else table.game.phase
    if not isinstance(phase, Bidding | Playing):
        return set()
    shown = {card for meld in (phase.shown if isinstance(phase, Playing) else ()) for card in meld.meld.cards}
    return {card for seat in SEATS if seat is not viewer for card in phase.hands[seat]} - shown


@dataclass
class Watch:
    """What really is at a table after each entry, and what has been found out that must not be known."""

    tables: dict[int, Table] = field(default_factory=dict)
    secrets: set[str] = field(default_factory=set)
    leaks: list[str] = field(default_factory=list)
    checked: int = 0

    def on_entry(self, mirror: Mirror, entry: Entry) -> None:
        self.tables[entry.seq] = mirror.table
        if isinstance(entry.command, HouseDeals):
            deal: Deal = entry.command.deal
            self.secrets |= {deal.seed, deal.salt}

    def on_anew(self, mirror: Mirror) -> None:
        raise AssertionError("nothing is lost here")

    def on_end(self, mirror: Mirror, why: End) -> None:
        raise AssertionError(why)

    def check_frame(self, raw: str, frame: Json, person: str | None, watching: bool) -> None:
        """A frame of the socket, sent to this person."""
        self.checked += 1
        self.check_secrets(raw)
        self.check_keys(frame)
        cards = {Card(found) for found in CARD.findall(raw)}
        if frame["type"] not in ("welcome", "step"):
            if cards:
                self.leaks.append(f"cards in a {frame['type']}")
            return
        table = self.tables.get(frame["at"][1])
        if table is None:
            return
        viewer = None if watching or person is None else table.seat_of(person)
        if found := cards & hidden_from(table, viewer):
            self.leaks.append(f"{frame['type']} {frame['at']} shows {viewer} {sorted(found)}")
        if frame["view"] is not None and table.game is not None:
            seen = view(table.game, viewer)
            hand = None if seen.hand is None else [str(card) for card in seen.hand]
            if (frame["view"]["viewer"], frame["view"]["hand"]) != (viewer, hand):
                self.leaks.append(f"{frame['at']} is not the view of {viewer}")

    def check_answer(self, path: str, text: str, everybody: bool) -> None:
        """A body or a line of the log; those of `everybody` never have to do with cards."""
        self.checked += 1
        self.check_secrets(text)
        if everybody and CARD.search(text):
            self.leaks.append(f"cards in {path}")

    def check_secrets(self, text: str) -> None:
        for secret in self.secrets:
            if secret in text:
                self.leaks.append(f"a secret in {text[:80]}")

    def check_keys(self, value: Any) -> None:
        if found := SECRET_KEYS & set(keys(value)):
            self.leaks.append(f"{found} in {str(value)[:80]}")


STREAMS = ("/api/v1/tables/{table}/events", "/api/v1/me/events")
"""These are listened to as long as the game goes on."""

IN_THE_GAME = re.compile(r"/api/v1/(games|tables/[^/]+/(game|events))|/openapi.json")
"""Where cards may be: as each asker may see them."""


def paths(site: Site, table: str, player: str) -> list[str]:
    """Every GET route that there is, but for streams."""
    of_table, of_game = {"table": table}, {"game": f"{table}/1", "id": f"{table}/1", "number": "1"}
    found = ["/", f"/t/{table}", f"/g/{table}/1", "/openapi.json"]
    for path, methods in site.app.openapi()["paths"].items():
        if "get" in methods and path != "/api/v1/me/events":
            names = of_table | of_game | ({"id": player} if "players" in path else {})
            names |= {"player": player, "lang": "fr", "bot": "b_0"}
            for name in re.findall(r"\{([^}:]*)", path):
                path = re.sub(rf"\{{{name}[^}}]*\}}", names[name], path)
            found.append(path)
    return found


async def poll(who: Person, watch: Watch, all_paths: list[str], done: asyncio.Event) -> None:
    """Ask for everything, again and again, while the game is on; for what has happened also from the beginning."""
    while not done.is_set():
        for path in all_paths:
            moment = 1 + watch.checked % max(watch.tables)
            response = await who.http.get(f"{path}?after=1.{moment}" if path.endswith("/events") else path)
            watch.check_answer(path, response.text, everybody=IN_THE_GAME.match(path) is None)
            if path.startswith("/api/") and "json" in response.headers["content-type"]:
                for line in response.text.splitlines():  # an export has one to a line
                    watch.check_keys(json.loads(line))
            if path.endswith(("/game", "/events")):
                answer = response.json()
                for message in answer.get("events", [answer]):
                    watch.check_frame(json.dumps(message), message, who.id or None, watching=False)
            watch.check_answer(path, str(response.headers), everybody=True)
        await asyncio.sleep(0.2)


async def listen(who: Person, watch: Watch, path: str, accept: str, done: asyncio.Event) -> None:
    """Hear a stream while the game is on, and look at it when it is over."""
    lines: list[str] = []
    async with who.http.stream("GET", path, headers={"Accept": accept}) as response:
        assert response.status_code == (401 if not who.id and "/me/" in path else 200)
        reading = asyncio.create_task(_read(response, lines))
        await done.wait()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    for line in lines:
        watch.check_answer(path, line, everybody="/me/" in path)
        if (raw := line.removeprefix("data: ")).startswith("{") and "/me/" not in path:
            watch.check_frame(raw, json.loads(raw), who.id or None, watching=False)


async def _read(response: Response, lines: list[str]) -> None:
    async for line in response.aiter_lines():
        lines.append(line)  # noqa: PERF401 (what has been read is there when this is cancelled)


async def watched_game(site: Site, preset: str, seed: int, target: int) -> Watch:
    """Four people play, one of them on two sockets; a guest and a stranger look on; everybody asks for everything."""
    watch = Watch()
    async with (
        people(site.url, "Nina", "Paul", "Rosa", "Omar", "Uma") as five,
        person(site.url) as stranger,
        AsyncExitStack() as stack,
    ):
        four = five[:4]
        table = await started(four, preset, options={"target": target})
        mirror = await site.parts.tables.mirror(table)
        mirror.watchers.insert(0, watch)
        watch.tables[mirror.seq] = mirror.table
        watch.secrets |= {who.cookie.partition("=")[2] for who in five}
        lines: list[tuple[Person, Line, bool]] = []
        for who, role in (
            *((one, "player") for one in four),
            (four[0], "spectator"),
            (five[4], "player"),
            (stranger, "player"),
        ):
            lines.append((who, await stack.enter_async_context(who.at(table, role)), role == "spectator"))
        done = asyncio.Event()
        everything = paths(site, table, four[0].id)
        async with asyncio.TaskGroup() as group:
            for who in (four[0], five[4], stranger):
                group.create_task(poll(who, watch, everything, done))
                for path in STREAMS:
                    for accept in ("text/event-stream", "application/x-ndjson"):
                        group.create_task(listen(who, watch, path.format(table=table), accept, done))
            players = [group.create_task(play(line, Random(seed + seat))) for seat, (_, line, _) in enumerate(lines[:4])]
            watchers = [group.create_task(play(line, Random(seed))) for _, line, _ in lines[4:]]
            nosy = group.create_task(ask_too_much(five[4], stranger, four[1], table, lines[0][1]))
            await asyncio.gather(*players, *watchers, nosy)
            done.set()
        lines += [(who, line, False) for who, line in await nosy]
        # Somebody leaves, somebody else sits down there, and a new game begins.
        await four[3].post(f"/tables/{table}/leave")
        await five[4].post(f"/tables/{table}/sit", {"seat": 3})
        await asyncio.gather(*(one.post(f"/tables/{table}/ready") for one in (*four[:3], five[4])))
        for _, line, _ in lines[:7]:
            await line.until_state(lambda line: line.view and line.view["phase"] == "bidding")
        mirror.watchers.remove(watch)
        for who, line, watching in lines:
            for raw, frame in zip(line.raw, line.frames, strict=True):
                watch.check_frame(raw, frame, who.id or None, watching)
    return watch


async def ask_too_much(guest: Person, stranger: Person, player: Person, table: str, line: Line) -> list[tuple[Person, Line]]:
    """Act where one may not, and come back again and again: refusals and first frames are frames too."""
    seen: list[tuple[Person, Line]] = []
    for _ in range(4):
        for who in (guest, stranger, player):
            async with who.at(table) as other:
                if other.view is not None and other.view["phase"] == "over":
                    return seen
                for action in ({"kind": "play", "card": "7S"}, {"kind": "pass"}, {"kind": "redeal", "right": "misere"}):
                    if who is not player:
                        await other.ask(action)
                await other.websocket.send("x")
                await other.until(lambda frame: frame["type"] == "refused")
                seen.append((who, other))
    return seen


@pytest.mark.parametrize(("preset", "seed"), [(name, number) for number, name in enumerate(PRESETS)])
async def test_nobody_is_ever_sent_what_he_must_not_know(
    site: Site, preset: str, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with structlog.testing.capture_logs() as logs:
        watch = await watched_game(site, preset, seed, target=150)
    for record in caplog.records:
        if not record.name.startswith(("websockets.client", "httpx", "httpcore")):  # our own side
            watch.check_answer("the log", record.getMessage(), everybody=True)
    for line in logs:
        watch.check_answer("the log", str(line), everybody=True)
    assert watch.leaks == []
    assert watch.checked > 500
    assert len(watch.secrets) > 5


async def test_what_is_the_same_for_all_games_stays_the_same_in_a_game(site: Site) -> None:
    async with people(site.url, "Nina", "Paul", "Rosa", "Omar") as four, person(site.url) as stranger:
        constant = ("/", "/openapi.json", "/api/v1/rules", "/health/live")
        before = [(await stranger.http.get(path)).text for path in constant]
        table = await started(four)
        async with four[0].at(table) as line:
            await line.until_state(lambda line: line.view)
            assert [(await stranger.http.get(path)).text for path in constant] == before


async def test_a_leaking_event_would_be_noticed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def told_to_all(event: Event, viewer: Viewer) -> Seen:
        return redact(event, Seat(0) if isinstance(event, HandsDealt) else viewer)

    monkeypatch.setattr(mirrors, "redact", told_to_all)
    assert (await watched_game(site, "contree-701", 1, target=1)).leaks != []


async def test_a_leaking_view_would_be_noticed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def with_a_hand(game: Game) -> View:
        return replace(public_view(game), hand=view(game, Seat(0)).hand)

    monkeypatch.setattr(mirrors, "public_view", with_a_hand)
    assert (await watched_game(site, "contree-701", 1, target=1)).leaks != []


async def test_a_first_frame_that_leaks_would_be_noticed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Mirror.now

    def told_to_all(self: Mirror, viewer: Viewer) -> Step:
        return honest(self, Seat(0) if viewer is None else viewer)

    monkeypatch.setattr(Mirror, "now", told_to_all)
    assert (await watched_game(site, "contree-701", 1, target=1)).leaks != []
