"""Keys of the states of optimizers and schedulers: ``optimizer.state_dict()["param_groups"]``.

Measured on torch 2.13 and Paddle 3.3.1: a scheduler of Paddle keeps its epoch and one rate, torch's all that it was
made with; an optimizer of Paddle keeps a flat dict by the names of parameters.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from paddletorch.model import Framework
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Instance

_CODES = {"optimizer": "OPT204", "scheduler": "LRS202"}
_BOTH = {
    "optimizer": frozenset[str](),
    "scheduler": frozenset({"last_epoch", "best", "num_bad_epochs", "cooldown_counter"}),
}
"""Keys that the states of both frameworks have."""

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
    for call in view.tree.method_calls("state_dict"):
        function = call.func
        assert isinstance(function, ast.Attribute)
        for kind, code in _CODES.items():
            is_kind = not call.args and receivers.certainty(function.value, kind) is Certainty.YES
            if not is_kind or _has_own_state(view, function.value):
                continue
            for part in _parts(view, call):
                key = part.slice.value if isinstance(part.slice, ast.Constant) else None
                if isinstance(key, str) and key not in _BOTH[kind]:
                    yield finding(
                        code,
                        part,
                        f"{kind}.state_dict",
                        what=_WHAT.format(target=_NAMES[view.target], key=key, keys=_KEYS[view.target][kind]),
                    )


def _has_own_state(view: FileView, node: ast.expr) -> bool:
    """Whether it may be of a class of the program, which keeps the keys that it has."""
    found = [value for value in view.evaluator.values(node) if isinstance(value, Instance)]
    return any(value.node is not None or value.external_class for value in found)


def _parts(view: FileView, call: ast.Call) -> Iterator[ast.Subscript]:
    """What is read of the state, also of a variable that holds it and is given no such key."""
    parent = view.parent(call)
    if isinstance(parent, ast.Subscript) and parent.value is call:
        yield parent
    if not isinstance(parent, ast.Assign):
        return
    for target in parent.targets:
        named = view.tree.names.get(target.id, ()) if isinstance(target, ast.Name) else ()
        pairs = [(name, view.parent(name)) for name in named]
        parts = [(name, part) for name, part in pairs if isinstance(part, ast.Subscript) and part.value is name]
        given = {ast.dump(part.slice) for _, part in parts if isinstance(part.ctx, ast.Store)}
        for name, part in parts:
            held = [binding.value for binding in view.evaluator.reaching(name)]
            if isinstance(part.ctx, ast.Load) and held == [call] and ast.dump(part.slice) not in given:
                yield part
