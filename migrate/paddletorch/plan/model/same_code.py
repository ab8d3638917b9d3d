"""Whether two expressions are the same code, wherever they stand."""

from __future__ import annotations

import ast


def same_code(one: ast.AST, other: ast.AST) -> bool:
    """Whether two nodes have the same kind and fields, positions and contexts aside; ends at the first difference."""
    pairs: list[tuple[object, object]] = [(one, other)]
    while pairs:
        first, second = pairs.pop()
        if type(first) is not type(second):
            return False
        if isinstance(first, ast.AST):
            if not isinstance(first, ast.expr_context):
                pairs += [(getattr(first, name, None), getattr(second, name, None)) for name in first._fields]
        elif isinstance(first, list) and isinstance(second, list):
            if len(first) != len(second):
                return False
            pairs += zip(first, second, strict=True)
        elif repr(first) != repr(second):  # 0.0 and -0.0 are equal, but not the same
            return False
    return True
