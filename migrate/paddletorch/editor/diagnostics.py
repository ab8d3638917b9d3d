"""Findings and uses that would be converted, as the diagnostics of an editor, and the pages behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol.types import CodeDescription, Diagnostic, DiagnosticSeverity, Hover, MarkupContent, MarkupKind, Range
from lsprotocol.types import Position as LspPosition

from paddletorch.editor.checked import Checked
from paddletorch.editor.positions import Positions, holds
from paddletorch.model import Conversion, Severity
from paddletorch.model import Diagnostic as Finding
from paddletorch.report.rule_page import page, page_file

SOURCE = "paddletorch"

_SEVERITIES = {
    Severity.ERROR: DiagnosticSeverity.Error,
    Severity.WARNING: DiagnosticSeverity.Warning,
    Severity.INFO: DiagnosticSeverity.Information,
}
_NAME = re.compile(r"[\w.]+")
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")
_API_LIST = re.compile(r"^## APIs$.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def diagnostics(checked: Checked, positions: Positions) -> list[Diagnostic]:
    """All findings, and as hints the uses that would be converted."""
    found = [_of_finding(one, positions) for one in checked.file.diagnostics]
    return found + [_of_conversion(one, positions) for one in _once(checked.file.conversions)]


def hover(checked: Checked, positions: Positions, place: LspPosition) -> Hover | None:
    """What stands behind a position: the finding or the conversion there, and the page of its code."""
    parts: list[str] = []
    codes: dict[str, None] = {}
    for found in checked.file.diagnostics:
        if holds(_finding_range(found, positions), place):
            parts.append(f"**{found.code}** {_sentence(found)}")
            codes[found.code] = None
    for one in _once(checked.file.conversions):
        if holds(_conversion_range(one, positions), place):
            parts.append(_converted(checked, one))
            codes[one.code] = None
    if not parts:
        return None
    pages = (page(code) for code in codes)
    text = "\n\n---\n\n".join([*parts, *(_readable(one) for one in pages if one)])
    return Hover(MarkupContent(MarkupKind.Markdown, text))


def named(one: Conversion) -> str:
    """``torch.gather -> paddle.take_along_axis``; of a template, what is called."""
    written = one.replacement
    return f"{one.name} -> {written.partition('(')[0]}(...)" if "{" in written else f"{one.name} -> {written}"


def _converted(checked: Checked, one: Conversion) -> str:
    change = next((c for c in checked.changes if one in c.conversions), None)
    text = f"**{one.code}** `{one.name}` would be converted"
    if change is None or one in change.elsewhere:
        return f"{text} to `{one.replacement}`."
    return f"{text}:\n\n```python\n{_dedented(change.new)}\n```"


def _dedented(text: str) -> str:
    from textwrap import dedent

    return dedent(text).strip("\r\n")


def _of_finding(found: Finding, positions: Positions) -> Diagnostic:
    return Diagnostic(
        _finding_range(found, positions),
        _sentence(found),
        severity=_SEVERITIES[found.severity],
        code=found.code,
        code_description=_description(found.code),
        source=SOURCE,
    )


def _of_conversion(one: Conversion, positions: Positions) -> Diagnostic:
    return Diagnostic(
        _conversion_range(one, positions),
        f"Would convert {named(one)}",
        severity=DiagnosticSeverity.Hint,
        code=one.code,
        code_description=_description(one.code),
        source=SOURCE,
    )


def _finding_range(found: Finding, positions: Positions) -> Range:
    start = positions.of(found.line, found.column)
    end = positions.of(found.end_line, found.end_column)
    return Range(start, end if (end.line, end.character) >= (start.line, start.character) else start)


def _conversion_range(one: Conversion, positions: Positions) -> Range:
    """From where the use begins to the end of its name."""
    line = positions.lines[one.line - 1] if 0 < one.line <= len(positions.lines) else ""
    name = _NAME.match(line, one.column - 1)
    end = name.end() + 1 if name else one.column + 1
    return Range(positions.of(one.line, one.column), positions.of(one.line, end))


def _once(conversions: tuple[Conversion, ...]) -> Iterator[Conversion]:
    """Each place and API once."""
    yield from {(one.line, one.column, one.code, one.name): one for one in reversed(conversions)}.values()


def _sentence(found: Finding) -> str:
    return f"{found.message}. {found.hint}" if found.hint else found.message


def _description(code: str) -> CodeDescription | None:
    file = page_file(code)
    return CodeDescription(file.resolve().as_uri()) if file else None


def _readable(text: str) -> str:
    """A page without its list of APIs, and without links that lead nowhere from an editor."""
    return _LINK.sub(r"\1", _API_LIST.sub("", text)).strip()
