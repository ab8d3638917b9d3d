"""Subscripts of tensors that mean something else in the target: each is replaced or reported."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.model.changes import Changes
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.brackets import with_brackets

CODE = "TEN105"


def replaced_subscripts(
    view: FileView,
    subscripts: Iterable[ast.Subscript],
    edits_of: Callable[[FileView, ast.Subscript], Sequence[Edit] | None],
    replacement: str,
    left: str | None,
) -> Changes:
    """Edit each subscript with the edits of ``edits_of``; ``replacement`` names the result in the record.

    A subscript without edits, or one that must not be edited, is reported with the code ``left``, if it is given.
    """
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    findings: list[Finding] = []
    for node in subscripts:
        free = view.is_located(node) and not view.is_deselected(CODE, node)
        found = edits_of(view, node) if free else None
        if found is not None:
            edits += found
            conversions.append(view.conversion(CODE, node, "Tensor.__getitem__", replacement))
        elif left is not None:
            findings.append(finding(left, node, f"{view.settings.source}.Tensor"))
    return Changes(tuple(edits), tuple(conversions), tuple(findings))


def parts_of(node: ast.Subscript) -> list[ast.expr]:
    """The parts between the brackets, one for each dimension; ``slice(1, None)`` of traced code as ``1:``."""
    return [_as_written(part) for part in (node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice])]


def spans_of(view: FileView, node: ast.Subscript) -> list[Span]:
    """The parts with the brackets around each: ``(None)`` and ``([0])`` of ``x[(None), ([0])]``."""
    spans, start = [], view.source.span(node.value).end
    for part in parts_of(node):
        spans.append(with_brackets(view.source, view.source.span(part), start))
        start = spans[-1].end
    return spans


def _as_written(part: ast.expr) -> ast.expr:
    if isinstance(part, ast.Name) and part.id == "Ellipsis":
        return ast.copy_location(ast.Constant(...), part)
    if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Name) or part.func.id != "slice":
        return part
    if part.keywords or not 1 <= len(part.args) <= 3 or any(isinstance(one, ast.Starred) for one in part.args):
        return part
    ends = [None if is_none(one) else one for one in part.args]
    lower, upper, step = (None, *ends, None) if len(ends) == 1 else (*ends, None, None)[:3]
    return ast.copy_location(ast.Slice(lower, upper, step), part)


def is_none(part: ast.expr) -> bool:
    """Whether the part adds a new axis."""
    return isinstance(part, ast.Constant) and part.value is None


def is_ellipsis(part: ast.expr) -> bool:
    """Whether the part is ``...``."""
    return isinstance(part, ast.Constant) and part.value is Ellipsis
