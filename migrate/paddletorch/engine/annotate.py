"""Writes a comment above each statement that has a finding."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from paddletorch.model import Edit, Span
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.statements import first_on_line

_PREFIX = "# paddletorch: "


def annotation_edits(view: FileView, findings: Iterable[Finding]) -> list[Edit]:
    """Edits that add one comment for each code above each statement, unless the comment is there already."""
    comments: dict[int, list[str]] = {}
    for finding in findings:
        spec = view.settings.table.diagnostics[finding.code]
        if spec.severity == "info":
            continue
        text = f"{_PREFIX}{finding.code} {spec.title}"
        line = _line(view, finding.node)
        texts = comments.setdefault(line, [])
        if text not in texts and text not in _comments_above(view, line):
            texts.append(text)
    edits: list[Edit] = []
    for line, texts in comments.items():
        start = view.source.line_span(line).start
        indentation = view.source.indentation(line)
        comment = "".join(f"{indentation}{text}{view.source.newline}" for text in texts)
        if comment:
            edits.append(Edit(Span(start, start), comment))
    return edits


def _line(view: FileView, node: ast.AST) -> int:
    """The line above which the comment goes: the first line of the statement, or of its first decorator."""
    inside = view.statement(node)
    statement = first_on_line(view, inside) if inside is not None else None
    return 1 if statement is None else view.source.first_line(statement)


def _comments_above(view: FileView, line: int) -> set[str]:
    found: set[str] = set()
    while line > 1:
        line -= 1
        text = view.source.slice(view.source.line_span(line)).strip()
        if not text.startswith("#"):
            break
        found.add(text)
    return found
