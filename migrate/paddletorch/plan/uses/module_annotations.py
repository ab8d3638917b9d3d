"""The framework itself as an annotation, ``def forward(self, x: paddle)``: a slip that names the target's module."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit
from paddletorch.plan.model.changes import Changes, Planned, joined
from paddletorch.plan.model.findings import refused
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled

_CODE = "API101"


def plan_module_annotations(view: FileView, planned: Planned) -> Changes:
    """Write the target's module where an annotation is the source's, so that the import of the source may go."""
    return joined(_written(view, planned, node) for node in _modules(view))


def _modules(view: FileView) -> Iterator[ast.Name]:
    """The annotations that are the name of the source itself, which the file only imports."""
    for node in view.annotations:
        if not isinstance(node, ast.Name) or view.qualified(node) != view.settings.source:
            continue
        if view.is_located(node) and not view.is_deselected(_CODE, node) and node in view.tree.scopes:
            yield node


def _written(view: FileView, planned: Planned, node: ast.Name) -> Changes:
    edit = Edit(view.source.span(node), view.quoted(view.target, node), _CODE)
    try:
        changes = spelled(view, planned.naming.aliases, node, [edit], view.settings.source)
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, node, view.settings.source),))
    return changes._replace(conversions=(view.conversion(_CODE, node, view.settings.source, view.target),))
