"""Writes app/web/examples.json: what a real coinche answers, with the ids that the pages in docs have, and no real secret.

The dice fall the same way each time, so the file changes only where the answers have another form.
"""

import asyncio
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from app.embedded import running
from app.store.prepare import upgrade
from app.web.examples import FILE
from tests.people import running_site
from tests.web.recorded import recorded

WIDTH = 128
NOW_MS = 1_796_000_000_000
DAY_MS = 24 * 3600 * 1000

NICE = {
    r"g_nina\b": ["g_7d1f"],
    r"g_paul\b": ["g_90aa"],
    r"g_lou\b": ["g_11c0"],
    r"g_max\b": ["g_5e2b"],
    r"\bg_[0-9a-f]{12,}": ["g_7d1f", "g_90aa"],
    r"\bb_[0-9a-f]{12,}": ["b_3c58"],
    r"\b(?!0f-k2m7q9x4wz|0e-8d3np5r6ty|3f-k2m7q9x4wz)\w\w-[0-9a-z]{10}\b": ["3f-k2m7q9x4wz", "3h-t4v6x8z2bc"],
    r"(?<![0-9a-z_])(?!5f0c7d1e2b3a4958)[0-9a-f]{16}(?![0-9a-f])": ["8f3a6c0d5b7e9124", "1d2c3b4a59687f0e", "5f0c7d1e2b3a4958"],
    r"http://127\.0\.0\.1:\d+/hook": ["https://club.example.org/coinche"],
}
"""What is looked for, and what is written in its place: the first that is found, the second, and so on."""

SECRETS = {
    r"coinche_[gb]_[\w-]+": "coinche_g_7d1f_8f3a6c0d5b7e9124_an-example-that-opens-nothing",
    r"whsec_[\w+/=-]+": "whsec_YW4gZXhhbXBsZSB0aGF0IHNpZ25zIG5vdGhpbmc=",
    r'(?<="next": ")[\w-]{20,}': "Zm9sbG93IG1lIHRvIHRoZSBuZXh0IHBhZ2U",
}


def tidy(text: str) -> str:
    """JSON text with such ids, with times near those of the pages, and with secrets that are none."""
    for pattern, secret in SECRETS.items():
        text = re.sub(pattern, secret, text)
    for pattern, nice in NICE.items():
        found = list(dict.fromkeys(re.findall(pattern, text)))
        if len(found) > len(nice):
            raise SystemExit(f"too few names for {found}")
        for real, shown in zip(found, nice, strict=False):
            text = text.replace(real, shown)
    made = int(re.findall(r'"created": (\d{13})\b', text.partition('"NewToken"')[2])[0])
    return re.sub(r"\b\d{13}\b", lambda found: str(_shown_time(int(found[0]), made)), text)


def _shown_time(ms: int, made: int) -> int:
    """The times of this run are one moment, later ones whole days after it; those of the pages stay."""
    days = round((ms - made) / DAY_MS)
    return ms if days < 0 or ms < NOW_MS + DAY_MS else NOW_MS + days * DAY_MS


def laid_out(value: Any, indent: int = 0, around: int = 0) -> str:
    """JSON as one reads it: as much on a line as fits there, beside what stands around it."""
    line = json.dumps(value, ensure_ascii=False)
    if indent + around + len(line) <= WIDTH or not isinstance(value, list | dict):
        return line
    if isinstance(value, dict):
        (begin, end), parts = "{}", [(f"{json.dumps(name)}: ", one) for name, one in value.items()]
    else:
        (begin, end), parts = "[]", [("", one) for one in value]
    lines = [""]
    for head, one in parts:
        item = head + laid_out(one, indent + 1, len(head) + 1) + ","
        if lines[-1] and ("\n" in item or "\n" in lines[-1] or indent + len(lines[-1]) + len(item) + 2 > WIDTH):
            lines.append(item)
        else:
            lines[-1] = f"{lines[-1]} {item}".strip()
    pad = "\n" + " " * (indent + 1)
    return begin + pad + pad.join(lines)[:-1] + "\n" + " " * indent + end


class Fixed:
    """The part of `secrets` that the dice are thrown with, the same each time."""

    def __init__(self) -> None:
        self._random = Random(11)

    def choice(self, sequence: Sequence[Any]) -> Any:
        return self._random.choice(sequence)

    def token_bytes(self, count: int) -> bytes:
        return self._random.randbytes(count)

    def randbelow(self, limit: int) -> int:
        return self._random.randrange(limit)


async def record(redis_url: str, database_url: str) -> None:
    """Ask a coinche on these servers, and write down what it answers."""
    with patch("app.store.dice.secrets", Fixed()):
        async with running_site(redis_url, database_url, hooks_inside=("127.0.0.0/8",)) as site:
            examples = await recorded(site, redis_url)
    FILE.write_text(laid_out(json.loads(tidy(json.dumps(examples, ensure_ascii=False)))) + "\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as servers:
        upgrade(servers.database_url)
        asyncio.run(record(servers.redis_url, servers.database_url))
