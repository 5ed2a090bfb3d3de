"""How good is a bot? `python -m tests.bots.measure [deals] [bot]` prints the figures of docs/bots.md, always the same."""

import sys
import time
from dataclasses import replace
from statistics import mean, pstdev, quantiles

from app.bots.player import BOTS, Bot
from app.game.actions import Action
from app.game.rules import PRESETS
from app.game.seats import SEATS
from app.game.view import View
from tests.bots.arena import dealt, duplicate, packs, play_deal
from tests.bots.exploits import EXPLOITS, random_player


def among_four(bot: Bot, deals: int) -> None:
    """Contracts of four players of the same kind, and the time of a decision."""
    spent: list[float] = []

    def timed(view: View) -> Action | None:
        start = time.perf_counter()
        action = bot(view)
        spent.append((time.perf_counter() - start) * 1000)
        return action

    print("preset          made  average bid  passed out  coinched (made)  capot bids (made)")
    for name, preset in PRESETS.items():
        rules = replace(preset, target=10_000)
        scores = [
            play_deal(dealt(rules, pack, SEATS[number % 4]), [timed] * 4).deals[-1].score
            for number, pack in enumerate(packs(77, deals))
        ]
        played = [score for score in scores if score is not None]
        doubled = [score.made for score in played if score.contract.level]
        capots = [score.made for score in played if score.contract.bid.value == "capot"]
        bids = [score.contract.bid.points for score in played if score.contract.bid.value != "capot"]
        print(
            f"{name:15} {mean(score.made for score in played):4.0%} {mean(bids):12.1f} {1 - len(played) / deals:11.1%}"
            f" {len(doubled) / len(played):9.1%} ({sum(doubled)}/{len(doubled)}) {len(capots):6} ({sum(capots)})"
        )
    cuts = quantiles(spent, n=100)
    print(
        f"a decision takes {mean(spent):.2f} ms on average, {cuts[49]:.2f} at the median, {cuts[98]:.2f} at the 99th percentile"
    )


def against(bot: Bot, deals: int) -> None:
    """The advantage per deal, each pack played twice with the sides changed, with its 95 % interval."""
    print("\nagainst                         classic-1000     contree-701")
    for name, other in {"random legal moves": random_player(1), **EXPLOITS}.items():
        line = f"{name:30}"
        for preset in ("classic-1000", "contree-701"):
            gains = [gain / 2 for gain in duplicate(PRESETS[preset], bot, other, seed=2, deals=deals)]
            line += f" {mean(gains):+7.1f} ± {1.96 * pstdev(gains) / len(gains) ** 0.5:4.1f}"
        print(line)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    player = BOTS[sys.argv[2] if len(sys.argv) > 2 else "house"]
    among_four(player, count)
    against(player, count // 2)
