"""Subscripts of tensors that the target reads in another way: each becomes something else, or a finding says so."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence

from paddletorch.model import Conversion, Edit
from paddletorch.plan.model.changes import Changes
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.view import FileView

CODE = "TEN105"


def replaced_subscripts(
    view: FileView,
    subscripts: Iterable[ast.Subscript],
    edits_of: Callable[[FileView, ast.Subscript], Sequence[Edit] | None],
    replacement: str,
    left: str | None,
) -> Changes:
    """The edits of each subscript, which make a ``replacement`` of it.

    Where there are none, or it is not to be edited, the code ``left`` is reported, if one is given.
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
    """What stands between the brackets, for one dimension after the other."""
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def is_none(part: ast.expr) -> bool:
    """Whether the part makes a new axis."""
    return isinstance(part, ast.Constant) and part.value is None


def is_ellipsis(part: ast.expr) -> bool:
    """Whether the part stands for the dimensions that no other part is for."""
    return isinstance(part, ast.Constant) and part.value is Ellipsis
