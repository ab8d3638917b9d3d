"""Dtypes by the name of another one, ``getattr(torch, str(dtype).rpartition(".")[-1])``: both sides name them alike."""

from __future__ import annotations

import ast

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import refused
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.template import Template
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.plan.syntax.brackets import with_brackets

_CODE = "DTY101"
_NAMES = tuple(Template(f"str({{x}}).rpartition('.')[{index}]") for index in ("-1", "2"))


def plan_dtypes_by_name(view: FileView, planned: Planned) -> Changes:
    """Read the dtype from the target's module."""
    parents = map(view.parent, view.tree.names.get("getattr", ()))
    calls = [call for call in parents if isinstance(call, ast.Call) and is_dtype_by_name(view, call)]
    kept = view.kept(planned.edits) if calls else None
    calls = [call for call in calls if kept is not None and kept.holds(view.source.span(call))]
    return joined(_planned(view, planned, call) for call in calls)


def is_dtype_by_name(view: FileView, call: ast.Call) -> bool:
    """Whether it reads a dtype of the source's module by the name of another dtype."""
    if not isinstance(call.func, ast.Name) or call.func.id != "getattr" or len(call.args) < 2 or call.keywords:
        return False
    module, name = call.args[:2]
    return view.qualified(module) == view.settings.source and any(
        one.match(name, view.tree.scopes) is not None for one in _NAMES
    )


def _planned(view: FileView, planned: Planned, call: ast.Call) -> Changes:
    if view.is_deselected(_CODE, call):
        return NOTHING
    whole, api = view.source.span(call), f"a dtype of {view.settings.source}"
    function, module, name = (view.source.span(node) for node in (call.func, *call.args[:2]))
    module = with_brackets(view.source, module, function.end)
    rest = Span(with_brackets(view.source, name, module.end).start, whole.end)
    edit = Edit(whole, "", _CODE, (f"getattr({view.target}, ", rest))
    try:
        changes = spelled(view, planned.naming.aliases, call, (edit,), api)
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, call, api),))
    return changes._replace(conversions=(view.conversion(_CODE, call, api, f"a dtype of {view.target}"),))
