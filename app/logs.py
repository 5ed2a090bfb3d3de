"""What is logged, and how: one line a fact, the traceback of a bug, and never what a variable held."""

import logging
import sys
import traceback
from contextlib import suppress
from typing import TextIO, cast

import structlog
from pydantic import ValidationError
from structlog.typing import ExcInfo


class _Lossy:
    """A file to which what cannot be written is lost: a full disk under the log stops nothing else."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()


def configure(level: str) -> None:
    """Log to standard error from this level up."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=_traceback),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(cast(TextIO, _Lossy(sys.stderr))),
    )


def _traceback(out: TextIO, exc_info: ExcInfo) -> None:
    """Where it happened. No locals, and no words of an error that quotes its input: they may hold a hand or a seed."""
    kind, error, frames = exc_info
    for one in _group(error):
        quoted = isinstance(one, ValidationError)
        out.write("\n" + "".join(traceback.format_tb(one.__traceback__ or frames)))
        out.write(f"{kind.__name__ if one is error else type(one).__name__}" + ("" if quoted else f": {one}"))


def _group(error: BaseException) -> list[BaseException]:
    """The error, or those that a group of them holds."""
    if isinstance(error, BaseExceptionGroup):
        return [one for inner in error.exceptions for one in _group(inner)]
    return [error]
