"""The weight of a linear layer: ``[out, in]`` in torch, ``[in, out]`` in Paddle.

Code that reads values by position gets the transposed weight. Code that changes the weight, or passes the tensor
itself, is reported, since a transposed copy would not be the parameter any more.
"""

from __future__ import annotations

import ast
import re
from typing import TypeGuard

from paddletorch_rules.facts import facts

from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.inference.tied_weights import TiedWeights
from paddletorch.plan.model.refusals import LayoutMatters, Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.resolve import Instance

_TRANSPOSED = "{self}.weight.t()"
_AS_IT_IS = ""
_ASSIGN = "paddle.nn.initializer.Assign"

_FILLS = re.compile(r"_*(trunc_)?(normal|uniform|zeros|ones|constant|xavier_\w+)(_tf)?_")
"""Names of other libraries' functions that initialize a tensor independently of its layout."""


def linear_weight(view: FileView, node: ast.Attribute) -> str | None:
    """The template for ``layer.weight`` of a linear layer; empty where no change is needed.

    Raises:
        Refused: the use depends on the layout, and a transposed copy would not do.
    """
    if isinstance(node.ctx, ast.Store):
        statement = view.parent(node)
        value = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if value is not None and is_linear_weight(view, value):
            return _AS_IT_IS
        raise Refused(LayoutMatters())
    if isinstance(node.ctx, ast.Del):
        return _AS_IT_IS
    value, parent = _past_data(view, node)
    found = _use(view, value, parent)
    if found == _TRANSPOSED and view.target == "paddle" and _is_written(view, value):
        found = None
    if found is None or (_depends_on_layout(view, found, parent) and view.provide(TiedWeights).holds(node.value)):
        raise Refused(LayoutMatters())
    return found


def picked_weight(view: FileView, node: ast.expr) -> str:
    """As ``linear_weight``, for a weight that is picked out of what the layer gives: ``layer.state_dict()["weight"]``.

    Raises:
        Refused: the use depends on the layout, and a transposed copy would not do.
    """
    value, parent = _past_data(view, node)
    found = _use(view, value, parent)
    if found == _TRANSPOSED and view.target == "paddle" and _is_written(view, value):
        found = None
    if found is None:
        raise Refused(LayoutMatters())
    return found.removeprefix("{self}.weight")


def _is_written(view: FileView, node: ast.expr) -> bool:
    """Whether the expression around the weight writes to a part of it: Paddle's ``t()`` is a copy."""
    views = facts().views["torch"] | facts().may_share["torch"]
    current: ast.AST = node
    while True:
        parent = view.parent(current)
        if isinstance(parent, ast.Attribute):
            if parent.attr.endswith("_") and not parent.attr.endswith("__"):
                return True
            if parent.attr not in views:
                return False
        elif isinstance(parent, ast.Subscript) and parent.value is current:
            if not isinstance(parent.ctx, ast.Load):
                return True
        elif not (isinstance(parent, ast.Call) and parent.func is current):
            return False
        current = parent


def _depends_on_layout(view: FileView, template: str, parent: ast.AST | None) -> bool:
    """Whether the use is another one for a weight that has an embedding's layout."""
    call = view.parent(parent) if isinstance(parent, ast.keyword) else parent
    name = view.qualified(call.func) if isinstance(call, ast.Call) else None
    return template == _TRANSPOSED or (name or "").rpartition(".")[2] == "linear"


def other_weight(view: FileView, node: ast.Attribute) -> str | None:
    """As ``linear_weight`` for layers with the same layout on both sides: refuse a linear layer's weight for them."""
    statement = view.parent(node)
    if isinstance(statement, ast.Assign) and isinstance(node.ctx, ast.Store):
        values = view.evaluator.values(statement.value.value) if _is_weight(statement.value) else ()
        if any(isinstance(v, Instance) and v.type == "linear" for v in values):
            raise Refused(LayoutMatters())
    return None


def is_tied_to_unknown(view: FileView, node: ast.Attribute) -> bool:
    """Whether the weight of an embedding is given to a layer that the file does not show: perhaps a linear one."""
    statement = view.parent(node)
    if not isinstance(statement, ast.Assign) or not isinstance(node.ctx, ast.Store) or not _is_weight(statement.value):
        return False
    values = view.evaluator.objects(statement.value.value)
    if not any(isinstance(v, Instance) and v.type == "embedding" for v in values):
        return False
    if any(isinstance(v, Instance) and v.type != "module" for v in view.evaluator.objects(node.value)):
        return False
    return not view.settings.table.suggests("embedding", path_of(node.value).rpartition(".")[2])


