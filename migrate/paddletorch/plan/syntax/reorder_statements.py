"""Reorders the statements of one block: a scheduler moves behind its optimizer."""

from __future__ import annotations

import ast
from typing import NamedTuple

from paddletorch.model import Edit, Span
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.statements import ends_line, own_line


class Move(NamedTuple):
    """``statements`` move, in order, behind ``anchor``; all are in one block, on lines of their own."""

    statements: tuple[ast.stmt, ...]
    anchor: ast.stmt


def can_move(view: FileView, statements: list[ast.stmt], anchor: ast.stmt) -> bool:
    """Whether each of the statements has lines of its own."""
    return all(own_line(view, s) and ends_line(view, s) for s in (*statements, anchor))


def reordered(view: FileView, block: list[ast.stmt], moves: list[Move], code: str) -> Edit:
    """One edit that reorders the lines of a block."""
    moving = {statement for move in moves for statement in move.statements}
    behind: dict[ast.stmt, list[ast.stmt]] = {}
    for move in moves:
        behind.setdefault(move.anchor, []).extend(move.statements)
    touched = [i for i, s in enumerate(block) if s in moving or s in behind]
    run = block[touched[0] : touched[-1] + 1]
    parts: list[str | Span] = []
    start = position = _lines(view, run[0], comments=run[0] in moving).start
    for statement in run:
        lines = _lines(view, statement, comments=statement in moving)
        if lines.start > position:
            _append(parts, Span(position, lines.start))
        if statement not in moving:
            _append(parts, lines)
        for follower in behind.get(statement, ()):
            if not view.source.body[lines.start : lines.end].endswith(b"\n"):
                parts.append(view.source.newline)
            parts.append(_lines(view, follower, comments=True))
        position = lines.end
    return Edit(Span(start, position), "", code, tuple(parts))


def _append(parts: list[str | Span], span: Span) -> None:
    """Append a span; merge it with the last one if they touch, so that an insertion between them is kept."""
    last = parts[-1] if parts else None
    if isinstance(last, Span) and last.end == span.start:
        parts[-1] = Span(last.start, span.end)
    else:
        parts.append(span)


def _lines(view: FileView, statement: ast.stmt, *, comments: bool = False) -> Span:
    """The statement's lines, with the line break at the end, and with ``comments`` those directly above it."""
    assert statement.end_lineno is not None
    first = statement.lineno
    while comments and first > 1 and _is_comment(view, first - 1, view.source.indentation(statement.lineno)):
        first -= 1
    return Span(view.source.line_span(first).start, view.source.line_span(statement.end_lineno).end)


def _is_comment(view: FileView, line: int, indentation: str) -> bool:
    span = view.source.line_span(line)
    text = view.source.slice(span)
    return text.startswith(indentation + "#")
