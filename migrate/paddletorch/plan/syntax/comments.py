"""Comments between arguments that edits would delete: they are moved above the statement."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.comment_spans import comment_spans
from paddletorch.plan.syntax.statements import first_on_line
from paddletorch.resolve.scopes.spans import SpanIndex
from paddletorch.text.kept_text import KeptText


def plan_comments(view: FileView, planned: Planned) -> Changes:
    """Insert the comments that the edits so far would delete above their statements."""
    edits = planned.edits
    suspect = [e.span for e in edits if b"#" in view.source.body[e.span.start : e.span.end]]
    if not suspect:
        return NOTHING
    try:
        kept = KeptText(view.source.body, edits)
    except ValueError:
        return NOTHING  # the edits cannot be applied, which is reported
    removed = _index(suspect)
    lost: dict[ast.stmt, list[str]] = {}
    nodes = (node for node in view.tree.parents if isinstance(node, ast.stmt))
    statements = SpanIndex(((n.lineno, n.col_offset), ((n.end_lineno or n.lineno) + 1, 0), n) for n in nodes)
    for comment in view.provide(comment_spans):
        if any(removed.around((comment.start, 0), (comment.end, 0))) and not kept.holds(comment):
            line = view.source.position(comment.start)[0]
            statement = statements.innermost((line, comment.end))  # the innermost one on the line
            statement = statement and first_on_line(view, statement)
            if statement is not None:
                lost.setdefault(statement, []).append(view.source.slice(comment))
    return Changes(tuple(_above(view, statement, comments) for statement, comments in lost.items()))


def _index(spans: Iterable[Span]) -> SpanIndex[bool]:
    return SpanIndex(((span.start, 0), (span.end, 0), True) for span in spans)


def _above(view: FileView, statement: ast.stmt, comments: Sequence[str]) -> Edit:
    start = view.source.span(statement).start
    end = view.source.newline + view.source.indentation(statement.lineno)
    return Edit(Span(start, start), "".join(comment + end for comment in comments))
