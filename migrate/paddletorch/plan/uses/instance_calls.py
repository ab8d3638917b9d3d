"""Calls of instances themselves, ``cell(x, state)``: rows with the name ``__call__``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from paddletorch_rules import Form, Row

from paddletorch.plan.calls.bind import bind
from paddletorch.plan.calls.convert_call import Callee, ConvertedCall, convert_bound_call
from paddletorch.plan.inference.called_values import CalledValues
from paddletorch.plan.inference.overloads import choose
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.findings import refused
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.target_forms import target_form
from paddletorch.plan.model.view import FileView
from paddletorch.plan.model.written_code import outside_of_written
from paddletorch.plan.names.spelling import spelled
from paddletorch.plan.uses.adapters import has_source_calls
from paddletorch.resolve import Instance, NoneValue


def plan_instance_calls(view: FileView, planned: Planned) -> Iterator[Changes]:
    """Convert each call of an object that is converted itself, and whose class does not keep the source's calls."""
    uses = planned.uses
    for call, made, options in calls_of_instances(view):
        left = any(uses.leave(one) or uses.keeps_calls(one) or _is_adapted_elsewhere(view, one) for one in made)
        if left or any(one.api.partition(".")[0] == view.target for one in made):
            continue  # the object is left as the source's, or is already the target's
        others = any(not isinstance(v, Instance | NoneValue) for v in view.evaluator.values(call.func))
        if others or len({one.type for one in made}) > 1 or view.suppressed(options[0][0].code, call):
            continue
        yield _planned(view, planned, call, options)


_OWN_CALLS = frozenset({"forward", "__call__"})
"""What a class of the program defines to be called in a way of its own."""


def calls_of_instances(view: FileView) -> Iterator[tuple[ast.Call, list[Instance], list[tuple[Row, Form]]]]:
    """The calls of what may be an instance of a type whose calls have a row, with the instances and the rows.

    A class of the program that says itself what a call does is called as before.
    """
    rows = view.settings.members("__call__")
    receivers = {row.receiver for row, _ in rows}
    for call in outside_of_written(view, view.provide(CalledValues).of(Instance)) if rows else ():
        made = [v for v in view.evaluator.values(call.func) if isinstance(v, Instance)]
        types = {one.type for one in made}
        if not types.isdisjoint(receivers) and not any(_OWN_CALLS & set(one.overrides) for one in made):
            yield call, made, [pair for pair in rows if pair[0].receiver in types]


def converted_call(view: FileView, call: ast.Call, options: Sequence[tuple[Row, Form]]) -> tuple[Row, ConvertedCall]:
    """The row that the call of an instance fits, and what the call becomes.

    Raises:
        Refused: it must be left.
    """
    row, form = choose(view, call, options)
    binding = replace(bind(view, call, row, form, f"{row.receiver}()"), receiver=call.func)
    return row, convert_bound_call(binding, target_form(row, view), Callee.METHOD)


def _is_adapted_elsewhere(view: FileView, instance: Instance) -> bool:
    """Whether it is of another file's subclass, whose base has become an adapter with the source's calls there."""
    return bool(instance.external_class) and has_source_calls(view, instance.api)


def _planned(view: FileView, planned: Planned, call: ast.Call, options: Sequence[tuple[Row, Form]]) -> Changes:
    row = options[0][0]
    name = f"{row.receiver}()"
    try:
        row, converted = converted_call(view, call, options)
        if converted.template is None:
            return NOTHING
        changes = spelled(view, planned.naming.aliases, call.func, converted.every_edit, name)
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, call, name, row),))
    written = converted.template.replace("{self}", row.receiver or "")
    conversion = view.conversion(row.code, call, name, written, row.id)
    return changes._replace(conversions=(conversion,), findings=converted.findings)
