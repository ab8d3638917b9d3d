"""Schedulers and optimizers together: where one of the two must stay, so does the other."""

from __future__ import annotations

from paddletorch.plan.model.changes import Changes, Planned, joined
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.training.optimizers import plan_optimizers
from paddletorch.plan.passes.training.schedulers import plan_schedulers


def plan_schedules(view: FileView, planned: Planned) -> Changes:
    """Plan the schedulers, then the optimizers, whose rates depend on them; again, without optimizers that are left."""
    left = Changes()
    while True:
        known = planned.with_changes(left)
        schedulers = plan_schedulers(view, known)
        scheduled = known.with_changes(schedulers)
        optimizers = plan_optimizers(view, scheduled)
        refused = tuple(u for u in optimizers.uses if not u.converts and scheduled.uses[u.site].converts)
        if not refused or not any(u.row.instance == "scheduler" for u in scheduled.uses):
            return joined([left, schedulers, optimizers])
        left = Changes(uses=(*left.uses, *refused))
