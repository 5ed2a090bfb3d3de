"""What were the clients of one table told, and what were they promised; and is it all true?

A client hears a step for each entry of the table's log while it is connected, and an ack for each of its commands. The steps
of all clients together are the log, but for what nobody heard; the archive tells the finished games once more. Whatever these
three disagree on is a difference.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
At = tuple[int, int]
Key = tuple[int, int, int | None, str]

_ACTS = ("call_made", "card_played", "redeal_claimed")
"""Events that end a turn."""

_LATE = {"stale_turn"}
_LATE_COINCHE = {"stale_turn", "not_now", "not_your_turn", "other_bid", "own_bid", "coinched", "nothing_to_coinche"}
"""Refusals that mean only that somebody else was faster."""

CARDS = 32
REMEMBERED = 40
"""For so many entries at least a command is answered as the first time."""


@dataclass
class Asked:
    """A command that a client sent. `is_move`: legal and in turn as the client saw it, not an echo of an earlier one."""

    cid: str
    seat: int
    action: Json
    turn: int | None
    game: int
    deal: int
    spoken: int
    is_move: bool
    sent: float = field(default_factory=time.monotonic)
    at: At | None = None
    refused: str | None = None

    @property
    def key(self) -> Key:
        """What it asks, whatever its name: of all commands of one key one may be stored."""
        return (self.game, self.seat, self.turn, str(_plain(self.action)))

    def __str__(self) -> str:
        return f"{self.cid} (seat {self.seat}, turn {self.turn}, {_plain(self.action)})"


@dataclass(frozen=True)
class Told:
    """An entry of the log as all may know it."""

    game: int
    deal: int
    turn: int
    read: tuple[int, ...]
    events: tuple[Json, ...]

    def acts(self) -> Iterator[Json]:
        """What somebody did in turn."""
        return (event for event in self.events if event["kind"] in _ACTS)

    def has(self, kind: str, seat: int) -> bool:
        return any(event["kind"] == kind and event["seat"] == seat for event in self.events)


@dataclass(frozen=True)
class Stood:
    """How the table stood after an entry: its turn, and the seats that the stand-in plays for."""

    turn: int
    away: frozenset[int]


@dataclass
class Deal:
    """What was heard of one deal. `is_whole`: every entry of it."""

    calls: list[tuple[int, Any]] = field(default_factory=list)
    cards: list[tuple[int, str]] = field(default_factory=list)
    redeal: tuple[int, str] | None = None
    scored: Json | None = None
    is_whole: bool = False
    is_over: bool = False


class Book:
    """One table."""

    def __init__(self, table: str, seats: Iterable[int]) -> None:
        self.table = table
        self.people = frozenset(seats)
        self.steps: dict[At, Told] = {}
        self.stood: dict[At, Stood] = {}
        self.asked: dict[str, Asked] = {}
        self.hands: dict[tuple[int, int, int], frozenset[str]] = {}
        self.were_away: set[tuple[int, int]] = set()
        self.won: dict[int, Json] = {}
        self.latencies: list[float] = []
        self.refusals: Counter[str] = Counter()
        self.answers = 0
        self.gap = 0.0
        self.gap_ended = 0.0
        self._running_since: float | None = None
        self._differences: dict[str, None] = {}

    @property
    def differences(self) -> list[str]:
        return list(self._differences)

    def differ(self, what: str) -> None:
        """Note something that is not as it must be."""
        self._differences[f"table {self.table}: {what}"] = None

    # --- while it is played --------------------------------------------------------------------------------------------

    def ask(self, asked: Asked) -> Asked:
        """A command is about to be sent."""
        self.asked[asked.cid] = asked
        return asked

    def acknowledged(self, cid: str, at: At) -> None:
        """A command is said to be stored."""
        asked = self.asked[cid]
        self.answers += 1
        if asked.at is None:
            self.latencies.append(time.monotonic() - asked.sent)
        elif asked.at != at and asked.action["kind"] not in (
            "next",
            "return",
        ):  # which may change nothing, and then have no moment
            self.differ(f"{asked} was acknowledged at {asked.at} and again at {at}")
        if asked.refused is not None:
            self.differ(f"{asked} was refused ({asked.refused}) and then acknowledged at {at}")
        asked.at = asked.at or at

    def refuse(self, cid: str, why: str) -> None:
        """A command was refused."""
        self.refusals[why] += 1
        if why == "busy":  # no answer yet
            return
        asked = self.asked[cid]
        if asked.at is None:
            asked.refused = why
        # Long after, a command is no longer known by its name; then it is only not done again.
        elif asked.action["kind"] not in ("next", "return") and max(self.steps, default=asked.at)[1] - asked.at[1] < REMEMBERED:
            self.differ(f"{asked} was acknowledged at {asked.at} and then refused: {why}")

    def tell(self, at: At, told: Told, is_running: bool) -> None:
        """A client heard a step; all must hear the same."""
        known = self.steps.get(at)
        if known is None:
            self.steps[at] = told
            self._news(is_running)
        elif known != told:
            self.differ(f"two clients were told different things at {at}: {known} and {told}")
        for event in told.events:
            if event["kind"] == "seat_away":
                self.were_away.add((told.game, event["seat"]))
            elif event["kind"] == "game_won":
                self.won[told.game] = event

    def stand(self, at: At, game: int, stood: Stood) -> None:
        """A client was told how the table stands."""
        self.stood[at] = stood
        self.were_away |= {(game, seat) for seat in stood.away}

    def hold(self, game: int, deal: int, seat: int, hand: Iterable[str]) -> None:
        """A client was dealt a hand."""
        self.hands[game, deal, seat] = frozenset(hand)

    def excuse(self) -> None:
        """What is silent until now is so because clients want it."""
        if self._running_since is not None:
            self._running_since = time.monotonic()

    @property
    def silent_for(self) -> float:
        """For how many seconds nothing was heard in a running game."""
        return 0.0 if self._running_since is None else time.monotonic() - self._running_since

    def _news(self, is_running: bool) -> None:
        if self.silent_for > self.gap:
            self.gap, self.gap_ended = self.silent_for, time.monotonic()
        self._running_since = time.monotonic() if is_running else None

    # --- when all is over ------------------------------------------------------------------------------------------------

    @property
    def unheard(self) -> int:
        """Entries between the first and the last that no client heard."""
        numbers = [seq for _, seq in self.steps]
        return max(numbers) - min(numbers) + 1 - len(numbers) if numbers else 0

    def check_log(self) -> None:
        """What was heard step by step: everything asked is there once, and nothing else of these seats."""
        self._check_epochs()
        stored: dict[Key, At] = {}
        before: tuple[At, Stood] | None = None
        for at in sorted(self.steps):
            told, (epoch, seq) = self.steps[at], at
            stood = before[1] if before is not None and before[0] == (epoch, seq - 1) else self.stood.get((epoch, seq - 1))
            if stood is not None:
                after = _after(stood, told)
                self._check_entry(at, told, stood, stored)
                if told.turn != after.turn:
                    self.differ(f"at {at} the turn is {told.turn}, after {stood.turn} and {_kinds(told)}")
                before = (at, after)
                known = self.stood.get(at)
                if known is not None and known != after:
                    self.differ(f"at {at} the table stood as {known}, the log says {after}")
            else:
                before = None
        answered: dict[Key, list[Asked]] = defaultdict(list)
        for asked in self.asked.values():
            answered[asked.key].append(asked)
            self._check_answer(asked)
        for key, at in stored.items():
            if not any(asked.at is not None or asked.refused is None for asked in answered[key]):
                self.differ(f"stored at {at}, but refused: {', '.join(map(str, answered[key]))}")

    def _check_epochs(self) -> None:
        """A new epoch begins where the log has lost its end."""
        for epoch in sorted({epoch for epoch, _ in (*self.stood, *self.steps)} - {1}):
            begins = min([seq for at, seq in self.stood if at == epoch] + [seq - 1 for at, seq in self.steps if at == epoch])
            self.differ(f"the log has lost its end: epoch {epoch} is first heard of at {begins}")
            for asked in self.asked.values():
                if asked.at is not None and asked.at[0] < epoch and asked.at[1] > begins:
                    self.differ(f"{asked} was acknowledged at {asked.at} and was lost with it")

    def _check_entry(self, at: At, told: Told, before: Stood, stored: dict[Key, At]) -> None:
        for event in (*told.acts(), *(event for event in told.events if event["kind"] == "sheet_read")):
            seat = event["seat"]
            by_the_house = seat not in self.people or (
                event["kind"] != "sheet_read"
                and (told.has("seat_away", seat) or (seat in before.away and not told.has("seat_back", seat)))
            )
            if by_the_house:
                continue
            sent = [one for one in self.asked.values() if one.turn in (None, before.turn) and _brings(one, event, told)]
            if not sent:
                self.differ(f"at {at} {event} is in the log, which no client sent in turn {before.turn}")
            elif sent[0].key in stored:
                self.differ(f"{sent[0]} is in the log twice, at {stored[sent[0].key]} and at {at}")
            else:
                stored[sent[0].key] = at

    def _check_answer(self, asked: Asked) -> None:
        if asked.refused is not None and asked.is_move:
            late = _LATE_COINCHE if asked.action["kind"] == "coinche" else _LATE
            if asked.refused not in late:
                self.differ(f"{asked} is legal and was refused: {asked.refused}")
        told = None if asked.at is None else self.steps.get(asked.at)
        if asked.at is None or told is None:
            return
        kind, seat = asked.action["kind"], asked.seat
        match kind:
            case "next":
                there = seat in told.read or told.has("sheet_read", seat) or told.has("seat_back", seat)
            case "return":
                there = True  # where the stand-in does not play there is nothing to store
            case _:
                there = any(_brings(asked, event, told) for event in told.acts())
        if not there:
            self.differ(f"{asked} was acknowledged at {asked.at}, but there the log has {_kinds(told)}")

    # --- and against the archive -----------------------------------------------------------------------------------------

    def check_game(self, number: int, record: Json) -> None:
        """What the archive tells of a finished game is what was heard, and holds what was acknowledged."""
        archived = {deal["deal"]: deal for deal in record["deals"]}
        heard = self._deals(number)
        won = self.won.get(number)
        if won is not None and (won["side"], won["totals"]) != (record["winner"], record["totals"]):
            self.differ(f"game {number} was won with {won}, the archive says {record['winner']} {record['totals']}")
        for deal in sorted(heard.keys() - archived.keys()):
            self.differ(f"game {number}: deal {deal} is not in the archive")
        for deal, told in archived.items():
            self._check_deal(number, told)
            self._check_heard(f"game {number}, deal {deal}", heard.get(deal, Deal()), told)
        for asked in self.asked.values():
            if asked.game == number and asked.at is not None and not _is_archived(asked, archived.get(asked.deal)):
                self.differ(f"{asked} was acknowledged at {asked.at} and is not in the archive of game {number}")
        self._check_unasked(number, archived)

    def _check_deal(self, game: int, told: Json) -> None:
        """Each card once, from the hand that held it; and the hands that clients saw."""
        where = f"game {game}, deal {told['deal']}"
        hands = [set(hand) for hand in told["hands"]]
        if len(set().union(*hands)) != CARDS or any(len(hand) != CARDS // 4 for hand in hands):
            self.differ(f"{where}: the hands are not one pack")
        cards = [(laid["seat"], laid["card"]) for trick in told["tricks"] for laid in trick["cards"]]
        if len(set(cards)) != len(cards) or any(card not in hands[seat] for seat, card in cards):
            self.differ(f"{where}: a card was played twice, or from another hand")
        if told["contract"] is not None and len(cards) != CARDS:
            self.differ(f"{where}: {len(cards)} cards were played")
        for seat, hand in enumerate(hands):
            seen = self.hands.get((game, told["deal"], seat))
            if seen is not None and seen != hand:
                self.differ(f"{where}: seat {seat} was dealt {sorted(seen)}, the archive says {sorted(hand)}")

    def _check_heard(self, where: str, heard: Deal, told: Json) -> None:
        calls = [(one["seat"], one["call"]) for one in told["calls"]]
        cards = [(laid["seat"], laid["card"]) for trick in told["tricks"] for laid in trick["cards"]]
        fits = _is_same if heard.is_whole else _is_within
        if not fits(heard.calls, calls):
            self.differ(f"{where}: the calls heard are {heard.calls}, in the archive {calls}")
        if not fits(heard.cards, cards):
            self.differ(f"{where}: the cards heard are {heard.cards}, in the archive {cards}")
        redeal = told["redeal"] and (told["redeal"]["seat"], told["redeal"]["right"])
        if (heard.is_whole or heard.redeal) and heard.redeal != redeal:
            self.differ(f"{where}: the redeal heard is {heard.redeal}, in the archive {redeal}")
        if heard.scored is not None and (heard.scored["made"], heard.scored["score"]) != (told["made"], told["score"]):
            self.differ(f"{where}: scored as {heard.scored}, in the archive {told['score']}")

    def _check_unasked(self, game: int, archived: Mapping[int, Json]) -> None:
        """Of a seat for which the stand-in never played everything was sent by its client."""
        sent = {(one.deal, one.seat, _said(one.action)) for one in self.asked.values() if one.game == game}
        for deal, told in archived.items():
            done = [(one["seat"], str(one["call"])) for one in told["calls"]]
            done += [(laid["seat"], laid["card"]) for trick in told["tricks"] for laid in trick["cards"]]
            for seat, what in done:
                if seat in self.people and (game, seat) not in self.were_away and (deal, seat, what) not in sent:
                    self.differ(f"game {game}, deal {deal}: {what} of seat {seat} is in the archive, which no client sent")

    def _deals(self, game: int) -> dict[int, Deal]:
        """What was heard of a game's deals."""
        deals: dict[int, Deal] = defaultdict(Deal)
        last: At | None = None
        for at in sorted(at for at, told in self.steps.items() if told.game == game and told.deal > 0):
            told = self.steps[at]
            deal = deals[told.deal]
            follows = last is not None and at == (last[0], last[1] + 1)
            last = at
            if not follows and not deal.is_over:
                deal.is_whole = False
            for event in told.events:
                match event["kind"]:
                    case "hands_dealt":
                        deal.is_whole = True
                    case "call_made":
                        deal.calls.append((event["seat"], event["call"]))
                    case "card_played":
                        deal.cards.append((event["seat"], event["card"]))
                    case "redeal_claimed":
                        deal.redeal = (event["seat"], event["right"])
                        deal.is_over = True
                    case "deal_scored":
                        deal.scored = event
                        deal.is_over = True
                    case "deal_passed_out":
                        deal.is_over = True
        for deal in deals.values():
            deal.is_whole = deal.is_whole and deal.is_over
        return dict(deals)


