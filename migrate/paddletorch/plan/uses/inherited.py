"""Calls of a class of another file whose constructor is an API's: ``class Linear(nn.Linear)`` without ``__init__``.

That file converts the base. Here the arguments become those of the base's counterpart.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from paddletorch.model import Conversion, Edit
from paddletorch.plan.calls.arguments import convert_arguments
from paddletorch.plan.calls.binding import bind
from paddletorch.plan.calls.convert_call import run_hook
from paddletorch.plan.calls.fill_template import surrounding
from paddletorch.plan.model.outcome import Outcome, finding, target_form
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import Naming
from paddletorch.plan.sites.sites import Site
from paddletorch.plan.uses.runtime_calls import MODULE, answers, wrapped
from paddletorch.resolve import Instance

_OWN = frozenset({"__init__", "__new__"})


def plan_inherited(
    view: FileView, planned: Iterable[tuple[Site, Outcome]], naming: Naming
) -> tuple[list[Edit], list[Conversion]]:
    """Convert what such calls hand to the API's constructor; what stays is reported."""
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    sites = {site.call for site, _ in planned if site.call is not None}
    for call in view.tree.calls:
        api = _inherited_constructor(view, call) if call not in sites else None
        found = view.settings.lookup(api) if api is not None else None
        if api is None or found is None or view.suppressed(found[0].code, call) or not view.is_located(call):
            continue
        row, form = found
        try:
            binding = bind(view, call, row, form, api)
            run_hook(binding)
            if binding.template:
                raise Refusal("API210", problem="an inherited constructor cannot say it", signature=binding.template)
            made = [*surrounding(binding), *convert_arguments(binding, target_form(row, view))]
        except Refusal as refusal:
            if answers(view, refusal, call):
                edits += wrapped(view, call.func)
                naming.members.append((call.func, MODULE))
            else:
                view.findings.append(finding(refusal, call, api, row))
            continue
        if not made:
            continue
        edits += made
        if any(f"{view.target}." in e.written for e in made):
            naming.members.append((call.func, view.target))
        line, column = view.source.position(view.source.span(call).start)
        conversions.append(Conversion(row.code, api, view.text(call.func), line, column, row.id))
    return edits, conversions


def _inherited_constructor(view: FileView, call: ast.Call) -> str | None:
    """The API whose constructor runs, if an imported class is called that has none of its own."""
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if not (call.args or call.keywords) or not name[:1].isupper():
        return None
    root: ast.expr = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    bindings = view.tree.scopes[root].lookup(root.id) if isinstance(root, ast.Name) else ()
    if not bindings or any(b.kind != "import" for b in bindings):
        return None
    values = list(view.evaluator.values(call))
    made = values[0] if len(values) == 1 else None
    if not isinstance(made, Instance) or not made.outside or made.node is not None or made.overrides & _OWN:
        return None
    return made.api if made.api.partition(".")[0] == view.settings.source else None
