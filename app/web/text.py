"""What people write: names and chat, as they are shown.

Letters are told apart by the tables of `regex`, which do not depend on the age of Python, and counted as people count.
"""

import unicodedata

import regex

from app.game.refusal import Refused, Why

LONGEST_NAME = 24
"""So many signs as people count them: a letter with its accents is one, and so is a flag or a family."""

LONGEST_NAME_POINTS = 64
"""So many code points, for a sign may be made of many."""

MOST_MARKS = 4
"""So many marks on one letter are shown; no language needs more."""

_CLUSTER = regex.compile(r"\X")
_MARKS_ONLY = regex.compile(r"\p{M}*")
_PILE = regex.compile(rf"([\p{{Mn}}\p{{Me}}]{{{MOST_MARKS}}})[\p{{Mn}}\p{{Me}}]+")

_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters and signs that show nothing."""

_TAGS = "\U000e0020-\U000e007f"
_UNSEEN = regex.compile(
    rf"[\p{{Z}}\p{{Cc}}\p{{Cs}}\p{{Co}}\p{{Noncharacter_Code_Point}}{_FILLERS}]"
    r"|[\u2065\ufff0-\ufff8\U000e0000-\U000e001f\U000e0080-\U000e00ff\U000e01f0-\U000e0fff]"  # ignored for ever
    rf"|(?![\u200c\u200d{_TAGS}])\p{{Cf}}"
    rf"|(?<!\U0001f3f4[{_TAGS}]*)[{_TAGS}]"  # they spell the flag of a region, and nothing else
)
"""What nobody sees. A point that is no letter yet is left as it is: it may be one in a newer browser."""

_PLAIN = r"\p{Latin}\p{Greek}\p{Cyrillic}\p{Han}\p{Common}"
_LOOSE_JOINER = regex.compile(
    rf"(?!(?<=[^{_PLAIN}\u200c\u200d])[\u200c\u200d](?=[^{_PLAIN}\p{{M}}\u200c\u200d]))"  # in scripts whose letters join
    r"(?!(?<=\p{Extended_Pictographic}[\ufe0f\U0001f3fb-\U0001f3ff]?)\u200d(?=\p{Extended_Pictographic}))"  # in pictures
    r"[\u200c\u200d]"
)
"""Joiners that join nothing: with them two names would look the same."""


def clean_text(words: str) -> str:
    """Return the words as they are shown: composed, single spaces, nothing unseen, no marks piled up over the lines above."""
    seen = _UNSEEN.sub(" ", unicodedata.normalize("NFC", words))
    return " ".join(_LOOSE_JOINER.sub("", _PILE.sub(r"\1", seen)).split())


def is_clean(words: str) -> bool:
    """Return whether nothing in the words would be changed but how they are composed."""
    return clean_text(words) == unicodedata.normalize("NFC", words)


def clean_name(name: str) -> str:
    """Return the name as it is shown. Raise `Refused` if nothing or too much is left of it."""
    shown = clean_text(name)
    is_long = len(shown) > LONGEST_NAME_POINTS or len(_CLUSTER.findall(shown)) > LONGEST_NAME
    if is_long or _MARKS_ONLY.fullmatch(shown):
        raise Refused(Why.BAD_NAME, "name")
    return shown
