"""Gradients that are kept when they are cleared: ``kept = [p.grad for p in params]; optimizer.zero_grad()``.

torch takes the gradient away from the parameter, and who else holds it keeps it. Paddle frees its memory, so that what
is kept is empty; a copy is kept instead.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from paddletorch.model import Edit
from paddletorch.plan.calls.fill_template import fill
from paddletorch.plan.inference.aliasing import Aliasing, Holder
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import refused
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.resolve import Scope

_CODE = "TEN106"
_COPY = "{x}.grad.clone()"
_COPY_IF_ANY = "None if {x}.grad is None else {x}.grad.clone()"


def plan_kept_gradients(view: FileView, planned: Planned) -> Changes:
    """Keep a copy of each gradient that is kept beyond a call that clears it."""
    loads = [node for node in view.tree.members.get("grad", ()) if isinstance(node.ctx, ast.Load)]
    clearing = list(_clearing(view)) if view.target == "paddle" and loads else []
    if not clearing:
        return NOTHING
    aliases = planned.naming.aliases
    free = [n for n in loads if n not in planned.handled and not view.is_deselected(_CODE, n)]
    return joined(_copied(view, aliases, node) for node in free if _is_kept(view, node, clearing))


def _clearing(view: FileView) -> Iterator[ast.expr]:
    """Calls and targets by which gradients are set to None: ``optimizer.zero_grad()``, ``p.grad = None``."""
    for function in view.tree.members.get("zero_grad", ()):
        call = view.parent(function)
        if isinstance(call, ast.Call) and call.func is function and not any(_is_false(k) for k in call.keywords):
            yield call
    for store in view.tree.stores_by_name.get("grad", ()):
        if isinstance(store.value, ast.Constant) and store.value.value is None:
            yield store.target


def _is_false(keyword: ast.keyword) -> bool:
    """Whether gradients are filled with zeros instead, also those that are kept: ``set_to_none=False``."""
    return keyword.arg == "set_to_none" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False


def _is_kept(view: FileView, node: ast.Attribute, clearing: Sequence[ast.expr]) -> bool:
    """Whether the gradient is kept beyond something that clears it in the same function, and not written to there."""
    aliasing, scopes = view.provide(Aliasing), view.tree.scopes
    function = scopes[node].function()
    places = (place for place in clearing if scopes[place].function() is function)
    holders = [holder for place in places if (holder := aliasing.kept(node, place)) is not None]
    return bool(holders) and not any(_is_written(view, function, holder) for holder in holders)


def _is_written(view: FileView, function: Scope, holder: Holder) -> bool:
    """Whether the function may change what is kept in place, and so the gradient that the optimizer reads."""
    kept = holder.text.partition("[")[0]
    names = {kept}
    for bindings in function.bindings.values():
        looped = (b for b in bindings if b.value is not None and kept in view.text(b.value))
        names.update(b.name for b in looped)
    written = view.provide(_written_in_place).get(function, set())
    if not written.isdisjoint(names):
        return True
    return any(
        isinstance(n, ast.AugAssign) and view.text(n.target).partition("[")[0] in names for n in ast.walk(function.node)
    )


def _written_in_place(view: FileView) -> dict[Scope, set[str]]:
    """What calls of methods in place have as object or argument, without subscripts, by function."""
    found: dict[Scope, set[str]] = {}
    for call in view.tree.calls_of(*(name for name in view.tree.calls_by_name if name.endswith("_"))):
        called = call.func
        if isinstance(called, ast.Attribute):
            texts = {view.text(node).partition("[")[0] for node in (called.value, *call.args)}
            found.setdefault(view.tree.scopes[call].function(), set()).update(texts)
    return found


def _copied(view: FileView, aliases: Mapping[str, str], node: ast.Attribute) -> Changes:
    """The gradient as a copy; None where there is none, unless a member of it is read at once."""
    used = isinstance(view.parent(node), ast.Attribute | ast.Subscript)
    try:
        parts = fill(view, _COPY if used else _COPY_IF_ANY, {"x": node.value}, node)
        changes = spelled(view, aliases, node, (Edit(view.source.span(node), "", _CODE, tuple(parts)),), "torch.Tensor")
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, node, "torch.Tensor.grad"),))
    return changes._replace(conversions=(view.conversion(_CODE, node, "tensor.grad", "tensor.grad.clone()"),))
