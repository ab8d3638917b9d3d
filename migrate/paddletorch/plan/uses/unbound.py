"""Methods called through their class: ``torch.Tensor.add(x, y)`` is ``x.add(y)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace

from paddletorch_rules import Form, Row

from paddletorch.plan.calls.bind import bind
from paddletorch.plan.calls.convert_call import Callee, convert_bound_call
from paddletorch.plan.inference.overloads import choose
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.refusals import Refused, StatedByTable, UnseenArguments
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.target_forms import target_form
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.resolve.values import TENSOR


def methods(view: FileView, class_name: str, attribute: str) -> list[tuple[Row, Form]]:
    """The rows of a method of tensors, or of one of a layer's methods that become no method of the layer itself.

    ``nn.Linear.forward(self, x)`` passes by the subclass's own method; ``self.forward(x)`` would not.
    """
    made = view.settings.table.makes(class_name)
    rows = [pair for pair in view.settings.members(attribute) if pair[0].kind == "method"]
    if made == TENSOR:
        return [pair for pair in rows if pair[0].receiver == TENSOR]
    receivers = (made, *view.settings.table.bases(made)) if made else ()
    return [(row, form) for row, form in rows if row.receiver in receivers and _is_elsewhere(view, row)]


def is_same_method(view: FileView, row: Row, name: str) -> bool:
    """Whether the target's method has the same name, so that it can be passed as a value: ``torch.Tensor.relu``."""
    form = view.settings.emitted(row) if row.kind == "method" else None
    return form is not None and form.template is None and name in form.names and row.hook is None


def _is_elsewhere(view: FileView, row: Row) -> bool:
    """Whether the target's form calls no method of the object."""
    form = view.settings.emitted(row)
    template = form.template if form is not None else None
    return template is not None and not _CALLS_METHOD.search(template)


_CALLS_METHOD = re.compile(r"\{self\}\.\w+\(")


def convert_unbound(view: FileView, site: Site, written: str, options: Sequence[tuple[Row, Form]]) -> Use:
    """Convert the call to a call of the method ``written`` on its first argument.

    Raises:
        Refused: it has no counterpart, or that argument is unknown.
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
