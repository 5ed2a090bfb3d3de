"""A program that plays: COINCHE_TOKEN=coinche_… python examples/bot.py https://coinche.example.org/t/3f-k2m7q9x4wz

It sits down at the table, is ready, and plays one game. The token is a bot's, with `read` and `play` (docs/api.md).
"""

import asyncio
import os
import sys
from contextlib import suppress

from app.client import Guest, Json
from app.game.refusal import Refused

POINTS = {"A": 11, "1": 10, "K": 4, "Q": 3, "J": 2}


def choose(moment: Json) -> Json | None:
    """What to do now, if anything: bid on a long suit with its jack, help a partner who is master, else spend little."""
    view, moves = moment["view"], moment["view"] and moment["view"]["moves"]
    if view and view["phase"] == "dealing" and view["sheet"] and view["viewer"] not in moment["next"]:
        return {"kind": "next"}
    if not moves or (moves["kind"] == "calls" and not moves["pass"]):
        return None
    if moves["kind"] == "calls":
        bids = moves["bids"]
        for suit in bids["trumps"] if bids and bids["lowest"] == 80 else ():
            if f"J{suit}" in view["hand"] and sum(card.endswith(suit) for card in view["hand"]) >= 4:
                return {"kind": "bid", "value": 80, "trump": suit}
        return {"kind": "pass"}
    legal = [one["card"] for one in moves["cards"] if one["why"] is None]
    helps = view["trick"]["master"] == (view["viewer"] + 2) % 4
    card = sorted(legal, key=lambda one: POINTS.get(one[0], 0), reverse=helps)[0]
    return {"kind": "play", "card": card, "belote": card in moves["belote"]}


async def main(link: str, token: str) -> None:
    site, _, table = link.rpartition("/t/")
    async with Guest(site, token=token) as bot:
        for what in ("sit", "ready"):
            await bot.ask("POST", f"/tables/{table}/{what}")
        async with bot.follow(table) as line:
            moment = await line.news((0, 0))
            while not moment["view"] or moment["view"]["phase"] != "over":
                if action := choose(moment):
                    with suppress(Refused):  # the table has moved on meanwhile
                        await line.act(action, moment["turn"])
                moment = await line.news(tuple(moment["at"]))
            print(f"side {moment['view']['winner']} has won")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], os.environ["COINCHE_TOKEN"]))
