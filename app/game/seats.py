"""Who sits where? Four seats in order of play, two sides of two, and a value for each of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Generic, TypeVar

T = TypeVar("T")


class Side(StrEnum):
    """Two partners: A holds the seats 0 and 2, B the seats 1 and 3."""

    A = "A"
    B = "B"

    @property
    def other(self) -> "Side":
        return Side.B if self is Side.A else Side.A


class Seat(IntEnum):
    """One of four places, numbered in order of play."""

    FIRST = 0
    SECOND = 1
    THIRD = 2
    FOURTH = 3

    @property
    def next(self) -> "Seat":
        return SEATS[(self + 1) % 4]

    @property
    def before(self) -> "Seat":
        return SEATS[(self + 3) % 4]

    @property
    def partner(self) -> "Seat":
        return SEATS[(self + 2) % 4]

    @property
    def side(self) -> Side:
        return Side.B if self % 2 else Side.A


SEATS: tuple[Seat, ...] = tuple(Seat)


def around(first: Seat) -> tuple[Seat, ...]:
    """The four seats in order of play, beginning with `first`."""
    return (first, first.next, first.partner, first.before)


@dataclass(frozen=True, slots=True)
class BySide(Generic[T]):
    """A value for each side."""

    A: T
    B: T

    @staticmethod
    def of(value: "Callable[[Side], T]") -> "BySide[T]":
        """The values that a function of the side gives."""
        return BySide(value(Side.A), value(Side.B))

    def __getitem__(self, side: Side) -> T:
        return self.A if side is Side.A else self.B

    def __iter__(self) -> Iterator[T]:
        yield self.A
        yield self.B
