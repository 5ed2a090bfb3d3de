"""The messages of the socket, in and out, and the JSON forms that REST shares with it (docs/protocol.md)."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.game.actions import Doubled, Play, Redeal, Right, Speak
from app.game.auction import Bid, Contract, Say
from app.game.cards import Card
from app.game.events import ContractSet, DealScored, HandsDealt, MeldsShown
from app.game.refusal import Why
from app.game.rules import Rules, preset_of
from app.game.seats import SEATS, Seat
from app.game.trump import Trump
from app.game.view import CallMoves, CardMoves, HandsSeen, View, Viewer, contract_seen, meld_seen
from app.tables.commands import Command, InGame, ReadSheet, Return
from app.tables.judge import is_closable
from app.tables.mirror import Mirror, SeenEvent, Step
from app.tables.ports import At, Entry, Said
from app.tables.table import GameStarted, Happened, Table
from app.wire import forms
from app.wire.codec import Codec

PHRASES = ("hello", "good_luck", "well_played", "thanks", "your_turn", "oops", "sorry", "one_more", "goodbye")
"""What can be said at a table in any language."""

# --- in --------------------------------------------------------------------------------------------------------------


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class _On(_Model):
    """The bid that a coinche doubles: the deal it was made in, its value and its trump."""

    deal: int
    value: int | Literal["capot"]
    trump: Annotated[Trump, Field(strict=False)]


class _BidAction(_Model):
    """Bid."""

    kind: Literal["bid"]
    value: int | Literal["capot"]
    trump: Annotated[Trump, Field(strict=False)]


class _PassAction(_Model):
    """Pass."""

    kind: Literal["pass"]


class _CoincheAction(_Model):
    """Coinche the bid that is named."""

    kind: Literal["coinche"]
    on: _On


class _SurcoincheAction(_Model):
    """Surcoinche one's side's bid."""

    kind: Literal["surcoinche"]


class _RedealAction(_Model):
    """Show one's hand to have the cards dealt again."""

    kind: Literal["redeal"]
    right: Annotated[Right, Field(strict=False)]


class _PlayAction(_Model):
    """Play a card."""

    kind: Literal["play"]
    card: Annotated[Card, Field(strict=False)]
    belote: bool = False


class _NextAction(_Model):
    """Say between two deals that one has read the sheet."""

    kind: Literal["next"]


class _ReturnAction(_Model):
    """Take one's seat back from the stand-in."""

    kind: Literal["return"]


class StandInAction(_Model):
    """Call the stand-in for a seat, at a table without a clock."""

    kind: Literal["stand_in"]
    seat: int


class FreeSeatAction(_Model):
    """Free the seat of a person while no game is running."""

    kind: Literal["free_seat"]
    seat: int


GameAction = (
    _BidAction | _PassAction | _CoincheAction | _SurcoincheAction | _RedealAction | _PlayAction | _NextAction | _ReturnAction
)
"""What one does from one's own seat."""

OF_THE_TABLE = (StandInAction, FreeSeatAction)
"""What is done about somebody else's seat."""

ActionIn = Annotated[GameAction | StandInAction | FreeSeatAction, Field(discriminator="kind")]

NEEDS_TURN = (_BidAction, _PassAction, _SurcoincheAction, _RedealAction, _PlayAction, _NextAction)


class Join(_Model):
    """Follow a table, from one's seat or as a spectator."""

    type: Literal["join"]
    table: Annotated[str, Field(max_length=40)]
    as_: Annotated[Literal["player", "spectator"], Field(alias="as")] = "player"


class Act(_Model):
    """Do something at the table one has joined."""

    type: Literal["act"]
    cid: Annotated[str, Field(min_length=1, max_length=40)]
    turn: int | None = None
    action: ActionIn


class Chat(_Model):
    """Say something."""

    type: Literal["chat"]
    phrase: str | None = None
    text: Annotated[str | None, Field(max_length=200)] = None


class Ping(_Model):
    """Ask for the time and the number of the last entry."""

    type: Literal["ping"]


class Probe(_Model):
    """The answer to a probe, sent at once: so the server learns how long the way is."""

    type: Literal["probe"]
    mark: int


In = Join | Act | Chat | Ping | Probe
_IN: TypeAdapter[In] = TypeAdapter(Annotated[In, Field(discriminator="type")])


def read_message(frame: str) -> In:
    """The message in a frame. Raises pydantic's ValidationError, a ValueError."""
    return _IN.validate_json(frame)