def _kinds(told: Told) -> list[str]:
    return [" ".join(str(value) for value in event.values()) for event in told.events]


def _after(stood: Stood, told: Told) -> Stood:
    """How the table stands after an entry."""
    turn, away = stood.turn, set(stood.away)
    for event in told.events:
        match event["kind"]:
            case "seat_away":
                away.add(event["seat"])
            case "seat_back":
                away.discard(event["seat"])
            case "game_won":
                turn, away = turn + 1, set()
            case "hands_dealt" | "game_started":
                turn += 1
            case kind if kind in _ACTS:
                turn += 1
    return Stood(turn, frozenset(away))


def _plain(action: Json) -> Json:
    """The action without what it may leave out."""
    return {name: value for name, value in action.items() if not (name == "belote" and value is False)}


def _said(action: Json) -> str:
    """An action of the game as the archive has it: a call or a card."""
    match action["kind"]:
        case "bid":
            return str({"value": action["value"], "trump": action["trump"]})
        case "play":
            return str(action["card"])
        case kind:
            return str(kind)


def _brings(asked: Asked, event: Json, told: Told) -> bool:
    """Whether this is what the command brings about. A coinche names no turn, but a deal."""
    if event["seat"] != asked.seat:
        return False
    match event["kind"]:
        case "call_made":
            in_deal = asked.turn is not None or (asked.game, asked.deal) == (told.game, told.deal)
            return in_deal and str(event["call"]) == _said(asked.action) and bool(asked.action["kind"] != "play")
        case "card_played":
            return asked.action["kind"] == "play" and bool(event["card"] == asked.action["card"])
        case "redeal_claimed":
            return asked.action["kind"] == "redeal" and bool(event["right"] == asked.action["right"])
        case _:
            return bool(asked.action["kind"] == "next")


def _is_archived(asked: Asked, deal: Json | None) -> bool:
    kind, seat = asked.action["kind"], asked.seat
    if kind in ("next", "return"):
        return True  # of the table, not of the game
    if deal is None:
        return False
    match kind:
        case "play":
            laid = [(one["seat"], one["card"]) for trick in deal["tricks"] for one in trick["cards"]]
            return (seat, asked.action["card"]) in laid
        case "redeal":
            return bool(deal["redeal"] == {"seat": seat, "right": asked.action["right"]})
        case "coinche":
            return any(one["seat"] == seat and one["call"] == "coinche" for one in deal["calls"])
        case _:
            spoken = deal["calls"][asked.spoken : asked.spoken + 1]
            return [(one["seat"], str(one["call"])) for one in spoken] == [(seat, _said(asked.action))]


def _is_same(heard: list[Any], told: list[Any]) -> bool:
    return heard == told


def _is_within(heard: list[Any], told: list[Any]) -> bool:
    """Whether what was heard is there, in this order, perhaps with more in between."""
    rest = iter(told)
    return all(one in rest for one in heard)
