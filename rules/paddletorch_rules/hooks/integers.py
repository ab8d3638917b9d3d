"""Whether the text that makes a tensor shows that it holds integers."""

from __future__ import annotations

import ast
from collections.abc import Callable

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


Origin = Callable[[ast.expr], ast.expr]
"""Gives what the one assignment gave a variable, and any other expression as it is."""

_STEPS = 8
"""How many assignments an answer may rest on, which also ends a variable that is made of itself."""


def _itself(node: ast.expr) -> ast.expr:
    return node


def is_integer(node: ast.expr | None, origin: Origin = _itself, steps: int = _STEPS) -> bool:
    """Whether the expression makes a tensor of integers or truth values, as far as its text and ``origin`` show."""
    if isinstance(node, ast.BinOp | ast.UnaryOp):
        return is_int64(node, origin, steps)
    if isinstance(node, ast.Name) and origin(node) is not node:
        return steps > 0 and is_integer(origin(node), origin, steps - 1)
    name, dtype, data = _made(node)
    if dtype is not None:
        return names_integer(_text(dtype))
    if data is not None:
        return data_is_integer(data)
    return name in facts().int64_results["paddle"] or is_int64(node, origin, steps)


def is_int64(node: ast.expr | None, origin: Origin = _itself, steps: int = _STEPS) -> bool:
    """Whether the expression makes a tensor of int64, as far as its text and ``origin`` show."""
    if isinstance(node, ast.Name) and origin(node) is not node:
        return steps > 0 and is_int64(origin(node), origin, steps - 1)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and is_int64(node.operand, origin, steps)
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        whole = [_is_whole_number(side) for side in sides]
        all_int64 = all(number or is_int64(side, origin, steps) for number, side in zip(whole, sides, strict=True))
        return isinstance(node.op, _WHOLE) and all_int64 and not all(whole)
    inner = _same_integers(node)
    if inner is not None:
        return is_int64(inner, origin, steps)
    name, dtype, data = _made(node)
    if dtype is not None:
        return _text(dtype).rpartition(".")[2] in ("int64", "long")
    if data is not None:
        return data_is_integer(data) and not any(
            isinstance(one, ast.Constant) and isinstance(one.value, bool) for one in ast.walk(data)
        )
    if name == "arange" and isinstance(node, ast.Call):
        return bool(node.args) and not node.keywords and all(map(_is_whole_number, node.args))
    return name in facts().int64_results["paddle"]


_WHOLE = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
"""Operators that give int64 for int64 and numbers of Python."""


def _is_whole_number(node: ast.expr) -> bool:
    operand = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(operand, ast.Constant) and type(operand.value) is int


def _same_integers(node: ast.expr | None) -> ast.expr | None:
    """The tensor that ``x.reshape([2, 3])`` and the like show in another form."""
    function = node.func if isinstance(node, ast.Call) else None
    shown = isinstance(function, ast.Attribute) and function.attr in facts().views["paddle"] - {"view"}
    return function.value if isinstance(function, ast.Attribute) and shown else None


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
