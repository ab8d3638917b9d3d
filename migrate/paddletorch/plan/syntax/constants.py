"""Values of constant expressions, such as ``2.**16``, and whether two of them are the same."""

from __future__ import annotations

import ast
from functools import lru_cache

_CONSTANT_NODES = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop)


def constant(node: ast.expr) -> object:
    """The value of a constant expression such as ``2.**16`` or ``-1``; ``...`` if it is none."""
    if isinstance(node, ast.Constant):
        return node.value
    if not isinstance(node, ast.UnaryOp | ast.BinOp) or not all(isinstance(n, _CONSTANT_NODES) for n in ast.walk(node)):
        return ...
    numbers = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    if not all(isinstance(n, int | float) and abs(n) < 1_000_000 for n in numbers):
        return ...
    try:
        return eval(compile(ast.Expression(node), "<constant>", "eval"), {"__builtins__": {}})  # only numbers
    except Exception:
        return ...


@lru_cache(maxsize=1024)
def constant_in(text: str) -> object:
    """The value of a constant expression that is given as text; ``...`` if it is none.

    Raises:
        SyntaxError: the text is no expression.
    """
    return constant(ast.parse(text, mode="eval").body)


def same_value(left: str, right: str) -> bool:
    """Whether two default expressions mean the same value."""
    if left == right:
        return True
    try:
        values = [constant_in(text) for text in (left, right)]
    except SyntaxError:  # ``*args``
        return False
    return (
        values[0] is not ... and values[0] == values[1] and isinstance(values[0], bool) == isinstance(values[1], bool)
    )
