"""Methods of tensors called through their class: ``torch.Tensor.add(x, y)`` is ``x.add(y)``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from paddletorch_rules import Form, Row

from paddletorch.plan.calls.binding import bind
from paddletorch.plan.calls.convert_call import Callee, convert_bound_call
from paddletorch.plan.inference.overloads import choose
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.refusals import Refused, StatedByTable, UnseenArguments
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.target_forms import target_form
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView

TENSOR = "tensor"


def methods(view: FileView, class_name: str, attribute: str) -> list[tuple[Row, Form]]:
    """The rows of a tensor's method, if ``class_name`` is a class of tensors."""
    if view.settings.table.makes(class_name) != TENSOR:
        return []
    rows = view.settings.members(attribute)
    return [pair for pair in rows if pair[0].receiver == TENSOR and pair[0].kind == "method"]


def convert_unbound(view: FileView, site: Site, written: str, options: Sequence[tuple[Row, Form]]) -> Use:
    """Convert the call to a call of the method ``written`` on its tensor.

    Raises:
        Refused: it has no counterpart, or the tensor is unknown.
    """
    call = site.call
    assert call is not None
    method = _as_method(view, call, written)
    row, form = choose(view, method, options)
    name = f"{TENSOR}.{written}"
    binding = replace(bind(view, method, row, form, name), receiver=call.args[0], stands_at=call)
    if row.report is not None and not row.forms(view.target):
        raise Refused(StatedByTable(row.report, (("method", written),)))
    converted = convert_bound_call(binding, target_form(row, view), Callee.UNBOUND)
    warnings = (finding(row.warn[view.target], call, name, row),) if view.target in row.warn else ()
    target = (converted.template or "").replace("{self}", TENSOR)
    findings = (*converted.findings, *warnings)
    return Use(site, row, target, converted.edits, findings, whole=converted.whole, writes_name=True)


def _as_method(view: FileView, call: ast.Call, name: str) -> ast.Call:
    """The same call as a method of its first argument.

    Raises:
        Refused: the first argument is unknown.
    """
    if not call.args or isinstance(call.args[0], ast.Starred):
        raise Refused(UnseenArguments(view.text(call)))
    function = ast.copy_location(ast.Attribute(call.args[0], name, ast.Load()), call.func)
    return ast.copy_location(ast.Call(function, call.args[1:], call.keywords), call)
