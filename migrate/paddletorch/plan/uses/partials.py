"""Calls of ``functools.partial`` objects of an API: their keywords are the API's too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from paddletorch_rules import Form, Row

from paddletorch.plan.calls.bind import bind
from paddletorch.plan.calls.convert_call import Callee, convert_bound_call
from paddletorch.plan.inference.called_values import CalledValues
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import refused
from paddletorch.plan.model.refusals import Refused, UncertainBinding, UnseenArguments
from paddletorch.plan.model.target_forms import target_form
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.resolve import NoneValue, Partial, Qualified


def plan_partials(view: FileView, planned: Planned) -> Changes:
    """Convert the arguments that a call adds to a partial object; report unknown ones."""
    called = view.provide(CalledValues)
    return joined(_plan_call(view, planned, call) for call in (*called.of(Partial), *_of_partial(view)))


def _of_partial(view: FileView) -> Iterator[ast.Call]:
    """The calls of ``functools.partial``."""
    calls = (call for call in view.provide(CalledValues).of(Qualified) if call.args)
    return (call for call in calls if view.qualified(call.func) == "functools.partial")


def _plan_call(view: FileView, planned: Planned, call: ast.Call) -> Changes:
    if not call.args and not call.keywords:
        return NOTHING
    partials = [v for v in view.evaluator.values(call.func) if isinstance(v, Partial)]
    callee = Callee.ADDED_TO_PARTIAL
    if not partials:
        partials = [v for v in view.evaluator.values(call.args[0]) if isinstance(v, Partial)]
        callee = Callee.PARTIAL_OF_PARTIAL
    skip = int(callee is Callee.PARTIAL_OF_PARTIAL)
    if len(partials) != 1 or (len(call.args) == skip and not call.keywords):
        return NOTHING
    makers = _makers(view, call.args[0] if skip else call.func)
    found = _row(view, planned, partials[0].name, makers)
    if found is None or any(use.adapter is not None for use in _made(planned, partials[0].name, makers)):
        return NOTHING  # it is left, or of a written function, which has the source's parameters
    row, form = found
    if view.suppressed(row.code, call) or (view.settings.shim_wraps_calls and not skip):
        return NOTHING
    if not row.forms(view.target):
        return NOTHING  # a missing counterpart is reported where the partial object is created
    others = [v for v in view.evaluator.values(call.func) if not isinstance(v, Partial | NoneValue)]
    if others and not skip:
        if any(isinstance(v, Qualified) for v in others):
            return NOTHING  # the call is that API's site
        refusal = UncertainBinding(view.text(call.func), call.lineno)
        return Changes(findings=(refused(refusal, call, partials[0].name, row),))
    return _convert(view, call, partials[0], row, form, callee, makers)


def _makers(view: FileView, node: ast.expr) -> list[ast.Call]:
    """The calls of ``functools.partial`` that create the object, the last one first; empty if they are unknown."""
    found: list[ast.Call] = []
    seen: set[ast.expr] = set()
    while node not in seen:
        seen.add(node)
        if isinstance(node, ast.Name):
            bindings = view.tree.scopes[node].lookup(node.id)
            value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
            if value is None:
                break
            node = value
        elif isinstance(node, ast.Call) and node.args and view.qualified(node.func) == "functools.partial":
            found.append(node)
            node = node.args[0]
    return found


def _row(view: FileView, planned: Planned, api: str, makers: list[ast.Call]) -> tuple[Row, Form] | None:
    """The row and the source's form by which the partial object converts; ``makers`` are the calls that create it.

    None if it is left: then its calls are left too, and the finding is at its creation.
    """
    partials = _made(planned, api, makers)
    rows = {use.row for use in partials if use.converts}
    if not partials or len(rows) > 1:
        return view.settings.lookup(api)
    forms = [(row, form) for row in rows for form in row.forms(view.settings.source) if api in form.names]
    return forms[0] if forms else None


def _made(planned: Planned, api: str, makers: list[ast.Call]) -> list[Use]:
    """The uses of the API that create the partial object; all that create one of it, if ``makers`` says nothing."""
    by_call = planned.uses.partials.get(api, {})
    return [by_call[maker] for maker in makers if maker in by_call] or list(by_call.values())


def _convert(
    view: FileView, call: ast.Call, partial: Partial, row: Row, form: Form, callee: Callee, makers: list[ast.Call]
) -> Changes:
    skip = int(callee is Callee.PARTIAL_OF_PARTIAL)
    try:
        if len(call.args) > skip and (skip or partial.positional):
            raise Refused(UnseenArguments("positional arguments of a partial object"))
        given_before = 0 if len(call.args) > skip else max(skip, len(call.args))
        binding = bind(view, call, row, form, partial.name, given_before, whole=False)
        for maker in reversed(makers):
            own = bind(view, maker, row, form, partial.name, 1).given
            binding = replace(binding, of_partial={**binding.of_partial, **own})
        converted = convert_bound_call(binding, target_form(row, view), callee)
        changes = spelled(view, {}, call, converted.every_edit, partial.name)
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, call, partial.name, row),))
    return changes._replace(findings=converted.findings)


def has_same_edits(view: FileView, use: Use, api: str) -> bool:
    """Whether the use's call gets the same edits where its callee is a partial object of another API."""
    found, call = view.settings.lookup(api), use.site.call
    if found is None or call is None:
        return False
    row, form = found
    try:
        binding = bind(view, call, row, form, api, whole=False)
        converted = convert_bound_call(binding, target_form(row, view), Callee.ADDED_TO_PARTIAL)
    except Refused:
        return False
    texts = {frozenset((e.span, e.text, str(e.parts)) for e in edits) for edits in (converted.edits, use.edits)}
    return converted.whole is None and converted.template is None and len(texts) == 1
