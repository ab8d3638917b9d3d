"""Translates strings such as device names at the literals that a variable gets its value from."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from paddletorch_rules import ValueMap

from paddletorch.model import Edit
from paddletorch.plan.model.view import FileView
from paddletorch.resolve.evaluator.call_index import argument_of, is_method

_DEPTH = 5
_SEARCHES = frozenset({"startswith", "find", "index", "count", "partition", "split"})


def origin_edits(view: FileView, node: ast.expr, values: ValueMap, code: str) -> list[Edit] | None:
    """Edits of the literals that a variable's value comes from; None unless all of them are known and may be edited.

    Literals that the variable is compared with are translated too.
    """
    if not isinstance(node, ast.Name | ast.Attribute):
        return None
    leaves: list[ast.Constant] = []
    variables: list[ast.expr] = []
    if not _collect(view, node, leaves, variables, _DEPTH) or not leaves:
        return None
    for variable in variables:
        leaves += _compared(view, variable)
    to_paddle = view.target == "paddle"
    pairs = {t if to_paddle else p: p if to_paddle else t for t, p in values.pairs}
    edits: list[Edit] = []
    for leaf in leaves:
        text = pairs.get(repr(leaf.value))
        if text is None or (text != repr(leaf.value) and view.suppressed(code, leaf)):
            return None
        if text != repr(leaf.value):
            edits.append(Edit(view.source.span(leaf), view.quoted(text, leaf), code))
    return edits


def _collect(view: FileView, node: ast.expr, leaves: list[ast.Constant], variables: list[ast.expr], depth: int) -> bool:
    """Collect the literals that may be an expression's value; False if it may have another value."""
    if depth == 0:
        return False
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str) and not view.in_fstring(node):
            leaves.append(node)
            return True
        return node.value is None
    if isinstance(node, ast.IfExp):
        return all(_collect(view, n, leaves, variables, depth) for n in (node.body, node.orelse))
    if isinstance(node, ast.BoolOp):
        return all(_collect(view, n, leaves, variables, depth) for n in node.values)
    if not isinstance(node, ast.Name):
        return False
    scope = view.tree.scopes.get(node)
    bindings = scope.lookup(node.id) if scope is not None else []
    if not bindings:
        return False
    variables.append(node)
    for binding in bindings:
        if binding.kind == "assign" and binding.value is not None:
            if not _collect(view, binding.value, leaves, variables, depth - 1):
                return False
        elif binding.kind == "parameter" and isinstance(binding.scope.node, ast.FunctionDef):
            function = binding.scope.node
            calls = view.evaluator.calls.of(function)
            given = [argument_of(c, function, binding.name, is_method(binding.scope)) for c in calls]
            if not calls or any(g is None and binding.value is None for g in given):
                return False
            sources = [g for g in given if g is not None] + ([binding.value] if binding.value is not None else [])
            if not all(_collect(view, s, leaves, variables, depth - 1) for s in sources):
                return False
        else:
            return False
    return True


def _compared(view: FileView, variable: ast.expr) -> list[ast.Constant]:
    """Literals that a variable is compared with, or that are searched in it."""
    assert isinstance(variable, ast.Name)
    bindings = view.tree.scopes[variable].lookup(variable.id)
    found: list[ast.Constant] = []
    for load in view.tree.reads(bindings):
        parent = view.parent(load)
        if isinstance(parent, ast.Compare):
            found += _texts((parent.left, *parent.comparators))
        elif isinstance(parent, ast.Attribute) and parent.attr in _SEARCHES:
            call = view.parent(parent)
            found += [n for n in _texts(call.args if isinstance(call, ast.Call) else ()) if n.value != ":"]
    return found


def _texts(nodes: Iterable[ast.expr]) -> list[ast.Constant]:
    return [n for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
