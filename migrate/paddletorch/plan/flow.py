"""Whether two places in a function can both run in one pass."""

from __future__ import annotations

import ast

from paddletorch.plan.context import FileContext

_LEAVES = (ast.Return, ast.Continue, ast.Break, ast.Raise)


def exclusive(context: FileContext, first: ast.AST, second: ast.AST) -> bool:
    """Whether running one place rules out the other: branches of one ``if``, or a branch that leaves."""
    chain = _ancestors(context, first)
    above = {id(node): child for node, child in chain}
    for node, child in _ancestors(context, second):
        if id(node) not in above:
            continue
        left, right = above[id(node)], child
        if isinstance(node, ast.If | ast.IfExp | ast.Try | ast.Match) and _field(node, left) != _field(node, right):
            return True
        if isinstance(node, ast.Match) or (isinstance(node, ast.Try) and left is not right):
            return left is not right
        early = left if getattr(left, "lineno", 0) < getattr(right, "lineno", 0) else right
        return left is not right and isinstance(early, ast.If) and isinstance(early.body[-1], _LEAVES)
    return False


def _ancestors(context: FileContext, node: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    found: list[tuple[ast.AST, ast.AST]] = []
    child, parent = node, context.parent(node)
    while parent is not None:
        found.append((parent, child))
        child, parent = parent, context.parent(parent)
    return found


def _field(node: ast.AST, child: ast.AST) -> str:
    for name, value in ast.iter_fields(node):
        if value is child or (isinstance(value, list) and any(v is child for v in value)):
            return name
    return ""


def loop_around(context: FileContext, node: ast.AST) -> ast.For | ast.AsyncFor | ast.While | None:
    """The innermost loop statement of the same function around ``node``."""
    parent = context.parent(node)
    while parent is not None and not isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        if isinstance(parent, ast.For | ast.AsyncFor | ast.While):
            return parent
        parent = context.parent(parent)
    return None
