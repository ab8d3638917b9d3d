"""The weight of a linear layer: ``[out, in]`` in torch, ``[in, out]`` in Paddle.

Code that reads values by position, or writes them, gets the transposed weight, which is a view of it in both
frameworks. Code that needs the parameter itself, or passes it on, is reported.
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
from paddletorch.resolve import Binding, Instance
from paddletorch.resolve.values import UNKNOWN

_TRANSPOSED = "{self}.weight.t()"
_AS_IT_IS = ""
_ASSIGN = "paddle.nn.initializer.Assign"

_STRIDED = frozenset(
    {"H", "T", "data", "detach", "diagonal", "mT", "permute", "squeeze", "t", "transpose", "unsqueeze"}
)
"""Members that give a view of a tensor with gaps in both frameworks."""

_SHAPED = frozenset(
    {"set_", "resize_", "resize_as_", "squeeze_", "swapaxes_", "swapdims_", "t_", "transpose_", "unsqueeze_"}
)
"""Methods that change what the weight is, and not only its values."""

_FILLING = frozenset({"full_like", "normal", "ones", "ones_like", "rand", "rand_like", "randn", "randn_like"})
_FILLING |= {"standard_normal", "uniform", "zeros", "zeros_like"}
"""Functions whose results have no order of axes but their sizes."""

_HOLDERS = (ast.Assign, ast.Return, ast.Tuple, ast.Dict, ast.DictComp, ast.ListComp, ast.IfExp, ast.NamedExpr)
"""What a value that is no parameter any more can be kept by."""

_PLAIN = frozenset({"device", "dim", "dtype", "item", "ndim", "nelement", "numel", "place"})
"""Members that say the same of a transposed view."""

_PARAMETERS = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")

_FILLS = re.compile(r"_*(trunc_)?(normal|uniform|zeros|ones|constant|xavier_\w+)(_tf)?_|paddle_uniform_within")
"""Names of other libraries' functions, and of a written one, that initialize a tensor independently of its layout."""


def linear_weight(view: FileView, node: ast.Attribute) -> str | None:
    """The template for ``layer.weight`` of a linear layer; empty where no change is needed.

    Raises:
        Refused: the use depends on the layout, and a transposed copy would not do.
    """
    if _is_filled_anew(view, node):
        return _AS_IT_IS
    if isinstance(node.ctx, ast.Store):
        statement = view.parent(node)
        value = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if value is not None and is_linear_weight(view, value):
            return _AS_IT_IS
        if isinstance(statement, ast.AugAssign) and _is_scaled(view, statement):
            return _AS_IT_IS
        if value is not None and given_parameter(view, value) is not None and is_linear_weight(view, node):
            return _AS_IT_IS  # what it is made of is transposed
        raise Refused(LayoutMatters())
    if isinstance(node.ctx, ast.Del):
        return _AS_IT_IS
    value, parent = _past_data(view, node)
    found = _use(view, value, parent, is_detached=value is not node)
    if found == _TRANSPOSED and view.target == "paddle" and _loses_what_is_written(view, value):
        found = None
    if found is None or (_depends_on_layout(view, found, parent) and view.provide(TiedWeights).holds(node.value)):
        raise Refused(LayoutMatters())
    return found


def _is_filled_anew(view: FileView, node: ast.expr) -> bool:
    """Whether all of the statement is ``w.set_value(paddle.normal(shape=w.shape))``: numbers that no layout changes."""
    statement = view.statement(node)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    if len(call.args) != 1 or call.keywords:
        return False
    weight, drawn = call.func.value, call.args[0]
    weight = weight.value if isinstance(weight, ast.Attribute) and weight.attr == "data" else weight
    if call.func.attr not in ("copy_", "set_value") or not isinstance(drawn, ast.Call):
        return False
    if (view.qualified(drawn.func) or "").rpartition(".")[2] not in _FILLING or not _is_weight(weight):
        return False
    named = [one for one in ast.walk(drawn) if isinstance(one, ast.expr) and _is_weight(one)]
    reads = [view.parent(one) for one in named]
    sizes = [one for one in reads if isinstance(one, ast.Attribute) and one.attr in ("dtype", "shape")]
    path = path_of(weight)
    same = bool(path and named) and all(path_of(one) == path for one in named)
    return same and all(one is drawn or one in sizes for one in reads)


