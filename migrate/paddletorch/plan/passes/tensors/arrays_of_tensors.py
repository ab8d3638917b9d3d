"""Tensors that NumPy's functions take, ``np.mean(loss)``, and arrays that tensors take, on the way to torch.

NumPy reads a tensor of Paddle whatever it is; one of torch that needs a gradient, or lies on a GPU, raises an error,
and some functions of NumPy call the tensor's method of their name with arguments that torch's does not take. A part of
a tensor of Paddle may be assigned an array, ``x[:2] = np.ones((2, 4))``; one of torch takes tensors and numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.list_elements import list_elements
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.plan.syntax.precedence import ATOM, precedence_of
from paddletorch.resolve import Instance
from paddletorch.resolve.facts.tensors import tensorhood
from paddletorch.resolve.values import Container

_CODE = "TEN106"
_AS_ARRAY = ".detach().cpu().numpy()"


def plan_arrays_of_tensors(view: FileView, planned: Planned) -> Changes:
    """Give NumPy the array of each tensor that a call is certainly given."""
    edits, conversions = [], []
    found: list[Changes] = []
    for node in filter(view.is_sources, _given(view)):
        span = view.source.span(node)
        if not view.tensor(node).is_certain:
            parts: tuple[str | Span, ...] = (f"[one{_AS_ARRAY} for one in ", span, "]")
        elif any(_is_declared(value) for value in view.evaluator.values(node)):
            found.append(_by_function(view, planned, node))
            continue
        else:
            parts = (span, _AS_ARRAY) if precedence_of(node) == ATOM else ("(", span, f"){_AS_ARRAY}")
        edits.append(Edit(span, "", _CODE, parts))
        conversions.append(view.conversion(_CODE, node, "a tensor given to NumPy", _AS_ARRAY))
    changes = Changes(tuple(edits), tuple(conversions))
    return joined([changes, *found, *(_as_tensor(view, planned, node) for node in _assigned(view))])


def _as_tensor(view: FileView, planned: Planned, node: ast.expr) -> Changes:
    return _called(view, planned, node, "torch.as_tensor", "an array given to a part of a tensor")


def _by_function(view: FileView, planned: Planned, node: ast.expr) -> Changes:
    return _called(view, planned, node, "paddle_as_array", "a tensor given to NumPy")


def _called(view: FileView, planned: Planned, node: ast.expr, function: str, what: str) -> Changes:
    """The call of a function with the node; nothing where another one may have its name."""
    edit = Edit(view.source.span(node), "", _CODE, (f"{function}(", view.source.span(node), ")"))
    try:
        changes = spelled(view, planned.naming.aliases, node, (edit,), "paddle.Tensor")
    except Refused:
        return NOTHING
    return changes._replace(conversions=(view.conversion(_CODE, node, what, function),))


def _assigned(view: FileView) -> Iterator[ast.expr]:
    """The arrays that parts of tensors are assigned."""
    for statement in view.tree.of_kind(ast.Assign):
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, ast.Subscript):
            continue
        if (
            view.source_tensor(target.value).is_certain
            and _is_array(view, statement.value)
            and not view.is_deselected(_CODE, statement.value)
        ):
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
    """The tensors that NumPy's functions are given, by themselves or in a list, and variables with lists of them."""
    for call in view.tree.of_kind(ast.Call):
        if not isinstance(call.func, ast.Attribute | ast.Name) or not view.is_located(call):
            continue
        name = view.qualified(call.func) or ""
        if not name.startswith("numpy.") or name.startswith("numpy.random."):  # which shuffles what it is given
            continue
        for given in (*call.args, *(keyword.value for keyword in call.keywords)):
            for node in given.elts if isinstance(given, ast.List | ast.Tuple) else [given]:
                if (view.tensor(node).is_certain or _is_list(view, node)) and not view.is_deselected(_CODE, node):
                    yield node


def _is_list(view: FileView, node: ast.expr) -> bool:
    """Whether it is a list of which each element can be nothing but a tensor: made by a call, or of a variable."""
    if isinstance(node, ast.Call):
        return _name(node) in _LISTS and _holds_tensors(view, node)
    if not isinstance(node, ast.Name) or node not in view.tree.scopes:
        return False
    bindings = view.tree.scopes[node].lookup(node.id)
    if any(_sets_more(view, load) for load in view.tree.reads(bindings)):
        return False
    values = [binding.value for binding in bindings]
    if all(isinstance(value, ast.Call) and _name(value) in _LISTS for value in values):
        return _holds_tensors(view, node)
    elements = list_elements(view, node) if all(isinstance(v, ast.List | ast.ListComp) for v in values) else []
    return bool(elements) and all(view.tensor(element).is_certain for element in elements)


_LISTS = frozenset({"chunk", "meshgrid", "split", "unbind", "unstack"})


def _name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _holds_tensors(view: FileView, node: ast.expr) -> bool:
    values = view.evaluator.values(node)
    return all(isinstance(value, Container) and tensorhood(value.elements).is_certain for value in values)


def _sets_more(view: FileView, name: ast.expr) -> bool:
    """Whether a read of a list adds or sets elements otherwise than by ``append``."""
    parent = view.parent(name)
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.ctx, ast.Store)
    return isinstance(parent, ast.Attribute) and parent.attr in ("extend", "insert")


def _is_declared(value: object) -> bool:
    """Whether only an annotation says that it is a tensor, which programs that mix both give arrays too."""
    return isinstance(value, Instance) and value.api == "paddle.Tensor" and value.call is None