def is_linear_weight(view: FileView, node: ast.expr) -> bool:
    """Whether ``node`` is certainly the weight of a linear layer."""
    values = view.evaluator.values(node.value) if _is_weight(node) else ()
    return bool(values) and all(isinstance(v, Instance) and v.type == "linear" for v in values)


def _past_data(view: FileView, node: ast.expr) -> tuple[ast.expr, ast.AST | None]:
    """The expression after ``.data`` and ``.detach()``, which still denotes the weight, and its parent."""
    parent = view.parent(node)
    while isinstance(parent, ast.Attribute) and parent.attr in ("data", "detach"):
        node, parent = parent, view.parent(parent)
        if isinstance(parent, ast.Call) and parent.func is node:
            node, parent = parent, view.parent(parent)
    return node, parent


def _use(view: FileView, value: ast.expr, parent: ast.AST | None) -> str | None:
    if isinstance(value, ast.Attribute) and not isinstance(value.ctx, ast.Load):
        return None  # weight.data = ...
    if isinstance(parent, ast.keyword):
        parent = view.parent(parent)
    if isinstance(parent, ast.Attribute):
        return _member(view, parent)
    if isinstance(parent, ast.Subscript) and parent.value is value:
        return _TRANSPOSED if isinstance(parent.ctx, ast.Load) else None
    if isinstance(parent, ast.BinOp | ast.UnaryOp):
        return _TRANSPOSED
    if isinstance(parent, ast.Compare):
        plain = all(isinstance(op, ast.Is | ast.IsNot) for op in parent.ops)
        return _AS_IT_IS if plain else _TRANSPOSED
    if isinstance(parent, ast.Call) and parent.func is not value:
        return _argument(view, parent)
    if isinstance(parent, ast.List | ast.Expr | ast.FormattedValue | ast.If | ast.Assert | ast.BoolOp):
        return _AS_IT_IS  # lists of parameters for an optimizer
    if isinstance(parent, ast.Assign) and _is_weight(parent.targets[0]):
        known = view.evaluator.values(parent.targets[0].value)
        return (
            _AS_IT_IS if known and all(isinstance(v, Instance) for v in known) else None
        )  # the rule of the assigned weight decides
    return None


def _member(view: FileView, member: ast.Attribute) -> str | None:
    name = member.attr
    if name in facts().layout_free:
        return _AS_IT_IS
    call = view.parent(member)
    given = [*call.args, *(k.value for k in call.keywords)] if isinstance(call, ast.Call) else []
    if name in facts().reductions:
        return _TRANSPOSED if given else _AS_IT_IS
    if name in facts().layout_reads or (name == "set_value" and view.target == "torch"):  # torch's t() is a view
        return _TRANSPOSED
    if name.endswith("_") and all(kinds(view, a) and "Tensor" not in kinds(view, a) for a in given):
        return _AS_IT_IS  # filled with numbers
    return None


def _argument(view: FileView, call: ast.Call) -> str | None:
    name = view.qualified(call.func) or ""
    source = view.settings.source
    if view.target == "torch" and _assigns(view, call.func):
        return _TRANSPOSED  # a view: the values are written to the weight itself
    if (
        name.startswith(("torch.nn.init.", "paddle.nn.init.", "paddle.nn.initializer."))
        or name.rpartition(".")[2] == "linear"
    ):
        return _AS_IT_IS  # the rows of these functions handle the layout
    if any(isinstance(v, Instance) and v.type == "initializer" for v in view.evaluator.values(call.func)):
        return _AS_IT_IS
    if name.startswith(source + ".") and view.settings.table.makes(name) == "tensor":
        return None if name.endswith("_") or name.rpartition(".")[2] == "assign" else _TRANSPOSED
    called = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    if _FILLS.fullmatch(called):
        return _AS_IT_IS
    builtin = isinstance(call.func, ast.Name) and call.func.id in ("id", "isinstance", "print", "type", "hasattr")
    return _AS_IT_IS if builtin else None


def _assigns(view: FileView, function: ast.expr) -> bool:
    """Whether the function is Paddle's initializer of given values."""
    if isinstance(function, ast.Call) and view.qualified(function.func) == _ASSIGN:
        return True
    return any(isinstance(v, Instance) and v.api == _ASSIGN for v in view.evaluator.values(function))


def _is_weight(node: ast.expr) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr == "weight"
