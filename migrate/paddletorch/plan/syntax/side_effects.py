"""Which expressions can be evaluated twice, or later, and mean the same."""

from __future__ import annotations

import ast

_PURE = (
    ast.Name, ast.Attribute, ast.Constant, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.UnaryOp, ast.BinOp,
    ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip


def is_pure(node: ast.expr) -> bool:
    """Whether an expression can be evaluated twice, or later, with the same result and no effect."""
    return all(isinstance(n, _PURE) or _is_view(n) for n in ast.walk(node))


def _is_view(node: ast.AST) -> bool:
    """Whether a call costs nothing and changes nothing: ``x.detach()``, ``len(x)``, ``x.size(0)``."""
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    return getattr(node.func, "id", "") in _PURE_BUILTINS or getattr(node.func, "attr", "") in _VIEWS


_PURE_BUILTINS = frozenset({"len", "int", "float", "str"})
_VIEWS = frozenset({"size", "dim", "numel", "detach", "view", "reshape", "squeeze", "unsqueeze", "t", "cpu", "flatten"})
