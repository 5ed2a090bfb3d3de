"""The referee over HTTP: one question, an array of them, or JSON lines, answered in kind."""

import asyncio
import json
from typing import Any, get_args

from fastapi import APIRouter, Request, Response

from app.game.refusal import Refused, Why
from app.tables.limits import REFEREE
from app.web.media import LINES, many
from app.web.parts import PartsDep
from app.web.visit import visit_of
from app.wire.questions import Answer, Question
from app.wire.referee import Unreadable, answer, read_json

MOST_ITEMS = 1_000
MOST_LINES = 10_000
MOST_BYTES = 32 * 1024 * 1024
JSON = "application/json"

router = APIRouter(prefix="/api/v1", tags=["referee"])

_one_at_a_time = asyncio.Semaphore(1)
"""A long list must not take the server from the tables: it is judged in a thread, one list after the other."""


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
    questions = _read(await _body(request), kind)
    await visit_of(request).take(parts.limits, REFEREE, cost=max(1, len(questions)) if isinstance(questions, list) else 1)
    async with _one_at_a_time:
        return await asyncio.to_thread(_answered, questions, kind)


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise Refused(Why.TOO_LARGE)
    return bytes(body)


def _read(body: bytes, kind: str) -> Any:
    """The questions, a list unless a single one was sent."""
    try:
        if kind == JSON:
            questions = read_json(body)
            if isinstance(questions, list) and len(questions) > MOST_ITEMS:
                raise Refused(Why.TOO_LARGE)
            return questions
        lines = [line for line in body.splitlines() if line.strip()]
        if len(lines) > MOST_LINES:
            raise Refused(Why.TOO_LARGE)
        return [read_json(line) for line in lines]
    except Unreadable:
        raise Refused(Why.BAD_REQUEST) from None


def _answered(questions: Any, kind: str) -> Response:
    if kind == LINES:
        return Response("".join(json.dumps(answer(one)) + "\n" for one in questions), media_type=LINES)
    answers = [answer(one) for one in questions] if isinstance(questions, list) else answer(questions)
    return Response(json.dumps(answers), media_type=JSON)
