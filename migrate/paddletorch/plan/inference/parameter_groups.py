"""The groups of parameters that an optimizer can be given, as far as the file writes them: ``{"params": p}``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.plan.model.view import FileView
from paddletorch.resolve.values import Local

_Group = ast.Dict | ast.Call
"""A display, or a call of ``dict`` with keywords."""

_ADDS = {"append": 0, "insert": 1, "extend": 0, "setdefault": 1}
"""Methods of lists and dicts that put a group, or groups, into them, and the argument in which it stands."""

_COPIES = frozenset({"list", "tuple", "sorted", "reversed"})


def groups_in(view: FileView, given: ast.expr) -> list[_Group]:
    """The groups that the expression can hold: in lists, variables, and what functions of the file return."""
    found: dict[_Group, None] = {}
    seen: set[int] = set()
    waiting = [given]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, ast.Dict | ast.Call) and "params" in keys_of(node):
            found[node] = None
        else:
            waiting += _parts(view, node)
    return list(found)


def keys_of(group: ast.expr) -> dict[str, ast.expr]:
    """The values of a group by its keys; those that cannot be seen are left out, and what is no group has none."""
    if isinstance(group, ast.Dict):
        pairs = zip(group.keys, group.values, strict=True)
        return {k.value: v for k, v in pairs if isinstance(k, ast.Constant) and isinstance(k.value, str)}
    if not isinstance(group, ast.Call) or not isinstance(group.func, ast.Name) or group.func.id != "dict":
        return {}
    return {keyword.arg: keyword.value for keyword in group.keywords if keyword.arg is not None}


def _parts(view: FileView, node: ast.expr) -> Iterator[ast.expr]:
    """The expressions of which ``node`` takes its elements."""
    if isinstance(node, ast.List | ast.Tuple):
        yield from node.elts
    elif isinstance(node, ast.ListComp | ast.GeneratorExp):
        yield node.elt
    elif isinstance(node, ast.Starred):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from (node.left, node.right)
    elif isinstance(node, ast.Dict):
        yield from node.values
    elif isinstance(node, ast.Name) and node in view.tree.scopes:
        yield from _put_into(view, node)
    elif isinstance(node, ast.Call):
        yield from _given_by(view, node)


def _put_into(view: FileView, name: ast.Name) -> Iterator[ast.expr]:
    """What a variable is assigned, and what is put into it."""
    bindings = view.tree.scopes[name].lookup(name.id)
    yield from (b.value for b in bindings if b.kind in ("assign", "augment") and isinstance(b.value, ast.expr))
    for load in view.tree.reads(bindings):
        place = view.parent(load)
        around = view.parent(place) if place is not None else None
        if isinstance(place, ast.Attribute) and isinstance(around, ast.Call) and around.func is place:
            position = _ADDS.get(place.attr)
            yield from around.args[position : position + 1] if position is not None else ()
        elif isinstance(place, ast.Subscript) and place.value is load and isinstance(around, ast.Assign):
            yield around.value


def _given_by(view: FileView, call: ast.Call) -> Iterator[ast.expr]:
    """What a call copies, or a function of the file returns."""
    if isinstance(call.func, ast.Name) and call.func.id in _COPIES:
        yield from call.args[:1]
        return
    if isinstance(call.func, ast.Attribute) and call.func.attr == "values" and not call.args:
        yield call.func.value
        return
    for value in view.evaluator.values(call.func):
        function = value.node if isinstance(value, Local) else None
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    yield node.value
