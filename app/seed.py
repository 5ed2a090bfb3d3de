"""What does coinche look like after years? A database full of finished games, so that its lists can be seen at size.

The house's players play a number of games card by card; each of them is then told again and again of other people on other
days. The people are invented: some play often and some seldom, some are stronger, and the stronger side wins more often than
not. All of it follows from the seed.
"""

import json
import random
import signal
import zlib
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from math import exp
from multiprocessing import get_context
from typing import Any

from app.bots.player import choose
from app.game.actions import Deal, deal_from
from app.game.cards import PACK
from app.game.rules import PRESETS, Rules
from app.game.seats import SEATS, Seat, Side
from app.game.shuffle import LEAST_PART, SECRET_BYTES, commitment
from app.game.view import view
from app.rating import Rating, after, is_rated, shown
from app.store.bulk import AlreadyThere, Record, are_there, filling, prepared
from app.store.keys import SHARDS
from app.store.rows import Values, deal_rows, game_row, seat_row, tallies_of
from app.tables.commands import HOUSE, Actor, Command, HouseDeals, HouseStarts, InGame
from app.tables.history import Tally, folded, tell
from app.tables.judge import decide
from app.tables.lobby import HOUSES
from app.tables.ports import Entry
from app.tables.table import Occupant, Person, Place, Table, evolve_all
from app.wire.log import write_entry

DAY = 24 * 3_600_000
SPAN = 730 * DAY
"""The games lie in two years."""

EVENING = DAY // 2
"""More than the games of one table last."""

MINUTE = 60_000
A_MOVE = 4_000
AT_ONCE = 1_000

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_NAMES_IN_A_ROW = (
    "Adèle Agathe Aïda Alban Alice Amélie Anaïs André Anouk Antoine Armand Arthur Aurore Axel Basile Béatrice Benoît "
    "Bérénice Blaise Boris Camille Capucine Carole Cédric Céline Chloé Claire Clément Colette Corentin Damien Daphné "
    "Delphine Denis Diane Édith Élise Éloi Émile Emma Enzo Ernest Estelle Eugène Ève Fabien Fanny Félix Flora Florent "
    "François Gabin Gaëlle Gaston Geneviève Gilles Grégoire Guy Hélène Henri Hugo Inès Irène Iris Jacques Jade Jeanne "
    "Joël Jules Julie Karim Laure Léa Léon Léonie Lise Lola Loïc Louis Lucie Ludovic Maël Manon Marc Margot Marius "
    "Mathilde Maud Maxime Mehdi Mélanie Michel Mila Nadège Nathan Nicolas Nina Noé Noémie Océane Odile Olga Oscar Pascal "
    "Paul Pauline Perrine Philippe Quentin Rachid Raphaël Régine René Romane Rosa Sacha Salomé Samir Serge Simon Solène "
    "Sophie Stéphane Suzanne Tanguy Théo Thérèse Tristan Ulysse Valérie Victor Violette Vincent Viviane Xavier Yasmine "
    "Yann Yvette Zoé "
)
_NAMES = _NAMES_IN_A_ROW.split()


@dataclass(frozen=True, slots=True)
class Plan:
    """What is made: so many games by so many people, retold from so many that were played; the newest ones with their logs.

    `until`, in ms, is when the last of them ends at the latest.
    """

    games: int
    played: int
    logs: int
    people: int
    seed: int
    until: int


Tell = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


async def seed(database_url: str, plan: Plan, processes: int, progress: Tell) -> None:
    """Fill a migrated database. Raises `AlreadyThere`, and then nothing is changed."""
    people = _invented(plan)
    if await are_there(database_url, [one.id for one in people]):
        raise AlreadyThere
    pool = _played(plan, processes, progress)
    games = _retold(plan, people, pool, progress)
    async with filling(database_url) as shelf:
        await shelf.add_players(one.row() for one in people if one.games)
        for first in range(0, len(games), AT_ONCE):
            batch = games[first : first + AT_ONCE]
            logged = batch[max(0, len(games) - plan.logs - first) :]
            await shelf.add_games(
                [one.row() for one in batch],
                [row for one in batch for row in one.seats()],
                [(one.id, one.of.deals) for one in batch],
                [row for one in logged for row in one.entries()],
            )
            progress("stored", first + len(batch), len(games))


# --- games that are played -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Played:
    """A game of four who have no names yet; its log is packed."""

    game: Values
    rules: Rules
    winner: Side
    tallies: tuple[Tally, ...]
    deals: Sequence[Record]
    moves: int
    log: bytes


