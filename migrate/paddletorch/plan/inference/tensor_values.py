"""Which values are written as tensors are."""

from __future__ import annotations

import ast

from paddletorch_rules.guesses import suggests

from paddletorch.plan.model.view import FileView


def seems_tensor(view: FileView, node: ast.expr) -> bool:
    """Whether it is written as tensors are: ``pred[mask]``, ``x[:, 0]``, or a parameter with a name that they have."""
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Subscript):
        held = node.value
        name = held.attr if isinstance(held, ast.Attribute) else getattr(held, "id", "")
        return not isinstance(node.slice, ast.Constant | ast.UnaryOp) and suggests("tensor", name)
    if not isinstance(node, ast.Name) or not suggests("tensor", node.id):
        return False
    return {binding.kind for binding in view.evaluator.reaching(node)} == {"parameter"}
