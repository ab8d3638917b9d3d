"""Where nodes of one file stand towards each other."""

from __future__ import annotations

import ast


def start_of(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def end_of(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def holds(outer: ast.AST, inner: ast.AST) -> bool:
    """Whether a node lies inside another one."""
    return start_of(outer) <= start_of(inner) and end_of(inner) <= end_of(outer)


def is_between(node: ast.AST, first: ast.AST, last: ast.AST) -> bool:
    """Whether a node stands between two others, so that what it binds is bound anew."""
    return end_of(first) <= start_of(node) < start_of(last)
