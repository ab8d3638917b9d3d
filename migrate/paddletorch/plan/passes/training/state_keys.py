"""Keys of the states of optimizers and schedulers: ``optimizer.state_dict()["param_groups"]``.

Measured on torch 2.13 and Paddle 3.3.1: a scheduler of Paddle keeps its epoch and one rate, torch's all that it was
made with; an optimizer of Paddle keeps a flat dict by the names of parameters.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from paddletorch.model import Framework
from paddletorch.plan.inference.allocations import Allocations
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Instance

_CODES = {"optimizer": "OPT204", "scheduler": "LRS202", "scaler": "AMP251"}
_BOTH = {
    "optimizer": frozenset[str](),
    "scheduler": frozenset({"last_epoch", "best", "num_bad_epochs", "cooldown_counter"}),
    "scaler": frozenset[str](),
}
"""Keys that the states of both frameworks have, and that mean the same."""

_SET: Mapping[Framework, Mapping[str, frozenset[str]]] = {
    "torch": {
        "optimizer": frozenset({"state", "param_groups"}),
        "scaler": frozenset({"scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"}),
    },
    "paddle": {
        "optimizer": frozenset({"LR_Scheduler"}),
        "scheduler": frozenset({"last_lr"}),
        "scaler": frozenset(
            {"scale", "incr_ratio", "decr_ratio", "incr_every_n_steps", "decr_every_n_nan_or_inf", "incr_count"}
            | {"decr_count", "use_dynamic_loss_scaling"}
        ),
    },
}
"""Keys that say something to the source where a program sets them; others are the program's own."""

_KEYS: Mapping[Framework, Mapping[str, str]] = {
    "paddle": {
        "optimizer": "names such as 'linear_0.w_0_moment1_0', and 'LR_Scheduler'",
        "scheduler": "'last_epoch' and 'last_lr', one number",
    },
    "torch": {
        "optimizer": "'state' and 'param_groups'",
        "scheduler": "'last_epoch', '_last_lr', a list, and what it was made with",
    },
}
"""What the states of the target have."""

_NAMES: Mapping[Framework, str] = {"paddle": "Paddle", "torch": "torch"}

_WHAT = "{target}'s state has no {key!r}, but {keys}"


def plan_state_keys(view: FileView, planned: Planned) -> Changes:
    """Report each key that the target's state lacks."""
    receivers = view.provide(Receivers).with_uses(planned.uses)
    return Changes(findings=tuple(_findings(view, receivers)))


def _findings(view: FileView, receivers: Receivers) -> Iterator[Finding]:
    objects = view.provide(Allocations)
    own = {objects.variable(part.value): set[str]() for part, _, is_set in _parts(view) if is_set}
    for part, key, is_set in _parts(view):
        if is_set:
            own[objects.variable(part.value)].add(key)
    matched = {
        node for match in view.matches.values() for node in match.attributes
    }  # of a row: it says what comes of it
    for part, key, is_set in _parts(view):
        if isinstance(part.value, ast.Call) and part.value.func in matched:
            continue
        for kind in _kinds(view, receivers, part.value):
            of_source = key in _SET[view.settings.source].get(kind, ())
            is_own = key in _BOTH[kind] or key in own.get(objects.variable(part.value), ())
            if (of_source if is_set else (of_source or not is_own)) and key not in _BOTH[kind]:
                name = f"{kind}.state_dict"
                what = _WHAT.format(target=_NAMES[view.target], key=key, keys=_KEYS[view.target].get(kind))
                given = {"key": repr(key)} if kind == "scaler" else {"what": what}
                yield finding(_CODES[kind], part, name, **given)


def _parts(view: FileView) -> Iterator[tuple[ast.Subscript | ast.Attribute, str, bool]]:
    """What is read of or set in something by a key that is written out: the code, the key, and whether it is set."""
    for part in view.tree.of_kind(ast.Subscript):
        if isinstance(part.slice, ast.Constant) and isinstance(part.slice.value, str):
            yield part, part.slice.value, not isinstance(part.ctx, ast.Load)
    for call in view.tree.calls_of("get", "pop", "setdefault"):
        key = call.args[0] if call.args else None
        if isinstance(call.func, ast.Attribute) and isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield call.func, key.value, call.func.attr == "setdefault"


def _kinds(view: FileView, receivers: Receivers, node: ast.expr) -> list[str]:
    """The objects of the source whose state this is."""
    found: dict[str, None] = {}
    for call in view.provide(Allocations).origins(node):
        function = call.func if isinstance(call, ast.Call) and not call.args else None
        if isinstance(function, ast.Attribute) and function.attr == "state_dict":
            certain = [one for one in _CODES if receivers.certainty(function.value, one) is Certainty.YES]
            found |= dict.fromkeys(certain if not _has_own_state(view, function.value) else ())
    return list(found)


def _has_own_state(view: FileView, node: ast.expr) -> bool:
    """Whether it may be of a class of the program, which keeps the keys that it has."""
    found = [value for value in view.evaluator.values(node) if isinstance(value, Instance)]
    return any(value.node is not None or value.external_class for value in found)
