"""Subscripts that one side refuses: torch takes no ``x[:, ::-1]``, Paddle 2.6 no ``x[:, [-1]]``."""

from __future__ import annotations

import ast

from packaging.version import Version

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Instance

_CODE = "TEN105"
_BACKWARDS = "TEN212"


def plan_subscripts(view: FileView) -> tuple[list[Edit], list[Conversion]]:
    """Edits for subscripts of tensors that the target refuses, and findings for those that stay."""
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    if view.target == "paddle":
        return _last_kept(view)
    for node in view.tree.subscripts:
        if not any(_is_backwards(p) for p in _parts(node)) or not _is_tensor(view, node.value):
            continue
        free = view.is_located(node) and not view.leaves(_CODE, node)
        found = _flipped(view, node) if free else None
        if found is None:
            view.report(_BACKWARDS, node, "paddle.Tensor")
            continue
        edits += found
        line, column = view.source.position(view.source.span(node).start)
        conversions.append(Conversion(_CODE, "Tensor.__getitem__", "Tensor.flip", line, column))
    return edits, conversions


def _last_kept(view: FileView) -> tuple[list[Edit], list[Conversion]]:
    """``x[:, [-1]]`` becomes ``x[:, -1:]``: Paddle before 3.0 refuses negative numbers in a list."""
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    if view.settings.target_releases.versions[0] >= Version("3.0"):
        return edits, conversions
    for node in view.tree.subscripts:
        if not isinstance(node.ctx, ast.Load):
            continue
        lists = [p for p in _parts(node) if not (isinstance(p, ast.Slice) or _is_dots(p) or _is_none(p))]
        number = _negative(lists[0]) if len(lists) == 1 else None
        if number is None or not _is_tensor(view, node.value) or not view.is_located(node):
            continue
        if view.leaves(_CODE, node):
            continue
        text = f"{number}:" if number == -1 else f"{number}:{number + 1}"
        edits.append(Edit(view.source.span(lists[0]), text, _CODE))
        line, column = view.source.position(view.source.span(node).start)
        conversions.append(Conversion(_CODE, "Tensor.__getitem__", "a slice", line, column))
    return edits, conversions


def _negative(part: ast.expr) -> int | None:
    """-1 for ``[-1]``: a list of one negative number."""
    only = part.elts[0] if isinstance(part, ast.List) and len(part.elts) == 1 else None
    if isinstance(only, ast.UnaryOp) and isinstance(only.op, ast.USub) and isinstance(only.operand, ast.Constant):
        return -only.operand.value if type(only.operand.value) is int and only.operand.value else None
    return None


def _is_none(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value is None


def _is_tensor(view: FileView, node: ast.expr) -> bool:
    return any(isinstance(v, Instance) and v.type == "tensor" for v in view.evaluator.values(node))


def _parts(node: ast.Subscript) -> list[ast.expr]:
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def _is_backwards(part: ast.expr) -> bool:
    return isinstance(part, ast.Slice) and isinstance(part.step, ast.UnaryOp) and isinstance(part.step.op, ast.USub)


def _flipped(view: FileView, node: ast.Subscript) -> list[Edit] | None:
    """``x.flip([1])[:, :, 0]`` for ``x[:, ::-1, 0]``; None if a part does not say which dimension it is for."""
    parts = _parts(node)
    if not isinstance(node.ctx, ast.Load) or not all(_takes_one(p) for p in parts):
        return None
    dots = [k for k, p in enumerate(parts) if _is_dots(p)]
    if len(dots) > 1:
        return None
    turned = [k for k, p in enumerate(parts) if _is_backwards(p)]
    if not all(ast.unparse(parts[k]) == "::-1" for k in turned):
        return None
    dims = [k if not dots or k < dots[0] else k - len(parts) for k in turned]
    flip = f".flip([{', '.join(map(str, dims))}])"
    end, whole = view.source.span(node.value).end, view.source.span(node).end
    if all(k in turned or _is_whole(p) for k, p in enumerate(parts)):
        return [Edit(Span(end, whole), flip, _CODE)]
    edits = [Edit(view.source.span(parts[k]), ":", _CODE) for k in turned]
    return [Edit(Span(end, end), flip, _CODE), *edits]


def _takes_one(part: ast.expr) -> bool:
    """Whether the part is for exactly one dimension (or is the dots)."""
    if isinstance(part, ast.Constant):
        return part.value is Ellipsis or (isinstance(part.value, int) and not isinstance(part.value, bool))
    return isinstance(part, ast.Slice) or (isinstance(part, ast.UnaryOp) and isinstance(part.operand, ast.Constant))


def _is_dots(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value is Ellipsis


def _is_whole(part: ast.expr) -> bool:
    return _is_dots(part) or (isinstance(part, ast.Slice) and not (part.lower or part.upper or part.step))
