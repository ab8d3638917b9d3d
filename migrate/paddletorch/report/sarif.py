"""SARIF 2.1.0, the form that code hosts and editors read findings in.

A finding is a result; one that the baseline knows is a suppressed result. What would be converted is one too: one for
each file and code, and the first of a file holds the fix, all edits of the file in one, since they depend on each other
(a use needs the import). What was converted is no result any more. All positions refer to the text before conversion,
which each artifact's hash names.
https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from paddletorch_rules import load

import paddletorch
from paddletorch.model import Conversion, Diagnostic, FileResult, Severity, Status
from paddletorch.report.became import became
from paddletorch.report.changes import opcodes
from paddletorch.report.printable import printable_json
from paddletorch.report.record import Report
from paddletorch.report.root import Root
from paddletorch.report.sarif_rules import Rules
from paddletorch.text.lines import text_lines

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "apiUse/v1"

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_EXITS = {0: "nothing is left to do", 1: "findings are left, or files would change", 2: "a file failed"}
_SHOWN = 5
_BY_BASELINE = {"kind": "external", "justification": "in the baseline"}

Json = dict[str, Any]


def render(report: Report) -> str:
    """The log as one line-broken JSON object, ASCII only."""
    return printable_json(json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report)]}, indent=1))


def _run(report: Report) -> Json:
    root = Root()
    rules = Rules(load(report.options.tables))
    files = [_File(n, result, root, rules) for n, result in enumerate(report.results)]
    results = [result for file in files for result in file.results(applied=report.summary.applied)]
    if report.summary.known:  # the standard wants the property in all results or in none
        results = [{"suppressions": [], **result} for result in results]
    notifications = [notification for file in files for notification in file.notifications()]
    for note in report.summary.notes:
        descriptor = {"descriptor": rules.notification(note.code, "note")} if note.code else {}
        notifications.append({**descriptor, "level": "note", "message": {"text": note.message}})
    return {
        "tool": {
            "driver": {
                "name": "paddletorch",
                "version": paddletorch.__version__,
                "semanticVersion": paddletorch.__version__,
                "shortDescription": {"text": "Moves training code between PyTorch and PaddlePaddle."},
                "rules": rules.descriptors,
                "notifications": rules.notifications,
            }
        },
        "invocations": [
            {
                "executionSuccessful": not report.summary.failed,
                "exitCode": report.summary.exit_code,
                "exitCodeDescription": _EXITS[report.summary.exit_code],
                "toolExecutionNotifications": notifications,
            }
        ],
        "properties": {"uses": {**asdict(report.summary.coverage.total), "total": report.summary.coverage.total.total}},
        "originalUriBaseIds": {"%SRCROOT%": {"uri": root.folder.as_uri().rstrip("/") + "/"}},
        "artifacts": [file.artifact for file in files],
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "results": results,
    }


class _File:
    """What the log says of one file."""

    def __init__(self, index: int, result: FileResult, root: Root, rules: Rules) -> None:
        self._result = result
        self._rules = rules
        has_places = result.diagnostics or result.known or result.conversions
        self._lines = text_lines(result.source) if has_places else []
        self._location = {**_uri(result.path, root), "index": index}
        self._seen: Counter[str] = Counter()

    @property
    def artifact(self) -> Json:
        digest = hashlib.sha256(self._result.source).hexdigest()
        known = {"hashes": {"sha-256": digest}} if self._result.source else {}
        location = {key: value for key, value in self._location.items() if key != "index"}
        return {"location": location, **known}

    def results(self, *, applied: bool) -> Iterator[Json]:
        """Results by line."""
        found = [self._finding(d) for d in self._result.diagnostics if not self._is_failure(d)]
        found += [{**self._finding(d), "suppressions": [_BY_BASELINE]} for d in self._result.known]
        if not applied and self._result.status is Status.CONVERTED:
            found += self._conversions()
        yield from sorted(found, key=_line)

    def notifications(self) -> Iterator[Json]:
        """Why a file failed."""
        for found in filter(self._is_failure, self._result.diagnostics):
            yield {
                "descriptor": self._rules.notification(found.code, "error"),
                "level": "error",
                "message": {"text": _message(found)},
                "locations": [self._at(found)],
            }

    def _is_failure(self, found: Diagnostic) -> bool:
        return self._result.status is Status.FAILED and found.code.startswith("SRC")

    def _finding(self, found: Diagnostic) -> Json:
        return {
            **self._rules.result(found.code, _LEVELS[found.severity]),
            "level": _LEVELS[found.severity],
            "message": {"text": _message(found)},
            "locations": [self._at(found)],
            "partialFingerprints": self._fingerprint(found),
            "properties": {
                "applicability": found.applicability.value,
                **({"fate": found.fate.value} if found.fate else {}),
                **({"name": found.name} if found.name else {}),
            },
        }

    def _conversions(self) -> list[Json]:
        by_code = groupby(sorted(self._result.conversions, key=lambda c: (c.code, c.line, c.column)), lambda c: c.code)
        results = [self._would_convert(code, list(group)) for code, group in by_code]
        if results:
            min(results, key=_line)["fixes"] = [self._fix()]
        return results

    def _would_convert(self, code: str, conversions: Sequence[Conversion]) -> Json:
        uses = Counter(f"{conversion.name} -> {became(conversion)}" for conversion in conversions)
        named = ", ".join(f"{use}{f' ({count} times)' if count > 1 else ''}" for use, count in uses.most_common(_SHOWN))
        more = f" and {len(uses) - _SHOWN} more" if len(uses) > _SHOWN else ""
        others = list({(c.line, c.column): c for c in conversions[1:]}.values())  # the schema wants each location once
        return {
            **self._rules.result(code, "note"),
            "level": "note",
            "message": {"text": f"Would convert {named}{more}."},
            "locations": [self._at(conversions[0])],
            **({"relatedLocations": [self._at(conversion) for conversion in others]} if others else {}),
            "partialFingerprints": self._fingerprint(conversions[0]),
            "properties": {"applicability": "safe", "name": conversions[0].name},
        }

    def _at(self, item: Diagnostic | Conversion) -> Json:
        physical: Json = {"artifactLocation": self._location}
        if item.line:
            region = {"startLine": item.line, "startColumn": max(item.column, 1)}
            if isinstance(item, Diagnostic) and (item.end_line, item.end_column) > (item.line, item.column):
                region |= {"endLine": item.end_line, "endColumn": max(item.end_column, 1)}
            physical["region"] = region
        return {"physicalLocation": physical}

    def _fingerprint(self, item: Diagnostic | Conversion) -> dict[str, str]:
        """The same when lines move: the code, the API and the text of the line, counted within the file."""
        text = self._lines[item.line - 1].strip() if 0 < item.line <= len(self._lines) else ""
        digest = hashlib.sha256("\0".join((item.code, item.name, text)).encode("utf-8", "replace")).hexdigest()[:32]
        self._seen[digest] += 1
        return {FINGERPRINT: f"{digest}:{self._seen[digest]}"}

    def _fix(self) -> Json:
        new = text_lines(self._result.output)
        replacements = []
        for tag, start, end, new_start, new_end in opcodes(self._lines, new):
            if tag != "equal":
                deleted = dict(zip(("startLine", "startColumn"), self._position(start), strict=True))
                deleted |= dict(zip(("endLine", "endColumn"), self._position(end), strict=True))
                inserted = {"insertedContent": {"text": "".join(new[new_start:new_end])}} if new_end > new_start else {}
                replacements.append({"deletedRegion": deleted, **inserted})
        count = len(self._result.conversions)
        uses = "the use" if count == 1 else f"all {count} uses"
        change = {"artifactLocation": self._location, "replacements": replacements}
        return {"description": {"text": f"Convert {uses} in this file."}, "artifactChanges": [change]}

    def _position(self, index: int) -> tuple[int, int]:
        """Line and column before the line at ``index``, or at the end of the file."""
        if index < len(self._lines) or not self._lines or self._lines[-1].endswith(("\n", "\r")):
            return index + 1, 1
        return index, len(self._lines[-1]) + 1  # the last line has no end: there is no line after it


def _uri(path: str, root: Root) -> dict[str, str]:
    uri, relative = root.uri(path)
    return {"uri": uri, "uriBaseId": "%SRCROOT%"} if relative else {"uri": uri}


def _line(result: Json) -> int:
    """Where a result lies; 0 if it is about the file as a whole."""
    line: int = result["locations"][0]["physicalLocation"].get("region", {}).get("startLine", 0)
    return line


def _message(found: Diagnostic) -> str:
    text = f"Cell {found.cell.number}, line {found.cell.line}: {found.message}" if found.cell else found.message
    return f"{text}. {found.hint}" if found.hint else text
