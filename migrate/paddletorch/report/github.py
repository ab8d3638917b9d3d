"""Annotations of GitHub Actions: workflow commands that put findings beside the lines of a pull request.

GitHub shows the first 10 errors, 10 warnings and 10 notices of a step; the log of the step has all.
Form and escapes: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterator

from paddletorch.model import Diagnostic, FileResult, Severity, Status
from paddletorch.report.coverage import total_line
from paddletorch.report.headline import counted, headline
from paddletorch.report.printable import printable, without_controls
from paddletorch.report.record import Report
from paddletorch.report.root import Root

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report) -> str:
    """A line for each finding and for each file that would change, then what the run amounts to."""
    root = Root()
    lines: list[str] = []
    for result in report.results:
        path = root.relative(result.path)
        name = without_controls(result.path if path is None else path.as_posix())
        lines += [_finding(name, diagnostic) for diagnostic in result.diagnostics]
        if not report.summary.applied:
            lines += _would_change(name, result)
    return "\n".join(
        [*lines, headline(report.summary), total_line(report.summary.coverage.total)]
    )  # counts only: free text could hold a command


def _finding(name: str, found: Diagnostic) -> str:
    properties = {"file": name}
    if found.line:
        properties |= {"line": str(found.line), "endLine": str(found.end_line)}
        if found.end_line == found.line:  # GitHub takes a column for a single line only
            properties["col"] = str(found.column)
    text = printable(found.message)
    text = f"cell {found.cell.number}, line {found.cell.line}: {text}" if found.cell else text
    message = f"{text}\n{printable(found.hint)}" if found.hint else text
    return _command(_COMMANDS[found.severity], {**properties, "title": f"paddletorch {found.code}"}, message)


def _would_change(name: str, result: FileResult) -> Iterator[str]:
    """One notice for a file: its conversions are no problems, but the run's exit code counts them."""
    if result.status is Status.CONVERTED:
        line = str(result.conversions[0].line if result.conversions else 1)
        uses = counted(len(result.conversions), "use")
        properties = {"file": name, "line": line, "title": "paddletorch would convert"}
        yield _command("notice", properties, f"paddletorch convert --write would convert {uses} in this file.")


def _command(command: str, properties: dict[str, str], message: str) -> str:
    pairs = ",".join(f"{key}={_escaped(value, ':', ',')}" for key, value in properties.items())
    return f"::{command} {pairs}::{_escaped(message)}"


def _escaped(text: str, *further: str) -> str:
    for character in ("%", "\r", "\n", *further):
        text = text.replace(character, f"%{ord(character):02X}")
    return text
