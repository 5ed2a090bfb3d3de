"""Is the log that clients heard what they asked for, and are the answers they got true?"""

from collections import defaultdict

from app.load.book import ACTS, Asked, At, Book, Json, Key, Stood, Told

_LATE = {"stale_turn"}
_LATE_COINCHE = {"stale_turn", "not_now", "not_your_turn", "other_bid", "own_bid", "coinched", "nothing_to_coinche"}
"""Refusals that mean only that somebody else was faster."""


def check_log(book: Book) -> None:
    """What was heard step by step: everything asked is there once, and nothing else of these seats."""
    _check_epochs(book)
    stored: dict[Key, At] = {}
    before: tuple[At, Stood] | None = None
    for at in sorted(book.steps):
        told, (epoch, seq) = book.steps[at], at
        stood = before[1] if before is not None and before[0] == (epoch, seq - 1) else book.stood.get((epoch, seq - 1))
        if stood is not None:
            after = _after(stood, told)
            _check_entry(book, at, told, stood, stored)
            if told.turn != after.turn:
                book.differ(f"at {at} the turn is {told.turn}, after {stood.turn} and {_kinds(told)}")
            before = (at, after)
            known = book.stood.get(at)
            if known is not None and known != after:
                book.differ(f"at {at} the table stood as {known}, the log says {after}")
        else:
            before = None
    answered: dict[Key, list[Asked]] = defaultdict(list)
    for asked in book.asked.values():
        answered[asked.key].append(asked)
        _check_answer(book, asked)
    for key, at in stored.items():
        if not any(asked.at is not None or asked.refused is None for asked in answered[key]):
            book.differ(f"stored at {at}, but refused: {', '.join(map(str, answered[key]))}")


def _check_epochs(book: Book) -> None:
    """A new epoch begins where the log has lost its end."""
    for epoch in sorted({epoch for epoch, _ in (*book.stood, *book.steps)} - {1}):
        begins = min([seq for at, seq in book.stood if at == epoch] + [seq - 1 for at, seq in book.steps if at == epoch])
        book.differ(f"the log has lost its end: epoch {epoch} is first heard of at {begins}")
        for asked in book.asked.values():
            if asked.at is not None and asked.at[0] < epoch and asked.at[1] > begins:
                book.differ(f"{asked} was acknowledged at {asked.at} and was lost with it")


def _check_entry(book: Book, at: At, told: Told, before: Stood, stored: dict[Key, At]) -> None:
    for event in (*told.acts(), *(event for event in told.events if event["kind"] == "sheet_read")):
        seat = event["seat"]
        by_the_house = seat not in book.people or (
            event["kind"] != "sheet_read"
            and (told.has("seat_away", seat) or (seat in before.away and not told.has("seat_back", seat)))
        )
        if by_the_house:
            continue
        sent = [one for one in book.asked.values() if one.turn in (None, before.turn) and _brings(one, event, told)]
        if not sent:
            book.differ(f"at {at} {event} is in the log, which no client sent in turn {before.turn}")
        elif sent[0].key in stored:
            book.differ(f"{sent[0]} is in the log twice, at {stored[sent[0].key]} and at {at}")
        else:
            stored[sent[0].key] = at


def _check_answer(book: Book, asked: Asked) -> None:
    if asked.refused is not None and asked.is_move:
        late = _LATE_COINCHE if asked.action["kind"] == "coinche" else _LATE
        if asked.refused not in late:
            book.differ(f"{asked} is legal and was refused: {asked.refused}")
    told = None if asked.at is None else book.steps.get(asked.at)
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
        book.differ(f"{asked} was acknowledged at {asked.at}, but there the log has {_kinds(told)}")


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
            case kind if kind in ACTS:
                turn += 1
    return Stood(turn, frozenset(away))


def _brings(asked: Asked, event: Json, told: Told) -> bool:
    """Whether this is what the command brings about. A coinche names no turn, but a deal."""
    if event["seat"] != asked.seat:
        return False
    match event["kind"]:
        case "call_made":
            in_deal = asked.turn is not None or (asked.game, asked.deal) == (told.game, told.deal)
            return in_deal and str(event["call"]) == asked.said and bool(asked.action["kind"] != "play")
        case "card_played":
            return asked.action["kind"] == "play" and bool(event["card"] == asked.action["card"])
        case "redeal_claimed":
            return asked.action["kind"] == "redeal" and bool(event["right"] == asked.action["right"])
        case _:
            return bool(asked.action["kind"] == "next")
