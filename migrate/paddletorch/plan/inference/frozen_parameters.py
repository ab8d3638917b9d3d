"""Where a file freezes all parameters of a model, by ``requires_grad_`` of it or in a loop over them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from paddletorch_rules.guesses import suggests

from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.view import FileView


class Freezing(NamedTuple):
    """A statement or call that freezes all parameters of a model."""

    node: ast.expr | ast.stmt
    model: ast.expr | None
    """None where the parameters are those of a variable."""


def freezing(view: FileView) -> Iterator[Freezing]:
    """What freezes models, unless their names say that no gradient goes through them."""
    receivers = view.provide(Receivers)
    for call in view.tree.method_calls("requires_grad_"):
        if not isinstance(call.func, ast.Attribute) or not _is_false(call.args):
            continue
        model, loop = call.func.value, _parameters_around(view, call)
        is_model = loop is not None or receivers.certainty(model, "module") is Certainty.YES
        if is_model and _may_carry_gradients(view, model, loop):
            yield Freezing(call, model if loop is None else _model_of(loop))
    for node in view.tree.of_kind(ast.Assign):
        if not _is_false([node.value]):
            continue
        frozen = [t for t in node.targets if isinstance(t, ast.Attribute) and t.attr == "requires_grad"]
        loop = _parameters_around(view, node) if frozen else None
        if loop is not None and _may_carry_gradients(view, frozen[0].value, loop):
            yield Freezing(node, _model_of(loop))


def _is_false(given: list[ast.expr]) -> bool:
    return bool(given) and isinstance(given[0], ast.Constant) and given[0].value is False


def _parameters_around(view: FileView, node: ast.AST) -> ast.expr | None:
    """What the loop around a statement goes through, where that is parameters."""
    outer = view.parent(node)
    while outer is not None and not isinstance(outer, ast.For | ast.FunctionDef | ast.AsyncFunctionDef):
        outer = view.parent(outer)
    return outer.iter if isinstance(outer, ast.For) and "parameters" in view.text(outer.iter) else None


def _may_carry_gradients(view: FileView, frozen: ast.expr, loop: ast.expr | None) -> bool:
    text = f"{view.text(frozen)} {view.text(loop) if loop is not None else ''}"
    return not suggests("frozen_model", text)


def _model_of(loop: ast.expr) -> ast.expr | None:
    """``model`` of ``model.parameters()`` and ``list(model.named_parameters())[:5]``."""
    members = (node for node in ast.walk(loop) if isinstance(node, ast.Attribute))
    return next((node.value for node in members if node.attr in ("parameters", "named_parameters")), None)
