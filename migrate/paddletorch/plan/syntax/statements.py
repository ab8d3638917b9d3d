"""Statements in their block: whether one stands on lines of its own, and how to take it out."""

from __future__ import annotations

import ast

from paddletorch.model import Edit, Span
from paddletorch.plan.model.view import FileView


def own_line(view: FileView, statement: ast.stmt) -> bool:
    """Whether nothing stands before the statement on its line."""
    line = view.source.line_span(statement.lineno)
    start = view.source.span(statement).start
    return not view.source.body[line.start : start].strip()


def ends_line(view: FileView, statement: ast.stmt) -> bool:
    """Whether only a comment follows the statement on its line."""
    assert statement.end_lineno is not None
    end = view.source.line_span(statement.end_lineno).end
    rest = view.source.body[view.source.span(statement).end : end].strip()
    return not rest or rest.startswith(b"#")


def remove_statement(view: FileView, statement: ast.stmt) -> Edit:
    """Delete the statement with its line, or leave ``pass`` where a block would become empty or a comment stay."""
    span = view.source.span(statement)
    assert statement.end_lineno is not None
    last = view.source.line_span(statement.end_lineno)
    alone = own_line(view, statement) and not view.source.body[span.end : last.end].strip()
    if alone and _has_siblings(view, statement):
        return Edit(Span(view.source.line_span(statement.lineno).start, last.end), "")
    return Edit(span, "pass")


def _has_siblings(view: FileView, statement: ast.stmt) -> bool:
    parent = view.parent(statement)
    for field in ("body", "orelse", "finalbody", "handlers"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and statement in block:
            others = [s for s in block if s is not statement and not isinstance(s, ast.Import | ast.ImportFrom)]
            return isinstance(parent, ast.Module) or bool(others)
    return False


def block_of(view: FileView, statement: ast.stmt) -> list[ast.stmt]:
    """The list of statements that holds ``statement``."""
    parent = view.parent(statement)
    for _, value in ast.iter_fields(parent) if parent is not None else ():
        if isinstance(value, list) and statement in value:
            return value
    return [statement]


def insert_after(view: FileView, statement: ast.stmt, text: str, code: str) -> Edit:
    """Put lines of code after the statement, on lines of their own where it has its own."""
    place, start = place_after(view, statement)
    return Edit(Span(place, place), "".join(start + part for part in text.splitlines()), code)


def place_after(view: FileView, statement: ast.stmt) -> tuple[int, str]:
    """Where a statement that follows this one goes, and what stands before it."""
    end = view.source.span(statement).end
    assert statement.end_lineno is not None
    if not (own_line(view, statement) and ends_line(view, statement)):
        return end, "; "
    line = view.source.line_span(statement.end_lineno)
    place = line.start + len(view.source.body[line.start : line.end].rstrip(b"\r\n"))
    return place, view.source.newline + view.source.indentation(statement.lineno)


def insert_before(view: FileView, statement: ast.stmt, text: str, code: str) -> Edit:
    """Put lines of code before the statement."""
    start = view.source.span(statement).start
    own = own_line(view, statement)
    end = view.source.newline + view.source.indentation(statement.lineno) if own else "; "
    return Edit(Span(start, start), "".join(part + end for part in text.splitlines()), code)
