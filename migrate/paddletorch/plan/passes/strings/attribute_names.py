"""Attributes that a program sets by name: ``setattr(parameter, "requires_grad", False)``."""

from __future__ import annotations

import ast

from paddletorch.model import Conversion, Edit
from paddletorch.plan.calls.translate import translate_edits
from paddletorch.plan.model.context import FileContext
from paddletorch.plan.model.outcome import target_form


def plan_attribute_names(context: FileContext) -> tuple[list[Edit], list[Conversion]]:
    """Rename what ``setattr`` sets where the name alone tells which attribute it is, and translate its value."""
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    for call in context.tree.calls:
        found = _named(context, call)
        if found is None:
            continue
        name, value = found
        for row, form in context.settings.members(str(name.value)):
            if row.kind != "attribute" or row.receiver != "tensor" or context.settings.source not in row.distinctive:
                continue
            target = target_form(row, context)
            if context.suppressed(row.code, call) or form.template is not None or not target.names:
                continue
            pair = next((p for p in row.parameters if p.values is not None), None)
            values = context.settings.table.values[pair.values] if pair is not None and pair.values else None
            translated = translate_edits(context, value, values, row.code)
            if name.value in target.names and not translated:
                break  # it reads the same on both sides
            span = context.source.span(name)
            quote = context.source.slice(span)[-1]
            edits.append(Edit(span, quote + target.names[0] + quote, row.code))
            edits += translated
            line, column = context.source.position(span.start)
            conversions.append(Conversion(row.code, str(name.value), target.names[0], line, column, row.id))
            break
    return edits, conversions


def _named(context: FileContext, call: ast.Call) -> tuple[ast.Constant, ast.expr] | None:
    """The name and the value of a ``setattr`` whose name is written out and stands in the tables."""
    if not isinstance(call.func, ast.Name) or call.func.id != "setattr" or len(call.args) != 3:
        return None
    name = call.args[1]
    if not isinstance(name, ast.Constant) or name.value not in context.settings.member_names:
        return None
    if context.tree.scopes[call.func].lookup("setattr") or not context.is_located(call):
        return None
    return name, call.args[2]
