"""The JSON forms of tables and games as types: mypy compares them with what is made, and the API's description tells them."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import WithJsonSchema
from typing_extensions import TypedDict

from app.game.actions import Right
from app.game.auction import Bid, Say, Value
from app.game.cards import Card
from app.game.refusal import Why
from app.game.rules import OPTIONS, Direction, Option
from app.game.seats import BySide, Seat, Side
from app.game.trump import Trump
from app.game.view import Announced, BeloteHeard, ContractSeen, LastTrick, MeldSeen, RedealSeen, Row, TrickSeen
from app.tables import ports
from app.wire.happenings import Happening


def option_schema(option: Option) -> dict[str, Any]:
    """What an option may be set to, as JSON Schema."""
    if option.type is bool:
        return {"type": "boolean"}
    if issubclass(option.type, StrEnum):
        return {"type": "string", "enum": [str(one) for one in option.type], "description": option.type.__doc__}
    schema = {"type": "integer", "minimum": option.least, "maximum": option.most}
    return schema if option.step in (None, 1) else schema | {"multipleOf": option.step}


_OPTIONS = {
    "type": "object",
    "properties": {name: option_schema(option) for name, option in OPTIONS.items()},
    "additionalProperties": False,
}

_EVERY = {"title": "Rules", "description": "Every option.", "required": list(OPTIONS)}
_SOME = {"title": "Options", "description": "The options that differ from the preset."}

RulesJson = Annotated[dict[str, Any], WithJsonSchema(_OPTIONS | _EVERY)]
"""Every option."""

At = Annotated[ports.At, WithJsonSchema({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2})]
"""A moment: epoch and number."""

SomeOptions = Annotated[dict[str, Any], WithJsonSchema(_OPTIONS | _SOME)]
"""The options that differ from the preset."""


# --- tables ----------------------------------------------------------------------------------------------------------


class Place(TypedDict):
    """A seat of a table and who sits there."""

    seat: Seat
    kind: Literal["person", "house", "free"]
    player: str | None
    name: str | None
    bot: bool
    ready: bool
    away: bool
    """The stand-in plays."""
    present: bool
    """Connected now."""


class Table(TypedDict):
    """A table as anybody may see it. `preset` is null where its rules were changed; `clock`: seconds a turn, or none."""

    id: str
    status: Literal["open", "playing"]
    host: str
    preset: str | None
    rules: RulesJson
    clock: int | None
    listed: bool
    closable: bool
    asking: list[Seat]
    games: int
    created: int
    spectators: int
    seats: list[Place]


class Tables(TypedDict):
    """Tables, newest first; `next` is the cursor of the next page."""

    tables: list[Table]
    next: str | None


# --- games -----------------------------------------------------------------------------------------------------------


class BidsOffered(TypedDict):
    """Numbers from `lowest` (null: none) to `highest` by `step`, and capot."""

    lowest: int | None
    step: int
    highest: int
    capot: bool
    trumps: list[Trump]


class BidDoubled(TypedDict):
    """The bid that a coinche would double, and the number of its deal."""

    deal: int
    value: Value
    trump: Trump


CallMoves = TypedDict(
    "CallMoves",
    {
        "kind": Literal["calls"],
        "pass": bool,
        "bids": BidsOffered | None,
        "coinche": BidDoubled | None,
        "surcoinche": bool,
        "redeal": list[Right],
    },
)
CallMoves.__doc__ = "What one may call now."


class CardMove(TypedDict):
    """A card of one's hand; `why` it may not be played, or null."""

    card: Card
    why: Why | None


class CardMoves(TypedDict):
    """What one may play now, and with which cards a belote may be declared."""

    kind: Literal["cards"]
    cards: list[CardMove]
    belote: list[Card]


class SeatCall(TypedDict):
    """A call and the seat that made it."""

    seat: Seat
    call: Bid | Say


class View(TypedDict):
    """All that one viewer may know of a game; `viewer` null: what all may see."""

    viewer: Seat | None
    phase: Literal["dealing", "bidding", "playing", "over"]
    deal: int
    dealer: Seat
    totals: BySide[int]
    target: int
    direction: Direction
    sheet: list[Row] | None
    hand: list[Card] | None
    counts: list[int]
    turn: Seat | None
    calls: list[SeatCall]
    contract: ContractSeen | None
    trick: TrickSeen | None
    last_trick: LastTrick | None
    tricks_won: BySide[int]
    trick_points: BySide[int]
    belotes: list[BeloteHeard]
    melds: list[Announced]
    melds_shown: list[MeldSeen]
    redeal: RedealSeen | None
    moves: CallMoves | CardMoves | None
    winner: Side | None


class Moment(TypedDict):
    """Where a game stands. `deadline` is null without a clock; `next`: who has read the sheet between two deals."""

    at: At
    turn: int
    deadline: int | None
    next: list[Seat]
    view: View | None


class Said(TypedDict):
    """Something that was said at a table: a preset phrase or words."""

    type: Literal["chat"]
    at: int
    seat: Seat
    name: str
    phrase: str | None
    text: str | None


class You(TypedDict):
    """Who asks, and the seat that is held."""

    player: str | None
    seat: Seat | None


class Welcome(Moment):
    """All there is to know of a table and its game at one moment."""

    type: Literal["welcome"]
    you: You
    now: int
    table: Table
    chat: list[Said]


class Step(Moment):
    """One entry of a table's log: what happened, each with its `kind`, and the game after it."""

    type: Literal["step"]
    now: int
    events: list[Happening]


class TableTold(TypedDict):
    """Who sits, is ready, away or present has changed."""

    type: Literal["table"]
    table: Table


class Bye(TypedDict):
    """The process is about to go, or the table is gone: come back after so many ms."""

    type: Literal["bye"]
    why: Literal["going_away", "newer_release", "no_such_table"]
    after: int


Message = Welcome | Step | TableTold | Said | Bye
"""What who follows a table is told."""


class News(TypedDict):
    """What happened at a table, and the moment to ask for next; `said`: the last line of talk, asked for too."""

    at: At | None
    said: int | None
    events: list[Message]


class OwnTable(TypedDict):
    """A table as it stands for who sits there."""

    id: str
    at: At
    seat: int
    status: Literal["open", "playing"]
    turn: int
    your_turn: bool
    deadline: int | None


class OwnTables(TypedDict):
    """The tables at which one sits, newest first."""

    tables: list[OwnTable]


class OwnTold(TypedDict):
    """What becomes of a table at which one sits: one sits there, a game begins, it is one's turn."""

    type: Literal["table", "started", "turn"]
    table: OwnTable


class OwnFinished(TypedDict):
    """A game is over at a table at which one sits."""

    type: Literal["finished"]
    table: OwnTable
    winner: Side
    totals: BySide[int]


class NamedTable(TypedDict):
    """A table by its id alone."""

    id: str


class OwnLeft(TypedDict):
    """One does not sit there any more, or the table is gone."""

    type: Literal["left"]
    table: NamedTable


OwnMessage = OwnTold | OwnFinished | OwnLeft | Bye
"""What who follows all tables of one's own is told."""
