"""The block that an initializer of Paddle may be given after its tensor: ``fill(param, param.block)``.

It matters in static graphs only, and torch's functions fill the tensor alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.brackets import with_brackets
from paddletorch.resolve import Instance, Unknown

_CODE = "NNI101"
_LEFT = "TEN211"
_TYPE = "initializer"


def plan_blocks_of_parameters(view: FileView, planned: Planned) -> Changes:
    """Leave the block out where an initializer is called that converts, and report it elsewhere."""
    edits: list[Edit] = []
    blocks: list[ast.Attribute] = []
    given = tuple(_given(view))
    for call, block in given:
        if _fills(view, planned, call.func) and view.is_located(call) and not view.is_deselected(_CODE, call):
            first, second = (view.source.span(given) for given in call.args)
            first = with_brackets(view.source, first, view.source.span(call.func).end)
            edits.append(Edit(Span(first.end, with_brackets(view.source, second, first.end).end), "", _CODE))
            blocks.append(block)
    conversions = [view.conversion(_CODE, block, "tensor.block", "") for block in blocks]
    findings = [finding(_LEFT, block, "tensor.block") for _, block in given if block not in blocks]
    handled = frozenset([*(block for _, block in given), *(block.value for block in blocks)])
    return Changes(tuple(edits), tuple(conversions), tuple(findings), handled=handled)


def _given(view: FileView) -> Iterator[tuple[ast.Call, ast.Attribute]]:
    """Calls of two arguments, a tensor and its own block, with the second one."""
    for block in view.tree.members.get("block", ()):
        call = view.parent(block)
        if not isinstance(call, ast.Call) or len(call.args) != 2 or call.keywords or call.args[1] is not block:
            continue
        if ast.dump(call.args[0]) == ast.dump(block.value) and view.is_sources(block.value):
            yield call, block


def _fills(view: FileView, planned: Planned, function: ast.expr) -> bool:
    """Whether this can be nothing but an initializer that converts: a variable that holds one, or an attribute."""
    if not isinstance(function, ast.Name | ast.Attribute):
        return False
    values = [value for value in view.evaluator.values(function) if not isinstance(value, Unknown)]
    found = [value for value in values if isinstance(value, Instance) and value.type == _TYPE]
    return bool(found) and len(found) == len(values) and not any(planned.uses.leave(one) for one in found)
