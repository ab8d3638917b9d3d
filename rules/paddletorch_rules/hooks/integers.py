"""Whether a name or literal data is of integers."""

from __future__ import annotations

import ast


def names_integer(name: object) -> bool:
    """Whether ``name`` is one of a dtype of integers or truth values: ``int64``, ``paddle.bool``."""
    last = name.rpartition(".")[2] if isinstance(name, str) else ""
    return last.startswith(("int", "uint")) or last in ("bool", "long", "short")


def data_is_integer(node: ast.expr | None) -> bool:
    """Whether the expression is numbers or lists of numbers, and all of them integers or truth values."""
    if isinstance(node, ast.List | ast.Tuple):
        return bool(node.elts) and all(data_is_integer(e) for e in node.elts)
    if isinstance(node, ast.UnaryOp):
        return data_is_integer(node.operand)
    return isinstance(node, ast.Constant) and isinstance(node.value, int)
