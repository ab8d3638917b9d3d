"""Whether gradients are off where something runs."""

from __future__ import annotations

import ast

from paddletorch_rules.facts import facts

from paddletorch.plan.model.view import FileView


def is_without_grad(view: FileView, node: ast.AST) -> bool:
    """Whether this runs under ``no_grad``."""
    current = view.parent(node)
    while current is not None:
        contexts: list[ast.expr] = []
        if isinstance(current, ast.With | ast.AsyncWith):
            contexts = [i.context_expr for i in current.items]
        elif isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef):
            contexts = current.decorator_list
        names = (view.qualified(c.func if isinstance(c, ast.Call) else c) for c in contexts)
        if any(name in facts().no_grad[view.settings.source] for name in names):
            return True
        current = view.parent(current)
    return False
