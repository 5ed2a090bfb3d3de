"""Reads a Dockerfile, so that its own steps can be looked at and run where no container engine is."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
KNOWN = {"FROM", "RUN", "COPY", "WORKDIR", "ENV", "USER", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "CMD"}


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction: its word, its options, and what stands behind them."""

    word: str
    options: dict[str, str]
    rest: str

    @property
    def list(self) -> list[str]:
        """The exec form. Raises ValueError if it is another."""
        words = json.loads(self.rest)
        if not isinstance(words, list):
            raise ValueError(self.rest)
        return [str(word) for word in words]

    @property
    def pairs(self) -> dict[str, str]:
        """What ENV sets."""
        return dict(re.findall(r'(\w+)=("[^"]*"|\S+)', self.rest))


@dataclass(slots=True)
class Stage:
    """What begins with a FROM."""

    base: str
    name: str
    steps: list[Step] = field(default_factory=list)

    def of(self, word: str) -> list[Step]:
        return [step for step in self.steps if step.word == word]


def read(path: Path = ROOT / "Dockerfile") -> list[Stage]:
    """The stages. Raises ValueError at an instruction that is not known here."""
    stages: list[Stage] = []
    for line in _lines(path.read_text()):
        word, _, rest = line.partition(" ")
        if word not in KNOWN:
            raise ValueError(f"{line}: tests/deploy does not know {word}")
        options = {}
        while word != "RUN" and (option := re.match(r"--([\w-]+)=(\S+)\s+", rest)):
            options[option[1]] = option[2]
            rest = rest[option.end() :]
        if word == "HEALTHCHECK":
            rest = rest.removeprefix("CMD").strip()
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            stages.append(Stage(base, name))
        else:
            stages[-1].steps.append(Step(word, options, rest.strip()))
    return stages


def context(ignore: Path = ROOT / ".dockerignore") -> Iterator[Path]:
    """The files that a build is given: .dockerignore names what it is, after leaving everything out."""
    patterns = ignore.read_text().split()
    if patterns[0] != "*" or patterns[-1] != "**/__pycache__" or not all(one.startswith("!") for one in patterns[1:-1]):
        raise ValueError("tests/deploy reads only a .dockerignore that leaves everything out, then names what it takes")
    for taken in patterns[1:-1]:
        path = ignore.parent / taken[1:]
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                yield file.relative_to(ignore.parent)


def _lines(text: str) -> Iterator[str]:
    kept = "\n".join(line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    yield from (" ".join(one.split()) for one in re.sub(r"\\\n", " ", kept).splitlines())
