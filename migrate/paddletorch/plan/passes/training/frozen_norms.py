"""Layer norms whose weight is frozen: Paddle computes another gradient of their input.

Measured on 3.3.1, on a CPU: where ``layer_norm``'s weight has ``stop_gradient``, the gradient of its input is that of a
weight of ones. LoRA, an adapter or a generator behind a frozen critic learns from it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.view import FileView

_CODE = "AGD203"
_WHAT = (
    "where its weight is frozen, as in line {line}, Paddle (3.3.1, on a CPU) gives its input the gradient of a weight "
    "of ones"
)
_NORMS = ("LayerNorm", "layer_norm", "Transformer", "TransformerDecoderLayer", "TransformerEncoderLayer")
_WITHOUT_GRADIENT = re.compile(r"(^|_|\b)(ema|teacher|target|momentum|shadow|avg|averaged?|old|ref|k|key)(_|\b)")
"""Names of models that no gradient goes through, though their weights are frozen."""


def plan_frozen_norms(view: FileView, planned: Planned) -> Changes:
    """Report the first layer norm of a file that freezes weights."""
    norms = [u.site for u in planned.uses if u.site.name.rpartition(".")[2] in _NORMS and u.site.role != "check"]
    if not norms:
        return NOTHING
    frozen = min((node.lineno for node in _freezing(view)), default=None)
    if frozen is None:
        return NOTHING
    first = min(norms, key=lambda site: (site.node.lineno, site.node.col_offset))
    return Changes(findings=(finding(_CODE, first.node, first.name, what=_WHAT.format(line=frozen)),))


def _freezing(view: FileView) -> Iterator[ast.expr | ast.stmt]:
    """``p.requires_grad = False`` of all parameters, and ``model.requires_grad_(False)``."""
    receivers = view.provide(Receivers)
    for call in view.tree.calls:
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "requires_grad_" or not _is_false(call.args):
            continue
        model, loop = call.func.value, _parameters_around(view, call)
        is_model = loop or receivers.certainty(model, "module") is Certainty.YES
        if is_model and not _WITHOUT_GRADIENT.search(f"{view.text(model)} {loop}".lower()):
            yield call
    for node in view.tree.parents:
        if not isinstance(node, ast.Assign) or not _is_false([node.value]):
            continue
        frozen = [t for t in node.targets if isinstance(t, ast.Attribute) and t.attr == "requires_grad"]
        loop = _parameters_around(view, node) if frozen else ""
        if loop and not _WITHOUT_GRADIENT.search(f"{view.text(frozen[0].value)} {loop}".lower()):
            yield node


def _is_false(given: list[ast.expr]) -> bool:
    return bool(given) and isinstance(given[0], ast.Constant) and given[0].value is False


def _parameters_around(view: FileView, node: ast.AST) -> str:
    """What the loop around a statement goes through, where that is parameters; empty for others."""
    outer = view.parent(node)
    while outer is not None and not isinstance(outer, ast.For | ast.FunctionDef | ast.AsyncFunctionDef):
        outer = view.parent(outer)
    loop = view.text(outer.iter) if isinstance(outer, ast.For) else ""
    return loop if "parameters" in loop else ""
