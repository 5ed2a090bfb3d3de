"""The rules as data: presets, options, and every code that the page has words for."""

import json
from enum import StrEnum
from typing import Any

from fastapi import APIRouter, Request, Response

from app.game.refusal import Why
from app.game.rules import OPTIONS, PRESETS, Option
from app.tables.table import CLOCKS
from app.web.etag import tagged
from app.wire.messages import PHRASES, rules_json

router = APIRouter(prefix="/api/v1", tags=["rules"])


@router.get("/rules", response_model=dict[str, Any])
async def rules(request: Request) -> Response:
    """All presets with every option, how each option may be set, and the codes of reasons and phrases."""
    return tagged(request, _RULES)


def _rules() -> dict[str, Any]:
    return {
        "presets": {name: rules_json(preset) for name, preset in PRESETS.items()},
        "options": [_option(option) for option in OPTIONS.values()],
        "reasons": list(Why),
        "phrases": list(PHRASES),
        "clocks": list(CLOCKS),
    }


def _option(option: Option) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": option.name, "group": option.group}
    if issubclass(option.type, StrEnum):
        return shown | {"kind": "choice", "choices": list(option.type)}
    if option.type is bool:
        return shown | {"kind": "bool"}
    return shown | {"kind": "int", "least": option.least, "most": option.most, "step": option.step}


_RULES = json.dumps(_rules(), ensure_ascii=False, separators=(",", ":")).encode()
