"""Tensors that NumPy's functions take, ``np.mean(loss)``, on the way to torch.

NumPy reads a tensor of Paddle whatever it is; one of torch that needs a gradient, or lies on a GPU, raises an error,
and some functions of NumPy call the tensor's method of their name with arguments that torch's does not take.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.precedence import ATOM, precedence_of
from paddletorch.resolve import Instance

_CODE = "TEN106"


def plan_arrays_of_tensors(view: FileView, planned: Planned) -> Changes:
    """Give NumPy the array of each tensor that a call is certainly given."""
    edits = []
    for node in _given(view):
        span = view.source.span(node)
        parts = (span, ".detach().cpu().numpy()")
        edits.append(Edit(span, "", _CODE, parts if precedence_of(node) == ATOM else ("(", parts[0], ")" + parts[1])))
    conversions = tuple(
        view.conversion(_CODE, node, "a tensor given to NumPy", ".detach().cpu().numpy()") for node in _given(view)
    )
    return Changes(tuple(edits), conversions)


def _given(view: FileView) -> Iterator[ast.expr]:
    for call in view.tree.of_kind(ast.Call):
        if not isinstance(call.func, ast.Attribute | ast.Name) or not view.is_located(call):
            continue
        if not (view.qualified(call.func) or "").startswith("numpy."):
            continue
        for node in (*call.args, *(keyword.value for keyword in call.keywords)):
            if _is_tensor(view, node) and not view.is_deselected(_CODE, node):
                yield node


def _is_tensor(view: FileView, node: ast.expr) -> bool:
    """Whether it can be nothing but a tensor; a parameter that only looks like one may be an array."""
    values = view.evaluator.values(node)
    return bool(values) and all(isinstance(value, Instance) and value.type == "tensor" for value in values)
