"""Arrays of NumPy that are written to, ``a = x.numpy()`` and ``a[0] = 1``: torch's share memory with the tensor.

Paddle's are copies, so that the tensor keeps its values. Behind ``cpu()`` a program on a GPU has a copy in torch too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch_rules.facts import facts

from paddletorch.plan.inference.aliasing import Aliasing
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.control_flow import loops_around
from paddletorch.plan.syntax.positions import holds

_REPORTED = "TEN214"


def plan_written_arrays(view: FileView, planned: Planned) -> Changes:
    """Report each array whose tensor, or what that shares memory with, is read after the array is written to."""
    found: dict[ast.expr, Finding] = {}
    for name in _written(view):
        for tensor in _tensors(view, name):
            base = _read_again(view, tensor, name)
            if base is not None:
                found[tensor] = finding(_REPORTED, name, "tensor.numpy", name=view.text(name), base=base)
                break
    return Changes(findings=tuple(found.values()))


def _written(view: FileView) -> Iterator[ast.Name]:
    """Variables to whose parts something is assigned, or that an operator changes in place."""
    for part in view.tree.of_kind(ast.Subscript):
        if isinstance(part.ctx, ast.Store) and isinstance(part.value, ast.Name):
            yield part.value
    for statement in view.tree.of_kind(ast.AugAssign):
        if isinstance(statement.target, ast.Name):
            yield statement.target


def _tensors(view: FileView, name: ast.Name) -> Iterator[ast.expr]:
    """The tensors whose memory the variable's array shares."""
    for binding in view.evaluator.reaching(name):
        call = binding.value if binding.kind == "assign" else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "numpy":
            continue
        tensor = call.func.value
        if view.source_tensor(tensor).is_certain and not _is_moved(tensor):
            yield tensor


def _read_again(view: FileView, tensor: ast.expr, written: ast.Name) -> str | None:
    """What is read after the array is written to, and has what torch writes; a caller's tensor hardly is."""
    statement = view.statement(written)
    if statement is None:
        return None
    holder = view.provide(Aliasing).of_value(tensor, statement)
    if holder is not None:
        return holder.text if holder.kind != "parameter" else None
    shared = facts().views["torch"] | facts().may_share["torch"]
    while isinstance(tensor, ast.Call) or (isinstance(tensor, ast.Attribute) and tensor.attr in shared):
        tensor = tensor.func if isinstance(tensor, ast.Call) else tensor.value
    if not isinstance(tensor, ast.Name):
        return None
    bindings = [b for b in view.evaluator.reaching(tensor) if b.kind == "assign"]
    rounds = [loop for loop in loops_around(view, statement) if holds(loop, tensor)]
    is_older = any(not holds(loop, binding.node) for loop in rounds for binding in bindings)
    return tensor.id if is_older else None


def _is_moved(node: ast.expr) -> bool:
    """Whether the expression asks for a copy on a CPU."""
    return any(isinstance(part, ast.Attribute) and part.attr in ("cpu", "to") for part in ast.walk(node))
