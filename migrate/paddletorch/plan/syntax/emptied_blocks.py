"""What removed statements leave: a block without any gets a ``pass``, a shared line loses their semicolons."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.statements import block_of, own_line


def plan_emptied_blocks(view: FileView, planned: Planned) -> Changes:
    """Insert ``pass`` where the edits so far delete every statement of a block, and tidy the lines of several."""
    with_comments = {e.span for e in planned.edits if e.parts and _keeps_comments_only(view, e)}
    plain = {e.span for e in planned.edits if not e.text and not e.parts and e.span.end > e.span.start}
    deletions = sorted(plain | with_comments)
    if not deletions:
        return NOTHING
    starts = [deletion.start for deletion in deletions]
    deleted: dict[ast.stmt, Span] = {}
    position = view.source.position
    lines = {line for d in deletions for line in range(position(d.start)[0], position(d.end)[0] + 1)}
    for node in [node for node in view.tree.statements if node.lineno in lines]:
        index = bisect_right(starts, view.source.offset(node.lineno, node.col_offset)) - 1
        if index >= 0 and deletions[index].holds(view.source.span(node)):
            deleted[node] = deletions[index]
    firsts = {block[0]: block for block in (block_of(view, s) for s in deleted)}
    emptied = [
        first
        for first, block in firsts.items()
        if all(s in deleted for s in block) and not isinstance(view.parent(first), ast.Module)
    ]
    alone = {s for s, deletion in deleted.items() if _alone(view, s, deletion) and deletion not in with_comments}
    passes = [
        _pass_below(view, s, deleted[s]) if deleted[s] in with_comments else _pass(view, s, deleted[s])
        for s in emptied
        if _around(view, s) not in deleted
    ]
    shared = {chain[0]: chain for chain in (_on_one_line(view, s) for s in deleted if s in alone)}
    tidied = [edit for chain in shared.values() for edit in _tidied(view, chain, deleted, chain[0] in emptied)]
    return Changes((*passes, *tidied))


def _keeps_comments_only(view: FileView, edit: Edit) -> bool:
    """Whether comments are all that the edit leaves of a statement."""
    body = view.source.body
    return all(
        not p.strip() if isinstance(p, str) else isinstance(p, Span) and body.startswith(b"#", p.start)
        for p in edit.parts
    )


def _around(view: FileView, statement: ast.stmt) -> ast.AST | None:
    """The statement that holds it; a handler is part of its ``try``."""
    parent = view.parent(statement)
    return view.parent(parent) if isinstance(parent, ast.ExceptHandler) else parent


def _alone(view: FileView, statement: ast.stmt, deletion: Span) -> bool:
    """Whether only the statement itself is deleted, not its line."""
    return deletion == view.source.span(statement)


def _pass_below(view: FileView, statement: ast.stmt, deletion: Span) -> Edit:
    """``pass`` below the comments that a deleted statement leaves."""
    line = view.source.newline + view.source.indentation(statement.lineno)
    return Edit(Span(deletion.end, deletion.end), f"{line}pass")


def _pass(view: FileView, statement: ast.stmt, deletion: Span) -> Edit:
    """``pass`` in the place of a deleted statement: before the comment that is kept, or on the line that is deleted."""
    place = Span(deletion.start, deletion.start)
    if _alone(view, statement, deletion):
        return Edit(place, "pass")
    if deletion.start == view.source.span(statement).start:
        return Edit(place, "pass  ")
    return Edit(place, view.source.indentation(statement.lineno) + "pass" + view.source.newline)


def _on_one_line(view: FileView, statement: ast.stmt) -> Sequence[ast.stmt]:
    """The statement with those of its block that semicolons join to it."""
    block = block_of(view, statement)
    place = view.tree.place(statement)
    assert place is not None
    first = last = place[1]
    while first > 0 and not own_line(view, block[first]):
        first -= 1
    while last + 1 < len(block) and not own_line(view, block[last + 1]):
        last += 1
    return block[first : last + 1]


def _tidied(
    view: FileView, chain: Sequence[ast.stmt], deleted: Mapping[ast.stmt, Span], emptied: bool
) -> Iterator[Edit]:
    """Delete the semicolons beside deleted statements, and the line if nothing is left on it."""
    spans = [view.source.span(s) for s in chain]
    gone = [s in deleted for s in chain]
    for index in range(len(chain) - 1):
        if gone[index] or all(gone[index + 1 :]):
            yield Edit(Span(spans[index].end, spans[index + 1].start), "")
    if not all(gone):
        return
    end = spans[-1].end
    assert chain[-1].end_lineno is not None
    line_end = view.source.line_span(chain[-1].end_lineno).end
    rest = view.source.body[end:line_end]
    semicolon = len(rest) - len(rest.lstrip(b" \t;"))
    if emptied:
        if b";" in rest[:semicolon]:
            yield Edit(Span(end, end + rest.index(b";") + 1), "")
    elif rest.strip(b" \t;\r\n\f"):
        yield Edit(Span(end, end + semicolon), "")
    else:
        yield Edit(Span(view.source.line_span(chain[0].lineno).start, spans[0].start), "")
        yield Edit(Span(end, line_end), "")
