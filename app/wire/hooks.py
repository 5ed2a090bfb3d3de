"""The JSON of notices: as they are stored, and as the servers of others are sent them (docs/webhooks.md)."""

import json
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from app.game.seats import BySide, Seat, Side
from app.tables.notices import GameFinished, Notice, TableOpened, TurnDue, event_type_of
from app.tables.ports import NewerFormat
from app.wire.codec import Codec

FORMAT = 2
"""The version in which notices are stored. A newer one is left to newer processes."""

PING = "ping"
"""The event that only tests a hook."""

_NOTICES = Codec[Notice](Notice)


class Links(TypedDict):
    """Where to find it."""

    page: str
    api: str


class HostData(TypedDict):
    """Who has opened a table."""

    id: str
    name: str


class TableOpenedData(TypedDict):
    """A table that has been opened."""

    table: str
    host: HostData
    preset: str | None
    clock: int | None
    listed: bool
    links: Links


class SeatData(TypedDict):
    """Who sat on a seat."""

    seat: Seat
    kind: Literal["person", "house"]
    player: str
    name: str


class GameFinishedData(TypedDict):
    """A game that is over."""

    game: str
    table: str
    number: int
    preset: str | None
    started: int
    finished: int
    totals: BySide[int]
    ended: Literal["played", "abandoned"]
    winner: Side | None
    seats: list[SeatData]
    links: Links


class TurnDueData(TypedDict):
    """A turn that has begun."""

    table: str
    game: str
    seat: Seat
    player: str
    turn: int
    deadline: int | None
    links: Links


class PingData(TypedDict):
    """The hook that is tested."""

    hook: str


class _Payload(TypedDict):
    id: Annotated[str, Field(description="The id of the delivery, the same each time it is sent")]
    created: Annotated[int, Field(description="When it happened, in ms since 1970")]


class TableOpenedPayload(_Payload):
    """A new table: one that the hook's owner or a bot of his has opened, or, for scope `all`, any that is listed."""

    event: Literal["table_opened"]
    data: TableOpenedData


class GameFinishedPayload(_Payload):
    """A game is over and in the history."""

    event: Literal["game_finished"]
    data: GameFinishedData


class TurnDuePayload(_Payload):
    """In a game whose clock runs for hours it is the turn of the hook's owner, or of a bot of his."""

    event: Literal["turn_due"]
    data: TurnDueData


class PingPayload(_Payload):
    """A test that the hook's owner has asked for."""

    event: Literal["ping"]
    data: PingData


Payload = TableOpenedPayload | GameFinishedPayload | TurnDuePayload | PingPayload
"""What a server is sent."""


def write_notice(notice: Notice) -> str:
    """Returns the notice as it is stored."""
    return json.dumps({"v": FORMAT} | _NOTICES.write(notice), separators=(",", ":"), ensure_ascii=False)


def read_notice(stored: str, due: int | None) -> Notice:
    """Returns the notice that was stored; `due` is the time that the store has set. Raises `NewerFormat`."""
    fields: dict[str, Any] = json.loads(stored)
    if fields.pop("v") > FORMAT:
        raise NewerFormat("a notice of a newer release")
    if "due" in fields:
        fields["due"] = due
    return _NOTICES.read(fields)


def write_body(id: str, event: str, created: int, data: dict[str, Any]) -> str:
    """Returns what a server is sent."""
    return json.dumps({"id": id, "event": event, "created": created, "data": data}, separators=(",", ":"), ensure_ascii=False)


def body_of(id: str, notice: Notice, created: int, base: str) -> str:
    """Returns what a server is sent of a notice; links begin with `base`."""
    return write_body(id, event_type_of(notice).value, created, _data(notice, base))


def _data(notice: Notice, base: str) -> dict[str, Any]:
    at_table = {"page": f"{base}/t/{notice.table}", "api": f"{base}/api/v1/tables/{notice.table}"}
    match notice:
        case TableOpened():
            return {
                "table": notice.table,
                "host": {"id": notice.host, "name": notice.host_name},
                "preset": notice.preset,
                "clock": notice.clock,
                "listed": notice.listed,
                "links": at_table,
            }
        case GameFinished():
            fields = _NOTICES.write(notice)
            names = ("game", "table", "number", "preset", "started", "finished", "totals", "ended", "winner", "seats")
            links = {"page": f"{base}/g/{notice.game}", "api": f"{base}/api/v1/games/{notice.game}"}
            return {name: fields[name] for name in names} | {"links": links}
        case TurnDue():
            return {
                "table": notice.table,
                "game": notice.game,
                "seat": int(notice.seat),
                "player": notice.player,
                "turn": notice.turn,
                "deadline": notice.due,
                "links": at_table,
            }
