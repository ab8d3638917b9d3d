"""In-place operators, ``p -= step``: torch changes the tensor, Paddle binds the name to a new one.

Measured on 2.6.2 and 3.3.1: after ``a = x; a += 1`` the tensor ``x`` is unchanged. So a loop with ``p -= step`` for
each parameter would train nothing. Where the tensor itself must change, ``paddle.assign`` writes into it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from paddletorch_rules.facts import facts

from paddletorch.model import Edit
from paddletorch.plan.calls.fill_template import fill
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import finding, refused
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.plan.syntax.operators import ELEMENTWISE
from paddletorch.resolve import Binding, Instance

_CODE = "TEN106"
_REPORTED = "TEN214"


def plan_inplace_operators(view: FileView, planned: Planned) -> Changes:
    """Write into tensors of loops and into leaf tensors; report those whose memory another name shares."""
    if view.target != "paddle":
        return NOTHING
    aliases = planned.naming.aliases
    statements = [n for n in view.tree.parents if isinstance(n, ast.AugAssign)]
    return joined(_plan_statement(view, aliases, statement) for statement in statements)


def _plan_statement(view: FileView, aliases: Mapping[str, str], statement: ast.AugAssign) -> Changes:
    """Plan one ``p -= step``. For ``p @= q`` torch creates a new tensor too."""
    target, operator = statement.target, ELEMENTWISE.get(type(statement.op))
    if operator is None or not isinstance(target, ast.Name) or target not in view.tree.scopes:
        return NOTHING
    bindings = [b for b in view.tree.scopes[target].lookup(target.id) if b.kind != "augment"]
    if not bindings or not _is_tensor(view, bindings, statement):
        return NOTHING
    if _must_change_itself(view, bindings, statement):
        left = view.is_deselected(_CODE, statement)
        return NOTHING if left else _write_into(view, aliases, statement, target, operator)
    base = _shared_base(view, bindings, statement)
    if base is None:
        return NOTHING
    return Changes(findings=(finding(_REPORTED, target, "torch.Tensor", name=target.id, base=base),))


def _write_into(
    view: FileView, aliases: Mapping[str, str], statement: ast.AugAssign, target: ast.Name, sign: str
) -> Changes:
    """The statement as a call that writes the result into the tensor."""
    arguments: dict[str, ast.expr | tuple[ast.expr, ast.expr] | str] = {"self": target, "value": statement.value}
    try:
        parts = fill(view, f"paddle.assign({{self}} {sign} {{value}}, {{self}})", arguments, target)
        edit = Edit(view.source.span(statement), "", _CODE, tuple(parts))
        changes = spelled(view, aliases, target, (edit,), "torch.Tensor")
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, target, "torch.Tensor"),))
    return changes._replace(conversions=(view.conversion(_CODE, statement, "in-place operator", "paddle.assign"),))


def _is_tensor(view: FileView, bindings: Sequence[Binding], statement: ast.AugAssign) -> bool:
    """Whether all known values of the name are tensors, or its gradient is read in the statement."""
    name = bindings[0].name
    reads = (n for n in ast.walk(statement.value) if isinstance(n, ast.Attribute) and n.attr == "grad")
    if any(isinstance(n.value, ast.Name) and n.value.id == name for n in reads):
        return True
    instances = [v for v in view.evaluator.bound(bindings) if isinstance(v, Instance)]
    return bool(instances) and all(v.type == "tensor" for v in instances)


def _must_change_itself(view: FileView, bindings: Sequence[Binding], statement: ast.AugAssign) -> bool:
    """Whether the tensor itself must change: a loop's element, or under ``no_grad`` a parameter or leaf tensor."""
    if any(_is_looped(view, b) for b in bindings):
        return True
    leaf = any(b.value is not None and _needs_grad(view, b) for b in bindings)
    own = any(b.kind == "parameter" for b in bindings)
    return (leaf or own) and _without_grad(view, statement)


def _is_looped(view: FileView, binding: Binding) -> bool:
    if binding.kind == "iterate":
        return True
    current: ast.AST | None = binding.node
    while isinstance(current, ast.Name | ast.Tuple | ast.List | ast.Starred):
        child, current = current, view.parent(current)
        if isinstance(current, ast.For | ast.AsyncFor):
            return current.target is child
    return False


def _needs_grad(view: FileView, binding: Binding) -> bool:
    """Whether the value is a leaf tensor with gradients: ``zeros(2, requires_grad=True)``, ``w.requires_grad_()``."""
    assert binding.value is not None
    for node in ast.walk(binding.value):
        if isinstance(node, ast.keyword) and node.arg == "requires_grad":
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("requires_grad_", "Parameter"):
            return True
    members = (*view.tree.members.get("requires_grad", ()), *view.tree.members.get("requires_grad_", ()))
    return any(
        isinstance(m.value, ast.Name) and view.tree.scopes[m.value].lookup(m.value.id) and m.value.id == binding.name
        for m in members
    )


def _without_grad(view: FileView, node: ast.AST) -> bool:
    """Whether this runs under ``no_grad``."""
    current = view.parent(node)
    while current is not None:
        contexts: list[ast.expr] = []
        if isinstance(current, ast.With | ast.AsyncWith):
            contexts = [i.context_expr for i in current.items]
        elif isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef):
            contexts = current.decorator_list
        names = (view.qualified(c.func if isinstance(c, ast.Call) else c) for c in contexts)
        if any(name in facts().no_grad["torch"] for name in names):
            return True
        current = view.parent(current)
    return False


def _shared_base(view: FileView, bindings: Sequence[Binding], statement: ast.AugAssign) -> str | None:
    """The source text of a tensor that shares the name's memory and is read afterwards."""
    scope = bindings[0].scope
    for binding in bindings:
        base = _base(view, binding.value) if binding.kind == "assign" and binding.value is not None else None
        if base is None or base.id == binding.name or binding.scope is not scope:
            continue
        of_base = view.tree.scopes[base].lookup(base.id)
        after = [
            load
            for load in view.tree.names.get(base.id, [])
            if load.lineno > statement.lineno and view.tree.scopes[load].lookup(base.id) is of_base
        ]
        stored = {_line(b) for b in of_base if isinstance(b.node, ast.Name) and _line(b) > _line(binding)}
        if after and not any(line <= after[0].lineno for line in stored):
            return view.text(binding.value) if binding.value is not None else base.id
    return None


def _line(binding: Binding) -> int:
    """The line on which the name is bound."""
    return getattr(binding.node, "lineno", 0)


def _base(view: FileView, value: ast.expr) -> ast.Name | None:
    """``x`` of ``x``, ``x[0]`` and ``x.view(-1)``; None for a tensor with its own memory."""
    views = facts().views["torch"]
    while not isinstance(value, ast.Name):
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in views:
            value = value.func.value
        elif (isinstance(value, ast.Attribute) and value.attr in views) or (
            isinstance(value, ast.Subscript) and _is_basic(value)
        ):
            value = value.value
        else:
            return None
    values = view.evaluator.values(value)
    return value if any(isinstance(v, Instance) and v.type == "tensor" for v in values) else None


def _is_basic(node: ast.Subscript) -> bool:
    """Whether a subscript has only slices and literal numbers, so that it returns a view."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return all(isinstance(p, ast.Slice | ast.Constant | ast.UnaryOp) for p in parts)
