"""The six presets' scores, each spelled out by itself: the check on the one law of `app.game.scoring`.

Nothing of the engine is used here. `t` and `d` are the trick points of declarers and defence, `bt` and `bd` their belotes,
`at` and `ad` their valid melds, `v` the bid (250 for a capot), `m` the factor. Each function answers (made, the declarers'
score, the defence's).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Deal:
    t: int
    d: int
    bt: int
    bd: int
    at: int
    ad: int
    bid: int | str
    level: int
    eight: bool
    """The declarers took all eight tricks."""

    @property
    def v(self) -> int:
        return self.bid if isinstance(self.bid, int) else 250

    @property
    def c(self) -> int:
        return 250 if self.eight else self.t


def near_ten(points: int) -> int:
    return points - points % 10 + (10 if points % 10 >= 5 else 0)


def announced(x: Deal) -> tuple[bool, int, int]:
    m = [1, 2, 4][x.level]
    made = x.eight if x.bid == "capot" else x.t >= 82 and x.t + x.bt + x.at >= x.v
    if made:
        return True, (x.t + x.bt + x.at + x.v) * m, x.d + x.bd + x.ad
    return False, x.bt, (162 + x.v + x.at + x.ad + x.bd) * m


def classic(x: Deal) -> tuple[bool, int, int]:
    m = [1, 2, 4][x.level]
    made = x.eight if x.bid == "capot" else x.t + x.bt >= x.v
    if made:
        return True, (x.v + x.c) * m + x.bt, x.d * m + x.bd
    return False, x.bt, (160 + x.v) * m + x.bd


def rounded(x: Deal) -> tuple[bool, int, int]:
    m = [1, 2, 3][x.level]
    made = x.eight if x.bid == "capot" else x.t >= x.v
    if made:
        return True, near_ten((x.c + x.v + x.bt) * m), near_ten(x.d)
    return False, 0, near_ten((160 + x.v) * m)


def arena(x: Deal) -> tuple[bool, int, int]:
    m = [1, 2, 4][x.level]
    made = x.eight if x.bid == "capot" else x.t + x.bt >= x.v
    if made:
        return True, (x.v + x.c + x.bt) * m, (x.d + x.bd) * m
    return False, x.bt * m, (160 + x.v + x.bd) * m


def arena_bid_only(x: Deal) -> tuple[bool, int, int]:
    made, declarers, defence = arena(x)
    return (True, (x.v + x.bt) * [1, 2, 4][x.level], defence) if made else (False, declarers, defence)


def federation(x: Deal) -> tuple[bool, int, int]:
    m = [1, 2, 4][x.level]
    ours, theirs = x.t + x.bt + x.at, x.d + x.bd + x.ad
    made = x.eight if x.bid == "capot" else ours >= x.v and ours > theirs
    if x.level == 0 and x.bid != "capot" and not (made and x.eight):
        if made:
            return True, near_ten(x.t + x.at) + x.v + x.bt, near_ten(x.d + x.ad) + x.bd
        return False, x.bt, 160 + x.v + x.at + x.ad + x.bd
    base = 500 if x.bid == "capot" else 250 + x.v if made and x.eight else 160 + x.v
    winner = base * m + x.at + x.ad
    return (True, winner + x.bt, x.bd) if made else (False, x.bt, winner + x.bd)


FORMULAS = {
    "announced-701": announced,
    "contree-701": announced,
    "classic-1000": classic,
    "rounded-1000": rounded,
    "arena-2000": arena,
    "ffb-2000": federation,
}
