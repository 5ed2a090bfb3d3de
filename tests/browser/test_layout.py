"""Nothing at the table lies over anything else, is cut off, or moves as other things come and go, at any size."""

from collections.abc import AsyncIterator, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, ViewportSize

from tests.browser.conftest import against_the_house, guest
from tests.serving import Serving, serving

SIZES = ((320, 568), (360, 640), (640, 360), (844, 390), (768, 1024), (1440, 900), (1920, 1080))
DRAW = (Path(__file__).parent / "states.js").read_text()
NAMES = ("Anne", "Maximilienne-Charlotte W", "Bob", "Wolfgang Amadeus Mozart!")

HAND = ["JS", "9S", "KS", "QS", "AH", "10H", "QD", "8D"]
LAUGH = "ha " * 66


def _calls(*calls: object) -> list[dict[str, object]]:
    return [{"seat": (3 + number) % 4, "call": call} for number, call in enumerate(calls)]


def _bid(value: int | str, trump: str) -> dict[str, object]:
    return {"value": value, "trump": trump}


def _laid(*cards: str, leader: int = 1) -> list[dict[str, object]]:
    return [{"seat": (leader + number) % 4, "card": card} for number, card in enumerate(cards)]


def _meld(seat: int, kind: str, points: int, *cards: str) -> dict[str, Any]:
    return {"seat": seat, "kind": kind, "points": points, "cards": list(cards)}


def _contract(value: int | str, trump: str, level: int = 0) -> dict[str, object]:
    return {"declarer": 3, "value": value, "trump": trump, "level": level, "factor": 2**level}


def _bids(lowest: int = 130, highest: int = 160) -> dict[str, object]:
    doubled = {"deal": 9, "value": 120, "trump": "D"}
    bids = {"lowest": lowest, "step": 10, "highest": highest, "capot": True, "trumps": ["S", "H", "D", "C", "SA", "TA"]}
    return {"kind": "calls", "pass": True, "bids": bids, "coinche": doubled, "surcoinche": False, "redeal": []}


def _seat(seat: int, kind: str = "person", **fields: object) -> dict[str, object]:
    player = f"g_{seat}"
    return {"seat": seat, "kind": kind, "player": player, "bot": False, "ready": True, "away": False, "present": True} | fields


MINE = {"kind": "cards", "cards": [{"card": card, "why": None if card[-1] == "S" else "must_follow"} for card in HAND]}
TRICK = {"number": 2, "leader": 1, "cards": _laid("7S", "8S", "AS"), "master": 3, "points": 11}
FULL = {"number": 1, "leader": 1, "cards": _laid("7H", "8H", "9H", "KH"), "winner": 0, "master": 0, "points": 4}
CARRES: list[dict[str, Any]] = [
    _meld(1, "carre", 100, "10S", "10H", "10D", "10C"),
    _meld(1, "tierce", 20, "7C", "8C", "9C"),
    _meld(3, "carre", 100, "AS", "AH", "AD", "AC"),
    _meld(3, "carre", 100, "KS", "KH", "KD", "KC"),
]
PLAYING = {
    "phase": "playing",
    "turn": 0,
    "contract": _contract(160, "S", 2),
    "calls": _calls(_bid(160, "S"), "coinche", "surcoinche"),
    "trick": TRICK,
    "last_trick": FULL,
    "moves": MINE | {"belote": []},
}

