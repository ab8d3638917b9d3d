"""Which expressions can be evaluated again, or later, with the same result."""

from __future__ import annotations

import ast

from paddletorch_rules.facts import facts
from paddletorch_rules.hooks.arguments import PLAIN


def is_pure(node: ast.expr) -> bool:
    """Whether an expression can be evaluated again, or later, with the same result and no side effect."""
    return all(isinstance(n, PLAIN) or _is_view(n) for n in ast.walk(node))


def _is_view(node: ast.AST) -> bool:
    """Whether a call is cheap and has no side effect: ``x.detach()``, ``len(x)``, ``x.size(0)``, ``is_available()``."""
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    method = getattr(node.func, "attr", "")
    return getattr(node.func, "id", "") in _PURE_BUILTINS or method in facts().pure or method in _ABOUT_MACHINE


_ABOUT_MACHINE = frozenset({"is_available", "is_compiled_with_cuda", "is_compiled_with_rocm", "is_compiled_with_xpu"})
_PURE_BUILTINS = frozenset({"len", "int", "float", "str"})
