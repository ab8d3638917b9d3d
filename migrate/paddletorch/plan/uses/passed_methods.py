"""Methods of the source's objects that are passed on as values, not called."""

from __future__ import annotations

import ast

from paddletorch_rules import Form, Row

from paddletorch.model import Edit
from paddletorch.plan.model.changes import NOTHING, Changes
from paddletorch.plan.model.findings import Finding, finding, refused
from paddletorch.plan.model.refusals import NeedsWholeCall
from paddletorch.plan.model.view import FileView
from paddletorch.plan.uses.uncalled import renamed_parameters, renames_only


def plan_reference(view: FileView, node: ast.Attribute, options: list[tuple[Row, Form]]) -> Changes:
    """Plan a bound method that is used as a value, not called."""
    named = [(r, own, f) for r, own in options for f in r.forms(view.target) if f.names and f.template is None]
    if not isinstance(node.ctx, ast.Load):
        return NOTHING
    row = named[0][0] if named else options[0][0]
    name = f"{row.receiver}.{node.attr}"
    if not named:
        templates = [f.template for r, _ in options for f in r.forms(view.target) if f.template]
        written = templates[0] if templates else "an expression of several parts"
        refusal = NeedsWholeCall("a method that is passed on without a call", written)
        return Changes(findings=(refused(refusal, node, name, row),))
    _, own, form = named[0]
    target = f"{row.receiver}.{form.names[0]}"
    if not view.is_located(node):
        return NOTHING
    same_name = node.attr in form.names
    if same_name and isinstance(node.value, ast.Call):
        return NOTHING  # ``torch.aminmax(x).max`` is a field
    findings: tuple[Finding, ...] = ()
    if len(options) > 1 or (row.parameters if not same_name else not renames_only(view, row, own, form)):
        details = {"replacement": target, "arguments": renamed_parameters(view, row)}
        findings = (finding("API204", node, name, row, **details),)
    if same_name:
        return Changes(findings=findings)
    edit = renamed(view, node, form.names[0], row.code)
    return Changes((edit,), (view.conversion(row.code, node, name, target, row.id),), findings)


def renamed(view: FileView, node: ast.Attribute, name: str, code: str) -> Edit:
    """The edit that gives the member another name."""
    return Edit(view.source.attribute_name(node), name, code)
