"""Texts of the world: what changes what is seen stays, what shows nothing does not."""

import pytest

from app.web.text import clean_text

SHRUG = "\U0001f937\u200d\u2642\ufe0f"
SHRUG_DARK = "\U0001f937\U0001f3ff\u200d\u2642\ufe0f"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
HEART_ON_FIRE = "\u2764\ufe0f\u200d\U0001f525"
SCOTLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
PERSIAN = "می\u200cخواهم"
HINDI = "क\u094d\u200dष"
SINHALA = "ශ\u0dca\u200dරී"
NEW_LETTER = "\U0001fadf"  # a picture of Unicode 16, unknown to Python 3.11 to 3.13
NEWER_LETTER = "\U00016fff"


@pytest.mark.parametrize(
    "text",
    [SHRUG, SHRUG_DARK, FAMILY, HEART_ON_FIRE, SCOTLAND, PERSIAN, HINDI, SINHALA, NEW_LETTER, NEWER_LETTER, "שלום", "Zoé"],
)
def test_what_is_seen_stays_as_it_was_written(text: str) -> None:
    assert clean_text(text) == text
    assert clean_text(f"a {text} b") == f"a {text} b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Ni\u200dna", "Nina"),
        ("Ni\u200cna", "Nina"),
        ("\u200dNina\u200c", "Nina"),
        (f"{SHRUG}\u200d", SHRUG),
        ("می\u200c\u200cخواهم", "میخواهم"),
        ("می\u200c", "می"),
        ("1\u200c2", "12"),
        ("a\U000e0067b", "a b"),
        ("a\U000e007f", "a"),
        ("a\ufdd0b\uffffc\U0001fffed", "a b c d"),
        ("a\U000e0fffb", "a b"),
        ("a\u202eb\ufeffc\u2066d", "a b c d"),
        ("a\ue000b", "a b"),
        ("a\ud800b", "a b"),
    ],
)
def test_what_shows_nothing_goes(text: str, shown: str) -> None:
    assert clean_text(text) == shown