def picked_weight(view: FileView, node: ast.expr) -> str:
    """As ``linear_weight``, for a weight that is picked out of what the layer gives: ``layer.state_dict()["weight"]``.

    Raises:
        Refused: the use depends on the layout, and a transposed copy would not do.
    """
    value, parent = _past_data(view, node)
    found = _use(view, value, parent, is_detached=value is not node)
    if found == _TRANSPOSED and view.target == "paddle" and _loses_what_is_written(view, value):
        found = None
    if found is None:
        raise Refused(LayoutMatters())
    return found.removeprefix("{self}.weight")


def _loses_what_is_written(view: FileView, node: ast.expr) -> bool:
    """Whether the expression around the weight writes to a part of it that Paddle copies out of ``t()``."""
    views = facts().views["torch"] | facts().may_share["torch"]
    copied = False
    current: ast.AST = node
    while True:
        parent = view.parent(current)
        if isinstance(parent, ast.Attribute):
            if parent.attr.endswith("_") and not parent.attr.endswith("__"):
                return copied
            if parent.attr not in views:
                return False
            copied = copied or parent.attr not in _STRIDED
        elif isinstance(parent, ast.Subscript) and parent.value is current:
            if not isinstance(parent.ctx, ast.Load):
                return copied or not _is_basic(view, parent.slice)
            copied = copied or not _is_basic(view, parent.slice)
        elif not (isinstance(parent, ast.Call) and parent.func is current):
            return False
        current = parent


def _is_basic(view: FileView, index: ast.expr) -> bool:
    """Whether the index is of numbers and slices: Paddle 3.3 writes elsewhere with tensors, into a tensor with gaps."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(isinstance(part, ast.Slice | ast.Constant) or _is_number(view, part) for part in parts)


def _is_number(view: FileView, node: ast.expr) -> bool:
    """Whether it is a number: a constant, the variable of a loop over a range, or computed from such."""
    if isinstance(node, ast.BinOp):
        return _is_number(view, node.left) and _is_number(view, node.right)
    if isinstance(node, ast.UnaryOp):
        return _is_number(view, node.operand)
    found = kinds(view, node)
    if found and found <= {"int", "number"}:
        return True
    bindings = view.tree.scopes[node].lookup(node.id) if isinstance(node, ast.Name) and node in view.tree.scopes else ()
    return bool(bindings) and all(_counts(view, binding) for binding in bindings)


def _counts(view: FileView, binding: Binding) -> bool:
    """Whether the binding gives a number to its name."""
    statement = view.statement(binding.node)
    if isinstance(statement, ast.For) and statement.target is binding.node:
        call = statement.iter
        return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
    if isinstance(statement, ast.For) and isinstance(statement.target, ast.Tuple):
        call = statement.iter
        is_first = statement.target.elts[0] is binding.node
        return is_first and isinstance(call, ast.Call) and ast.unparse(call.func) == "enumerate"
    value = statement.value if isinstance(statement, ast.Assign) and statement.targets == [binding.node] else None
    return isinstance(value, ast.BinOp | ast.UnaryOp | ast.Constant) and _is_number(view, value)


def _is_scaled(view: FileView, statement: ast.AugAssign) -> bool:
    """Whether each element is changed by the same number: ``layer.weight *= 0.5``."""
    found = kinds(view, statement.value)
    return bool(found) and found <= {"int", "float", "number", "bool"}


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


def given_parameter(view: FileView, value: ast.expr) -> ast.expr | None:
    """What a parameter is made of that is assigned as the weight: ``torch.zeros(2, 3)`` of ``nn.Parameter(...)``."""
    if view.target != "paddle" or not isinstance(value, ast.Call) or view.qualified(value.func) not in _PARAMETERS:
        return None
    given = [*value.args[:1], *(k.value for k in value.keywords if k.arg == "data")]
    return given[0] if len(given) == 1 and not isinstance(given[0], ast.Starred) else None


def may_be_linear_weight(view: FileView, node: ast.Attribute) -> bool:
    """Whether this weight is a linear layer's or another one's, and the use depends on which."""
    values = view.evaluator.objects(node.value)
    known = [v for v in values if isinstance(v, Instance) and v.type != "foreign"]
    if not any(v.type == "linear" for v in known) and (known or not _is_called_linear(view, node)):
        return False
    try:
        return bool(linear_weight(view, node))
    except Refused:
        return True


def may_be_read_from_linear(view: FileView, node: ast.Attribute) -> bool:
    """Whether a member of the weight of a layer that nothing shows, perhaps a linear one, depends on the layout."""
    if view.target != "paddle" or not isinstance(node.ctx, ast.Load) or not view.is_sources(node.value):
        return False
    if path_of(node.value) in ("self", "cls", ""):
        return False
    known = view.evaluator.objects(node.value) - UNKNOWN
    linear = [v for v in known if isinstance(v, Instance) and v.type == "linear"]
    if linear:
        return len(linear) < len(known) and _is_read(view, node)
    name = path_of(node.value).rpartition(".")[2]
    if known or not view.settings.table.suggests("linear", name) or _is_called_linear(view, node):
        return False
    return isinstance(_past_data(view, node)[1], ast.Attribute) and _is_read(view, node)


def _is_read(view: FileView, node: ast.Attribute) -> bool:
    try:
        return linear_weight(view, node) == _TRANSPOSED
    except Refused:
        return False


def _is_called_linear(view: FileView, node: ast.AST) -> bool:
    """Whether a test around it asks for this class by its name: ``if classname.find("Linear") != -1:``."""
    child, parent = node, view.parent(node)
    while parent is not None and not isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
        if isinstance(parent, ast.If) and child in parent.body:
            names = (n.value for n in ast.walk(parent.test) if isinstance(n, ast.Constant))
            if any(isinstance(name, str) and "linear" in name.lower() for name in names):
                return True
        child, parent = parent, view.parent(parent)
    return False


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


def _use(view: FileView, value: ast.expr, parent: ast.AST | None, *, is_detached: bool) -> str | None:
    found = _nearest_use(view, value, parent)
    if found is not None or parent is None or isinstance(parent, ast.keyword | ast.Starred):
        return found
    if is_detached:
        return _TRANSPOSED if isinstance(parent, _HOLDERS) else None  # a view, whoever holds it
    return _kept_under_name(view, parent)


def _kept_under_name(view: FileView, statement: ast.AST) -> str | None:
    """Whether all that reads the name takes the values only, and not the parameter: ``w = layer.weight``."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    name = statement.targets[0]
    if not isinstance(name, ast.Name) or name not in view.tree.scopes:
        return None
    loads = view.tree.reads(view.tree.scopes[name].lookup(name.id))
    return _TRANSPOSED if loads and all(_takes_values(view, load) for load in loads) else None


