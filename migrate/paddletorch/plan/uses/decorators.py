"""Decorators that only compile a function: without them it computes the same, and its body can be converted."""

from __future__ import annotations

import ast
from bisect import bisect_left

from paddletorch_rules.facts import facts

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.use import Draft
from paddletorch.plan.model.view import FileView

_Decorated = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def plan_compiling_decorators(view: FileView, planned: Planned) -> Changes:
    """Remove the decorators that compile a function for the source framework, such as ``@torch.jit.script``."""
    compiling = facts().compiling_decorators[view.settings.source]
    draft = Draft(planned.uses)
    compiled = [use for use in planned.uses if not use.converts and use.site.name in compiling]
    placed = sorted(((view.source.span(use.site.node), use) for use in planned.uses if compiled), key=lambda p: p[0])
    for use in compiled:
        site = use.site
        if view.is_deselected(use.row.code, site.node):
            continue
        decorator = site.call or site.node
        parent = view.parent(decorator)
        if not isinstance(parent, _Decorated) or decorator not in parent.decorator_list or _is_inspected(view, parent):
            continue
        removal = _removal(view, parent, decorator)
        if removal is None or view.is_blocked(removal.span):
            continue
        first, last = (
            bisect_left(placed, at, key=lambda p: p[0].start) for at in (removal.span.start, removal.span.end)
        )
        for span, other in placed[first:last]:
            if other is not use and removal.span.holds(span):  # what the decorator is given goes with it
                draft.refuse(other.site, None)
        draft.revise(use.removed_by(removal))
    return Changes(uses=draft.revised) if draft.revised else NOTHING


def _is_inspected(view: FileView, node: _Decorated) -> bool:
    """Whether the file reads an attribute of the compiled object, such as its ``graph``."""
    return any(isinstance(view.parent(load), ast.Attribute) for load in view.tree.names.get(node.name, ()))


def _removal(view: FileView, node: _Decorated, decorator: ast.expr) -> Edit | None:
    """The edit that removes the decorator, but for a comment behind it; None if its lines hold something else."""
    source = view.source
    span, first = source.span(decorator), source.line_span(decorator.lineno)
    last = source.line_span(decorator.end_lineno or decorator.lineno)
    behind = source.body[span.end : last.end]
    before = source.body[first.start : span.start]
    if (
        before.strip() != b"@"
        or b"#" in source.body[span.start : span.end]
        or node.lineno <= (decorator.end_lineno or 0)
    ):
        return None
    if behind.lstrip().startswith(b"#"):
        return Edit(Span(first.start + before.index(b"@"), span.end + behind.index(b"#")), "")
    return None if behind.strip() else Edit(Span(first.start, last.end), "")
