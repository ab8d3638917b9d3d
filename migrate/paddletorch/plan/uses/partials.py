"""Calls of ``functools.partial`` objects over an API: their keywords are the API's too."""

from __future__ import annotations

import ast

from paddletorch_rules import Form, Row

from paddletorch.plan.calls.binding import bind
from paddletorch.plan.calls.convert_call import Callee, convert_bound_call
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import refused
from paddletorch.plan.model.refusals import Refused, UncertainBinding, UnseenArguments
from paddletorch.plan.model.target_forms import target_form
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import NoneValue, Partial, Qualified


def plan_partials(view: FileView, planned: Planned) -> Changes:
    """Rename what a call adds to a partial; what cannot be seen is reported."""
    if b"partial" not in view.source.body:
        return NOTHING
    return joined(_plan_call(view, call) for call in view.tree.calls)


def _plan_call(view: FileView, call: ast.Call) -> Changes:
    partials = [v for v in view.evaluator.values(call.func) if isinstance(v, Partial)]
    skip = 0
    if not partials and call.args and view.qualified(call.func) == "functools.partial":
        partials = [v for v in view.evaluator.values(call.args[0]) if isinstance(v, Partial)]
        skip = 1
    found = view.settings.lookup(partials[0].name) if len(partials) == 1 else None
    if found is None or (len(call.args) == skip and not call.keywords):
        return NOTHING
    row, form = found
    if view.suppressed(row.code, call) or (view.settings.at_run_time and not skip):
        return NOTHING
    if not row.forms(view.target):
        return NOTHING  # what has no counterpart is reported where the partial is made
    others = [v for v in view.evaluator.values(call.func) if not isinstance(v, Partial | NoneValue)]
    if others and not skip:
        if any(isinstance(v, Qualified) for v in others):
            return NOTHING  # the call is that API's site
        refusal = UncertainBinding(view.text(call.func), call.lineno)
        return Changes(findings=(refused(refusal, call, partials[0].name, row),))
    return _convert(view, call, partials[0], row, form, skip)


def _convert(view: FileView, call: ast.Call, partial: Partial, row: Row, form: Form, skip: int) -> Changes:
    try:
        if len(call.args) > skip and (skip or partial.positional):
            raise Refused(UnseenArguments("positional arguments of a partial object"))
        given_before = 0 if len(call.args) > skip else max(skip, len(call.args))
        binding = bind(view, call, row, form, partial.name, given_before, whole=False)
        converted = convert_bound_call(binding, target_form(row, view), Callee.ADDED_TO_PARTIAL)
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, call, partial.name, row),))
    return Changes(converted.every_edit, findings=converted.findings)
