"""Checks that a converted file still parses, by parsing again what changed."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Sequence

from paddletorch.model import Edit, Span
from paddletorch.newer import parses
from paddletorch.source import Source, splice


def find_problem(source: Source, module: ast.Module, edits: Sequence[Edit], body: bytes) -> str | None:
    """Why the new ``body`` does not parse, or None.

    A file is the sequence of its top-level statements, so only those that hold an edit are parsed again;
    where they cannot be told apart, the whole file is.
    """
    if source.masked is not None:
        return None if parses(body) else "LibCST cannot parse it"
    changed = _changed_statements(source, module, edits)
    for text in [body] if changed is None else changed:
        try:
            ast.parse(text.decode("utf-8"))
        except (SyntaxError, ValueError) as error:
            return str(error)
    return None


def _changed_statements(source: Source, module: ast.Module, edits: Sequence[Edit]) -> list[bytes] | None:
    """The new text of each top-level statement that an edit touches; None if an edit crosses statements."""
    starts = [0]
    for statement in module.body[1:]:
        line = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
        if statement.col_offset or source.line_starts[line - 1] <= starts[-1]:
            return None  # several statements on one line
        starts.append(source.line_starts[line - 1])
    touched: dict[int, list[Edit]] = {}
    for edit in edits:
        index = bisect_right(starts, edit.span.start) - 1
        touched.setdefault(index, []).append(edit)
    found: list[bytes] = []
    for index, inside in touched.items():
        start = starts[index]
        end = starts[index + 1] if index + 1 < len(starts) else len(source.body)
        if any(edit.span.end > end for edit in inside):
            return None
        moved = [Edit(Span(e.span.start - start, e.span.end - start), e.text) for e in inside]
        found.append(splice(source.body[start:end], moved))
    return found
