"""Tensors that NumPy's functions take, ``np.mean(loss)``, and arrays that tensors take, on the way to torch.

NumPy reads a tensor of Paddle whatever it is; one of torch that needs a gradient, or lies on a GPU, raises an error,
and some functions of NumPy call the tensor's method of their name with arguments that torch's does not take. A part of
a tensor of Paddle may be assigned an array, ``x[:2] = np.ones((2, 4))``; one of torch takes tensors and numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
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
    conversions = [
        view.conversion(_CODE, node, "a tensor given to NumPy", ".detach().cpu().numpy()") for node in _given(view)
    ]
    changes = Changes(tuple(edits), tuple(conversions))
    return joined([changes, *(_as_tensor(view, planned, node) for node in _assigned(view))])


def _as_tensor(view: FileView, planned: Planned, node: ast.expr) -> Changes:
    edit = Edit(view.source.span(node), "", _CODE, ("torch.as_tensor(", view.source.span(node), ")"))
    try:
        changes = spelled(view, planned.naming.aliases, node, (edit,), "paddle.Tensor")
    except Refused:
        return NOTHING
    written = view.conversion(_CODE, node, "an array given to a part of a tensor", "torch.as_tensor")
    return changes._replace(conversions=(written,))


def _assigned(view: FileView) -> Iterator[ast.expr]:
    """The arrays that parts of tensors are assigned."""
    for statement in view.tree.of_kind(ast.Assign):
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, ast.Subscript) or not _is_tensor(view, target.value):
            continue
        if _is_array(view, statement.value) and not view.is_deselected(_CODE, statement.value):
            yield statement.value


def _is_array(view: FileView, node: ast.expr) -> bool:
    """Whether NumPy makes it, there or in the one assignment of a variable; its methods give arrays too."""
    if isinstance(node, ast.Name) and node in view.tree.scopes:
        reached = tuple(view.evaluator.reaching(node))
        made = reached[0].value if len(reached) == 1 and reached[0].kind == "assign" else None
        return isinstance(made, ast.Call) and _is_array(view, made)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name):
        return False
    if (view.qualified(node.func) or "").startswith("numpy."):
        return True
    method = node.func if isinstance(node.func, ast.Attribute) else None
    return method is not None and method.attr in _SAME and _is_array(view, method.value)


_SAME = frozenset({"astype", "copy", "flatten", "reshape", "transpose"})


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
