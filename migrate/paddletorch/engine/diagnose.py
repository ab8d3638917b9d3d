"""Turns a finding into a diagnostic: with its message, its hint and its position."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from paddletorch_rules import Table
from paddletorch_rules.namesakes import namesake
from paddletorch_rules.table import Tokens

from paddletorch.model import Applicability, Diagnostic, Framework, Severity
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.view import FileView

_STATED = "{api} has no counterpart in {target}: {reason}; left as it is"
_COMPARE = "See whether {} does the same, and call it by hand."
_RECORD = "Run `paddletorch record` over this line."


def diagnostic_of(view: FileView, finding: Finding) -> Diagnostic:
    """The finding as a diagnostic, with its message, its hint and its position."""
    spec = view.settings.table.diagnostics[finding.code]
    span = view.source.span(finding.node)
    line, column = view.source.position(span.start)
    end_line, end_column = view.source.position(span.end)
    details = _Details(
        finding.details,
        source=view.settings.source,
        target=view.settings.target,
        api=finding.name or "the API",
    )
    message, hint = spec.message.format_map(details), spec.hint.format_map(details)
    if finding.row is not None and finding.row.reason and finding.code == finding.row.report:
        message, hint = (
            _STATED.format_map({**details, "reason": finding.row.reason}),
            finding.row.way_out(details["api"]),
        )
    elif finding.row is not None and finding.code == finding.row.report:
        message, hint = _of_namesake(view.settings.source, details["api"], message, hint)
    if finding.applied:
        hint = re.sub("; --unsafe .*", ".", hint)
    if finding.questions:
        hint = f"{hint} {_RECORD}".lstrip()
    return Diagnostic(
        code=finding.code,
        message=message,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        severity=Severity(spec.severity),
        examined=spec.examined,
        applicability=Applicability.DISPLAY if finding.applied else Applicability(spec.applicability),
        name=finding.name,
        hint=hint,
        formerly=spec.formerly,
        questions=finding.questions,
    )


def _of_namesake(source: Framework, api: str, message: str, hint: str) -> tuple[str, str]:
    """Message and hint about an API without counterpart, where the target has something of the same name."""
    found = namesake(source, api)
    if found is None:
        return message, hint
    if found.difference:
        return f"{api} is not {found.name}: {found.difference}; left as it is", hint
    return f"{api} and {found.name} have not been compared; left as it is", _COMPARE.format(found.name)


def stated(table: Table, code: str, line: int, columns: tuple[int, int] = (1, 1), /, **details: str) -> Diagnostic:
    """A diagnostic about a line, or about columns of it, that belongs to no finding."""
    spec = table.diagnostics[code]
    message, severity = spec.message.format(**details), Severity(spec.severity)
    start, end = columns
    return Diagnostic(code, message, line, start, line, end, severity, hint=spec.hint, examined=spec.examined)


def masked_uses(view: FileView, tokens: Tokens) -> list[Diagnostic]:
    """A diagnostic for each masked region that may hold an API."""
    found: list[Diagnostic] = []
    source = view.source
    for span in source.masked.regions if source.masked is not None else ():
        (line, column), (end_line, end_column) = source.position(span.start), source.position(span.end)
        if tokens.named(source.body[span.start : span.end]) and not view.suppressions.covers("API216", line, end_line):
            one = stated(view.settings.table, "API216", line, (column, end_column), api="a use")
            found.append(replace(one, end_line=end_line))
    return found


class _Details(dict[str, str]):
    """Text for the placeholders of a message; a placeholder without text becomes dots."""

    def __init__(self, details: Iterable[tuple[str, str]], **more: str) -> None:
        super().__init__({**more, **dict(details)})

    def __missing__(self, key: str) -> str:
        return "…"
