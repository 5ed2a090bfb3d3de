"""What hooks are sent, as the `webhooks` of the description (docs/webhooks.md)."""

from collections.abc import Mapping
from typing import Any, get_args

from app.wire.hooks import Payload

Json = dict[str, Any]

PAYLOADS: Mapping[str, type] = {get_args(form.__annotations__["event"])[0]: form for form in get_args(Payload)}
"""What is sent of each event."""

_HEADERS = {
    "webhook-id": ("The `id` of the body, the same each time it is sent", "msg_5f0c7d1e2b3a49586776a1b2"),
    "webhook-timestamp": ("When it is sent, in seconds since 1970", "1796000000"),
    "webhook-signature": (
        "`v1,` and, in base64, the HMAC-SHA256 of `id.timestamp.body`, under the bytes in base64 after `whsec_` of the secret",
        "v1,bm90IGEgcmVhbCBzaWduYXR1cmUsIGp1c3QgYW4gZXhhbXA=",
    ),
}

_ANSWERS = {
    "2XX": "It has arrived",
    "410": "Nothing more is to be sent to this address",
    "default": "It is sent again later, for about a day",
}


def webhooks() -> Json:
    """Returns the operation of each event."""
    return {event: {"post": _operation(event, payload)} for event, payload in PAYLOADS.items()}


def _operation(event: str, payload: type) -> Json:
    return {
        "tags": ["webhooks"],
        "operationId": f"hear_{event}",
        "summary": event.replace("_", " ").capitalize(),
        "description": payload.__doc__,
        "parameters": [
            {
                "name": name,
                "in": "header",
                "required": True,
                "schema": {"type": "string"},
                "description": said,
                "example": shown,
            }
            for name, (said, shown) in _HEADERS.items()
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{payload.__name__}"}}},
        },
        "responses": {status: {"description": said} for status, said in _ANSWERS.items()},
        "security": [],
    }
