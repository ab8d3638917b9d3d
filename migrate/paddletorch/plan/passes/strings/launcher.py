"""Environment variables that torchrun and ``paddle.distributed.launch`` set for each process under their own names."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from paddletorch.model import Conversion, Edit
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.view import FileView

_CODE = "DST101"
_LEFT = "DST201"
_VALUES = "launcher_environment"
_READERS = frozenset({"os.getenv", "os.environ.get"})


def plan_launcher(view: FileView, planned: Planned) -> Changes:
    """Rename the variables that a file with distributed code reads; report other uses.

    In other files ``RANK`` may have another meaning.
    """
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    findings: list[Finding] = []
    names = _names(view)
    starts = any(use.converts and use.row.code == _CODE for use in planned.uses)
    strings = [(n, access) for n in view.tree.strings if n.value in names and (access := _access(view, n)) is not None]
    own = {node.value for node, access in strings if access == "other"}  # set by the program itself
    for node, _ in strings:
        assert isinstance(node.value, str)
        wanted = names[node.value]
        if not view.is_located(node) or view.suppressed(_CODE, node):
            continue
        span = view.source.span(node)
        text = view.source.slice(span)
        wants = view.settings.options.wants(_CODE)
        if starts and wants and node.value not in own and text[1:-1] == node.value:
            edits.append(Edit(span, text[0] + wanted + text[-1], _CODE))
            conversions.append(view.conversion(_CODE, node, node.value, wanted))
        else:
            launcher = "paddle.distributed.launch" if view.target == "paddle" else "torchrun"
            findings.append(finding(_LEFT, node, node.value, what=f"{launcher} sets {wanted} instead"))
    return Changes(tuple(edits), tuple(conversions), tuple(findings))


def _names(view: FileView) -> dict[str, str]:
    """The target's variable for each variable of the source's launcher."""
    values = view.settings.table.values[_VALUES]
    if view.target == "paddle":
        return dict(values.pairs)
    return {paddle: torch for torch, paddle in values.pairs} | {
        name: torch for name, paddle in values.paddle_also.items() for torch, other in values.pairs if other == paddle
    }


def _access(view: FileView, node: ast.Constant) -> str | None:
    """How the environment variable named by the string is used: ``read``, ``other``, or None if it is not."""
    parent = view.parent(node)
    if isinstance(parent, ast.Subscript) and parent.slice is node and _is(view, parent.value, {"os.environ"}):
        return "read" if isinstance(parent.ctx, ast.Load) else "other"
    if isinstance(parent, ast.Call) and parent.args[:1] == [node]:
        if _is(view, parent.func, _READERS):
            return "read"
        return "other" if _is(view, parent.func, {"os.environ.setdefault", "os.environ.pop", "os.putenv"}) else None
    if isinstance(parent, ast.Compare) and parent.left is node and _tests_membership(parent.ops):
        return "read" if _is(view, parent.comparators[0], {"os.environ"}) else None
    return None


def _tests_membership(ops: Sequence[ast.cmpop]) -> bool:
    return len(ops) == 1 and isinstance(ops[0], ast.In | ast.NotIn)


def _is(view: FileView, node: ast.expr, names: frozenset[str] | set[str]) -> bool:
    return not names.isdisjoint(view.evaluator.imported_names(node))
