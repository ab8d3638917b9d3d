"""``paddle.DataParallel(model)`` outside of any condition: of one process, Paddle's wrapper works without a group.

torch's ``DistributedDataParallel`` raises where no process group was started, so the model stays as it is there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.plan.syntax.precedence import brackets_for

_CODE = "DST101"
_DIFFERENCE = "DST201"
_WRAPPER = "data_parallel"


def plan_unguarded_wrappers(view: FileView, planned: Planned) -> Changes:
    """Wrap models only where a process group was started."""
    return joined(_guarded(view, planned, use, call) for use, call in _calls(view, planned))


def _calls(view: FileView, planned: Planned) -> Iterator[tuple[Use, ast.Call]]:
    for use in planned.uses.converted:
        call = use.site.call if use.row.instance == _WRAPPER and use.site.role == "call" else None
        if call is not None and call.args and view.is_located(call) and not _is_under_condition(view, call):
            yield use, call


def _is_under_condition(view: FileView, node: ast.AST) -> bool:
    """Whether the function around it, or the module, runs it under a condition only."""
    around: ast.AST | None = view.parent(node)
    while around is not None and not isinstance(around, ast.FunctionDef | ast.Module):
        if isinstance(around, ast.If | ast.IfExp | ast.BoolOp | ast.Lambda):
            return True
        around = view.parent(around)
    return False


def _guarded(view: FileView, planned: Planned, use: Use, call: ast.Call) -> Changes:
    model, statement = call.args[0], view.parent(call)
    plain = isinstance(model, ast.Name | ast.Attribute)
    if not plain or not isinstance(statement, ast.Assign | ast.Return) or view.is_deselected(_CODE, call):
        what = "torch raises where no process group was started, as of one process without a launcher"
        return Changes(findings=(finding(_DIFFERENCE, call, use.site.name, use.row, what=what),))
    whole = view.source.span(call)
    before, after = brackets_for(model, view.source.slice(view.source.span(model)), statement, call)
    otherwise = f" if torch.distributed.is_initialized() else {before}"
    parts = (whole, otherwise, view.source.span(model), after)
    try:
        return spelled(view, planned.naming.aliases, call, (Edit(whole, "", _CODE, parts),), use.site.name)
    except Refused:
        return NOTHING