def command_of(action: GameAction, seat: Seat) -> Command:
    """What is asked, done from this seat."""
    match action:
        case _BidAction(value=value, trump=trump):
            return InGame(Speak(seat, Bid(value, trump)))
        case _PassAction():
            return InGame(Speak(seat, Say.PASS))
        case _CoincheAction(on=on):
            return InGame(Speak(seat, Say.COINCHE, Doubled(on.deal, Bid(on.value, on.trump))))
        case _SurcoincheAction():
            return InGame(Speak(seat, Say.SURCOINCHE))
        case _RedealAction(right=right):
            return InGame(Redeal(seat, right))
        case _PlayAction(card=card, belote=belote):
            return InGame(Play(seat, card, belote))
        case _NextAction():
            return ReadSheet()
        case _ReturnAction():
            return Return()


# --- out -------------------------------------------------------------------------------------------------------------

_SEEN = Codec[Any](Happened | HandsSeen)  # what is written went through `redact`
_VIEW = TypeAdapter(View)
_RULES = TypeAdapter(Rules)
_OWN = {"rules", "taken", "viewer", "hand", "moves"}
"""What is not public in a view, or written otherwise, or not at all."""


def text(message: Mapping[str, Any]) -> str:
    """The message as a frame."""
    return orjson.dumps(message).decode()


def rules_json(rules: Rules) -> dict[str, Any]:
    """Every option of the rules."""
    options: dict[str, Any] = _RULES.dump_python(rules, mode="json")
    return options


def view_json(view: View, sheet: bool = True) -> dict[str, Any]:
    """A view. Without its sheet (None) during a deal, for it changes only between deals."""
    return _public_json(view, sheet) | _own_json(view)


def _public_json(view: View, sheet: bool) -> dict[str, Any]:
    """What is the same in the views of all viewers."""
    shown: dict[str, Any] = _VIEW.dump_python(view, mode="json", exclude=_OWN if sheet else _OWN | {"sheet"})
    if not sheet:
        shown["sheet"] = None
    return shown | {"target": view.rules.target, "direction": view.rules.direction}


def _own_json(view: View) -> dict[str, Any]:
    """What only this viewer is shown."""
    return {
        "viewer": view.viewer,
        "hand": None if view.hand is None else list(view.hand),
        "moves": _moves_json(view),
    }


def _moves_json(view: View) -> dict[str, Any] | None:
    match view.moves:
        case None:
            return None
        case CardMoves() as moves:
            return {
                "kind": "cards",
                "cards": [{"card": one.card, "why": one.why} for one in moves.cards],
                "belote": list(moves.belote),
            }
        case CallMoves() as moves:
            bids = moves.bids
            return {
                "kind": "calls",
                "pass": moves.may_pass,
                "bids": None
                if bids is None
                else {
                    "lowest": bids.lowest,
                    "step": bids.step,
                    "highest": bids.highest,
                    "capot": bids.capot,
                    "trumps": list(bids.trumps),
                },
                "coinche": None
                if moves.coinche is None
                else {"deal": moves.coinche.deal, "value": moves.coinche.bid.value, "trump": moves.coinche.bid.trump},
                "surcoinche": moves.surcoinche,
                "redeal": list(moves.redeal),
            }


def _contract_json(rules: Rules, contract: Contract) -> dict[str, Any]:
    seen = contract_seen(rules, contract)
    return {
        "declarer": seen.declarer,
        "value": seen.value,
        "trump": seen.trump,
        "level": seen.level,
        "factor": seen.factor,
    }


def event_json(rules: Rules, event: SeenEvent, view: View | None = None) -> dict[str, Any]:
    """An event as a viewer may see it; contracts, melds and scores in the forms that views have."""
    match event:
        case ContractSet(contract=contract):
            return {"kind": "contract_set", "contract": _contract_json(rules, contract)}
        case MeldsShown(melds=melds):
            seen = (meld_seen(one) for one in melds)
            shown = [{"seat": one.seat, "kind": one.kind, "cards": list(one.cards), "points": one.points} for one in seen]
            return {"kind": "melds_shown", "melds": shown}
        case DealScored(score=score):
            by_side = {"A": score.score.A, "B": score.score.B}
            totals = {} if view is None else {"totals": {"A": view.totals.A, "B": view.totals.B}}
            return {"kind": "deal_scored", "made": score.made, "score": by_side} | totals
        case HandsSeen():
            return _SEEN.write(event) | {"kind": "hands_dealt"}
        case GameStarted(number=number, first_dealer=dealer):
            return {"kind": "game_started", "number": number, "first_dealer": dealer}
        case _:
            return _SEEN.write(event)


