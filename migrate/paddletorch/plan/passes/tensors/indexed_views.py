"""Tensors or lists behind a slice in a subscript of a view: Paddle mixes up the axes unless the memory is contiguous.

Measured on 3.3.1: ``x.transpose([1, 0, 2])[:, [1, 0]]`` has other values than torch's, and mostly another shape; so
has ``x[:, 1:3][..., index]``. After ``contiguous()``, which copies only what is a view, both give the same. What is
written to a view with gaps by a tensor or a list of indices goes elsewhere, even out of its memory; only a number
arrives, behind a mask or a slice. A view of a tensor that nothing else holds, ``x.sort(-1)[0][:, :2]``, is made
contiguous where it is bound.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from paddletorch_rules.facts import facts

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.dtypes import dtypes_of
from paddletorch.plan.inference.in_place_calls import asks_in_place, writes_in_place
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.model.changes import Changes, Planned, joined
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.tensors.replaced_subscripts import (
    CODE,
    is_ellipsis,
    is_none,
    parts_of,
    replaced_subscripts,
)
from paddletorch.plan.syntax.brackets import first_part
from paddletorch.resolve import Instance

_REFUSED = "TEN215"

_KEEPS_LAYOUT = frozenset({"data", "detach", "requires_grad_", "to", "cpu", "cuda", "type", "type_as", "float"})
"""Members that may give what they are read of."""

_SAME_ORDER = frozenset({"squeeze", "unsqueeze", "view", "view_as", "unflatten"})
"""Views with the elements in the same order."""

_ALWAYS_WHOLE = frozenset({"contiguous", "ravel"})
"""Members among those that may give a view whose result is contiguous."""

_STEPS = 16
"""How many expressions a value is followed through; behind more, it is taken for a view."""


def plan_indexed_views(view: FileView, planned: Planned) -> Changes:
    """``x.t()[:, index]`` becomes ``x.t().contiguous()[:, index]``; what is written to a view that way is reported."""
    taken = {edit.span for edit in planned.edits}  # of ``x[:, [-1]]``, which becomes a slice for older releases
    views = _Views(view)
    late = [node for node in _late_indexed(view) if view.source_tensor(node.value).is_only_object]
    reads = [n for n in late if isinstance(n.ctx, ast.Load) and views.may_be(n.value)]
    reads = [n for n in reads if taken.isdisjoint(view.source.span(part) for part in parts_of(n))]
    writes = [n for n in _written(view, late) if views.is_certain(n.value)]
    read = replaced_subscripts(view, reads, _contiguous, "Tensor.contiguous", None)
    bound: set[ast.expr] = set()  # one view may be written to several times
    written = replaced_subscripts(view, writes, partial(_made_contiguous, bound), "Tensor.contiguous", _REFUSED)
    return joined((read, written))


def _made_contiguous(bound: set[ast.expr], view: FileView, node: ast.Subscript) -> list[Edit] | None:
    """An edit of the one value that the variable holds, if it is a view of a tensor of its own."""
    bindings = tuple(view.evaluator.reaching(node.value)) if isinstance(node.value, ast.Name) else ()
    value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
    if value is None or not view.is_located(value) or not _is_of_new_tensor(view, value):
        return None
    if value in bound:
        return []
    bound.add(value)
    end = view.source.span(value).end
    return [Edit(Span(end, end), ".contiguous()", CODE)]


def _is_of_new_tensor(view: FileView, node: ast.expr) -> bool:
    """Whether the expression is a view of what a function makes on the spot."""
    known = facts()
    passing = known.views["torch"] | known.may_share["torch"] | known.conversions
    while isinstance(node, ast.Subscript):
        node = node.value
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or asks_in_place(node):
        return False
    name, qualified = node.func.attr, view.qualified(node.func) or ""
    is_function = qualified == f"torch.{name}"
    if not is_function and not view.tensor(node.func.value).is_only_object:
        return False
    if name in passing:
        operand = node.func.value if not is_function else next(iter(node.args), None)
        return operand is not None and _is_of_new_tensor(view, operand)
    return not writes_in_place(name) and all(one.arg not in (None, "out") for one in node.keywords)


def _written(view: FileView, late: list[ast.Subscript]) -> Iterator[ast.Subscript]:
    """Subscripts with a tensor or a list of indices; to those of a view with gaps Paddle writes elsewhere."""
    behind = set(late)
    for node in view.tree.of_kind(ast.Subscript):
        if not isinstance(node.ctx, ast.Store) or not (node in behind or view.source_tensor(node.value).is_only_object):
            continue
        indices = [part for part in parts_of(node) if _is_index(view, part)]
        chosen = node not in behind and not all(_may_be_mask(view, part) for part in indices)
        if indices and (chosen or _writes_tensor(view, node)):
            yield node


def _may_be_mask(view: FileView, part: ast.expr) -> bool:
    """Whether the index may hold truth values: it is no list, and not seen to hold integers."""
    return kinds(view, part) != {"sequence"} and view.provide(dtypes_of).of(part) in (None, "bool")


def _late_indexed(view: FileView) -> Iterator[ast.Subscript]:
    """Subscripts whose first tensor or list of indices stands behind a slice or ``...``."""
    for node in view.tree.of_kind(ast.Subscript):
        if isinstance(node.slice, ast.Tuple) and _has_late_index(view, node):
            yield node


def _contiguous(view: FileView, node: ast.Subscript) -> list[Edit] | None:
    end = first_part(view.source, node.value, node).end
    return [Edit(Span(end, end), ".contiguous()", CODE)]


def _has_late_index(view: FileView, node: ast.Subscript) -> bool:
    """Whether the first tensor or list of indices stands behind a slice or ``...``."""
    behind = False
    for part in parts_of(node):
        if isinstance(part, ast.Slice) or is_ellipsis(part):  # None is the matter of the new axes
            behind = True
        elif _is_index(view, part):
            return behind
    return False


def _is_index(view: FileView, part: ast.expr) -> bool:
    """Whether the part is a tensor or a list of indices."""
    if isinstance(part, ast.Slice) or is_ellipsis(part) or is_none(part):
        return False
    found = kinds(view, part)
    return "Tensor" in found or found == {"sequence"}


def _writes_tensor(view: FileView, node: ast.Subscript) -> bool:
    """Whether a tensor is written: numbers arrive where they should."""
    statement = view.parent(node)
    return isinstance(statement, ast.Assign | ast.AugAssign) and "Tensor" in kinds(view, statement.value)


class _Views:
    """Says of the tensors of one file whether they may share their memory with a larger or a permuted one."""

    def __init__(self, view: FileView) -> None:
        self._view = view

    def may_be(self, node: ast.expr) -> bool:
        """Whether the tensor can be a view that is not contiguous; so can what the caller passes."""
        return self._of(node, _STEPS, unseen=True)

    def is_certain(self, node: ast.expr) -> bool:
        """Whether the file makes the view."""
        return self._of(node, _STEPS, unseen=False)

    def _of(self, node: ast.expr, steps: int, *, unseen: bool) -> bool:
        if not steps:
            return unseen
        if isinstance(node, ast.Name):
            bindings = self._view.evaluator.reaching(node)
            values = [b.value for b in bindings if b.kind == "assign" and b.value is not None]
            followed = any(self._of(value, steps - 1, unseen=unseen) for value in values)
            return followed or (unseen and len(values) < len(bindings))
        if isinstance(node, ast.Subscript):
            return self._of_part(node, steps, unseen=unseen)
        if isinstance(node, ast.IfExp):
            return any(self._of(one, steps - 1, unseen=unseen) for one in (node.body, node.orelse))
        if isinstance(node, ast.Call):
            return self._of_call(node, steps, unseen=unseen)
        return self._of_attribute(node, steps, unseen=unseen) if isinstance(node, ast.Attribute) else False

    def _of_part(self, node: ast.Subscript, steps: int, *, unseen: bool) -> bool:
        """Slices and numbers give views, tensors and lists copies; the first part of a view is like the view."""
        parts = parts_of(node)
        if any(_is_index(self._view, part) for part in parts):
            return False
        if not self._view.tensor(node.value).is_only_object:  # an element of ``x.chunk(2)``
            return self._of(node.value, steps - 1, unseen=unseen) if isinstance(node.value, ast.Call) else unseen
        only = parts[0] if len(parts) == 1 and not is_ellipsis(parts[0]) and not is_none(parts[0]) else None
        if only is None or (isinstance(only, ast.Slice) and only.step is not None):
            return True
        return self._of(node.value, steps - 1, unseen=unseen)

    def _of_call(self, node: ast.Call, steps: int, *, unseen: bool) -> bool:
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else ""
        qualified = self._view.qualified(function) or ""
        if qualified.startswith("torch."):
            operand = node.args[0] if node.args else None
            return operand is not None and self._of_member(qualified.rpartition(".")[2], operand, steps, unseen=unseen)
        if isinstance(function, ast.Attribute) and self._view.tensor(function.value).is_only_object:
            return self._of_member(name, function.value, steps, unseen=unseen)
        made = {v for v in self._view.evaluator.values(function) if isinstance(v, Instance)}
        if made and all(v.node is None and not v.external_class for v in made):  # a layer of the framework
            return False
        return unseen

    def _of_attribute(self, node: ast.Attribute, steps: int, *, unseen: bool) -> bool:
        if self._view.tensor(node.value).is_only_object:
            return self._of_member(node.attr, node.value, steps, unseen=unseen)
        stores = self._view.evaluator.stores_of(node)
        return any(self._of(store.value, steps - 1, unseen=unseen) for store in stores if store.value is not None)

    def _of_member(self, name: str, operand: ast.expr, steps: int, *, unseen: bool) -> bool:
        """Whether what a function or method of this name gives of the operand can be such a view."""
        known = facts()
        if name in _ALWAYS_WHOLE or name in known.copied_views["torch"]:
            return False
        if name in known.views["torch"] - _SAME_ORDER - _KEEPS_LAYOUT:
            return True
        follows = name in _SAME_ORDER or name in _KEEPS_LAYOUT or name in known.may_share["torch"]
        return follows and self._of(operand, steps - 1, unseen=unseen)
