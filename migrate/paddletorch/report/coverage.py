"""How much of the framework API that a tree uses was converted, and what is left, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import click

from paddletorch.model import FileResult, Uses
from paddletorch.report.printable import printable

SHOWN = 20
"""How many names the text report lists."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Uses of the source framework's API in all files of a run."""

    total: Uses
    names: dict[str, Uses]
    """By name, the most frequent first."""

    @property
    def covered(self) -> float | None:
        """The share of uses that are converted or the same on both sides, from 0 to 1; None without uses."""
        count = count_of(self.total)
        return (self.total.converted + self.total.same) / count if count else None


def measure(results: Iterable[FileResult]) -> Coverage:
    """Add up the uses of all files."""
    total = Uses()
    names: dict[str, Uses] = {}
    for result in results:
        for name, uses in result.uses.items():
            for sum_ in (total, names.setdefault(name, Uses())):
                sum_.converted += uses.converted
                sum_.same += uses.same
                sum_.reported += uses.reported
                sum_.unknown += uses.unknown
    ordered = sorted(names.items(), key=lambda item: (-count_of(item[1]), item[0]))
    return Coverage(total, dict(ordered))


def count_of(uses: Uses) -> int:
    """All uses of a name."""
    return uses.converted + uses.same + uses.reported + uses.unknown


def total_line(coverage: Coverage) -> str:
    """``12 API uses: 9 converted, 1 the same on both sides, 1 reported, 1 unknown (83.3 % done).``"""
    total, covered = coverage.total, coverage.covered
    if covered is None:
        return "No API uses."
    named = (
        (total.converted, "converted"),
        (total.same, "the same on both sides"),
        (total.reported, "reported"),
        (total.unknown, "unknown"),
    )
    parts = ", ".join(f"{count} {what}" for count, what in named if count)
    count = count_of(total)
    done = int(covered * 1000) / 10  # rounded down: 100 % only if nothing is left
    return f"{count} API use{'' if count == 1 else 's'}: {parts} ({done:g} % done)."


def left_lines(coverage: Coverage, limit: int = SHOWN) -> Iterator[str]:
    """The names that are not all done, those with the most uses left first."""
    left = [(name, uses) for name, uses in coverage.names.items() if uses.reported or uses.unknown]
    left.sort(key=lambda item: (-(item[1].reported + item[1].unknown), item[0]))
    if not left:
        return
    yield click.style("Left to do", bold=True)
    for name, uses in left[:limit]:
        counts = ((uses.unknown, "unknown"), (uses.reported, "reported"))
        why = ", ".join(f"{count} {what}" if count < count_of(uses) else what for count, what in counts if count)
        yield f"{uses.reported + uses.unknown:6}  {printable(name)} ({why})"
    if len(left) > limit:
        yield f"        and {len(left) - limit} more names; --format json has them all"
