"""Tuples of known elements as positional arguments: ``torch.add(*operands)`` where ``operands = (x, y)``."""

from __future__ import annotations

import ast

from paddletorch.plan.model.view import FileView


def seen_elements(view: FileView, node: ast.expr) -> list[tuple[ast.expr, str]] | None:
    """The elements of ``*node``, each with its text in the call; None unless it is a literal that nothing changes."""
    if not isinstance(node, ast.Name):
        return None
    bindings = view.tree.scopes[node].lookup(node.id)
    literal = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
    if not isinstance(literal, ast.Tuple | ast.List) or any(isinstance(e, ast.Starred) for e in literal.elts):
        return None
    if any(not _is_fixed(view, element) for element in literal.elts):
        return None
    if isinstance(literal, ast.List) and not all(_only_reads(view, load) for load in view.tree.reads(bindings)):
        return None
    return [(value, _written(view, value) or f"{node.id}[{number}]") for number, value in enumerate(literal.elts)]


def _is_fixed(view: FileView, value: ast.expr) -> bool:
    """Whether each name in the value has one binding, so that it means the same at the call."""
    return all(
        len(view.tree.scopes[name].lookup(name.id)) == 1 for name in ast.walk(value) if isinstance(name, ast.Name)
    )


def _only_reads(view: FileView, load: ast.Name) -> bool:
    parent = view.parent(load)
    if isinstance(parent, ast.Subscript):
        return parent.value is load and isinstance(parent.ctx, ast.Load)
    return isinstance(parent, ast.Starred)


def _written(view: FileView, value: ast.expr) -> str:
    return view.written(value) if isinstance(value, ast.Constant) else ""
