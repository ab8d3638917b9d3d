"""Counts what became of the uses in files; every report, the Python interface and the exit code go by these counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from paddletorch.model.diagnostics import Diagnostic
from paddletorch.model.fates import Fate, Fates, counted
from paddletorch.model.results import Conversion, FileResult


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
