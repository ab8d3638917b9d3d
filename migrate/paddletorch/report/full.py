"""The long form for people: a line for each finding and each conversion, as ``path:line:col: CODE message``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from paddletorch.model import Applicability, Conversion, Diagnostic, FileResult, Options, Severity
from paddletorch.model.counts import converted
from paddletorch.report.became import became, plain
from paddletorch.report.coverage import left_lines, total_line
from paddletorch.report.headline import counted, headline, packages_line
from paddletorch.report.printable import printable
from paddletorch.report.styles import COLOURS
from paddletorch.report.summary import Summary


def finding_lines(results: Sequence[FileResult], *, conversions: bool) -> Iterator[str]:
    """Every finding, and with ``conversions`` also every use that would be converted, in reading order."""
    for result in results:
        items: list[Conversion | Diagnostic] = [*result.diagnostics]
        if conversions:
            items += converted(result)
        for item in sorted(items, key=lambda item: (item.line, item.column)):
            where = _where(result.path, item)
            if isinstance(item, Conversion):
                code = click.style(item.code, fg="green", bold=True)
                yield f"{where} {code} {printable(item.name)} -> {printable(became(item))}"
            else:
                yield f"{where} {_finding(item)}"
                if item.hint:
                    yield click.style(f"    {printable(item.hint)}", dim=True)


def summary_lines(summary: Summary, options: Options, *, coverage: bool) -> Iterator[str]:
    """The closing summary: what was found and done, and what to do next; with ``coverage`` the names that are left."""
    yield headline(summary)
    if summary.packages:
        yield packages_line(summary, options)
    if summary.known:
        yield f"{summary.known} known finding{'' if summary.known == 1 else 's'} of the baseline not shown."
    if summary.answered:
        yield (
            f"Recorded runs answered {counted(summary.answered, 'open question')}; "
            f"{counted(summary.settled, 'finding')} gone by that."
        )
    if summary.coverage.names:
        yield total_line(summary.coverage.total)
    if summary.conversions:
        yield ""
        yield click.style("Converted" if summary.applied else "Would convert", bold=True)
        for (name, replacement), count in summary.conversions.items():
            yield f"{count:6}  {printable(name)} -> {printable(plain(replacement))}"
    if summary.findings:
        from paddletorch_rules import load

        titles = load(options.tables).diagnostics
        yield ""
        yield click.style("Findings", bold=True)
        for code, count in summary.findings.items():
            yield f"{count:6}  {code}  {printable(titles[code].title) if code in titles else ''}"
    left = list(left_lines(summary.coverage)) if coverage else []
    if left:
        yield ""
        yield from left
    for note in summary.notes:
        yield ""
        yield f"{click.style('Note', bold=True)}: {printable(note.message)}{f' ({note.code})' if note.code else ''}"
    steps = list(_next_steps(summary, options.unsafe))
    if steps:
        yield ""
        yield click.style("Next", bold=True)
        yield from (f"  {step}" for step in steps)


def _where(path: str, item: Conversion | Diagnostic) -> str:
    position = f":{item.line}:{item.column}" if item.line else ""
    if item.cell is not None:
        position = f":cell {item.cell.number}:{item.cell.line}:{item.cell.column}"
    return f"{click.style(printable(path), bold=True)}{position}:"


def _finding(diagnostic: Diagnostic) -> str:
    code = click.style(diagnostic.code, fg=COLOURS[diagnostic.severity], bold=True)
    level = " [info]" if diagnostic.severity is Severity.INFO else ""
    offer = " [--unsafe converts it]" if diagnostic.applicability is Applicability.UNSAFE else ""
    return f"{code}{level} {printable(diagnostic.message)}{offer}"


def _next_steps(summary: Summary, unsafe: bool) -> Iterator[str]:
    if summary.failed:
        yield "mend or exclude the files that failed (SRC codes above): nothing in them was changed"
    if summary.converted and not summary.applied:
        yield "--diff shows the changes, --write makes them, --output DIR makes them in a copy"
    if summary.unsafe and not unsafe:
        yield f"--unsafe also converts what is likely but not sure ({summary.unsafe}); review the result"
    if summary.open:
        found = counted(summary.open, "finding")
        yield f"paddletorch record runs the program and notes what only a run can tell ({found})"
    if summary.findings:
        code = max(summary.findings, key=lambda code: summary.findings[code])
        yield f"paddletorch explain {code} says what a finding means and what to do"
