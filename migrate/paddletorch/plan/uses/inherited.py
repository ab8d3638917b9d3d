"""Calls of another file's class that inherits an API's constructor: ``class Linear(nn.Linear)`` without its own.

The base class is converted in that file. Here the arguments are converted for the base's counterpart.
"""

from __future__ import annotations

import ast

from paddletorch.plan.calls.bind import bind
from paddletorch.plan.calls.convert_call import Callee, convert_bound_call
from paddletorch.plan.model.changes import NOTHING, Changes, Import, Planned, joined
from paddletorch.plan.model.findings import refused
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.target_forms import TYPES_WITH_PROTOCOL, target_form
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.plan.uses.runtime_calls import MODULE, shim_finding, wrapped_callee
from paddletorch.resolve import Instance

_OWN = frozenset({"__init__", "__new__"})


def plan_inherited(view: FileView, planned: Planned) -> Changes:
    """Convert the arguments of such calls; report those that cannot be converted."""
    sites = {use.site.call for use in planned.uses if use.site.call is not None}
    return joined(_plan_call(view, call) for call in view.tree.calls if call not in sites)


def _plan_call(view: FileView, call: ast.Call) -> Changes:
    api = _inherited_constructor(view, call)
    found = view.settings.lookup(api) if api is not None else None
    if api is None or found is None or view.suppressed(found[0].code, call) or not view.is_located(call):
        return NOTHING
    row, form = found
    if row.instance in TYPES_WITH_PROTOCOL:
        return Changes()  # the base class is left in the other file
    try:
        binding = bind(view, call, row, form, api)
        converted = convert_bound_call(binding, target_form(row, view), Callee.INHERITED)
        changes = spelled(view, {}, call.func, converted.every_edit, api)
    except Refused as stop:
        reported = shim_finding(view, stop.refusal, call)
        if reported is None:
            return Changes(findings=(refused(stop.refusal, call, api, row),))
        return Changes(wrapped_callee(view, call.func), findings=(reported,), imports=(Import(call.func, MODULE),))
    if not changes.edits:
        return Changes(findings=converted.findings)
    conversion = view.conversion(row.code, call, api, view.text(call.func), row.id)
    return changes._replace(conversions=(conversion,), findings=converted.findings)


def _inherited_constructor(view: FileView, call: ast.Call) -> str | None:
    """The API whose constructor is called, if this calls an imported class that inherits it."""
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if not (call.args or call.keywords) or not name[:1].isupper() or not _has_known_keyword(view, call):
        return None
    members: list[str] = []
    root: ast.expr = call.func
    while isinstance(root, ast.Attribute):
        members.insert(0, root.attr)
        root = root.value
    bindings = view.tree.scopes[root].lookup(root.id) if isinstance(root, ast.Name) else ()
    if not bindings or any(b.kind != "import" for b in bindings):
        return None
    if not any(_may_inherit(view, ".".join([b.qualified or "", *members])) for b in bindings):
        return None
    values = list(view.evaluator.values(call))
    instance = values[0] if len(values) == 1 else None
    if (
        not isinstance(instance, Instance)
        or not instance.external_class
        or instance.node is not None
        or instance.overrides & _OWN
    ):
        return None
    return instance.api if instance.api.partition(".")[0] == view.settings.source else None


def _has_known_keyword(view: FileView, call: ast.Call) -> bool:
    """Whether the keywords, if there are any, may be of an API: no other files need to be read for the rest."""
    return not call.keywords or any(k.arg is None or k.arg in view.settings.keywords for k in call.keywords)


def _may_inherit(view: FileView, name: str) -> bool:
    """Whether the class of that name may inherit its constructor from an API with a selected row."""
    ancestors = view.evaluator.ancestors(name)
    segments, _ = view.settings.spellings
    return ancestors is None or any(
        one.rpartition(".")[2] in segments or view.settings.lookup(one) is not None for one in ancestors
    )
