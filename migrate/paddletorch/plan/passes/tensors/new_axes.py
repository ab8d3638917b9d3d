"""Subscripts with ``None`` before a tensor or list: Paddle reads the wrong axis, so the new axis is made afterwards.

Measured on 3.3.1, ``x`` of shape [4, 5, 6] and ``i`` of two numbers: ``x[:, None, i]`` has shape [4, 2, 5, 6], torch's
[4, 1, 2, 6]. After the index ``None`` is right on both sides, and so it is among slices and numbers alone.
"""

from __future__ import annotations

import ast

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Instance

_CODE = "TEN105"
_REFUSED = "TEN213"


def plan_new_axes(view: FileView) -> tuple[list[Edit], list[Conversion]]:
    """``x[:, None, i]`` becomes ``x[:, i].unsqueeze(1)``; what cannot be written so is reported."""
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    if view.target != "paddle":
        return edits, conversions
    for node in view.tree.subscripts:
        if not isinstance(node.slice, ast.Tuple):
            continue
        parts = node.slice.elts
        last = max((k for k, p in enumerate(parts) if _may_be_index(view, p)), default=-1)
        early = [k for k, p in enumerate(parts) if k < last and _is_none(p)]
        if not early or not _may_be_tensor(view, node.value, parts[last]):
            continue
        free = view.is_located(node) and not view.leaves(_CODE, node)
        found = _moved(view, node, parts, early) if free else None
        if found is None:
            view.report(_REFUSED, node, "torch.Tensor")
            continue
        edits += found
        line, column = view.source.position(view.source.span(node).start)
        conversions.append(Conversion(_CODE, "Tensor.__getitem__", "Tensor.unsqueeze", line, column))
    return edits, conversions


def _moved(view: FileView, node: ast.Subscript, parts: list[ast.expr], early: list[int]) -> list[Edit] | None:
    """The subscript without its early new axes, and ``unsqueeze`` for each; None if their places cannot be said."""
    first = next(k for k, p in enumerate(parts) if _may_be_index(view, p))
    before = parts[: early[-1]]
    if not isinstance(node.ctx, ast.Load) or early[-1] > first or any(_is_dots(p) for p in before):
        return None
    if not _is_tensor(view, node.value):
        return None
    axes = [sum(isinstance(p, ast.Slice) or _is_none(p) for p in parts[:k]) for k in early]
    edits = []
    for k in early:
        start = view.source.span(parts[k]).start
        edits.append(Edit(Span(start, view.source.span(parts[k + 1]).start), "", _CODE))
    end = view.source.span(node).end
    return [*edits, Edit(Span(end, end), "".join(f".unsqueeze({axis})" for axis in axes), _CODE)]


def _may_be_index(view: FileView, part: ast.expr) -> bool:
    """Whether the part can be a tensor or a list of indices: it is no slice, and not seen to be one number."""
    if isinstance(part, ast.Slice) or _is_none(part) or _is_dots(part):
        return False
    found = kinds(view, part)
    return not found or bool(found & {"Tensor", "sequence"})


def _may_be_tensor(view: FileView, node: ast.expr, index: ast.expr) -> bool:
    """Whether this is seen to be a tensor, or to be indexed with one."""
    values = view.evaluator.values(node)
    if any(isinstance(v, Instance) for v in values):
        return _is_tensor(view, node)
    return "Tensor" in kinds(view, index)


def _is_tensor(view: FileView, node: ast.expr) -> bool:
    instances = [v for v in view.evaluator.values(node) if isinstance(v, Instance)]
    return bool(instances) and all(v.type == "tensor" for v in instances)


def _is_none(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value is None


def _is_dots(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value is Ellipsis
