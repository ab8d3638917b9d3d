"""Tied weights: a linear layer that has an embedding's weight multiplies by the transposed weight in Paddle."""

from __future__ import annotations

import ast

from paddletorch.model import Edit
from paddletorch.plan.inference.tied_weights import Tie, TiedWeights
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import refused
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.plan.syntax.statements import place_after

_CODE = "NNL101"
_PLAIN = "functools.partial(paddle.matmul, y={layer}.weight, transpose_y=True)"
_WITH_BIAS = "types.MethodType(lambda layer, x: paddle.nn.functional.linear(x, layer.weight.t(), layer.bias), {layer})"
"""A method, so that a copy of the layer computes with its own weight."""


def plan_tied_weights(view: FileView, planned: Planned) -> Changes:
    """Give each linear layer whose weight is tied to an embedding's a forward that suits the weight."""
    if "torch.nn.Linear" in planned.uses.left_apis:
        return NOTHING
    return joined(_plan(view, planned, tie) for tie in view.provide(TiedWeights).ties)


def _plan(view: FileView, planned: Planned, tie: Tie) -> Changes:
    statement = tie.statement
    if view.is_deselected(_CODE, statement) or not view.is_sources(tie.linear):
        return NOTHING
    target, value = statement.targets[0], statement.value
    linear, embedding = (view.written(n) for n in (tie.linear, tie.embedding))
    _, separator = place_after(view, statement)
    forward = (_WITH_BIAS if tie.has_bias else _PLAIN).format(layer=linear)
    lines = [f"{linear}.weight = {embedding}.weight", f"{linear}.forward = {forward}"]
    if tie.from_linear:
        lines.insert(0, f"{embedding}.weight.set_value({linear}.weight.t())")
    edit = Edit(view.source.span(statement), separator.join(lines), _CODE)
    try:
        changes = spelled(view, planned.naming.aliases, target, [edit], "linear.weight")
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, target, "linear.weight"),))
    conversion = view.conversion(
        _CODE, statement, "linear.weight", "a weight that the embedding has too", "linear.weight"
    )
    handled = frozenset(n for part in (target, value) for n in ast.walk(part) if isinstance(n, ast.Attribute))
    return changes._replace(conversions=(conversion,), handled=handled)
