"""Attributes that a program sets by name: ``setattr(parameter, "requires_grad", False)``."""

from __future__ import annotations

import ast

from paddletorch.model import Conversion, Edit
from paddletorch.plan.calls.translate import translate_edits
from paddletorch.plan.model.outcome import target_form
from paddletorch.plan.model.view import FileView


def plan_attribute_names(view: FileView) -> tuple[list[Edit], list[Conversion]]:
    """Rename what ``setattr`` sets where the name alone tells which attribute it is, and translate its value."""
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    for call in view.tree.calls:
        found = _named(view, call)
        if found is None:
            continue
        name, value = found
        for row, form in view.settings.members(str(name.value)):
            if row.kind != "attribute" or row.receiver != "tensor" or view.settings.source not in row.distinctive:
                continue
            target = target_form(row, view)
            if view.suppressed(row.code, call) or form.template is not None or not target.names:
                continue
            pair = next((p for p in row.parameters if p.values is not None), None)
            values = view.settings.table.values[pair.values] if pair is not None and pair.values else None
            translated = translate_edits(view, value, values, row.code)
            if name.value in target.names and not translated:
                break  # it reads the same on both sides
            span = view.source.span(name)
            quote = view.source.slice(span)[-1]
            edits.append(Edit(span, quote + target.names[0] + quote, row.code))
            edits += translated
            line, column = view.source.position(span.start)
            conversions.append(Conversion(row.code, str(name.value), target.names[0], line, column, row.id))
            break
    return edits, conversions


def _named(view: FileView, call: ast.Call) -> tuple[ast.Constant, ast.expr] | None:
    """The name and the value of a ``setattr`` whose name is written out and stands in the tables."""
    if not isinstance(call.func, ast.Name) or call.func.id != "setattr" or len(call.args) != 3:
        return None
    name = call.args[1]
    if not isinstance(name, ast.Constant) or name.value not in view.settings.member_names:
        return None
    if view.tree.scopes[call.func].lookup("setattr") or not view.is_located(call):
        return None
    return name, call.args[2]
