"""Whether the text that makes a tensor shows that it holds integers."""

from __future__ import annotations

import ast

from paddletorch_rules.facts import facts


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


def is_integer(node: ast.expr | None) -> bool:
    """Whether the expression makes a tensor of integers or truth values, as far as its own text shows."""
    name, dtype, data = _made(node)
    if dtype is not None:
        return names_integer(_text(dtype))
    if data is not None:
        return data_is_integer(data)
    return name in facts().int64_results["paddle"]


def is_int64(node: ast.expr | None) -> bool:
    """Whether the expression makes a tensor of int64, as far as its own text shows."""
    name, dtype, data = _made(node)
    if dtype is not None:
        return _text(dtype).rpartition(".")[2] in ("int64", "long")
    if data is not None:
        return data_is_integer(data) and not any(
            isinstance(one, ast.Constant) and isinstance(one.value, bool) for one in ast.walk(data)
        )
    return name in facts().int64_results["paddle"]


def _made(node: ast.expr | None) -> tuple[str, ast.expr | None, ast.expr | None]:
    """Of a call that makes a tensor, the function's name, the dtype that it is given and the numbers."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name):
        return "", None, None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
    given = {k.arg: k.value for k in node.keywords}
    if name == "astype":
        return name, node.args[0] if node.args else None, None
    takes_data = name in facts().from_data
    dtype = given.get("dtype") or (node.args[1] if takes_data and len(node.args) > 1 else None)
    return name, dtype, node.args[0] if takes_data and node.args else None


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)
