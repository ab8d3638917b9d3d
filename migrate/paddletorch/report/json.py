"""The report for programs: one JSON object; docs/json-format.md describes the keys."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import paddletorch
from paddletorch.model import Diagnostic, Fate, FileResult, Options
from paddletorch.model.counts import converted, fates_by_name
from paddletorch.report.printable import printable_json
from paddletorch.report.record import Mode, Report
from paddletorch.report.summary import Summary

FORMAT_VERSION = 2
"""Grows when a key is renamed or removed or gets another meaning, not when one is added."""


def render(report: Report) -> str:
    """The whole report as one line-broken JSON object, ASCII only."""
    results = report.results
    diagnostics = ({"path": r.path, **_diagnostic(found)} for r in results for found in r.diagnostics)
    conversions = ({"path": r.path, **one} for r in results for one in _conversions(r))
    members = {
        "format_version": json.dumps(FORMAT_VERSION),
        "version": json.dumps(paddletorch.__version__),
        "options": _value(_options(report.options, report.mode)),
        "files": _array(map(_file, results)),
        "diagnostics": _array(diagnostics),
        "conversions": _array(conversions),
        "summary": _value(_summary(report.summary)),
        "notes": _array(map(asdict, report.summary.notes)),
    }
    text = ",\n".join(f'  "{name}": {value}' for name, value in members.items())
    return printable_json(f"{{\n{text}\n}}")


def _array(entries: Iterable[dict[str, Any]]) -> str:
    """The entries one by one: all of them as values would take several times the memory of their text."""
    text = ",\n".join(f"    {_value(entry, 4)}" for entry in entries)
    return f"[\n{text}\n  ]" if text else "[]"


def _value(value: dict[str, Any], column: int = 2) -> str:
    """A value behind so many spaces."""
    return json.dumps(value, indent=2).replace("\n", "\n" + " " * column)


def _options(options: Options, mode: Mode) -> dict[str, Any]:
    values = asdict(options)
    return {"to": values.pop("target"), "mode": mode, **values}


def _diagnostic(found: Diagnostic) -> dict[str, Any]:
    values = asdict(found)
    del values["examined"]  # the fate says it
    return {**values, "fate": found.fate}


def _conversions(result: FileResult) -> Iterator[dict[str, Any]]:
    sure = set(map(id, converted(result)))
    for one in result.conversions:
        yield {**asdict(one), "fate": Fate.CONVERTED if id(one) in sure else Fate.NEEDS_YOU}


def _file(result: FileResult) -> dict[str, Any]:
    return {
        "path": result.path,
        "status": result.status.value,
        "conversions": len(result.conversions),
        "diagnostics": len(result.diagnostics),
        "known": len(result.known),
        "uses": {name: asdict(fates) for name, fates in fates_by_name(result).items()},
    }


def _summary(summary: Summary) -> dict[str, Any]:
    return {
        "files": {
            "scanned": summary.scanned,
            "with_hits": summary.with_uses,
            "converted": summary.converted,
            "failed": summary.failed,
        },
        "applied": summary.applied,
        "conversions": [
            {"name": name, "replacement": replacement, "count": count}
            for (name, replacement), count in summary.conversions.items()
        ],
        "findings": summary.findings,
        "left": summary.left,
        "packages": summary.packages,
        "known": summary.known,
        "unsafe": summary.unsafe,
        "evidence": {"open": summary.open, "answered": summary.answered, "settled": summary.settled},
        "uses": {
            "total": asdict(summary.coverage.total),
            "without_finding": summary.coverage.total.left - summary.left_uses,
            "names": [{"name": name, **asdict(fates)} for name, fates in summary.coverage.names.items()],
        },
        "exit_code": summary.exit_code,
    }
