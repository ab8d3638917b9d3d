"""The report for programs: one JSON object; docs/json-format.md describes the keys."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
    text = json.dumps(
        {
            "format_version": FORMAT_VERSION,
            "version": paddletorch.__version__,
            "options": _options(report.options, report.mode),
            "files": [_file(result) for result in results],
            "diagnostics": [
                {"path": result.path, **_diagnostic(diagnostic)}
                for result in results
                for diagnostic in result.diagnostics
            ],
            "conversions": [{"path": result.path, **one} for result in results for one in _conversions(result)],
            "summary": _summary(report.summary),
            "notes": [asdict(note) for note in report.summary.notes],
        },
        indent=2,
    )
    return printable_json(text)


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
