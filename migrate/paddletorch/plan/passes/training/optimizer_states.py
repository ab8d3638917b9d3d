"""The state of one optimizer that another one loads: Paddle finds it by names that each optimizer makes anew.

Measured on 3.3.1: ``step`` of the second one raises ``AssertionError: Optimizer set error, ... should in state dict``.
In a new process the names begin anew, and a saved state fits.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

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
    given = _given(view, call.args[0])
    if given is None or not _is_optimizer(receivers, given):
        yield finding(_SAVED, call, "optimizer.load_state_dict")
    elif not _is_same(view, call.func, given):
        yield finding(_CODE, call, "optimizer.load_state_dict", what=_WHAT)


def _is_optimizer(receivers: Receivers, method: ast.expr) -> bool:
    return isinstance(method, ast.Attribute) and receivers.certainty(method.value, "optimizer") is Certainty.YES


def _given(view: FileView, node: ast.expr) -> ast.Attribute | None:
    """The method of ``other.state_dict()``, also of what a variable holds or ``deepcopy`` copies of it."""
    if isinstance(node, ast.Name):
        bindings = tuple(view.evaluator.reaching(node))
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        return _given(view, value) if value is not None and not isinstance(value, ast.Name) else None
    if not isinstance(node, ast.Call):
        return None
    if view.qualified(node.func) == "copy.deepcopy" and node.args:
        return _given(view, node.args[0])
    return node.func if isinstance(node.func, ast.Attribute) and node.func.attr == "state_dict" else None


def _is_same(view: FileView, first: ast.expr, second: ast.Attribute) -> bool:
    """Whether both methods are of the same object, which was not made anew in between."""
    assert isinstance(first, ast.Attribute)
    one, other = first.value, second.value
    if isinstance(one, ast.Name) and isinstance(other, ast.Name):
        return set(map(id, view.evaluator.reaching(one))) == set(map(id, view.evaluator.reaching(other)))
    return ast.unparse(one) == ast.unparse(other)
