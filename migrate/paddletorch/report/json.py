"""The report for programs: one JSON object; docs/json-format.md describes the keys."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import paddletorch
from paddletorch.model import FileResult, Options
from paddletorch.report.printable import printable_json
from paddletorch.report.record import Mode, Report
from paddletorch.report.summary import Summary

FORMAT_VERSION = 1
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
                {"path": result.path, **asdict(diagnostic)} for result in results for diagnostic in result.diagnostics
            ],
            "conversions": [
                {"path": result.path, **asdict(conversion)} for result in results for conversion in result.conversions
            ],
            "summary": _summary(report.summary),
            "notes": [asdict(note) for note in report.summary.notes],
        },
        indent=2,
    )
    return printable_json(text)


def _options(options: Options, mode: Mode) -> dict[str, Any]:
    values = asdict(options)
    return {"to": values.pop("target"), "mode": mode, **values}


def _file(result: FileResult) -> dict[str, Any]:
    return {
        "path": result.path,
        "status": result.status.value,
        "conversions": len(result.conversions),
        "diagnostics": len(result.diagnostics),
        "known": len(result.known),
        "uses": {name: asdict(uses) for name, uses in result.uses.items()},
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
        "packages": summary.packages,
        "known": summary.known,
        "unsafe": summary.unsafe,
        "evidence": {"open": summary.open, "answered": summary.answered, "settled": summary.settled},
        "uses": {
            "total": asdict(summary.coverage.total),
            "names": [{"name": name, **asdict(uses)} for name, uses in summary.coverage.names.items()],
        },
        "exit_code": summary.exit_code,
    }
