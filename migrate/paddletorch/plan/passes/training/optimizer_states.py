"""The state of one optimizer that another one loads: Paddle finds it by names that each optimizer makes anew.

Measured on 3.3.1: ``step`` of the second one raises ``AssertionError: Optimizer set error, ... should in state dict``.
In a new process the names begin anew, and a saved state fits.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.plan.inference.allocations import Allocations
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.view import FileView

_CODE = "OPT204"
_SAVED = "OPT207"
_WHAT = "another optimizer's state has other names in Paddle; step raises an error where it needs a state"


def plan_optimizer_states(view: FileView, planned: Planned) -> Changes:
    """Report optimizers that load what another one gives as its state, and say of others when theirs fits."""
    receivers = view.provide(Receivers).with_uses(planned.uses)
    calls = [call for call in view.tree.method_calls("load_state_dict") if call.args]
    loads = [call for call in calls if _is_optimizer(receivers, call.func)]
    return Changes(findings=tuple(one for call in loads for one in _findings(view, receivers, call)))


def _findings(view: FileView, receivers: Receivers, call: ast.Call) -> Iterator[Finding]:
    objects = view.provide(Allocations)
    given = [_given(one) for one in objects.origins(call.args[0])]
    assert isinstance(call.func, ast.Attribute)
    others = [one for one in given if one is not None and _is_optimizer(receivers, one)]
    if len(others) < len(given):
        yield finding(_SAVED, call, "optimizer.load_state_dict")
    if not all(objects.is_same(call.func.value, one.value) for one in others):
        yield finding(_CODE, call, "optimizer.load_state_dict", what=_WHAT)


def _is_optimizer(receivers: Receivers, method: ast.expr) -> bool:
    return isinstance(method, ast.Attribute) and receivers.certainty(method.value, "optimizer") is Certainty.YES


def _given(node: ast.expr) -> ast.Attribute | None:
    """The method of ``other.state_dict()``."""
    function = node.func if isinstance(node, ast.Call) else None
    return function if isinstance(function, ast.Attribute) and function.attr == "state_dict" else None
