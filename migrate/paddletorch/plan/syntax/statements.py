"""Statements in their block: whether one has its own lines, how to remove it, how to insert beside it."""

from __future__ import annotations

import ast

from paddletorch.model import Edit, Span
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.comment_spans import comment_spans

_GOES_ON = (b"\\\n", b"\\\r\n", b"\\\r")
"""How a line ends that the next one continues, unless a comment does."""


def own_line(view: FileView, statement: ast.stmt) -> bool:
    """Whether nothing stands before the statement on its line, which does not go on from the line above."""
    body, line = view.source.body, view.source.line_span(statement.lineno)
    if body[line.start : view.source.span(statement).start].strip():
        return False
    number = view.source.logical_line(statement.lineno)
    start = view.source.line_span(number).start
    return not body.endswith(_GOES_ON, 0, start) or b"#" in body[view.source.line_span(number - 1).start : start]


def first_on_line(view: FileView, statement: ast.stmt) -> ast.stmt | None:
    """The statement, or the nearest one before or around it, that has nothing before it on its line."""
    current: ast.stmt | None = statement
    while current is not None and not own_line(view, current):
        block = block_of(view, current)
        place = view.tree.place(current)
        parent = view.parent(current)
        if place is not None and place[1]:
            current = block[place[1] - 1]
        else:
            current = view.statement(parent) if parent is not None else None
    return current


def ends_line(view: FileView, statement: ast.stmt) -> bool:
    """Whether only a comment follows the statement on its line."""
    assert statement.end_lineno is not None
    end = view.source.line_span(statement.end_lineno).end
    rest = view.source.body[view.source.span(statement).end : end].strip()
    return not rest or rest.startswith(b"#")


def remove_statement(view: FileView, statement: ast.stmt) -> Edit:
    """Delete the statement with its line, but not its comments; without the line where it shares that with others.

    What is left of such a line, and of a block that has no statement left, is put right by ``plan_emptied_blocks``.
    """
    span = view.source.span(statement)
    assert statement.end_lineno is not None
    last = view.source.line_span(statement.end_lineno)
    rest = view.source.body[span.end : last.end]
    if not own_line(view, statement) or not ends_line(view, statement):
        return Edit(span, "")
    if comments := comments_in(view, span):
        separator = view.source.newline + view.source.indentation(statement.lineno)
        parts = [part for comment in comments for part in (separator, comment)]
        return Edit(span, "", parts=tuple(parts[1:]))
    if rest.strip():
        return Edit(Span(span.start, last.end - len(rest.lstrip(b" \t"))), "")
    first = view.source.logical_line(statement.lineno)
    return Edit(Span(view.source.line_span(first).start, last.end), "")


def comments_in(view: FileView, span: Span) -> list[Span]:
    """The comments inside ``span``."""
    if b"#" not in view.source.body[span.start : span.end]:
        return []
    return [comment for comment in view.provide(comment_spans) if span.holds(comment)]


def block_of(view: FileView, statement: ast.stmt) -> list[ast.stmt]:
    """The list of statements that contains ``statement``."""
    parent = view.parent(statement)
    for _, value in ast.iter_fields(parent) if parent is not None else ():
        if isinstance(value, list) and _is_in(statement, value):
            return value
    return [statement]


def _is_in(statement: ast.stmt, block: list[ast.AST]) -> bool:
    """Whether a statement of the parent is one of ``block``, by its position: a block may be long."""
    if not block or not isinstance(block[0], ast.stmt) or not isinstance(block[-1], ast.stmt):
        return False
    return start_of(block[0]) <= start_of(statement) <= start_of(block[-1])


def start_of(statement: ast.stmt) -> tuple[int, int]:
    """Line and column at which the statement begins: the order of statements, also of those that share a line."""
    return statement.lineno, statement.col_offset


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
    """Insert code before the statement and its decorators; one with a block cannot share a line, so it breaks it."""
    indentation = view.source.indentation(statement.lineno)
    first = view.source.first_line(statement)
    if first < statement.lineno:
        place = view.source.line_span(first).start  # the decorators may go with their lines
        lines = [indentation + part + view.source.newline for part in text.splitlines()]
        return Edit(Span(place, place), "".join(lines), code)
    start = view.source.span(statement).start
    own = own_line(view, statement)
    line = view.source.newline + indentation
    before = None if own or "\n" not in text else _before_on_line(view, statement)
    if before is not None:
        inserted = "".join(line + part for part in text.splitlines())
        return Edit(Span(view.source.span(before).end, start), inserted + line, code)
    end = line if own else "; "
    return Edit(Span(start, start), "".join(part + end for part in text.splitlines()), code)


def has_room_before(view: FileView, statement: ast.stmt) -> bool:
    """Whether a statement with a block can be inserted before this one: not in the line of ``for x in y: step()``."""
    return own_line(view, statement) or _before_on_line(view, statement) is not None


def _before_on_line(view: FileView, statement: ast.stmt) -> ast.stmt | None:
    """The statement of the same block before this one, if the first statement of the line is of the block too."""
    shared = [one for one in block_of(view, statement) if one.lineno == statement.lineno]
    index = shared.index(statement)
    return shared[index - 1] if index and own_line(view, shared[0]) else None
