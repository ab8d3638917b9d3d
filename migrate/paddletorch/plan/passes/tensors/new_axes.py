"""Subscripts with ``None`` before a tensor or list: Paddle indexes the wrong axis, so ``unsqueeze`` adds the axis.

Measured on 3.3.1, ``x`` of shape [4, 5, 6] and ``i`` of two numbers: ``x[:, None, i]`` has shape [4, 2, 5, 6], torch's
[4, 1, 2, 6]. ``None`` after the index, or with slices and numbers only, means the same on both sides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.tensors.replaced_subscripts import (
    CODE,
    is_ellipsis,
    is_none,
    parts_of,
    replaced_subscripts,
    spans_of,
)

_REFUSED = "TEN213"


def plan_new_axes(view: FileView, planned: Planned) -> Changes:
    """``x[:, None, i]`` becomes ``x[:, i].unsqueeze(1)``; other subscripts are reported."""
    return replaced_subscripts(view, _with_early_axes(view), _unsqueezed, "Tensor.unsqueeze", _REFUSED)


def _with_early_axes(view: FileView) -> Iterator[ast.Subscript]:
    """Subscripts of tensors with a new axis before an index."""
    for node in view.tree.subscripts:
        if not isinstance(node.slice, ast.Tuple):
            continue
        indices = _indices(view, node)
        if _early_axes(node, indices) and _may_be_tensor(view, node.value, node.slice.elts[indices[-1]]):
            yield node


def _unsqueezed(view: FileView, node: ast.Subscript) -> list[Edit] | None:
    """The subscript without its early new axes, and ``unsqueeze`` for each; None if their positions are unknown."""
    parts, indices = parts_of(node), _indices(view, node)
    early = _early_axes(node, indices)
    before = parts[: early[-1]]
    if not isinstance(node.ctx, ast.Load) or early[-1] > indices[0] or any(is_ellipsis(p) for p in before):
        return None
    if not view.tensor(node.value).is_only_object:
        return None
    axes = [sum(isinstance(p, ast.Slice) or is_none(p) for p in parts[:k]) for k in early]
    wholes = spans_of(view, node)
    edits = []
    for k in early:
        edits.append(Edit(Span(wholes[k].start, wholes[k + 1].start), "", CODE))
    end = view.source.span(node).end
    return [*edits, Edit(Span(end, end), "".join(f".unsqueeze({axis})" for axis in axes), CODE)]


def _indices(view: FileView, node: ast.Subscript) -> list[int]:
    """Positions of the parts that can be tensors or lists of indices."""
    return [k for k, part in enumerate(parts_of(node)) if _may_be_index(view, part)]


def _early_axes(node: ast.Subscript, indices: list[int]) -> list[int]:
    """Positions of the parts that add a new axis before the last index."""
    return [k for k, part in enumerate(parts_of(node)) if indices and k < indices[-1] and is_none(part)]


def _may_be_index(view: FileView, part: ast.expr) -> bool:
    """Whether the part can be a tensor or a list of indices: it is no slice and not certainly a number."""
    if isinstance(part, ast.Slice) or is_none(part) or is_ellipsis(part):
        return False
    found = kinds(view, part)
    return not found or bool(found & {"Tensor", "sequence"})


def _may_be_tensor(view: FileView, node: ast.expr, index: ast.expr) -> bool:
    """Whether this is a tensor, or is indexed with one."""
    found = view.tensor(node)
    return found.is_only_object or (not found.is_seen and not found.has_others and "Tensor" in kinds(view, index))
