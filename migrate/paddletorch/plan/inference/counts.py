"""Parameters such as ``time`` and ``positions`` that often hold integers, beside floating-point numbers.

So may one side of an outer product ``x[:, None] * frequencies[None, :]``, whatever it is called. Nothing says which
dtype a caller passes. Times ``1.0``, integers become in Paddle what torch makes them beside floats, and any other dtype
stays what it is.
"""

from __future__ import annotations

import ast

from paddletorch_rules.guesses import suggests

from paddletorch.plan.model.view import FileView
from paddletorch.resolve.facts.dtypes import Dtypes


def count_beside_floats(view: FileView, dtypes: Dtypes, node: ast.AST) -> ast.expr | None:
    """The operand ``time[:, None]`` of ``time[:, None] * frequencies``, whose dtype is unknown; None without one."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult | ast.Div | ast.Add | ast.Sub):
        return None
    for operand, other in ((node.left, node.right), (node.right, node.left)):
        is_outer = isinstance(node.op, ast.Mult) and {_axis_of_vector(operand), _axis_of_vector(other)} == {0, 1}
        if _is_count(view, dtypes, operand, is_outer) and dtypes.is_floating(other):
            return operand
    return None


def _is_count(view: FileView, dtypes: Dtypes, operand: ast.expr, is_outer: bool) -> bool:
    root = _without_new_axes(operand)
    if root is operand or not isinstance(root, ast.Name) or not (is_outer or suggests("count", root.id)):
        return False
    bindings = view.tree.scopes[root].lookup(root.id)
    return dtypes.of(root) is None and bool(bindings) and all(b.kind == "parameter" for b in bindings)


def _without_new_axes(node: ast.expr) -> ast.expr:
    """``time`` of ``time[:, None]`` and ``time.unsqueeze(1)``."""
    while True:
        if isinstance(node, ast.Subscript) and _adds_axes(node.slice):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "unsqueeze":
            node = node.func.value
        else:
            return node


def _axis_of_vector(node: ast.expr) -> int | None:
    """Which of two axes is the new one: 1 of ``v[:, None]`` and ``v.unsqueeze(-1)``, 0 of ``v[None, :]``."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
        new = [isinstance(part, ast.Constant) and part.value is None for part in node.slice.elts]
        others = [part for part, is_new in zip(node.slice.elts, new, strict=True) if not is_new]
        return new.index(True) if len(others) == 1 and ast.unparse(others[0]) == ":" else None
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "unsqueeze" and len(node.args) == 1:
        return {"0": 0, "1": 1, "-1": 1}.get(ast.unparse(node.args[0]))
    return None


def _adds_axes(index: ast.expr) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(p, ast.Constant) and p.value is None for p in parts)
