"""Statements in their block: whether one has its own lines, how to remove it, how to insert beside it."""

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
    """Delete the statement with its line; leave ``pass`` where the block would become empty or a comment remain."""
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
    """The list of statements that contains ``statement``."""
    parent = view.parent(statement)
    for _, value in ast.iter_fields(parent) if parent is not None else ():
        if isinstance(value, list) and statement in value:
            return value
    return [statement]


def insert_after(view: FileView, statement: ast.stmt, text: str, code: str) -> Edit:
    """Insert code after the statement, on new lines if the statement has its own lines."""
    place, start = place_after(view, statement)
    return Edit(Span(place, place), "".join(start + part for part in text.splitlines()), code)


def place_after(view: FileView, statement: ast.stmt) -> tuple[int, str]:
    """Where a statement is inserted after this one, and the text that separates them."""
    end = view.source.span(statement).end
    assert statement.end_lineno is not None
    if not (own_line(view, statement) and ends_line(view, statement)):
        return end, "; "
    line = view.source.line_span(statement.end_lineno)
    place = line.start + len(view.source.body[line.start : line.end].rstrip(b"\r\n"))
    return place, view.source.newline + view.source.indentation(statement.lineno)


def insert_before(view: FileView, statement: ast.stmt, text: str, code: str) -> Edit:
    """Insert code before the statement."""
    start = view.source.span(statement).start
    own = own_line(view, statement)
    end = view.source.newline + view.source.indentation(statement.lineno) if own else "; "
    return Edit(Span(start, start), "".join(part + end for part in text.splitlines()), code)
