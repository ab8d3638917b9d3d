"""RMSprop with momentum whose rate changes: torch multiplies the momentum by each rate, Paddle keeps it inside.

With one rate the two are the same numbers; with another, Paddle goes on with what earlier steps added at the old rate.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.use import Draft
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.training.constructors import constructors_of
from paddletorch.plan.syntax.constants import constant

_KEEP_THE_RATE = frozenset({"step", "zero_grad", "clear_grad", "state_dict", "load_state_dict", "set_state_dict"})
"""Methods of an optimizer after which its rate is what it was."""

_STEP = frozenset({"step", "unscale_", "minimize"})
"""Methods of a scaler that take the optimizer."""


def plan_rates_in_momentum(view: FileView, planned: Planned) -> Changes:
    """Report each RMSprop that has momentum and whose rate may change, without edits."""
    return Changes(findings=tuple(_findings(view, planned)))


def _findings(view: FileView, planned: Planned) -> Iterator[Finding]:
    for optimizer in constructors_of(view, Draft(planned.uses), "optimizer"):
        if optimizer.row.id != "optim.RMSprop":
            continue
        momentum = optimizer.value("momentum")
        unseen = any(keyword.arg is None for keyword in optimizer.call.keywords)
        if (momentum is None and not unseen) or (momentum is not None and constant(momentum) == 0):
            continue
        if _has_schedule(view, optimizer.value("learning_rate")) or _may_change(view, optimizer.call):
            yield finding("OPT206", optimizer.call, optimizer.site.name, optimizer.row)


def _has_schedule(view: FileView, rate: ast.expr | None) -> bool:
    """Whether Paddle's optimizer gets a scheduler, or what may be one, as its rate."""
    return rate is not None and not isinstance(constant(rate), int | float)


def _may_change(view: FileView, call: ast.Call) -> bool:
    """Whether anything but steps is done with the optimizer, such as making a scheduler of it or returning it."""
    statement = view.parent(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if len(targets) != 1 or not isinstance(targets[0], ast.Name) or targets[0] not in view.tree.scopes:
        return True
    reads = view.tree.reads(view.tree.scopes[targets[0]].lookup(targets[0].id))
    return not all(_keeps_the_rate(view, read) for read in reads)


def _keeps_the_rate(view: FileView, read: ast.Name) -> bool:
    user = view.parent(read)
    if isinstance(user, ast.Attribute):
        return user.attr in _KEEP_THE_RATE
    if isinstance(user, ast.Call) and read in user.args:
        return isinstance(user.func, ast.Attribute) and user.func.attr in _STEP
    return False
