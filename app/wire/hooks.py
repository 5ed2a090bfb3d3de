"""The JSON of notices: as they wait in the store, and as the servers of others are sent them (docs/webhooks.md)."""

import json
from typing import Any

from app.tables.notices import GameFinished, Notice, TableOpened, TurnDue, heard_as
from app.tables.ports import NewerFormat
from app.wire.codec import Codec

FORMAT = 1
"""The version in which notices are stored. A newer one is left to newer processes."""

PING = "ping"
"""The event that only tests a hook."""

_NOTICES = Codec[Notice](Notice)


def write_notice(notice: Notice) -> str:
    """The notice as it is stored."""
    return json.dumps({"v": FORMAT} | _NOTICES.write(notice), separators=(",", ":"), ensure_ascii=False)


def read_notice(stored: str, due: int | None) -> Notice:
    """The notice back; `due` is the time that the store has set. Raises `NewerFormat`."""
    fields: dict[str, Any] = json.loads(stored)
    if fields.pop("v") > FORMAT:
        raise NewerFormat("a notice of a newer release")
    if "due" in fields:
        fields["due"] = due
    return _NOTICES.read(fields)


def write_body(id: str, event: str, created: int, data: dict[str, Any]) -> str:
    """What a server is sent."""
    return json.dumps({"id": id, "event": event, "created": created, "data": data}, separators=(",", ":"), ensure_ascii=False)


def body_of(id: str, notice: Notice, created: int, base: str) -> str:
    """What a server is sent of a notice; links begin with `base`."""
    return write_body(id, heard_as(notice).value, created, _data(notice, base))


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
            told = ("game", "table", "number", "preset", "started", "finished", "totals", "winner", "seats")
            links = {"page": f"{base}/g/{notice.game}", "api": f"{base}/api/v1/games/{notice.game}"}
            return {name: fields[name] for name in told} | {"links": links}
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
