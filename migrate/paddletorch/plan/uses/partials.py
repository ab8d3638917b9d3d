"""Calls of ``functools.partial`` objects over an API: their keywords are the API's too."""

from __future__ import annotations

from paddletorch.model import Edit
from paddletorch.plan.calls.arguments import convert_arguments
from paddletorch.plan.calls.binding import bind
from paddletorch.plan.calls.convert_call import run_hook
from paddletorch.plan.model.outcome import finding, target_form
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import NoneValue, Partial, Qualified


def plan_partials(view: FileView) -> list[Edit]:
    """Rename what a call adds to a partial; what cannot be seen is reported."""
    edits: list[Edit] = []
    if b"partial" not in view.source.body:
        return edits
    for call in view.tree.calls:
        partials = [v for v in view.evaluator.values(call.func) if isinstance(v, Partial)]
        skip = 0
        if not partials and call.args and view.qualified(call.func) == "functools.partial":
            partials = [v for v in view.evaluator.values(call.args[0]) if isinstance(v, Partial)]
            skip = 1
        found = view.settings.lookup(partials[0].name) if len(partials) == 1 else None
        if found is None or (len(call.args) == skip and not call.keywords):
            continue
        row, form = found
        if view.suppressed(row.code, call) or (view.settings.at_run_time and not skip):
            continue
        if not row.forms(view.target):
            continue  # what has no counterpart is reported where the partial is made
        others = [v for v in view.evaluator.values(call.func) if not isinstance(v, Partial | NoneValue)]
        if others and not skip:
            if not any(isinstance(v, Qualified) for v in others):  # else the call is that API's site
                refusal = Refusal("API201", name=view.text(call.func), other=str(call.lineno))
                view.findings.append(finding(refusal, call, partials[0].name, row))
            continue
        try:
            if len(call.args) > skip and (skip or partials[0].positional):
                raise Refusal("API203", what="positional arguments of a partial object")
            passed = 0 if len(call.args) > skip else max(skip, len(call.args))
            binding = bind(view, call, row, form, partials[0].name, passed, whole=False)
            run_hook(binding)
            edits += convert_arguments(binding, target_form(row, view), reconcile=False)
        except Refusal as refusal:
            view.findings.append(finding(refusal, call, partials[0].name, row))
    return edits
