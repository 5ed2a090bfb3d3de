"""In which forms answers come besides a JSON document, and how a description tells of those that are many documents."""

from typing import Any

LINES = "application/x-ndjson"
EVENTS = "text/event-stream"

STREAMED = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
"""Headers of an answer that goes on: a proxy that gathers it to compress it, or to send it in one piece, would keep it back."""

_HOW = {LINES: "One JSON object a line", EVENTS: "One server-sent event for each JSON object, which is its `data`"}


def many(kind: str, *forms: type) -> dict[str, Any]:
    """A body of this kind: any number of objects in these forms, which stand in the description under their names."""
    one = [{"$ref": f"#/components/schemas/{form.__name__}"} for form in forms]
    return {
        "schema": {
            "type": "string",
            "description": f"{_HOW[kind]}; `contentSchema` describes the objects, in order",
            "contentMediaType": kind,
            "contentSchema": {"type": "array", "items": one[0] if len(one) == 1 else {"anyOf": one}},
        }
    }
