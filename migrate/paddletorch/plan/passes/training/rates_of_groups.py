"""``get_last_lr()`` where groups have rates of their own: Paddle's scheduler knows the optimizer's alone."""

from __future__ import annotations

import ast

from paddletorch.plan.inference.allocations import Allocations
from paddletorch.plan.inference.parameter_groups import groups_in, keys_of
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.use import Draft
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.training.constructors import Constructor, constructors_of

_WHAT = "the optimizer's groups have rates of their own, torch gives the rate of each, and Paddle's scheduler has one"


def plan_rates_of_groups(view: FileView, planned: Planned) -> Changes:
    """Report each read of the rates of a scheduler whose optimizer may have a group with a rate."""
    draft = Draft(planned.uses)
    grouped = {one.call for one in constructors_of(view, draft, "optimizer") if _has_rates(view, one)}
    if not grouped:
        return NOTHING
    receivers, objects = view.provide(Receivers).with_uses(planned.uses), view.provide(Allocations)
    optimizers = {one.call: one.value("optimizer") for one in constructors_of(view, draft, "scheduler")}

    def may_be_grouped(scheduler: ast.expr) -> bool:
        followed = (optimizers.get(call) for call in objects.makers(scheduler) or ())
        made = (objects.makers(one) for one in followed if one is not None)
        return any(not grouped.isdisjoint(calls or ()) for calls in made)

    methods = (call.func for call in view.tree.method_calls("get_last_lr"))
    reads = [
        method
        for method in methods
        if isinstance(method, ast.Attribute)
        and receivers.certainty(method.value, "scheduler") is Certainty.YES
        and may_be_grouped(method.value)
    ]
    return Changes(findings=tuple(finding("LRS202", one, "scheduler.get_last_lr", what=_WHAT) for one in reads))


def _has_rates(view: FileView, optimizer: Constructor) -> bool:
    given = optimizer.value("params")
    return given is not None and any("lr" in keys_of(group) for group in groups_in(view, given))
