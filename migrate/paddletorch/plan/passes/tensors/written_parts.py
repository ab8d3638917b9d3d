"""Methods in place on a part of a tensor, ``y[:, :2].mul_(2)``, on the way to Paddle: no gradient flows through them.

Measured on 3.3.1: the values are right, but the gradients of ``y``, and of a tensor that is written, are those from
before. What is assigned to the part has the right ones: ``y[:, :2] *= 2``.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.in_place_calls import writes_in_place
from paddletorch.plan.inference.no_grad import is_without_grad
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.inference.tensor_values import is_tensor
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.view import FileView

_CODE = "TEN106"
_REPORTED = "AGD203"

_WHAT = "in Paddle no gradient flows through what a method writes into a part of a tensor"

_OPERATORS: Mapping[str, str] = {
    "add_": "+=",
    "sub_": "-=",
    "subtract_": "-=",
    "mul_": "*=",
    "multiply_": "*=",
    "div_": "/=",
    "divide_": "/=",
    "true_divide_": "/=",
    "copy_": "=",
    "fill_": "=",
}
"""What assigns the same as a method with one argument."""

_OTHERS = frozenset({"requires_grad_", "retain_grad_", "set_", "resize_", "resize_as_", "share_memory_", "apply_"})
"""Methods that change something else than values."""


def plan_written_parts(view: FileView, planned: Planned) -> Changes:
    """Assign to parts of tensors what methods write into them; report where what the method gives back is used."""
    if view.target != "paddle" or view.is_half_converted:
        return NOTHING
    found = ((call, function) for call in view.tree.calls if (function := call.func) not in planned.handled)
    return joined(
        _assigned(view, call, function.value, function.attr)
        for call, function in found
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Subscript)
        if writes_in_place(function.attr) and function.attr not in _OTHERS and _is_wanted(view, function.value)
    )


def _is_wanted(view: FileView, part: ast.Subscript) -> bool:
    """Whether the part is a view of a tensor, and gradients may be asked for."""
    values = view.evaluator.values(part.value)
    if not values or not all(is_tensor(view, value) for value in values) or _is_detached(part.value):
        return False
    indices = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
    return all(_is_basic(view, index) for index in indices) and not is_without_grad(view, part)


def _is_detached(node: ast.expr) -> bool:
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute) and node.attr in ("data", "detach"):
            return True
        node = node.func if isinstance(node, ast.Call) else node.value
    return False


def _is_basic(view: FileView, index: ast.expr) -> bool:
    """Whether the index gives a view: behind tensors and lists torch would write into a copy that nothing keeps."""
    if isinstance(index, ast.Slice):
        return True
    if isinstance(index, ast.Constant):
        return index.value is Ellipsis or type(index.value) is int
    if isinstance(index, ast.List | ast.Compare | ast.Call):
        return False
    found = kinds(view, index)
    return "int" in found or found.isdisjoint({"Tensor", "sequence", "bool"})


def _assigned(view: FileView, call: ast.Call, part: ast.Subscript, name: str) -> Changes:
    if view.is_deselected(_CODE, call):
        return NOTHING
    if not isinstance(view.parent(call), ast.Expr):
        return Changes(findings=(finding(_REPORTED, part, f"tensor.{name}", what=_WHAT),))
    whole, written = view.source.span(call), view.source.span(part)
    operator = _OPERATORS.get(name)
    alone = len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred)
    if name == "zero_" and not call.args and not call.keywords:
        edits = (Edit(whole, "", _CODE, (written, " = 0")),)
    elif operator is not None and alone:
        given = view.source.span(call.args[0])
        before, after = ("(", ")") if "\n" in view.source.slice(given) else ("", "")
        edits = (Edit(whole, "", _CODE, (written, f" {operator} {before}", given, after)),)
    elif any(isinstance(node, ast.Call | ast.NamedExpr | ast.Await) for node in ast.walk(part)):
        return NOTHING  # it would be evaluated twice
    else:
        target = Edit(Span(whole.start, whole.start), "", _CODE, (written, " = "))
        copied = Edit(Span(written.end, written.end), ".clone()", _CODE)
        return Changes((target, copied))
    conversion = view.conversion(_CODE, call, f"tensor.{name}", f"{view.text(part)} {operator or '='} ...")
    return Changes(edits, (conversion,), handled=frozenset({call.func}))
