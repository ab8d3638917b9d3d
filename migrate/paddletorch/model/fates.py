"""The four fates of a use: converted, the same on both sides, needs you, not examined. Every report counts by these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddletorch.model.diagnostics import Diagnostic
    from paddletorch.model.results import Conversion, FileResult


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


def fates_by_name(result: FileResult) -> dict[str, Fates]:
    """What became of the uses in a file, by name: what its result lists, and what it counts without listing it.

    Several findings at one place are about one use, and a conversion that a finding is about needs you.
    """
    found = places((*result.diagnostics, *result.known))
    fates = [(key[-1], fate) for key, fate in found.items()]
    fates += [(conversion.name, Fate.CONVERTED) for conversion in converted(result)]
    names = dict(result.unlisted)
    for name, count in counted(fates).items():
        names[name] = names.get(name, Fates()) + count
    return names


def converted(result: FileResult) -> list[Conversion]:
    """The conversions that no finding is about: those whose fate is to be converted."""
    asked = Counter((line, column, name) for line, column, _, _, name in places((*result.diagnostics, *result.known)))
    if not asked:
        return list(result.conversions)
    found: list[Conversion] = []
    for conversion in result.conversions:
        start = conversion.line, conversion.column, conversion.name
        if asked[start]:
            asked[start] -= 1
        else:
            found.append(conversion)
    return found


def places(findings: Iterable[Diagnostic]) -> dict[tuple[int, int, int, int, str], Fate]:
    """The uses that findings are about, by start, end and name, each with its fate."""
    found: dict[tuple[int, int, int, int, str], Fate] = {}
    for one in findings:
        if one.fate is not None:
            key = one.line, one.column, one.end_line, one.end_column, one.name
            found[key] = min(found.get(key, one.fate), one.fate, key=_ORDER.index)
    return found


_ORDER = (Fate.NEEDS_YOU, Fate.NOT_EXAMINED)


def fates_of(results: Iterable[FileResult]) -> Fates:
    """What became of all uses in these files."""
    return sum((fates for result in results for fates in fates_by_name(result).values()), Fates())
