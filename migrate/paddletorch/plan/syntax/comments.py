"""Comments between arguments that edits would delete: they are moved above the statement."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Sequence

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.statements import own_line


def plan_comments(view: FileView, planned: Planned) -> Changes:
    """Insert the comments that the edits so far would delete above their statements."""
    edits = planned.edits
    suspect = [e.span for e in edits if b"#" in view.source.body[e.span.start : e.span.end]]
    if not suspect:
        return NOTHING
    unchanged = [p for e in edits for p in e.parts if isinstance(p, Span)]
    lost: dict[ast.stmt, list[str]] = {}
    statements = [node for node in view.tree.parents if isinstance(node, ast.stmt)]
    for comment in _comments(view):
        if any(span.holds(comment) for span in suspect) and not any(part.holds(comment) for part in unchanged):
            statement = _statement_at(statements, view.source.position(comment.start)[0])
            if statement is not None and own_line(view, statement):
                lost.setdefault(statement, []).append(view.source.slice(comment))
    return Changes(tuple(_above(view, statement, comments) for statement, comments in lost.items()))


def _comments(view: FileView) -> list[Span]:
    found: list[Span] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(view.source.text).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                before = view.source.slice(view.source.line_span(row))[:column]
                start = view.source.offset(row, len(before.encode("utf-8")))
                found.append(Span(start, start + len(token.string.encode("utf-8"))))
    except (tokenize.TokenError, SyntaxError, IndexError):
        return []
    return found


def _statement_at(statements: Sequence[ast.stmt], line: int) -> ast.stmt | None:
    """The innermost statement on the line."""
    around = [n for n in statements if n.lineno <= line <= (n.end_lineno or n.lineno)]
    return max(around, key=lambda s: (s.lineno, s.col_offset), default=None)


def _above(view: FileView, statement: ast.stmt, comments: Sequence[str]) -> Edit:
    start = view.source.span(statement).start
    end = view.source.newline + view.source.indentation(statement.lineno)
    return Edit(Span(start, start), "".join(comment + end for comment in comments))
