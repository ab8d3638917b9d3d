"""Tensors that may be only a part, or another view, of a tensor that code fills: ``w = conv.weight.data``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch_rules.facts import facts

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Instance
from paddletorch.resolve.evaluator.call_index import argument_of, is_method
from paddletorch.resolve.values import Container, Local

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_DETACHED = frozenset({"data", "detach"})
"""Members that give all of a tensor, apart from its gradient."""

_ATTRIBUTES = frozenset({"H", "T", "data", "imag", "mH", "mT", "real"})
"""Views that are no methods."""


def whole_tensor(view: FileView, node: ast.expr) -> ast.expr:
    """The tensor that ``node`` is all of, without ``.data`` and ``.detach()``; ``node`` where that is not certain."""
    member = node.func if isinstance(node, ast.Call) and not (node.args or node.keywords) else node
    if (
        not isinstance(member, ast.Attribute)
        or member.attr not in _DETACHED
        or (member is node) != (member.attr == "data")
    ):
        return node
    base = member.value
    if member.attr == "data" and not _has_data(view, base):
        return node
    return whole_tensor(view, base)


def _has_data(view: FileView, node: ast.expr) -> bool:
    """Whether ``data`` of this is a tensor's: of no object that may have an attribute of this name."""
    found = view.evaluator.values(node)
    if any(isinstance(value, Instance | Local | Container) for value in found):
        return all(isinstance(value, Instance) and value.type == "tensor" for value in found)
    return not view.evaluator.stores("data") or isinstance(node, ast.Attribute)


def may_be_part(view: FileView, node: ast.expr) -> bool:
    """Whether the tensor may have its memory from another one, which then is to change with it."""
    seen: set[ast.AST] = set()
    pending = [node]
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        if _is_view(view, one):
            return True
        pending += _sources(view, one, seen)
    return False


def _is_view(view: FileView, node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return False  # an entry of a dict
        return not any(
            isinstance(v, Container | Instance) and not _is_tensor(v) for v in view.evaluator.values(node.value)
        )
    member = node.func if isinstance(node, ast.Call) else node
    if not isinstance(member, ast.Attribute) or member.attr not in facts().views[view.settings.source] | _DETACHED:
        return False
    known = [value for value in view.evaluator.values(member.value) if isinstance(value, Instance)]
    if known and not any(_is_tensor(value) for value in known):
        return False  # an attribute that only has the name
    return (member is node) == (member.attr in _ATTRIBUTES)


def _is_tensor(value: Instance | Container) -> bool:
    return isinstance(value, Instance) and value.type == "tensor"


def _sources(view: FileView, node: ast.expr, seen: set[ast.AST]) -> Iterator[ast.expr]:
    """The expressions that an expression has its value from."""
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.BoolOp):
        yield from node.values
    elif isinstance(node, ast.NamedExpr | ast.Starred):
        yield node.value
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        yield from node.elts
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        yield node.elt
    elif isinstance(node, ast.Call):
        for value in view.evaluator.values(node.func):
            if isinstance(value, Local) and value.node in view.tree.own:
                yield from (one for one in view.tree.own[value.node].returns if one is not None)
        if isinstance(node.func, ast.Name) and node.func.id in (
            "list",
            "tuple",
            "zip",
            "enumerate",
            "reversed",
            "iter",
        ):
            yield from node.args
    elif isinstance(node, ast.Name):
        for binding in view.evaluator.reaching(node):
            if binding.kind in ("assign", "unpack", "iterate") and binding.value is not None:
                yield binding.value
            elif binding.kind == "parameter" and isinstance(function := binding.scope.node, _Function):
                method = is_method(binding.scope)
                given = (argument_of(c, function, binding.name, method) for c in view.evaluator.calls.of(function))
                yield from (one for one in given if one is not None)
