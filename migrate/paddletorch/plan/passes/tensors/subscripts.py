"""Subscripts that one framework rejects: torch ``x[:, ::-1]``, Paddle a list of slices, and 2.6 ``x[:, [-1]]``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from packaging.version import Version

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import Changes, Planned, joined
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.tensors.replaced_subscripts import (
    CODE,
    is_ellipsis,
    is_none,
    parts_of,
    replaced_subscripts,
    spans_of,
)
from paddletorch.plan.syntax.brackets import first_part
from paddletorch.resolve import Binding

_BACKWARDS = "TEN212"


def plan_subscripts(view: FileView, planned: Planned) -> Changes:
    """Replace subscripts of tensors that the target rejects; report those that are left."""
    if view.target == "torch":
        return replaced_subscripts(view, _backwards(view), _flipped, "Tensor.flip", _BACKWARDS)
    changes = replaced_subscripts(view, _lists_of_slices(view), _as_tuple, "a tuple", None)
    if view.settings.target_releases.versions[0] < Version("3.0"):
        older = replaced_subscripts(view, _negative_lists(view), _as_slice, "a slice", None)
        changes = joined((changes, older))
    return changes


def _lists_of_slices(view: FileView) -> Iterator[ast.Subscript]:
    """``x[parts]`` where ``parts`` is a list of slices, which torch takes as a tuple; only tensors do."""
    for node in view.tree.subscripts:
        if isinstance(node.slice, ast.Name):
            given = [_value(binding) for binding in view.evaluator.reaching(node.slice)]
            lists = [one for one in given if isinstance(one, ast.List | ast.ListComp | ast.BinOp)]
            if lists and len(lists) == len(given) and all(_holds_slices(view, one) for one in lists):
                yield node


def _value(binding: Binding) -> ast.expr | None:
    """What a name is given, also as one of several: ``first, second = [slice(2)], [slice(3)]``."""
    if binding.kind == "assign":
        return binding.value
    position = binding.path[0] if binding.kind == "unpack" and len(binding.path) == 1 else None
    if position is None or not isinstance(binding.value, ast.Tuple) or position >= len(binding.value.elts):
        return None
    return binding.value.elts[position]


def _holds_slices(view: FileView, node: ast.expr) -> bool:
    """Whether a slice is in one of the lists of the expression."""
    if isinstance(node, ast.BinOp):
        return _holds_slices(view, node.left) or _holds_slices(view, node.right)
    if isinstance(node, ast.ListComp):
        return _is_slice(view, node.elt)
    return isinstance(node, ast.List) and any(_is_slice(view, element) for element in node.elts)


def _is_slice(view: FileView, node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        given = [_value(binding) for binding in view.evaluator.reaching(node)]
        return bool(given) and all(isinstance(one, ast.Call) and _is_slice(view, one) for one in given)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "slice"


def _as_tuple(view: FileView, node: ast.Subscript) -> list[Edit] | None:
    span = view.source.span(node.slice)
    return [Edit(span, "", CODE, ("tuple(", span, ")"))]


def _negative_lists(view: FileView) -> Iterator[ast.Subscript]:
    """Reads such as ``x[:, [-1]]``: Paddle before 3.0 rejects negative numbers in a list."""
    for node in view.tree.subscripts:
        if isinstance(node.ctx, ast.Load) and _negative_list(node) is not None and view.tensor(node.value).is_seen:
            yield node


def _as_slice(view: FileView, node: ast.Subscript) -> list[Edit] | None:
    """``x[:, -1:]`` for ``x[:, [-1]]``."""
    found = _negative_list(node)
    if found is None:
        return None
    part, number = found
    text = f"{number}:" if number == -1 else f"{number}:{number + 1}"
    return [Edit(spans_of(view, node)[parts_of(node).index(part)], text, CODE)]


def _negative_list(node: ast.Subscript) -> tuple[ast.expr, int] | None:
    """The list of one negative number in a subscript, and the number, if everything else is slices and new axes."""
    parts = [p for p in parts_of(node) if not (isinstance(p, ast.Slice) or is_ellipsis(p) or is_none(p))]
    number = _negative(parts[0]) if len(parts) == 1 else None
    return (parts[0], number) if number is not None else None


def _negative(part: ast.expr) -> int | None:
    """-1 for ``[-1]``: a list of one negative number."""
    only = part.elts[0] if isinstance(part, ast.List) and len(part.elts) == 1 else None
    if isinstance(only, ast.UnaryOp) and isinstance(only.op, ast.USub) and isinstance(only.operand, ast.Constant):
        return -only.operand.value if type(only.operand.value) is int and only.operand.value else None
    return None


def _backwards(view: FileView) -> Iterator[ast.Subscript]:
    """Subscripts of tensors with a slice of negative step."""
    for node in view.tree.subscripts:
        if any(_is_backwards(p) for p in parts_of(node)) and view.tensor(node.value).is_seen:
            yield node


def _is_backwards(part: ast.expr) -> bool:
    return isinstance(part, ast.Slice) and isinstance(part.step, ast.UnaryOp) and isinstance(part.step.op, ast.USub)


def _flipped(view: FileView, node: ast.Subscript) -> list[Edit] | None:
    """``x.flip([1])[:, :, 0]`` for ``x[:, ::-1, 0]``; None if the dimension of a part is unknown."""
    parts = parts_of(node)
    if not isinstance(node.ctx, ast.Load) or not all(_takes_one(p) for p in parts) or _may_be_list(view, node):
        return None
    dots = [k for k, p in enumerate(parts) if is_ellipsis(p)]
    if len(dots) > 1:
        return None
    reversed_parts = [k for k, p in enumerate(parts) if _is_backwards(p)]
    if not all(ast.unparse(parts[k]) == "::-1" for k in reversed_parts):
        return None
    dims = [k if not dots or k < dots[0] else k - len(parts) for k in reversed_parts]
    flip = f".flip([{', '.join(map(str, dims))}])"
    end, whole = first_part(view.source, node.value, node).end, view.source.span(node).end
    if all(k in reversed_parts or _is_whole(p) for k, p in enumerate(parts)):
        return [Edit(Span(end, whole), flip, CODE)]
    edits = [Edit(view.source.span(parts[k]), ":", CODE) for k in reversed_parts]
    return [Edit(Span(end, end), flip, CODE), *edits]


_ITERATING = frozenset({"enumerate", "len", "list", "reversed", "zip"})


def _may_be_list(view: FileView, node: ast.Subscript) -> bool:
    """Whether it is ``given[::-1]`` of a parameter without annotation whose parts the function takes one by one."""
    name = node.value
    if not isinstance(name, ast.Name) or not isinstance(node.slice, ast.Slice):
        return False
    scope = view.tree.scopes[name]
    given = [b.node for b in scope.lookup(name.id) if b.kind == "parameter"]
    if not any(isinstance(argument, ast.arg) and argument.annotation is None for argument in given):
        return False
    for read in ast.walk(scope.function().node):
        if isinstance(read, ast.For | ast.comprehension):
            parts = [read.iter]
        elif isinstance(read, ast.Call) and isinstance(read.func, ast.Name) and read.func.id in _ITERATING:
            parts = read.args
        else:
            continue
        if any(isinstance(part, ast.Name) and part.id == name.id for part in parts):
            return True
    return False


def _takes_one(part: ast.expr) -> bool:
    """Whether the part indexes exactly one dimension, or is ``...``."""
    if isinstance(part, ast.Constant):
        return part.value is Ellipsis or (isinstance(part.value, int) and not isinstance(part.value, bool))
    return isinstance(part, ast.Slice) or (isinstance(part, ast.UnaryOp) and isinstance(part.operand, ast.Constant))


def _is_whole(part: ast.expr) -> bool:
    return is_ellipsis(part) or (isinstance(part, ast.Slice) and not (part.lower or part.upper or part.step))
