"""Batch and instance norms of which the weight or the bias alone is frozen: Paddle's give the other no gradient.

Measured on 3.3.1, in training and in evaluation. So the neck of a re-identification model, whose bias is frozen, and
the last norm of ArcFace's network, whose weight is, keep their other parameter as it was made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.constants import constant
from paddletorch.resolve import Instance

_CODE = "AGD203"
_OTHER = {"weight": "bias", "bias": "weight"}
_WHAT = (
    "frozen without its {other}: Paddle (3.3.1) gives the {other} of this norm no gradient then, so it never changes"
)


def plan_half_frozen_norms(view: FileView, planned: Planned) -> Changes:
    """Report each parameter of a norm that is frozen in a function that does not freeze the other one."""
    frozen = list(_frozen(view))
    known = {(id(view.tree.scopes[node].function()), ast.unparse(node)) for node in frozen}
    found = []
    for node in frozen:
        other = _OTHER[node.attr]
        pair = (id(view.tree.scopes[node].function()), f"{ast.unparse(node.value)}.{other}")
        if pair not in known and _is_norm(view, node.value):
            found.append(finding(_CODE, node, view.text(node), what=_WHAT.format(other=other)))
    return Changes(findings=tuple(found))


def _frozen(view: FileView) -> Iterator[ast.Attribute]:
    """``m.bias`` of ``m.bias.requires_grad = False`` and ``m.bias.requires_grad_(False)``."""
    members = [*view.tree.members.get("requires_grad", ()), *view.tree.members.get("requires_grad_", ())]
    for member in members:
        statement, given = view.parent(member), None
        if isinstance(statement, ast.Assign):
            given = statement.value
        elif isinstance(statement, ast.Call) and statement.func is member and statement.args:
            given = statement.args[0]
        parameter = member.value
        if isinstance(parameter, ast.Attribute) and parameter.attr in _OTHER and _is_false(given):
            yield parameter


def _is_false(node: ast.expr | None) -> bool:
    return node is not None and constant(node) is False


def _is_norm(view: FileView, node: ast.expr) -> bool:
    """Whether it is seen to be a batch or an instance norm."""
    values = view.evaluator.values(node)
    names = [value.api.rpartition(".")[2] for value in values if isinstance(value, Instance)]
    return bool(names) and all(name.startswith(("BatchNorm", "InstanceNorm", "SyncBatchNorm")) for name in names)
