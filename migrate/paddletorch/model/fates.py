"""The four fates of a use: converted, the same on both sides, needs you, not examined. Every report counts by these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Fate(str, Enum):
    """What became of one use of the source framework's API."""

    CONVERTED = "converted"
    SAME = "same"
    NEEDS_YOU = "needs_you"
    NOT_EXAMINED = "not_examined"


@dataclass(frozen=True, slots=True)
class Fates:
    """How many uses of the source framework's API ended in each of four ways; they add up to all uses."""

    converted: int = 0
    same: int = 0
    """Nothing had to change: it is the same on both sides, or what it asks for is answered there as well."""
    needs_you: int = 0
    """Left as they were, or converted with a finding that says what to look at."""
    not_examined: int = 0
    """Left as they were: no table has the API, the type of the object is not known, or the code could not be read."""

    @property
    def total(self) -> int:
        """All uses."""
        return self.converted + self.same + self.needs_you + self.not_examined

    @property
    def left(self) -> int:
        """The uses that somebody has to look at."""
        return self.needs_you + self.not_examined

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        return not self.left

    def __add__(self, other: Fates) -> Fates:
        return Fates(
            self.converted + other.converted,
            self.same + other.same,
            self.needs_you + other.needs_you,
            self.not_examined + other.not_examined,
        )


def counted(fates: Iterable[tuple[str, Fate]]) -> dict[str, Fates]:
    """The uses by name, each given with its fate."""
    counts: dict[str, Counter[str]] = {}
    for name, fate in fates:
        counts.setdefault(name, Counter())[fate.value] += 1
    return {name: Fates(**count) for name, count in counts.items()}
