"""The report for programs: one JSON object; docs/json-format.md describes the keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import paddletorch
from paddletorch.model import FileResult, Options
from paddletorch.report.summary import Summary


def render(results: Sequence[FileResult], summary: Summary, options: Options, mode: str) -> str:
    """The whole report as one line-broken JSON object, ASCII only."""
    return json.dumps(
        {
            "version": paddletorch.__version__,
            "options": _options(options, mode),
            "files": [_file(result) for result in results],
            "diagnostics": [
                {"path": result.path, **asdict(diagnostic)} for result in results for diagnostic in result.diagnostics
            ],
            "conversions": [
                {"path": result.path, **asdict(conversion)} for result in results for conversion in result.conversions
            ],
            "summary": _summary(summary),
            "notes": [asdict(note) for note in summary.notes],
        },
        indent=2,
    )


def _options(options: Options, mode: str) -> dict[str, Any]:
    values = asdict(options)
    return {"to": values.pop("target"), "mode": mode, **values}


def _file(result: FileResult) -> dict[str, Any]:
    return {
        "path": result.path,
        "status": result.status.value,
        "conversions": len(result.conversions),
        "diagnostics": len(result.diagnostics),
        "counts": dict(result.counts),
    }


def _summary(summary: Summary) -> dict[str, Any]:
    return {
        "files": {
            "scanned": summary.scanned,
            "with_hits": summary.with_hits,
            "converted": summary.converted,
            "failed": summary.failed,
        },
        "applied": summary.applied,
        "conversions": [
            {"name": name, "replacement": replacement, "count": count}
            for (name, replacement), count in summary.conversions.items()
        ],
        "findings": summary.findings,
        "unsafe": summary.unsafe,
        "exit_code": summary.exit_code,
    }
