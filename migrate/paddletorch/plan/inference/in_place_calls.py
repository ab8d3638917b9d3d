"""Calls that write into the tensor that they are given."""

from __future__ import annotations

import ast


def writes_in_place(name: str) -> bool:
    """Whether a function or method gives back what it writes into: ``add_``."""
    return name.endswith("_") and not name.endswith("__")


def asks_in_place(call: ast.Call) -> bool:
    """Whether a function or a constructor can be told to write into the input: ``inplace=True``, ``nn.ReLU(True)``."""
    given = _inplace(call)
    return given is not None and not (isinstance(given, ast.Constant) and given.value is False)


def is_in_place(call: ast.Call) -> bool:
    """Whether a function or a constructor is told so by a literal."""
    given = _inplace(call)
    return isinstance(given, ast.Constant) and given.value is True


def _inplace(call: ast.Call) -> ast.expr | None:
    """The argument ``inplace``; where it is the only parameter, it may be positional."""
    for keyword in call.keywords:
        if keyword.arg == "inplace":
            return keyword.value
    first = call.args[0] if len(call.args) == 1 else None
    return first if isinstance(first, ast.Constant) and isinstance(first.value, bool) else None
