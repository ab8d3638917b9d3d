"""``y.stop_gradient = True``: torch changes that of leaves only, so a computed tensor is detached instead."""

from __future__ import annotations

import ast

from paddletorch.model import Edit
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Binding, Instance

_COMPUTED = (ast.BinOp, ast.UnaryOp)
_MAKES_LEAVES = frozenset(
    "zeros ones full empty zeros_like ones_like full_like empty_like rand randn randint to_tensor arange eye "
    "linspace create_parameter Parameter detach parameters named_parameters buffers named_buffers".split()
)
"""Calls whose tensor is a leaf: its flag can be changed as it is."""


def stopped(view: FileView, node: ast.Attribute, code: str) -> list[Edit]:
    """``y = y.detach()`` for a name that was computed; nothing where the flag itself can be set."""
    statement = view.parent(node)
    if view.target != "torch" or node.attr != "stop_gradient" or not isinstance(node.value, ast.Name):
        return []
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    if not (isinstance(statement.value, ast.Constant) and statement.value.value is True):
        return []
    name = node.value
    bindings = view.tree.scopes[name].lookup(name.id) if name in view.tree.scopes else ()
    if not bindings or not all(_is_assigned(b) and _is_computed(view, b.value) for b in bindings):
        return []
    return [
        Edit(view.source.span(node), name.id, code),
        Edit(view.source.span(statement.value), f"{name.id}.detach()", code),
    ]


def _is_assigned(binding: Binding) -> bool:
    """Whether a statement gives the name its value; a loop may run over parameters, which are leaves."""
    return binding.kind == "assign" or (binding.kind == "unpack" and len(binding.path) == 1)


def _is_computed(view: FileView, value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        called = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        return called not in _MAKES_LEAVES
    if isinstance(value, ast.Subscript):  # of a tensor, not of a list that may hold parameters
        held = view.evaluator.values(value.value)
        return bool(held) and all(isinstance(v, Instance) and v.type == "tensor" for v in held)
    return isinstance(value, _COMPUTED)
