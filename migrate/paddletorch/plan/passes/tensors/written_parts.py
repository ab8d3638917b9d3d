"""Methods in place on a part of a tensor, ``y[:, :2].mul_(2)``, on the way to Paddle: no gradient flows through them.

Measured on 3.3.1: the values are right, but the gradients of ``y``, and of a tensor that is written, are those from
before. What is assigned to the part has the right ones: ``y[:, :2] *= 2``.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from paddletorch_rules.facts import facts
from paddletorch_rules.hooks.arguments import is_fresh

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.in_place_calls import writes_in_place
from paddletorch.plan.inference.no_grad import is_without_grad
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.inference.tensor_values import is_tensor
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.precedence import is_closed
from paddletorch.plan.syntax.statements import comments_in
from paddletorch.resolve import Instance
from paddletorch.text.source import has_line_end

_CODE = "TEN106"
_REPORTED = "AGD203"

_WHAT = "in Paddle no gradient flows through what a method writes into a view"

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


_EFFECTS = ast.Call | ast.NamedExpr | ast.Await


def plan_written_parts(view: FileView, planned: Planned) -> Changes:
    """Assign to parts of tensors what methods write into them; report other views that gradients flow through."""
    calls = [(call, f) for call in view.tree.calls if isinstance(f := call.func, ast.Attribute)]
    calls = [(call, f) for call, f in calls if writes_in_place(f.attr) and f.attr not in _OTHERS]
    calls = [(call, f) for call, f in calls if f not in planned.handled and not is_without_grad(view, call)]
    return joined(
        _assigned(view, call, function.value, function.attr)
        if isinstance(function.value, ast.Subscript) and _is_wanted(view, function.value)
        else _reported(view, function)
        for call, function in calls
    )


def _reported(view: FileView, method: ast.Attribute) -> Changes:
    """A view of another kind, ``y.t().mul_(2)``, or one that has a name, of what gradients may flow through."""
    node = method.value
    if isinstance(node, ast.Name):
        given = [b.value for b in view.evaluator.reaching(node) if b.kind == "assign"]
        node = given[0] if len(given) == 1 and given[0] is not None else node
    base = _base(view, node)
    if base is None or not _is_computed(view, base):
        return NOTHING
    return Changes(findings=(finding(_REPORTED, method, f"tensor.{method.attr}", what=_WHAT),))


def _base(view: FileView, node: ast.expr) -> ast.Name | None:
    """The variable of which the expression is a view."""
    steps = 0
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _views():
            node = node.func.value
        elif isinstance(node, ast.Subscript) and _has_basic_index(view, node):
            node = node.value
        else:
            return None
        steps += 1
    return node if steps else None


def _views() -> Collection[str]:
    return facts().views["torch"]


def _is_computed(view: FileView, name: ast.Name) -> bool:
    """Whether the variable is a tensor that is computed, or an input of a module, and not made of numbers."""
    values = view.evaluator.values(name)
    if not values or not all(is_tensor(view, value) for value in values):
        return False
    if any(isinstance(value, Instance) and value.api == "forward" for value in values):
        return True
    given = [binding.value for binding in view.evaluator.reaching(name) if binding.kind == "assign"]
    return any(
        isinstance(value, ast.BinOp | ast.Call) and not is_fresh(value) and not _is_detached(value) for value in given
    )


def _is_wanted(view: FileView, part: ast.Subscript) -> bool:
    """Whether the part is a view of a tensor, and gradients may be asked for."""
    values = view.evaluator.values(part.value)
    if not values or not all(is_tensor(view, value) for value in values) or _is_detached(part.value):
        return False
    return _has_basic_index(view, part) and not _gives_tuple(part.value)


def _gives_tuple(node: ast.expr) -> bool:
    """Whether the part is one of several results: ``x.max(0)[1]``."""
    name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
    return name in facts().with_indices or name in facts().tuple_results


def _has_basic_index(view: FileView, part: ast.Subscript) -> bool:
    indices = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
    return all(_is_basic(view, index) for index in indices)


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
    statement = view.parent(call)
    if not isinstance(statement, ast.Expr):
        return Changes(findings=(finding(_REPORTED, part, f"tensor.{name}", what=_WHAT),))
    whole, written = view.source.span(statement), view.source.span(part)
    left, right = ("", "") if is_closed(view.source.slice(written)) else ("(", ")")
    operator = _OPERATORS.get(name)
    alone = len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred)
    if name == "zero_" and not call.args and not call.keywords:
        edits = (Edit(whole, "", _CODE, (left, written, right, " = 0")),)
    elif operator is not None and alone:
        given = view.source.span(call.args[0])
        before, after = ("(", ")") if has_line_end(view.source.body[given.start : given.end]) else ("", "")
        edits = (Edit(whole, "", _CODE, (left, written, f"{right} {operator} {before}", given, after)),)
    elif comments_in(view, whole) or any(isinstance(node, _EFFECTS) for node in ast.walk(part)):
        return Changes(findings=(finding(_REPORTED, part, f"tensor.{name}", what=_WHAT),))
    else:
        target = Edit(Span(whole.start, whole.start), "", _CODE, (left, written, f"{right} = "))
        copied = Edit(Span(written.end, written.end), ".clone()", _CODE)
        return Changes((target, copied))
    conversion = view.conversion(_CODE, call, f"tensor.{name}", f"{view.text(part)} {operator or '='} ...")
    return Changes(edits, (conversion,), handled=frozenset({call.func}))
