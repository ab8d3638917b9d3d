"""Comments between arguments that edits would delete: they are moved above the statement."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.comment_spans import comments_between
from paddletorch.plan.syntax.statements import first_on_line
from paddletorch.resolve.scopes.spans import SpanIndex


def plan_comments(view: FileView, planned: Planned) -> Changes:
    """Insert the comments that the edits so far would delete above their statements."""
    edits = planned.edits
    suspect = [e.span for e in edits if b"#" in view.source.body[e.span.start : e.span.end]]
    if not suspect:
        return NOTHING
    kept = view.kept(edits)
    if kept is None:
        return NOTHING  # the edits cannot be applied, which is reported
    removed = _index(suspect)
    comments = [
        comment
        for comment in _comments(view, suspect)
        if any(removed.around((comment.start, 0), (comment.end, 0))) and not kept.holds(comment)
    ]
    lost: dict[ast.stmt, list[str]] = {}
    nodes = view.tree.statements if comments else ()
    statements = SpanIndex(((n.lineno, n.col_offset), ((n.end_lineno or n.lineno) + 1, 0), n) for n in nodes)
    for comment in comments:
        line = view.source.position(comment.start)[0]
        statement = statements.innermost((line, comment.end))  # the innermost one on the line
        statement = statement and first_on_line(view, statement)
        if statement is not None:
            lost.setdefault(statement, []).append(view.source.slice(comment))
    return Changes(tuple(_above(view, statement, comments) for statement, comments in lost.items()))


def _comments(view: FileView, suspect: Iterable[Span]) -> list[Span]:
    """The comments of the top-level statements in which the spans are."""
    starts = _statement_lines(view)
    lines = ((view.source.position(place)[0] for place in (span.start, span.end)) for span in suspect)
    numbers = (range(*(bisect_right(starts, line) - 1 + n for n, line in enumerate(pair))) for pair in lines)
    touched = sorted({number for some in numbers for number in some})
    return [comment for number in touched for comment in comments_between(view, *starts[number : number + 2])]


def _statement_lines(view: FileView) -> list[int]:
    """The first line of the file, and those where a top-level statement begins that shares it with no other one."""
    found = [1]
    ended = 0
    for statement in view.tree.module.body:
        first = view.source.first_line(statement)
        above = view.source.line_span(max(first - 1, 1))
        continued = view.source.body[above.start : above.end].rstrip(b"\r\n").endswith(b"\\")
        if first > max(ended, found[-1]) and not continued:
            found.append(first)
        ended = statement.end_lineno or statement.lineno
    return found


def _index(spans: Iterable[Span]) -> SpanIndex[bool]:
    return SpanIndex(((span.start, 0), (span.end, 0), True) for span in spans)


def _above(view: FileView, statement: ast.stmt, comments: Sequence[str]) -> Edit:
    start = view.source.span(statement).start
    end = view.source.newline + view.source.indentation(statement.lineno)
    return Edit(Span(start, start), "".join(comment + end for comment in comments))
