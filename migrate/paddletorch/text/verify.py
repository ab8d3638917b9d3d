"""Checks that a converted file still compiles, by compiling the statements that changed."""

from __future__ import annotations

import ast
import warnings
from bisect import bisect_right
from collections.abc import Sequence

from paddletorch.model import Edit, Span
from paddletorch.text.masking import parses
from paddletorch.text.source import Source, splice


def find_problem(source: Source, module: ast.Module, edits: Sequence[Edit], body: bytes) -> str | None:
    """Why the new ``body`` does not compile where the old one did, or does not parse; None if it does.

    A file is the sequence of its top-level statements, so only those that contain an edit are compiled; the whole
    file is where two of them share a line.
    """
    if source.masked is not None:
        return None if parses(body) else "LibCST cannot parse it"
    changed = _changed_statements(source, module, edits)
    pairs = [(source.body, body)] if changed is None else changed
    return next((problem for old, new in pairs if (problem := _problem(new, old)) is not None), None)


def faulty_lines(source: Source, module: ast.Module, edits: Sequence[Edit]) -> frozenset[int]:
    """Lines of the statements whose edits by themselves cannot be applied, or result in text with a problem."""
    if source.masked is not None:
        return frozenset()
    statements = [n for n in ast.walk(module) if isinstance(n, ast.stmt)]
    groups: dict[ast.stmt, list[Edit]] = {}
    for edit in edits:
        around = [s for s in statements if _contains(source.span(s), edit.span)]
        if around:
            innermost = min(around, key=lambda s: source.span(s).end - source.span(s).start)
            groups.setdefault(innermost, []).append(edit)
    found: set[int] = set()
    for statement, inside in groups.items():
        try:
            faulty = _problem(splice(source.body, inside), source.body) is not None
        except ValueError:  # the edits overlap
            faulty = True
        if faulty:
            body = getattr(statement, "body", None)
            last = body[0].lineno - 1 if isinstance(body, list) and body else statement.end_lineno or statement.lineno
            found.update(range(statement.lineno, max(last, statement.lineno) + 1))
    return frozenset(found)


def _problem(new: bytes, old: bytes) -> str | None:
    """Why ``new`` does not compile. If ``old`` does not either (``await`` at the top), ``new`` must only parse."""
    problem = _compile_error(new, 0)
    if problem is None or _compile_error(old, 0) is None:
        return problem
    return _compile_error(new, ast.PyCF_ONLY_AST)


def _compile_error(text: bytes, flags: int) -> str | None:
    try:  # compile costs no more than ast.parse and finds more, such as a repeated keyword
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user's own code may cause some
            compile(text.decode("utf-8"), "<converted>", "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__
    return None


def _contains(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _changed_statements(source: Source, module: ast.Module, edits: Sequence[Edit]) -> list[tuple[bytes, bytes]] | None:
    """The old and new text of each top-level statement that an edit touches; None if an edit crosses statements."""
    starts = [0]
    for statement in module.body[1:]:
        line = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
        if statement.col_offset or source.line_starts[line - 1] <= starts[-1]:
            return None  # two statements on one line
        starts.append(source.line_starts[line - 1])
    touched: dict[int, list[Edit]] = {}
    for edit in edits:
        index = bisect_right(starts, edit.span.start) - 1
        touched.setdefault(index, []).append(edit)
    found: list[tuple[bytes, bytes]] = []
    for index, inside in touched.items():
        start = starts[index]
        end = starts[index + 1] if index + 1 < len(starts) else len(source.body)
        if any(edit.span.end > end for edit in inside):
            return None
        moved = [e.moved(-start) for e in inside]
        found.append((source.body[start:end], splice(source.body[start:end], moved)))
    return found