def _played(plan: Plan, processes: int, progress: Tell) -> Sequence[Played]:
    """Games under the presets in turn, played side by side."""
    presets = list(PRESETS)
    asked = [(presets[number % len(presets)], f"{plan.seed}/{number}") for number in range(plan.played)]
    found = []
    with ProcessPoolExecutor(processes, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        try:
            for one in pool.map(play, *zip(*asked, strict=True), chunksize=4):
                found.append(one)
                progress("played", len(found), plan.played)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise
    return found


def play(preset: str, seed: str) -> Played:
    """One game from the first deal to the target."""
    dice = random.Random(seed)
    places = tuple(Place(Person(str(seat.value), str(seat.value)), ready=True) for seat in SEATS)
    opened = table = Table("-", "0", PRESETS[preset], None, True, 0, places)
    entries: list[Entry] = []
    while not table.games or table.is_playing:
        by, command = _next(table, dice)
        events = decide(table, by, command)
        entries.append(Entry(len(entries) + 1, by.person, command, events, len(entries) * A_MOVE))
        table = evolve_all(table, events)
    told = tell(opened, entries)
    assert told.winner is not None
    tallies = tallies_of(told.game.rules, entries)
    log = zlib.compress("\n".join(map(write_entry, entries)).encode())
    return Played(
        game_row(told, False, tallies), told.game.rules, told.winner, tallies, prepared(deal_rows(told)), len(entries), log
    )


def _next(table: Table, dice: random.Random) -> tuple[Actor, Command]:
    if table.game is None:
        return HOUSE, HouseStarts(dice.choice(SEATS))
    seat = table.in_turn
    if seat is None:
        return HOUSE, HouseDeals(_deal(dice))
    action = choose(view(table.game, seat))
    assert action is not None
    assert not isinstance(action, Deal)
    return Actor(str(seat.value)), InGame(action)


def _deal(dice: random.Random) -> Deal:
    seed, salt = dice.randbytes(SECRET_BYTES), dice.randbytes(SECRET_BYTES)
    cut = dice.randint(LEAST_PART, len(PACK) - LEAST_PART)
    return deal_from(seed, salt, cut)


# --- people ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Somebody:
    """An invented player: how strong, how often seen, and what the games so far have made of the rating."""

    id: str
    name: str
    strength: float
    often: float
    rating: Rating = Rating()
    games: int = 0
    won: int = 0
    rated: int = 0
    created: int = 0
    played: int = 0

    def count(self, finished: int, won: bool, rating: Rating | None) -> None:
        """Add a game."""
        self.created = self.created or finished
        self.played = finished
        self.games += 1
        self.won += won
        if rating is not None:
            self.rated += 1
            self.rating = rating

    def row(self) -> Values:
        return {
            "id": self.id,
            "name": self.name,
            "folded": folded(self.name),
            "mu": self.rating.mu,
            "sigma": self.rating.sigma,
            "rating": shown(self.rating),
            "games": self.games,
            "won": self.won,
            "rated": self.rated,
            "created": self.created,
            "played": self.played,
        }


def _invented(plan: Plan) -> Sequence[Somebody]:
    """Some play every day and most do not."""
    dice = random.Random(f"{plan.seed}/people")
    return [
        Somebody(f"g_{dice.randbytes(8).hex()}", _name(number), dice.gauss(0, 1), dice.paretovariate(1.2))
        for number in range(plan.people)
    ]


def _name(number: int) -> str:
    """`Zoé`, and where all names are taken `Zoé B`, `Zoé C` and so on."""
    times, place = divmod(number, len(_NAMES))
    return _NAMES[place] + (f" {chr(ord('A') + times % 26)}" if times else "")


# --- games that are told again ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Retold:
    """A played game, of these people at this table, that ended then; ratings by seat, none where it was not rated."""

    of: Played
    table: str
    number: int
    listed: bool
    finished: int
    occupants: tuple[Occupant, ...]
    before: tuple[Rating, ...] | None
    after: tuple[Rating, ...] | None

    @property
    def id(self) -> str:
        return f"{self.table}/{self.number}"

    @property
    def started(self) -> int:
        return self.finished - self.of.moves * A_MOVE

    def row(self) -> Values:
        changed = {"id": self.id, "table_id": self.table, "number": self.number, "listed": self.listed}
        times = {"started": self.started, "finished": self.finished}
        return self.of.game | changed | times | {"rated": self.before is not None}

    def seats(self) -> Iterator[Values]:
        game = self.row()
        for seat in SEATS:
            yield seat_row(game, self.occupants, seat, self.of.tallies[seat], _of(self.before, seat), _of(self.after, seat))

    def entries(self) -> Iterator[Values]:
        """The log, of these people and with this game's own commitments."""
        secrets: tuple[bytes, bytes, int] = (b"", b"", 0)
        for line in zlib.decompress(self.of.log).decode().splitlines():
            entry: dict[str, Any] = json.loads(line)
            command = entry["command"]
            if command["kind"] == "house_deals":
                deal = command["deal"]
                secrets = bytes.fromhex(deal["seed"]), bytes.fromhex(deal["salt"]), deal["cut"]
            elif command["kind"] == "in_game":
                who = self.occupants[command["action"]["seat"]]
                entry["by"] = who.id if isinstance(who, Person) else None
                command["kind"] = "in_game" if isinstance(who, Person) else "house_plays"
            for event in entry["events"]:
                if event["kind"] == "game_started":
                    event |= {"game": self.id, "number": self.number}
                elif event["kind"] == "deal_committed":
                    event["commitment"] = commitment(self.id, event["deal"], *secrets)
            at = self.started + (entry["seq"] - 1) * A_MOVE
            yield {"game": self.id, "seq": entry["seq"], "at": at, "due": None, "entry": entry}


def _of(ratings: tuple[Rating, ...] | None, seat: Seat) -> Rating | None:
    return None if ratings is None else ratings[seat]


def _retold(plan: Plan, people: Sequence[Somebody], pool: Sequence[Played], progress: Tell) -> Sequence[Retold]:
    """All games in the order in which they ended; each moves the ratings as it would have then."""
    games = sorted(islice(_evenings(plan, people, pool), plan.games), key=lambda one: (one.finished, one.id))
    known = {one.id: one for one in people}
    rated = []
    for done, game in enumerate(games, 1):
        seated = [known[one.id] if isinstance(one, Person) else None for one in game.occupants]
        persons = [one for one in seated if one is not None]
        if is_rated(game.of.rules, SEATS[: len(persons)], SEATS, played_out=True):
            before = tuple(one.rating for one in persons)
            game = replace(game, before=before, after=after(before, game.of.winner))
        for seat, one in zip(SEATS, seated, strict=True):
            if one is not None:
                one.count(game.finished, seat.side is game.of.winner, _of(game.after, seat))
        rated.append(game)
        if done % AT_ONCE == 0 or done == len(games):
            progress("rated", done, len(games))
    return rated


def _evenings(plan: Plan, people: Sequence[Somebody], pool: Sequence[Played]) -> Iterator[Retold]:
    """Games without end, not yet rated: four sit down, the house where somebody is missing, and play one game or several."""
    dice = random.Random(f"{plan.seed}/evenings")
    known = [Person(one.id, one.name) for one in people]
    strengths = {one.id: one.strength for one in people}
    often = list(accumulate(one.often for one in people))
    while True:
        at = plan.until - EVENING - int(SPAN * (1 - dice.random() ** 0.7))  # a few more each month
        table = f"{dice.choice(SHARDS)}-{''.join(dice.choice(_LETTERS) for _ in range(10))}"
        listed, seated = dice.random() < 0.7, _four(known, often, dice)
        for number in range(1, dice.choice((1, 1, 1, 2, 2, 3, 4, 6)) + 1):
            played = dice.choice(pool)
            at += played.moves * A_MOVE + MINUTE
            if (dice.random() < _chance(seated, strengths)) is not (played.winner is Side.A):
                seated = (*seated[1:], seated[0])
            yield Retold(played, table, number, listed, at, seated, None, None)


def _four(known: Sequence[Person], often: Sequence[float], dice: random.Random) -> tuple[Occupant, ...]:
    """Who plays often meets many, and sits beside one of a few."""
    people = dice.choices((4, 3, 2, 1), (70, 8, 12, 10))[0]
    first = bisect(often, dice.random() * often[-1])
    found = {first: known[first]}
    if people > 1 and dice.random() < 0.6:
        friend = (first + dice.choice((1, 2, 3))) % len(known)
        found[friend] = known[friend]
    while len(found) < people:
        other = bisect(often, dice.random() * often[-1])
        found.setdefault(other, known[other])
    seated: list[Occupant] = [*found.values(), *HOUSES]
    return (seated[0], seated[2], seated[1], seated[3])


def _chance(seated: Sequence[Occupant], strengths: Mapping[str, float]) -> float:
    """How likely the first side is to win: luck weighs more than strength, and a player of the house is a usual one."""
    each = [strengths[one.id] if isinstance(one, Person) else 0.0 for one in seated]
    return 1 / (1 + exp(-0.3 * (each[0] + each[2] - each[1] - each[3])))
