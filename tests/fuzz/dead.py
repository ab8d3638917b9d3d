"""Which statements no path reaches, as far as their blocks show: below ``return``, ``raise`` and endless loops."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def dead_lines(module: ast.Module) -> set[int]:
    """The lines of the statements that no path reaches."""
    return {line for statement in _dead(module) for line in range(statement.lineno, (statement.end_lineno or 0) + 1)}


def _dead(node: ast.AST) -> Iterator[ast.stmt]:
    for name in _BLOCKS:
        block = getattr(node, name, None)
        if not isinstance(block, list):
            continue
        ended = False
        for inner in block:
            if ended and isinstance(inner, ast.stmt):
                yield inner
                continue
            yield from _dead(inner)
            ended = ended or (isinstance(inner, ast.stmt) and _never_ends(inner))


def _never_ends(statement: ast.stmt) -> bool:
    """Whether no path goes on behind the statement."""
    match statement:
        case ast.If():
            return _any_ends_never(statement.body) and _any_ends_never(statement.orelse)
        case ast.While():
            endless = isinstance(statement.test, ast.Constant) and bool(statement.test.value)
            return endless and not any(_has_break(s) for s in statement.body)
        case ast.Try():
            paths = [[*statement.body, *statement.orelse], *(handler.body for handler in statement.handlers)]
            return _any_ends_never(statement.finalbody) or all(_any_ends_never(path) for path in paths)
    return isinstance(statement, _LEAVING)


def _any_ends_never(block: Sequence[ast.stmt]) -> bool:
    return any(_never_ends(statement) for statement in block)


def _has_break(statement: ast.AST) -> bool:
    """Whether the statement may leave the loop around it."""
    if isinstance(statement, (ast.For, ast.AsyncFor, ast.While)):
        return any(_has_break(s) for s in statement.orelse)
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
        return False
    return isinstance(statement, ast.Break) or any(map(_has_break, ast.iter_child_nodes(statement)))
