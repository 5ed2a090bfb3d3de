"""Where does the next page of a list begin? A cursor says it: opaque, bound to its list and filters, right under new rows.

It holds the place of the last row that was sent, and a digest that an altered cursor, or one of another list, does not fit. It
is no secret: whoever makes one up by this file gets a part of the list that the filters would have given as well.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b

from app.game.refusal import Refused, Why
from app.tables.history import Bookmark
from app.web.text import LONGEST_NAME_POINTS, is_clean

LONGEST = 1000
_DIGEST = 9
_LETTERS = range(3 * LONGEST_NAME_POINTS + 1)


def write(last: Bookmark, scope: str) -> str:
    """The cursor of the page after this bookmark; `scope` names the list and its filters."""
    told = json.dumps([last.key, last.id], ensure_ascii=False, separators=(",", ":")).encode()
    return urlsafe_b64encode(_digest(told, scope) + told).decode().rstrip("=")


def read(cursor: str, scope: str, keys: range | None) -> Bookmark:
    """The bookmark back; its key is one of these numbers, or else a word. Raises `Refused`."""
    try:
        raw = urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4))
        digest, told = raw[:_DIGEST], raw[_DIGEST:]
        key, name = json.loads(told)
    except (ValueError, TypeError):
        raise Refused(Why.BAD_CURSOR, "cursor") from None
    fits = type(key) is int and key in keys if keys is not None else _is_word(key)
    if digest != _digest(told, scope) or not fits or not _is_word(name) or len(cursor) > LONGEST:
        raise Refused(Why.BAD_CURSOR, "cursor")
    return Bookmark(key, name)


def _is_word(value: object) -> bool:
    return isinstance(value, str) and len(value) in _LETTERS and is_clean(value)


def _digest(told: bytes, scope: str) -> bytes:
    return blake2b(told, digest_size=_DIGEST, key=blake2b(scope.encode(), digest_size=32).digest()).digest()
