"""Statements in their block: whether one stands on lines of its own, and how to take it out."""

from __future__ import annotations

import ast

from paddletorch.model import Edit, Span
from paddletorch.plan.model.context import FileContext


def own_line(context: FileContext, statement: ast.stmt) -> bool:
    """Whether nothing stands before the statement on its line."""
    line = context.source.line_span(statement.lineno)
    start = context.source.span(statement).start
    return not context.source.body[line.start : start].strip()


def ends_line(context: FileContext, statement: ast.stmt) -> bool:
    """Whether only a comment follows the statement on its line."""
    assert statement.end_lineno is not None
    end = context.source.line_span(statement.end_lineno).end
    rest = context.source.body[context.source.span(statement).end : end].strip()
    return not rest or rest.startswith(b"#")


def remove_statement(context: FileContext, statement: ast.stmt) -> Edit:
    """Delete the statement with its line, or leave ``pass`` where a block would become empty or a comment stay."""
    span = context.source.span(statement)
    assert statement.end_lineno is not None
    last = context.source.line_span(statement.end_lineno)
    alone = own_line(context, statement) and not context.source.body[span.end : last.end].strip()
    if alone and _has_siblings(context, statement):
        return Edit(Span(context.source.line_span(statement.lineno).start, last.end), "")
    return Edit(span, "pass")


def _has_siblings(context: FileContext, statement: ast.stmt) -> bool:
    parent = context.parent(statement)
    for field in ("body", "orelse", "finalbody", "handlers"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and statement in block:
            others = [s for s in block if s is not statement and not isinstance(s, ast.Import | ast.ImportFrom)]
            return isinstance(parent, ast.Module) or bool(others)
    return False


def block_of(context: FileContext, statement: ast.stmt) -> list[ast.stmt]:
    """The list of statements that holds ``statement``."""
    parent = context.parent(statement)
    for _, value in ast.iter_fields(parent) if parent is not None else ():
        if isinstance(value, list) and statement in value:
            return value
    return [statement]


def insert_after(context: FileContext, statement: ast.stmt, text: str, code: str) -> Edit:
    """Put lines of code after the statement, on lines of their own where it has its own."""
    place, start = place_after(context, statement)
    return Edit(Span(place, place), "".join(start + part for part in text.splitlines()), code)


def place_after(context: FileContext, statement: ast.stmt) -> tuple[int, str]:
    """Where a statement that follows this one goes, and what stands before it."""
    end = context.source.span(statement).end
    assert statement.end_lineno is not None
    if not (own_line(context, statement) and ends_line(context, statement)):
        return end, "; "
    line = context.source.line_span(statement.end_lineno)
    place = line.start + len(context.source.body[line.start : line.end].rstrip(b"\r\n"))
    return place, context.source.newline + context.source.indentation(statement.lineno)


def insert_before(context: FileContext, statement: ast.stmt, text: str, code: str) -> Edit:
    """Put lines of code before the statement."""
    start = context.source.span(statement).start
    own = own_line(context, statement)
    end = context.source.newline + context.source.indentation(statement.lineno) if own else "; "
    return Edit(Span(start, start), "".join(part + end for part in text.splitlines()), code)
