"""The referee's questions and answers as types, for the description of the API; docs/rules.md explains them."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict

from app.game.actions import Right
from app.game.auction import Say, Value
from app.game.cards import Card
from app.game.melds import Kind
from app.game.refusal import Why
from app.game.rules import PRESETS
from app.game.scoring import Line
from app.game.seats import BySide, Seat, Side
from app.game.trump import Trump
from app.game.view import Laid
from app.wire.forms import RulesJson, SomeOptions

Preset = Annotated[str, WithJsonSchema({"type": "string", "enum": list(PRESETS)})]
Spoken = tuple[Seat, Say] | tuple[Seat, Value, Trump]
"""Who says what."""

Hand = Annotated[list[Card], Field(min_length=8, max_length=8)]
Hands = Annotated[list[Hand], Field(min_length=4, max_length=4)]


class _Question(TypedDict):
    id: NotRequired[Annotated[Any, Field(description="Anything; the answer has it too")]]
    rules: Annotated[Preset | RulesJson, Field(description="The id of a preset, or every option")]
    options: NotRequired[SomeOptions]


class LegalQuestion(_Question):
    """Which cards of a hand may be played?"""

    op: Literal["legal"]
    trump: Trump
    leader: Seat
    trick: list[Laid]
    player: Seat
    hand: list[Card]


class AuctionQuestion(_Question):
    """Which of these calls are accepted, tried in turn, and what stands then?"""

    op: Literal["auction"]
    dealer: Seat
    actions: list[Spoken]


class RedealQuestion(_Question):
    """By what right may a player have the cards dealt again, after these calls?"""

    op: Literal["redeal"]
    dealer: Seat
    player: Seat
    hand: Hand
    actions: NotRequired[list[Spoken]]


class EndQuestion(_Question):
    """Is the game over after a deal, and who has won it?"""

    op: Literal["end"]
    totals: BySide[int]
    last_deal: Side


class HandOfEach(TypedDict):
    """A hand for each side."""

    A: Hand
    B: Hand


class MeldsQuestion(_Question):
    """Which melds do two hands (one a side) or four hold, and whose count?"""

    op: Literal["melds"]
    trump: Trump
    hands: HandOfEach | Hands


class SideContract(TypedDict):
    """A contract and the side that declared it."""

    declarer: Side
    value: Value
    trump: Trump
    level: NotRequired[int]


class ScoreQuestion(_Question):
    """What is a deal worth, from what each side brought home?"""

    op: Literal["score"]
    contract: SideContract
    trick_points: BySide[int]
    tricks_won: BySide[int]
    der: NotRequired[Side | None]
    belote: NotRequired[list[Side]]
    melds: NotRequired[dict[Side, list[int]] | None]
    melds_winner: NotRequired[Side | None]


class DealQuestion(_Question):
    """What comes of a whole deal, from its hands to its score?"""

    op: Literal["deal"]
    dealer: Seat
    hands: Hands
    auction: list[Spoken]
    plays: NotRequired[list[Card]]
    belote_declined: NotRequired[list[Seat]]


Question = LegalQuestion | AuctionQuestion | RedealQuestion | MeldsQuestion | ScoreQuestion | DealQuestion | EndQuestion


# --- answers ---------------------------------------------------------------------------------------------------------


Echo = Annotated[Any, Field(description="The `id` of the question; null where it had none")]


class LegalAnswer(TypedDict):
    """The cards that may be played, and why the others may not."""

    id: Echo
    legal: list[Card]
    reasons: dict[Card, Why]


class SeatContract(TypedDict):
    """A contract and the seat that declared it."""

    declarer: Seat
    value: Value
    trump: Trump


class RefusedCall(TypedDict):
    """A call that was not accepted, or is none at all: its place, counted from 0, and why."""

    at: int
    why: Why


class AuctionAnswer(TypedDict):
    """Which calls were accepted, and what stands."""

    id: Echo
    legal: list[bool]
    refused: list[RefusedCall]
    ends: Literal["play", "redeal"] | None
    contract: SeatContract | None
    level: int


class RedealAnswer(TypedDict):
    """The rights that the player has now."""

    id: Echo
    rights: list[Right]


class EndAnswer(TypedDict):
    """Whether the game is over, and who has won it; null: another deal."""

    id: Echo
    over: bool
    winner: Side | None


class MeldTold(TypedDict):
    """A meld of the winner; its seat where four hands were given."""

    side: Side
    seat: NotRequired[Seat]
    kind: Kind
    points: int
    cards: list[Card]


class PointsOfEach(TypedDict):
    """Points of each meld, by side."""

    A: list[int]
    B: list[int]


class MeldsAnswer(TypedDict):
    """All melds of each side, and what counts for the winner."""

    id: Echo
    values: PointsOfEach
    winner: Side | None
    scored: int
    shown: list[MeldTold]


class ScoreAnswer(TypedDict):
    """What each side scores, line by line."""

    id: Echo
    made: bool
    score: BySide[int]
    lines: list[Line]


class DealResult(TypedDict):
    """What a deal brought; pairs are told for side A, then B."""

    declarer: Seat
    value: Value
    trump: Trump
    level: int
    trick_points: tuple[int, int]
    tricks_won: tuple[int, int]
    belote: tuple[int, int]
    melds: tuple[int, int]
    made: bool
    score: tuple[int, int]


class TrickTold(TypedDict):
    """A trick, its cards in order of play."""

    leader: Seat
    cards: list[Card]
    winner: Seat
    points: int


class DealAnswer(TypedDict):
    """A deal that was played: its result, its tricks, and its score line by line."""

    id: Echo
    result: DealResult
    tricks: list[TrickTold]
    lines: list[Line]


class NoDealAnswer(TypedDict):
    """A deal in which all passed."""

    id: Echo
    result: None
    ends: Literal["redeal"]


Fault = TypedDict(
    "Fault",
    {"why": Why, "field": NotRequired[str], "in": NotRequired[Literal["auction", "plays", "actions"]], "at": NotRequired[int]},
)
Fault.__doc__ = "Why, and what is at fault."


class FaultAnswer(TypedDict):
    """The question does not fit: why, and which part of it, or which call or card of a deal, counted from 0."""

    id: Echo
    error: Fault


Answer = (
    LegalAnswer | AuctionAnswer | RedealAnswer | MeldsAnswer | ScoreAnswer | DealAnswer | NoDealAnswer | EndAnswer | FaultAnswer
)
