"""Whether what stands below a statement may take it that the statement has made an optimizer."""

from __future__ import annotations

import ast

from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.resolve import evaluated_always, evaluated_below


def made_anyway(view: FileView, statement: ast.stmt, made: list[ast.expr]) -> bool:
    """Whether ``statement`` assigns one of the targets ``made`` on every path, or the paths on which it does not fail.

    They fail if all that is below reads the name, or an attribute of it where it is None before.
    """
    if evaluated_always([statement], lambda node: node in made, or_left=True):
        return True
    first = made[0]
    if isinstance(first, ast.Attribute):
        others = [s.value for s in view.tree.stores_by_name.get(first.attr, ()) if s.target not in made]
    elif isinstance(first, ast.Name):
        others = [b.value for b in view.tree.scopes[first].lookup(first.id) if b.node not in made]
    else:
        return False
    if not all(isinstance(value, ast.Constant) and value.value is None for value in others):
        return False
    name = path_of(first)

    def fails(node: ast.AST) -> bool:
        if others:
            return isinstance(node, ast.Attribute) and path_of(node.value) == name
        return isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load) and path_of(node) == name

    return evaluated_below(view.tree.parents, statement, fails)
