"""What became of the framework API that a tree uses, by name; every form of the report takes its totals from here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import click

from paddletorch.model import Fates, FileResult
from paddletorch.model.counts import fates_by_name
from paddletorch.report.printable import printable

SHOWN = 20
"""How many names the text report lists."""

LABELS = (
    ("converted", "converted"),
    ("same", "the same on both sides"),
    ("needs_you", "need you"),
    ("not_examined", "not examined"),
)
"""Each fate, and how reports call the uses that it befell."""


class Coverage(NamedTuple):
    """Uses of the source framework's API in all files of a run."""

    total: Fates
    names: dict[str, Fates]
    """By name, the most frequent first. Under "" is what has no name: code that could not be read."""


def measure(results: Iterable[FileResult]) -> Coverage:
    """Add up the uses of all files."""
    total = Fates()
    names: dict[str, Fates] = {}
    for result in results:
        for name, fates in fates_by_name(result).items():
            total += fates
            names[name] = names.get(name, Fates()) + fates
    ordered = sorted(names.items(), key=lambda item: (-item[1].total, item[0]))
    return Coverage(total, dict(ordered))


def total_line(fates: Fates) -> str:
    """``12 uses: 9 converted, 1 the same on both sides, 1 needs you, 1 not examined.``"""
    if not fates.total:
        return "No uses."
    named = [(getattr(fates, key), label) for key, label in LABELS]
    parts = ", ".join(f"{count:,} {_agreeing(label, count)}" for count, label in named if count)
    return f"{fates.total:,} use{'' if fates.total == 1 else 's'}: {parts}."


def _agreeing(label: str, count: int) -> str:
    return "needs you" if label == "need you" and count == 1 else label


def left_lines(coverage: Coverage, limit: int = SHOWN) -> Iterator[str]:
    """The names that somebody has to look at, those with the most such uses first."""
    left = [(name, fates) for name, fates in coverage.names.items() if fates.left]
    left.sort(key=lambda item: (-item[1].left, item[0]))
    if not left:
        return
    yield click.style("Left to do", bold=True)
    for name, fates in left[:limit]:
        counts = [(getattr(fates, key), label) for key, label in LABELS[2:]]
        why = ", ".join(
            f"{count:,} {_agreeing(label, count)}" if count < fates.total else _agreeing(label, count)
            for count, label in counts
            if count
        )
        yield f"{fates.left:6}  {printable(name) or 'code without a name'} ({why})"
    if len(left) > limit:
        rest = sum(fates.left for _, fates in left[limit:])
        yield f"{rest:6}  of {len(left) - limit} more names; --format json has them all"