STATES: dict[str, dict[str, Any]] = {
    "base": {
        "table": {
            "status": "playing",
            "preset": "announced-701",
            "rules": {"lowest_bid": 80, "direction": "clockwise"},
            "clock": None,
            "closable": True,
            "games": 1,
            "spectators": 0,
            "seats": [_seat(0), _seat(1), _seat(2, "house", present=False), _seat(3, present=False)],
        },
        "view": {
            "viewer": 0,
            "deal": 9,
            "dealer": 3,
            "phase": "bidding",
            "turn": 0,
            "totals": {"A": 1024, "B": 1986},
            "target": 2000,
            "direction": "clockwise",
            "winner": None,
            "hand": HAND,
            "counts": [8, 8, 8, 8],
            "calls": [],
            "contract": None,
            "trick": None,
            "last_trick": None,
            "belotes": [],
            "melds": [],
            "melds_shown": [],
            "moves": None,
            "sheet": [],
        },
    },
    "bidding before anybody": {"view": {"turn": 3}},
    "bidding of others": {"view": {"turn": 1, "calls": _calls(_bid(80, "S"), _bid(90, "H"), "pass", _bid(100, "D"))}},
    "bidding, mine": {
        "view": {
            "calls": _calls(_bid(80, "S"), "pass", _bid(110, "SA"), _bid(120, "TA")),
            "contract": _contract(120, "TA"),
            "moves": _bids(),
        }
    },
    "bidding, mine, all open": {"view": {"moves": _bids(80) | {"coinche": None}}},
    "bidding by steps": {"view": {"moves": _bids(80, 650)}},
    "bidding while all talk": {
        "view": {"turn": 1, "calls": _calls(_bid(80, "S"), _bid(90, "H"), _bid("capot", "TA"), "coinche")},
        "bubbles": [LAUGH] * 4,
    },
    "bidding, all have passed": {"view": {"phase": "dealing", "turn": None, "calls": _calls("pass", "pass", "pass", "pass")}},
    "bidding, a hand is shown": {
        "view": {
            "phase": "dealing",
            "turn": None,
            "calls": _calls("pass"),
            "redeal": {"seat": 1, "right": "misere", "hand": ["7S", "8S", "7H", "8H", "7D", "8D", "7C", "8C"]},
        },
        "bubbles": ["", LAUGH],
    },
    "bidding, no line": {"view": {"turn": 1}, "line": "lost"},
    "playing, the first card": {
        "view": PLAYING | {"trick": TRICK | {"cards": [], "master": None, "points": 0}, "last_trick": None}
    },
    "playing, mine": {"view": PLAYING},
    "playing, belote": {"view": PLAYING | {"moves": MINE | {"belote": ["KS", "QS"]}}},
    "playing, their melds": {
        "view": PLAYING | {"melds": [{"seat": 1, "kind": "carre"}, {"seat": 3, "kind": "carre"}], "melds_shown": CARRES},
        "showsMelds": True,
    },
    "playing, our melds": {
        "view": PLAYING | {"melds_shown": [each | {"seat": (each["seat"] + 1) % 4} for each in CARRES]},
        "showsMelds": True,
    },
    "playing, after the melds": {
        "view": PLAYING
        | {
            "melds": [{"seat": seat, "kind": kind} for seat in range(4) for kind in ("carre", "tierce")],
            "belotes": [{"seat": seat, "suit": "S", "word": "rebelote"} for seat in range(4)],
        }
    },
    "playing while all talk": {"view": PLAYING, "bubbles": [LAUGH] * 4},
    "playing, a full trick": {"view": PLAYING | {"turn": None, "moves": None, "trick": FULL}},
    "playing, the last trick": {"view": PLAYING, "drawer": "trick"},
    "playing, not so": {"view": PLAYING, "notice": "Vous devez couper : vous n’avez pas de pique, et Bob n’est pas maître."},
    "playing, no line": {"view": PLAYING, "line": "lost"},
    "playing, chosen ahead": {"view": PLAYING | {"turn": 3, "moves": None}, "ahead": "KS"},
    "playing, one card left": {
        "view": PLAYING | {"hand": ["JS"], "moves": {"kind": "cards", "cards": MINE["cards"][:1], "belote": []}}
    },
    "playing, no trump left": {"view": PLAYING | {"hand": ["AH"], "turn": 3, "moves": None}},
    "playing, a bot for me": {"view": PLAYING, "away": 0},
    "bidding, a bot for me": {"view": {"turn": 1}, "away": 0},
    "bidding, contract without trumps": {"view": {"turn": 1, "contract": _contract("capot", "SA", 2)}},
    "playing, no card left": {"view": PLAYING | {"hand": [], "turn": 3, "moves": None, "counts": [0, 0, 0, 1]}},
    "watching": {"view": PLAYING | {"viewer": None, "hand": None, "moves": None}},
}
SCRIPT = {"names": NAMES, "states": STATES}


@pytest.fixture(scope="module")
def coinche(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("layout")) as running:
        yield running


def _overlaps(one: dict[str, Any], other: dict[str, Any]) -> bool:
    across: float = min(one["right"], other["right"]) - max(one["left"], other["left"])
    down: float = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
    return across > 1 and down > 1


async def _faults(page: Page, size: ViewportSize) -> AsyncIterator[str]:
    """What is wrong in any state at this size."""
    await page.set_viewport_size(size)
    places: dict[str, Any] = {}
    for state, found in (await page.evaluate("survey()")).items():
        at, boxes = f"{size['width']}x{size['height']} {state}", found["boxes"]
        for one, other in combinations(boxes, 2):
            if one["group"] != other["group"] and _overlaps(one, other):
                yield f"{at}: {one['group']} / {other['group']}"
        for box in boxes:
            is_low = box["bottom"] > size["height"] + 1 and box["group"] != "hand"  # its feet may go below the edge
            if box["left"] < -1 or box["right"] > size["width"] + 1 or box["top"] < -1 or is_low:
                yield f"{at}: {box['group']} is cut"
        seats = {box["group"]: (box["left"], box["top"]) for box in boxes if box["group"].startswith("seat ")}
        if state != "watching" and seats != places.setdefault(state.split()[0].strip(","), seats):
            yield f"{at}: seats move"
        for part in found["hidden"]:
            yield f"{at}: {part} is hidden"
        if found["isTooTall"]:
            yield f"{at}: the page is too tall"


async def test_each_thing_at_the_table_has_its_place(chromium: Browser, coinche: Serving) -> None:
    async with guest(chromium, coinche.url, "Anne") as anne:
        await against_the_house(anne)
        await anne.page.evaluate(DRAW, SCRIPT)
        faults = [
            fault for width, height in SIZES async for fault in _faults(anne.page, ViewportSize(width=width, height=height))
        ]
        assert not faults, "\n".join(dict.fromkeys(faults))
        assert anne.faults == []
