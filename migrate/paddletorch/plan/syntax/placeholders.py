"""Placeholders of a template: the precedence each requires, and the lambdas and comprehensions around it."""

from __future__ import annotations

import ast
from functools import lru_cache

from paddletorch.plan.syntax.precedence import precedence_of, required_precedence

ANYWHERE = 0
"""The precedence that any expression has."""


@lru_cache(maxsize=1024)
def enclosing_kinds(text: str) -> tuple[str, ...]:
    """For each placeholder: "inside" a lambda or comprehension, in the "iterable" of one, or "" for neither."""
    found: list[tuple[int, int, str]] = []
    pending: list[tuple[ast.AST, str]] = [(ast.parse(text.strip()), "")]
    while pending:
        node, kind = pending.pop()
        if isinstance(node, ast.Name) and node.id == "__placeholder__":
            found.append((node.lineno, node.col_offset, kind))
        generators = getattr(node, "generators", None)
        first = generators[0].iter if generators else None
        for child in ast.iter_child_nodes(node):
            if isinstance(node, ast.Lambda) and child is node.body:
                pending.append((child, "inside"))
            elif generators and child is generators[0]:
                pending += [(c, kind or "iterable" if c is first else "inside") for c in ast.iter_child_nodes(child)]
            else:
                pending.append((child, "inside" if generators else kind))
    return tuple(kind for _, _, kind in sorted(found))


@lru_cache(maxsize=1024)
def names_inside(text: str) -> frozenset[str]:
    """The names that lambdas and comprehensions of the text read, but for their own variables."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text.strip())):
        if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            inside = list(ast.walk(node))
            own = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            own |= {n.arg for n in inside if isinstance(n, ast.arg)}
            found |= {n.id for n in inside if isinstance(n, ast.Name)} - own
    return frozenset(found)


@lru_cache(maxsize=1024)
def required_precedences(text: str) -> tuple[int, ...]:
    """The minimum operator precedence of each placeholder's argument, in order."""
    tree = ast.parse(text.strip())
    found: list[tuple[tuple[int, int], int]] = []
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, ast.Name) and child.id == "__placeholder__":
                found.append(((child.lineno, child.col_offset), required_precedence(parent, child)))
    return tuple(precedence for _, precedence in sorted(found))


def with_brackets(before: str, after: str, value: ast.expr) -> tuple[str, str]:
    """Text to put before and after an expression, with brackets around the expression if it needs them there."""
    try:
        required = required_precedences(f"f({before}__placeholder__{after})")
    except SyntaxError:
        return before, after  # half of something larger
    enclosed = before.endswith("(") and after.startswith(")")
    loose = bool(required) and precedence_of(value) < required[0] and not enclosed
    bound = isinstance(value, ast.Yield | ast.YieldFrom) or (isinstance(value, ast.NamedExpr) and not enclosed)
    return (before + "(", ")" + after) if loose or bound else (before, after)


@lru_cache(maxsize=1024)
def expression(text: str) -> ast.expr | None:
    """The text as an expression; None if it is a statement."""
    statement = ast.parse(text.strip()).body[0]
    return statement.value if isinstance(statement, ast.Expr) else None