def table_json(table: Table, playing: bool, present: Iterable[str | None]) -> forms.Table:
    """A table as anybody may see it: who sits there, under which rules, and who is connected."""
    here = list(present)
    seated = {person.id for person in table.people}
    return {
        "id": table.id,
        "status": "playing" if playing else "open",
        "host": table.host,
        "preset": preset_of(table.rules),
        "rules": rules_json(table.rules),
        "clock": table.clock,
        "listed": table.listed,
        "closable": is_closable(table, playing),
        "asking": sorted(table.asking),
        "games": table.games,
        "created": table.created,
        "spectators": sum(one not in seated for one in here),
        "seats": [_place_json(table, seat, here) for seat in SEATS],
    }


def _place_json(table: Table, seat: Seat, present: list[str | None]) -> forms.Place:
    place = table.places[seat]
    person, house = place.person, place.house
    return {
        "seat": seat,
        "kind": "person" if person is not None else "house" if house is not None else "free",
        "player": person.id if person is not None else house.player if house is not None else None,
        "name": person.name if person is not None else house.name if house is not None else None,
        "bot": person is not None and person.is_bot,
        "ready": place.ready,
        "away": place.away,
        "present": house is not None or (person is not None and person.id in present),
    }


def said_json(said: Said) -> forms.Said:
    """Something that was said."""
    return {"type": "chat", "at": said.at, "seat": said.seat, "name": said.name, "phrase": said.phrase, "text": said.text}


def _moment(step: Step, sheet: bool) -> dict[str, Any]:
    return {
        "at": step.at,
        "turn": step.turn,
        "deadline": step.deadline,
        "next": sorted(step.read),
        "view": None if step.view is None else view_json(step.view, sheet),
    }


def welcome_json(
    mirror: Mirror, player: str | None, seat: Seat | None, now: int, present: Iterable[str | None], talk: Iterable[Said]
) -> dict[str, Any]:
    """All that there is to know when one joins."""
    table = mirror.table
    return (
        {"type": "welcome", "you": {"player": player, "seat": seat}, "now": now}
        | _moment(mirror.now(seat), sheet=True)
        | {"table": table_json(table, table.is_playing, present), "chat": [said_json(one) for one in talk]}
    )


def step_json(rules: Rules, step: Step, now: int) -> dict[str, Any]:
    """One entry of the log, as a viewer may see it."""
    between = step.view is not None and step.view.phase in ("dealing", "over")
    events = [event_json(rules, event, step.view) for event in step.events]
    return {"type": "step", "now": now} | _moment(step, sheet=between) | {"events": events}


class StepWriter:
    """Writes the steps of the entry that was applied last, one for each kind of viewer; what all see is written once."""

    def __init__(self, mirror: Mirror, entry: Entry, now: int) -> None:
        self._mirror = mirror
        self._entry = entry
        self._public = step_json(mirror.table.rules, mirror.step(entry, None), now)
        self._has_secrets = any(isinstance(event, HandsDealt) for event in entry.events)
        self._written: dict[Viewer, str] = {}

    def text(self, viewer: Viewer) -> str:
        """The step as a frame for this viewer."""
        if viewer not in self._written:
            self._written[viewer] = text(self._public if viewer is None else self._of_seat(viewer))
        return self._written[viewer]

    def _of_seat(self, viewer: Viewer) -> dict[str, Any]:
        view = self._mirror.view(viewer)
        step = self._public | {"view": None if view is None else self._public["view"] | _own_json(view)}
        if self._has_secrets:
            seen = self._mirror.step(self._entry, viewer).events
            step["events"] = [event_json(self._mirror.table.rules, event, view) for event in seen]
        return step


def table_message(table: Table, present: Iterable[str | None]) -> str:
    """Who sits, is ready, away or present."""
    return text({"type": "table", "table": table_json(table, table.is_playing, present)})


def ack(cid: str, at: At) -> str:
    """The action is stored."""
    return text({"type": "ack", "cid": cid, "at": at})


def refused(cid: str | None, why: Why, at: At | None) -> str:
    """Nothing has changed, and why."""
    return text({"type": "refused", "cid": cid, "why": why, "at": at})


def pong(now: int, at: At | None) -> str:
    """The time, and the last entry of the table one has joined."""
    return text({"type": "pong", "now": now, "at": at})


def probe(mark: int) -> str:
    """To be sent back at once as it is."""
    return text({"type": "probe", "mark": mark})


def bye(why: str, after: int) -> str:
    """The server is about to close; come back after so many ms."""
    return text({"type": "bye", "why": why, "after": after})
