"""Walks over the entries of a layer's state, or their number: torch's normalization also counts its batches there.

Paddle's layers have no such entry. A state that is saved or loaded keeps it; what walks over one does not meet it.
The entries of Paddle's states are the parameters themselves, torch's are made anew by each call: where a walk keeps
weak references to them or sets their flags, torch is asked for the parameters, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.plan.passes.tensors.statistics import may_hold_statistics

_CODE = "NNM101"
_FUNCTION = "paddle_state"

_VIEWS = frozenset({"items", "keys", "values"})
_WALKS = frozenset({"enumerate", "iter", "len", "list", "map", "filter", "set", "sorted", "tuple", "zip"})
"""Functions of Python's own that walk over what they are given, or count it."""

_OF_PARAMETERS = frozenset({"stop_gradient", "trainable", "grad", "is_leaf", "clear_gradient", "clear_grad"})
"""Members that an entry has in common with the parameter, not with a tensor that only shares its memory."""

_OTHERS = ("optimizer", "scheduler", "scaler")


def plan_walked_states(view: FileView, planned: Planned) -> Changes:
    """Leave the numbers of batches out of walks over states."""
    kept = [call for call in _states(view, anywhere=True) if _asks_for_parameters(view, call)]
    states = [call for call in _states(view) if any(_is_walked(view, one) for one in (call, *_held(view, call)))]
    return joined(
        (*(_with_parameters(view, call) for call in kept), *(_without_counts(view, planned, one) for one in states))
    )


def _asks_for_parameters(view: FileView, call: ast.Call) -> bool:
    """Whether a walk over the state needs the parameters themselves: ``weakref.ref(value)``, ``value.grad``."""
    if call.args or call.keywords or not view.is_located(call) or view.is_deselected(_CODE, call):
        return False
    return any(_is_parameter(view, load) for one in (call, *_held(view, call)) for load in _values(view, one))


def _values(view: FileView, state: ast.expr) -> Iterator[ast.Name]:
    """Where the values are read that a loop over a state binds: ``v`` of ``for k, v in state.items()``."""
    around = view.parent(state)
    call = view.parent(around) if isinstance(around, ast.Attribute) else None
    loop = view.parent(call) if isinstance(call, ast.Call) else None
    if (
        not isinstance(loop, ast.For | ast.comprehension)
        or loop.iter is not call
        or not isinstance(around, ast.Attribute)
    ):
        return
    target: ast.expr | None = loop.target
    if around.attr == "items":
        target = target.elts[1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else None
    if around.attr not in ("items", "values") or not isinstance(target, ast.Name):
        return
    within = view.parent(loop) if isinstance(loop, ast.comprehension) else loop
    for node in ast.walk(within) if within is not None else ():
        if isinstance(node, ast.Name) and node.id == target.id and isinstance(node.ctx, ast.Load):
            yield node


def _is_parameter(view: FileView, value: ast.Name) -> bool:
    around = view.parent(value)
    if isinstance(around, ast.Attribute):
        return around.attr in _OF_PARAMETERS
    if not isinstance(around, ast.Call) or value not in around.args:
        return False
    return view.qualified(around.func) in ("weakref.ref", "weakref.proxy") or ast.unparse(around.func) == "id"


def _with_parameters(view: FileView, call: ast.Call) -> Changes:
    end = view.source.span(call).end - 1
    edit = Edit(Span(end, end), "keep_vars=True", _CODE)
    return Changes((edit,), (view.conversion(_CODE, call, "module.state_dict", "keep_vars=True", "Module.state_dict"),))


def _states(view: FileView, *, anywhere: bool = False) -> Iterator[ast.Call]:
    """Each ``model.state_dict()`` of what may be a layer with normalization, or of ``anywhere``: any layer."""
    receivers = view.provide(Receivers)
    for member in view.tree.members.get("state_dict", ()):
        call = view.parent(member)
        if not isinstance(call, ast.Call) or call.func is not member or not view.is_sources(member.value):
            continue
        if any(receivers.certainty(member.value, one) is Certainty.YES for one in _OTHERS):
            continue
        if receivers.certainty(member.value, "module") is Certainty.NO:
            continue
        if anywhere or may_hold_statistics(view, member.value):
            yield call


def _held(view: FileView, call: ast.Call) -> Iterator[ast.expr]:
    """Where the variable or the attribute that gets the state is read."""
    statement = view.parent(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if isinstance(target, ast.Name):
        for load in view.tree.names.get(target.id, ()):
            reaching = view.evaluator.reaching(load) if isinstance(load.ctx, ast.Load) else ()
            if any(binding.value is call for binding in reaching):
                yield load
    elif isinstance(target, ast.Attribute):
        stores = view.evaluator.stores(target.attr)
        if all(store.value is call for store in stores):
            yield from (read for read in view.tree.members.get(target.attr, ()) if isinstance(read.ctx, ast.Load))


def _is_walked(view: FileView, state: ast.expr) -> bool:
    """Whether the code walks over the entries, or counts them."""
    around = view.parent(state)
    if isinstance(around, ast.Attribute):
        call = view.parent(around)
        return around.attr in _VIEWS and isinstance(call, ast.Call) and call.func is around
    if isinstance(around, ast.Call):
        function = around.func
        if not isinstance(function, ast.Name) or view.tree.scopes[function].lookup(function.id):
            return False
        return state in around.args and function.id in _WALKS
    return isinstance(around, ast.For | ast.comprehension) and around.iter is state


def _without_counts(view: FileView, planned: Planned, state: ast.expr) -> Changes:
    if view.is_deselected(_CODE, state) or not view.is_located(state):
        return NOTHING
    span = view.source.span(state)
    edits = (
        Edit(Span(span.start, span.start), f"{_FUNCTION}(", _CODE),
        Edit(Span(span.end, span.end), ")", _CODE),
    )
    try:
        changes = spelled(view, planned.naming.aliases, state, edits, "module.state_dict")
    except Refused:
        return NOTHING
    written = view.conversion(_CODE, state, "module.state_dict", _FUNCTION, "Module.state_dict")
    return changes._replace(conversions=(written,))
