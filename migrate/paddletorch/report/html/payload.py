"""What the page's script works on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from paddletorch_rules import load

import paddletorch
from paddletorch.model import Conversion, Diagnostic, Fates, FileResult, Options
from paddletorch.model.counts import converted, fates_of
from paddletorch.report.became import became
from paddletorch.report.html.hunks import Hunk, hunks_of
from paddletorch.report.html.rule_help import linked
from paddletorch.report.printable import printable, printable_json
from paddletorch.report.record import Report
from paddletorch.report.rule_page import titles

PACKAGES = ("API244", "API245")
"""The findings about packages built on the source framework: needed, and imported under a condition."""
DIFF_BYTES = 30_000_000
"""Greatest size of all diffs in the page; the files after that are listed without."""


def overview(report: Report) -> dict[str, Any]:
    """Everything but the files."""
    summary = report.summary
    used = {c.code for result in report.results for c in result.conversions}
    used |= {d.code for result in report.results for d in result.diagnostics}
    used |= {note.code for note in summary.notes if note.code}
    used |= {code for one in used for code in linked(one)}  # their explanations stand in the page, too
    table = load(report.options.tables)
    titled = titles(table)
    known = table.diagnostics
    return {
        "version": paddletorch.__version__,
        "source": report.options.source,
        "target": report.options.target,
        "mode": report.mode,
        "applied": summary.applied,
        "options": _given(report.options),
        "counts": {key: getattr(summary, key) for key in ("scanned", "converted", "failed", "unsafe", "known")},
        "exit_code": summary.exit_code,
        "codes": {
            code: {
                "title": titled.get(code, code).replace("``", "`").rstrip("."),
                "applicability": known[code].applicability if code in known else "safe",
            }
            for code in sorted(used)
        },
        "names": [[name, *_counts(fates)] for name, fates in summary.coverage.names.items()],
        "uses": _counts(summary.coverage.total),
        "packages": _packages(report.results),
        "notes": [asdict(note) for note in summary.notes],
    }


def files(report: Report) -> tuple[list[dict[str, Any]], list[str]]:
    """The files, and the diffs of those that have a ``diff``: its place in the list."""
    listed: list[dict[str, Any]] = []
    diffs: list[str] = []
    size = 0
    for result in report.results:
        file = _file(result)
        if file["findings"] or file["conversions"] or result.source != result.output:
            if size < DIFF_BYTES:
                diff = compact([_hunk(hunk) for hunk in hunks_of(result)])
                size += len(diff)
                file["diff"] = len(diffs)
                diffs.append(diff)
            else:
                file["diff"] = None
        listed.append(file)
    return listed, diffs


def compact(value: object) -> str:
    """JSON without blanks, ASCII only, that neither ends nor confuses the script element it stands in."""
    return printable_json(json.dumps(value, separators=(",", ":"))).replace("<", "\\u003c")


def _file(result: FileResult) -> dict[str, Any]:
    return {
        "path": printable(result.path),
        "status": result.status.value,
        "uses": _counts(fates_of([result])),
        "findings": [
            [d.code, d.severity.value, d.applicability.value, *_place(d), d.message, d.hint, d.name, _fate(d)]
            for d in result.diagnostics
        ],
        "conversions": [[c.code, *_place(c), printable(c.name), printable(became(c))] for c in converted(result)],
    }


def _packages(results: Iterable[FileResult]) -> list[list[Any]]:
    """``[name, files that need it, files that import it under a condition, the way out]``, the most needed first."""
    found: dict[str, list[Any]] = {}
    for result in results:
        for d in result.diagnostics:
            if d.code in PACKAGES:
                found.setdefault(d.name, [d.name, 0, 0, d.hint])[1 + PACKAGES.index(d.code)] += 1
    return sorted(found.values(), key=lambda entry: (-entry[1], -entry[2], entry[0]))


def _fate(found: Diagnostic) -> str:
    return found.fate.value if found.fate else ""


def _place(item: Diagnostic | Conversion) -> tuple[int, int, int]:
    """Cell of a notebook or 0, line and column: where people see it."""
    if item.cell is None:
        return 0, item.line, item.column
    return item.cell.number, item.cell.line, item.cell.column


def _hunk(hunk: Hunk) -> list[Any]:
    """``[cell or 0, old start, new start, block, ...]``; a block: ``[old lines, new lines or 0 for the same]``.

    A line holds text and ``[class, text]``.
    """
    blocks = [[_lines(block.old), 0 if block.new is None else _lines(block.new)] for block in hunk.blocks]
    return [hunk.cell, hunk.old_start, hunk.new_start, *blocks]


def _lines(lines: list[list[tuple[str, str]]]) -> list[list[Any]]:
    return [[[name, text] if name else text for name, text in runs] for runs in lines]


def _counts(fates: Fates) -> list[int]:
    return [fates.converted, fates.same, fates.needs_you, fates.not_examined]


def _given(options: Options) -> list[str]:
    """The options that differ from what holds without them, as they are typed."""
    return list(_typed(asdict(options), asdict(Options(target=options.target))))


def _typed(given: Mapping[str, Any], usual: Mapping[str, Any]) -> Iterator[str]:
    for key, value in given.items():
        if value == usual[key]:
            continue
        name = f"--{key.replace('_', '-')}"
        if value is True:
            yield name
        else:
            yield from (f"{name} {printable(str(item))}" for item in (value if isinstance(value, tuple) else [value]))
