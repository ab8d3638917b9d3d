"""Subclasses of an API: their ``super().__init__`` calls, and calls of those without an ``__init__``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from paddletorch.plan.calls.bind import bind
from paddletorch.plan.calls.convert_call import Callee, convert_bound_call
from paddletorch.plan.calls.initial_values import LEFT
from paddletorch.plan.inference.called_values import CalledValues
from paddletorch.plan.inference.overloads import choose
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.refusals import Refused, UnseenArguments
from paddletorch.plan.model.target_forms import target_form
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.uses.adapters import HANDED_ON, adapted
from paddletorch.plan.uses.runtime_calls import CODE as AT_RUN_TIME
from paddletorch.plan.uses.runtime_calls import MODULE, shim_finding, wrapped_callee
from paddletorch.resolve.values import Local


def plan_subclasses(view: FileView, planned: Planned) -> Changes:
    """Convert the arguments that a subclass passes to the API's constructor; if one cannot be, leave the base too."""
    revised: list[Use] = []
    for use in planned.uses.converted:
        node = view.parent(use.site.node)
        if use.site.role != "base" or use.adapter is not None or not isinstance(node, ast.ClassDef):
            continue
        if use.adapter is not None and use.adapter.alone:
            continue  # its constructor takes what the source's takes
        own = [s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"]
        if own:
            calls = view.provide(_calls_of_parents).get(own[-1], [])
        else:
            calls = view.provide(_calls_of_classes).get(node, [])
        revised.append(_with_constructor(view, use, node, calls))
    return Changes(uses=tuple(revised))


def _with_constructor(view: FileView, use: Use, node: ast.ClassDef, calls: list[ast.Call]) -> Use:
    """The use of the base class with the edits of the calls of its constructor."""
    converted = use
    try:
        for call in calls:
            converted = _convert(view, converted, call)
    except Refused as stop:
        adapter = _with_adapter(view, use, calls) if isinstance(stop.refusal, UnseenArguments) else None
        return adapter or use.refuse(stop.refusal)
    if not {HANDED_ON, AT_RUN_TIME}.isdisjoint(found.code for found in converted.findings):
        converted = _with_adapter(view, use, calls) or converted
    if use.row.instance != "scaler":
        return converted
    details = {"name": node.name, "replacement": use.target or ""}
    return converted.with_findings(finding("API207", use.site.node, use.site.name, use.row, **details))


def _with_adapter(view: FileView, use: Use, calls: Sequence[ast.Call]) -> Use | None:
    """The use with an adapter as the base class, whose constructor the subclass's own one calls as it stands."""
    own = calls and all(map(_is_super_init, calls))
    return adapted(view, use, calls[0]) if own else None


def _calls_of_parents(view: FileView) -> dict[ast.AST, list[ast.Call]]:
    """The ``super().__init__`` calls inside each function, in source order."""
    calls = [call for call in view.tree.method_calls("__init__") if _is_super_init(call)]
    found: dict[ast.AST, list[ast.Call]] = {}
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        current: ast.AST | None = call
        while current is not None:
            if isinstance(current, ast.FunctionDef):
                found.setdefault(current, []).append(call)
            current = view.parent(current)
    return found


def _calls_of_classes(view: FileView) -> dict[ast.AST, list[ast.Call]]:
    """The calls of each class or function of the file."""
    found: dict[ast.AST, list[ast.Call]] = {}
    for call in view.provide(CalledValues).of(Local):
        for value in view.evaluator.values(call.func):
            if isinstance(value, Local):
                found.setdefault(value.node, []).append(call)
    return found


def _is_super_init(call: ast.Call) -> bool:
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "__init__"
        and isinstance(function.value, ast.Call)
        and isinstance(function.value.func, ast.Name)
        and function.value.func.id == "super"
    )


def _convert(view: FileView, use: Use, call: ast.Call) -> Use:
    """The use with the edits of one call of the constructor.

    Raises:
        Refused: the call cannot be converted.
    """
    candidate = use.site.candidates[0]
    options = view.settings.overloads(candidate.name)
    row, source = choose(view, call, options) if len(options) > 1 else (candidate.row, candidate.form)
    form = target_form(row, view)
    try:
        binding = bind(view, call, row, source, candidate.name)
        converted = convert_bound_call(binding, form, Callee.PARENT if _is_super_init(call) else Callee.INHERITED)
    except Refused as stop:
        reported = shim_finding(view, stop.refusal, call)
        if reported is None:
            raise
        return replace(use, needed_module=MODULE).with_edits(*wrapped_callee(view, call.func)).with_findings(reported)
    if converted.initialized:
        use = use.without_finding(LEFT)
    return use.with_edits(*converted.every_edit).with_findings(*converted.findings)
