"""The rules as data, and words for every code: presets, options, reasons, phrases."""

import json
from enum import StrEnum
from typing import Annotated, Literal, NotRequired

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from app.game.refusal import Refused, Why
from app.game.rules import OPTIONS, PRESETS, Option
from app.tables.table import CLOCKS
from app.web.assets import STATIC
from app.web.errors import refusals
from app.web.etag import TAGGED, tagged
from app.web.tables import OpenIn
from app.wire.forms import RulesJson
from app.wire.messages import PHRASES, rules_json

router = APIRouter(prefix="/api/v1", tags=["rules"])

_OF_THE_GAME = (
    "suit",
    "trump",
    "rank",
    "card",
    "call",
    "belote",
    "meld",
    "redeal",
    "side",
    "preset",
    "preset_about",
    "group",
    "option",
    "line",
    "phrase",
    "event",
    "reason",
)
"""Keys that begin so are words for what the API tells; the others are the page's own."""


class OptionTold(TypedDict):
    """How one option may be set. Its words are under `words`, those of a choice under `<words>.<choice>`."""

    name: str
    group: str
    kind: Literal["bool", "int", "choice"]
    choices: NotRequired[list[str]]
    least: NotRequired[int | None]
    most: NotRequired[int | None]
    step: NotRequired[int | None]
    default: bool | int | str
    words: str


class RuleBook(TypedDict):
    """Rules as data. `default`: the preset of a table that names none; `words`: how the keys of each kind of code begin."""

    default: str
    presets: dict[str, RulesJson]
    options: list[OptionTold]
    reasons: list[Why]
    phrases: list[str]
    clocks: list[int | None]
    languages: list[str]
    words: dict[str, str]


class Words(BaseModel):
    """Words by key; those that count have a form for each plural rule of the language. `{names}` are to be filled in."""

    language: str = Field(examples=["fr"])
    words: dict[str, str | dict[str, str]] = Field(examples=[{"reason.not_host": "Seul l’hôte peut le faire."}])


@router.get("/rules", response_model=RuleBook, responses=TAGGED)
async def read_rules(request: Request) -> Response:
    """All presets with every option, how each option may be set, and the codes of reasons and phrases."""
    return tagged(request, _RULES)


@router.get("/i18n/{lang}", response_model=Words, responses=TAGGED | refusals(Why.NOT_FOUND))
async def read_words(request: Request, lang: Annotated[str, Path(description="A language", examples=["fr"])]) -> Response:
    """The words of a language for the codes of the API: reasons, options, presets, phrases, cards, calls, lines of a score."""
    if lang not in _WORDS:
        raise Refused(Why.NOT_FOUND)
    return tagged(request, _WORDS[lang])


def _compact(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def words_of(language: str) -> Words:
    """The words of a language for the codes of the API."""
    said = json.loads((STATIC / "i18n" / f"{language}.json").read_text())
    return Words(language=language, words={key: word for key, word in said.items() if key.partition(".")[0] in _OF_THE_GAME})


_WORDS = {file.stem: _compact(words_of(file.stem).model_dump()) for file in sorted((STATIC / "i18n").glob("*.json"))}


def _rules() -> RuleBook:
    return {
        "default": _DEFAULT,
        "presets": {name: rules_json(preset) for name, preset in PRESETS.items()},
        "options": [_option(option) for option in OPTIONS.values()],
        "reasons": list(Why),
        "phrases": list(PHRASES),
        "clocks": list(CLOCKS),
        "languages": list(_WORDS),
        "words": {"presets": "preset", "groups": "group", "reasons": "reason", "phrases": "phrase"},
    }


_DEFAULT = OpenIn().preset


def _option(option: Option) -> OptionTold:
    told = OptionTold(
        name=option.name,
        group=option.group,
        kind="choice",
        default=getattr(PRESETS[_DEFAULT], option.name),
        words=f"option.{option.name}",
    )
    if issubclass(option.type, StrEnum):
        told["choices"] = list(option.type)
    elif option.type is bool:
        told["kind"] = "bool"
    else:
        told["kind"] = "int"
        told |= {"least": option.least, "most": option.most, "step": option.step}
    return told


_RULES = _compact(_rules())
