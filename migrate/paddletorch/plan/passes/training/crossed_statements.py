"""Whether statements may move behind others that use or bind the same names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.plan.syntax.dotted_path import path_of


def conflict(moved: list[ast.stmt], crossed: list[ast.stmt], spared: set[ast.AST]) -> str | None:
    """A name or path that keeps the statements from moving behind those that they would cross; None if there is none.

    On no path through the crossed statements may anything be used that the moved ones bind, or be bound that they
    read. ``spared`` are nodes that do not count.
    """
    binds = {path for s in moved for _, path, is_bound in paths(s) if is_bound}
    reads = {path for s in moved for _, path, is_bound in paths(s) if not is_bound}
    for statement in crossed:
        for node, path, is_bound in paths(statement):
            if node not in spared and (path in binds or (is_bound and path in reads)):
                return path
    return None


def paths(statement: ast.stmt) -> Iterator[tuple[ast.AST, str, bool]]:
    """The names and dotted paths in a statement, each with whether it is bound or deleted there."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name | ast.Attribute) and path_of(node):
            yield node, path_of(node), not isinstance(node.ctx, ast.Load)
