"""The referee over HTTP: one question, an array of them, or JSON lines, answered in kind."""

import json
from io import BytesIO
from itertools import islice
from typing import Any, get_args

from fastapi import APIRouter, Request, Response

from app.game.refusal import Refused, Why
from app.tables.limits import REFEREE
from app.tables.tasks import Thread
from app.web.media import LINES, many
from app.web.parts import PartsDep
from app.web.visit import visit_of
from app.wire.questions import Answer, Question
from app.wire.referee import Unreadable, answer, read_json

MOST_ITEMS = 1_000
MOST_LINES = 10_000
MOST_OF_ONE = 1024 * 1024
"""So many bytes of JSON at most in one piece: it is read without a pause for anything else, in whatever thread."""

JSON = "application/json"

router = APIRouter(prefix="/api/v1", tags=["referee"])

_thread = Thread("referee")
"""Lists are read and judged here, one after the other: not even all of them together take the server from the tables."""


_ASKED = {
    JSON: {
        "schema": {
            "description": f"A question, or at most {MOST_ITEMS} in an array. Anything else gets an error of its own.",
            "anyOf": [
                {"$ref": "#/components/schemas/Question"},
                {"type": "array", "maxItems": MOST_ITEMS},
                {"not": {"type": "array"}},
            ],
        },
    },
    LINES: many(LINES, *get_args(Question)),
}


@router.post(
    "/referee",
    response_model=Answer | list[Answer],
    responses={200: {"content": {LINES: many(LINES, *get_args(Answer))}}},
    openapi_extra={"requestBody": {"content": _ASKED, "required": True}},
)
async def ask_referee(request: Request, parts: PartsDep) -> Response:
    """Judge single deals, auctions, hands: see docs/rules.md for the questions."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (JSON, LINES):
        raise Refused(Why.WRONG_MEDIA_TYPE)
    body = await request.body()
    questions = await _thread.do(_read, body, kind)
    await visit_of(request).take(parts.limits, REFEREE, cost=max(1, len(questions)) if isinstance(questions, list) else 1)
    return await _thread.do(_answered, questions, kind)


def _read(body: bytes, kind: str) -> Any:
    """The question or the array of them; of JSON lines, the lines as they came. Raises `Refused`."""
    if kind == LINES:
        lines = list(islice((line for line in BytesIO(body) if line.strip()), MOST_LINES + 1))
        if len(lines) > MOST_LINES:
            raise Refused(Why.TOO_LARGE)
        return lines
    questions = _json(body)
    if isinstance(questions, list) and len(questions) > MOST_ITEMS:
        raise Refused(Why.TOO_LARGE)
    return questions


def _json(text: bytes) -> Any:
    if len(text) > MOST_OF_ONE:
        raise Refused(Why.TOO_LARGE)
    try:
        return read_json(text)
    except Unreadable:
        raise Refused(Why.BAD_REQUEST) from None


def _answered(questions: Any, kind: str) -> Response:
    if kind == LINES:
        return Response("".join(json.dumps(answer(_json(line))) + "\n" for line in questions), media_type=LINES)
    answers = [answer(one) for one in questions] if isinstance(questions, list) else answer(questions)
    return Response(json.dumps(answers), media_type=JSON)
