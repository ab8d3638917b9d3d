"""``paddle.Model``, to torch: a written class trains and evaluates its network, where it has all that is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.uses.adapters import adapted

_KEYWORDS = frozenset({"callbacks", "accumulate_grad_batches", "num_iters", "num_samples", "amp_configs"})
"""Arguments of its methods that the class does not have."""

_MEMBERS = frozenset({"stop_training", "mode"})
"""Members that the class does not have."""


def plan_high_level_models(view: FileView, planned: Planned) -> Changes:
    """Make each model of the written class, unless the file may need more; it steps the schedulers of this file."""
    models = [use for use in planned.uses if use.row.id == "Model" and use.site.role == "call" and not use.converts]
    asked = {keyword.arg for call in view.tree.calls for keyword in call.keywords}
    optimizes = any(use.row.instance == "optimizer" for use in planned.uses) or "prepare" not in view.tree.members
    if not optimizes or not _KEYWORDS.isdisjoint(asked) or not _MEMBERS.isdisjoint(view.tree.members):
        return NOTHING
    found = (adapted(view, use, use.site.call) for use in models if not view.suppressed(use.row.code, use.site.node))
    made = tuple(use for use in found if use is not None)
    return Changes(uses=(*made, *_inputs(view, planned))) if made else NOTHING


def _inputs(view: FileView, planned: Planned) -> Iterator[Use]:
    """What is said of the inputs of a model, which the written class only counts."""
    for use in planned.uses:
        if use.row.id == "InputSpec" and use.site.role == "call" and not view.suppressed(use.row.code, use.site.node):
            found = adapted(view, use, use.site.call)
            if found is not None:
                yield found