def _takes_values(view: FileView, load: ast.Name) -> bool:
    parent = view.parent(load)
    if isinstance(parent, ast.Attribute) and parent.attr in _PLAIN:
        return True
    if isinstance(parent, ast.Attribute) and parent.attr in facts().reductions:
        return True
    if isinstance(parent, ast.Assign | ast.AugAssign | ast.Compare):
        return False
    value, around = _past_data(view, load)
    return _nearest_use(view, value, around) == _TRANSPOSED and not _loses_what_is_written(view, value)


def _nearest_use(view: FileView, value: ast.expr, parent: ast.AST | None) -> str | None:
    if isinstance(value, ast.Attribute) and not isinstance(value.ctx, ast.Load):
        return _AS_IT_IS if value.attr == "data" and view.target == "paddle" else None  # what is assigned is transposed
    if isinstance(parent, ast.keyword):
        parent = view.parent(parent)
    if isinstance(parent, ast.Attribute):
        return _member(view, parent)
    if isinstance(parent, ast.Subscript) and parent.value is value:
        return None if isinstance(parent.ctx, ast.Del) else _TRANSPOSED
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
    if name in facts().layout_free or name.startswith("new_"):  # which takes the dtype and the device only
        return _AS_IT_IS
    call = view.parent(member)
    given = [*call.args, *(k.value for k in call.keywords)] if isinstance(call, ast.Call) else []
    if name in facts().reductions:
        return _TRANSPOSED if given else _AS_IT_IS
    if name in facts().layout_reads or (name == "set_value" and view.target == "torch"):  # torch's t() is a view
        return _TRANSPOSED
    if name.endswith("_") and all(kinds(view, a) and "Tensor" not in kinds(view, a) for a in given):
        return _AS_IT_IS  # filled with numbers
    if name.endswith("_") and not name.endswith("__") and name not in _SHAPED and call is not None:
        return _TRANSPOSED
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
    if isinstance(call.func, ast.Attribute) and kinds(view, call.func.value) == {"Tensor"}:
        if call.func.attr in ("to", "type_as"):
            return _AS_IT_IS
        return None if call.func.attr in _SHAPED else _TRANSPOSED  # a tensor's method
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
