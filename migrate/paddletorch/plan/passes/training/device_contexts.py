"""Devices as contexts, to Paddle: ``with torch.device("cpu"):``. A device is a string there, which is no context."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.model.changes import Changes, Planned, joined
from paddletorch.plan.model.findings import refused
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled

_CODE = "DEV101"

_CONTEXT = "torch_default_device"


def plan_device_contexts(view: FileView, planned: Planned) -> Changes:
    """Make a context of each device that a ``with`` statement enters."""
    left = {use.site.call for use in planned.uses if not use.converts}
    entered = (node for node in _entered(view) if node not in left and not view.is_deselected(_CODE, node))
    return joined(
        _as_context(view, planned, node) for node in entered if "device" in kinds(view, node) and view.is_sources(node)
    )


def _entered(view: FileView) -> Iterator[ast.expr]:
    for statement in view.tree.of_kind(ast.With):
        yield from (item.context_expr for item in statement.items)


def _as_context(view: FileView, planned: Planned, node: ast.expr) -> Changes:
    name, span = "torch.device", view.source.span(node)
    edits = (Edit(Span(span.start, span.start), f"{_CONTEXT}(", _CODE), Edit(Span(span.end, span.end), ")", _CODE))
    try:
        changes = spelled(view, planned.naming.aliases, node, edits, name)
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, node, name),))
    return changes._replace(conversions=(view.conversion(_CODE, node, name, _CONTEXT),))
