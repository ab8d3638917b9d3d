"""Calls of methods whose arguments only a tensor's method takes: no array has ``view(2, -1)`` or ``mean(dim=1)``."""

from __future__ import annotations

import ast

from paddletorch_rules.facts import facts


def shows_tensor(call: ast.Call, side: str) -> bool:
    """As ``is_tensor_call``, and no module has the method: what it gives is a tensor, and what it is called on."""
    return getattr(call.func, "attr", "") not in facts().of_modules_too and is_tensor_call(call, side)


def is_tensor_call(call: ast.Call, side: str) -> bool:
    """Whether the arguments show that the method called is a tensor's, whatever it is called on."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    named = {k.arg for k in call.keywords}
    if named & facts().tensor_keywords[side] or named & facts().keywords_of_method.get(name, frozenset()):
        return True
    if len(call.args) > facts().array_arguments.get(name, len(call.args)):
        return True
    numbers = [n for n in map(_integer, call.args) if n is not None]
    if name == "view":
        return len(call.args) > 1 or bool(numbers)
    if name == "flatten":
        return bool(numbers)  # of an array: "C"
    beyond = [n for n in numbers if not -2 <= n < 2]  # an array that takes two numbers has two axes
    return name == "transpose" and len(call.args) == 2 and bool(beyond)


def _integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _integer(node.operand)
        return None if number is None else -number
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
