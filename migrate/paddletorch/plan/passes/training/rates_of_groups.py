"""``get_last_lr()`` where groups have rates of their own: Paddle's scheduler knows the optimizer's alone."""

from __future__ import annotations

import ast

from paddletorch.plan.inference.parameter_groups import keys_of
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.view import FileView

_WHAT = "the optimizer's groups have rates of their own, torch gives the rate of each, and Paddle's scheduler has one"


def plan_rates_of_groups(view: FileView, planned: Planned) -> Changes:
    """Report each read of a scheduler's rates in a file that writes a group with a rate."""
    if not any({"params", "lr"} <= keys_of(node).keys() for node in view.tree.of_kind(ast.Dict)):
        return NOTHING
    receivers = view.provide(Receivers).with_uses(planned.uses)
    methods = (call.func for call in view.tree.method_calls("get_last_lr"))
    reads = [
        method
        for method in methods
        if isinstance(method, ast.Attribute) and receivers.certainty(method.value, "scheduler") is Certainty.YES
    ]
    return Changes(findings=tuple(finding("LRS202", one, "scheduler.get_last_lr", what=_WHAT) for one in reads))
