"""Attributes that a program sets by name: ``setattr(parameter, "requires_grad", False)``."""

from __future__ import annotations

import ast

from paddletorch_rules import Row

from paddletorch.model import Edit
from paddletorch.plan.calls.translate import translate_edits
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import refused
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.target_forms import target_form
from paddletorch.plan.model.view import FileView


def plan_attribute_names(view: FileView, planned: Planned) -> Changes:
    """Convert the name and value in ``setattr`` where the name alone identifies the attribute."""
    return joined(_plan_call(view, call) for call in view.tree.calls)


def _plan_call(view: FileView, call: ast.Call) -> Changes:
    found = _named(view, call)
    if found is None:
        return NOTHING
    name, value = found
    attribute = str(name.value)
    for row, form in view.settings.members(attribute):
        if row.kind != "attribute" or row.receiver != "tensor" or view.settings.source not in row.distinctive:
            continue
        try:
            target = target_form(row, view)
            if view.suppressed(row.code, call) or form.template is not None or not target.names:
                continue
            translated = _translated(view, value, row)
        except Refused as stop:
            return Changes(findings=(refused(stop.refusal, call, f"{row.receiver}.{attribute}", row),))
        if attribute in target.names and not translated:
            break  # it has the same name on both sides
        quote = view.source.slice(view.source.span(name))[-1]
        renamed = Edit(view.source.span(name), quote + target.names[0] + quote, row.code)
        conversion = view.conversion(row.code, name, attribute, target.names[0], row.id)
        return Changes((renamed, *translated), (conversion,))
    return NOTHING


def _translated(view: FileView, value: ast.expr, row: Row) -> list[Edit]:
    """Edits that translate the attribute's value.

    Raises:
        Refused: it has no counterpart.
    """
    pair = next((p for p in row.parameters if p.values is not None), None)
    values = view.settings.table.values[pair.values] if pair is not None and pair.values else None
    return translate_edits(view, value, values, row.code)


def _named(view: FileView, call: ast.Call) -> tuple[ast.Constant, ast.expr] | None:
    """The name and the value of a ``setattr`` whose name is a literal that the tables have."""
    if not isinstance(call.func, ast.Name) or call.func.id != "setattr" or len(call.args) != 3:
        return None
    name = call.args[1]
    if not isinstance(name, ast.Constant) or name.value not in view.settings.member_names:
        return None
    if view.tree.scopes[call.func].lookup("setattr") or not view.is_located(call):
        return None
    return name, call.args[2]
