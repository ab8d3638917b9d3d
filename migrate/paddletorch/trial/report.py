"""What became of the modules, for people and for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import paddletorch
from paddletorch.report.printable import printable, printable_json
from paddletorch.trial.trial import Place, Tree, Tried

FORMAT_VERSION = 1
"""Grows when a key is renamed or removed or gets another meaning, not when one is added."""
_SHOWN = 5


def exit_code(tried: Sequence[Tried]) -> int:
    """0 if every module imports, else 1."""
    return int(any(one.outcome != "imports" for one in tried))


def text_lines(tree: Tree, tried: Sequence[Tried]) -> Iterator[str]:
    """Each place that stops modules, with what is behind it; then how many modules import."""
    for group in _by_cause(tried):
        yield from map(printable, _group_lines(group))
    counts = Counter(one.outcome for one in tried)
    modules = "one module" if len(tried) == 1 else f"{len(tried)} modules"
    yield f"{modules}: {counts['imports']} import{'s' if counts['imports'] == 1 else ''} without {tree.source}"
    failing = sum(counts[outcome] for outcome in ("fails", "timeout", "ends"))
    if failing:
        places = len(_by_cause(tried))
        yield f"{_do(failing)} not, because of {'one place' if places == 1 else f'{places} places'}"
    if counts["package"]:
        packages = ", ".join(sorted({one.package for one in tried if one.package}))
        are = "is" if counts["package"] == 1 else "are"
        yield printable(
            f"{counts['package']} {are} in a package that does not, with nothing wrong themselves: {packages}"
        )


def _do(count: int) -> str:
    return f"{count} {'does' if count == 1 else 'do'}"


def _by_cause(tried: Sequence[Tried]) -> list[list[Tried]]:
    """The modules that fail, together where the same line or a missing package stops them; what stops most is first."""
    groups: dict[tuple[Any, ...], list[Tried]] = {}
    for one in tried:
        if one.outcome not in ("imports", "package"):
            key: tuple[Any, ...] = (one.place, one.error, one.message) if one.place else (one.path,)
            if one.missing:
                key = (one.missing,)
            groups.setdefault(key, []).append(one)
    return sorted(groups.values(), key=len, reverse=True)


def _group_lines(group: Sequence[Tried]) -> Iterator[str]:
    first = group[0]
    where = f"{first.place.path}:{first.place.line}" if first.place else first.path
    yield f"{where}: {first.error}{': ' if first.error and first.message else ''}{first.message}"
    if first.place and first.place.text:
        yield f"    {first.place.text}"
    if first.source:
        yield f"    from {first.source.path}:{first.source.line}: {first.source.text}"
    if first.note:
        yield f"    {first.note}"
    for behind in first.findings[:_SHOWN]:
        found = behind.diagnostic
        yield f"    {behind.path}:{found.line}:{found.column}: {found.code} {found.message}"
    if len(first.findings) > _SHOWN:
        yield f"    and {len(first.findings) - _SHOWN} more findings"
    names = [one.module for one in group]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    yield f"    stops {', '.join(names[:_SHOWN])}{more}"


def json_text(tree: Tree, tried: Sequence[Tried]) -> str:
    """The report as one JSON object; docs/try.md describes the keys."""
    report = {
        "format_version": FORMAT_VERSION,
        "version": paddletorch.__version__,
        "to": tree.target,
        "modules": [_module(one) for one in tried],
        "summary": {**Counter(one.outcome for one in tried), "modules": len(tried), "exit_code": exit_code(tried)},
    }
    return printable_json(json.dumps(report, indent=2))


def _module(one: Tried) -> dict[str, Any]:
    return {
        "path": one.path,
        "module": one.module,
        "outcome": one.outcome,
        "error": one.error,
        "message": one.message,
        "place": _place(one.place),
        "source": _place(one.source),
        "note": one.note,
        "package": one.package,
        "missing": one.missing,
        "diagnostics": [
            {
                "path": behind.path,
                "line": behind.diagnostic.line,
                "column": behind.diagnostic.column,
                "code": behind.diagnostic.code,
                "name": behind.diagnostic.name,
                "message": behind.diagnostic.message,
            }
            for behind in one.findings
        ],
        "seconds": one.seconds,
    }


def _place(place: Place | None) -> dict[str, Any] | None:
    return asdict(place) if place else None
