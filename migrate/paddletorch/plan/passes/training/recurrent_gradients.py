"""Recurrent layers that are frozen or in evaluation: the backward of Paddle's raises an error.

Measured on 3.3.1, on a CPU: ``LSTM``, ``GRU`` and ``SimpleRNN`` have a gradient in training only, and only if each of
their weights asks for one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from paddletorch.plan.inference.frozen_parameters import freezing
from paddletorch.plan.inference.no_grad import is_without_grad
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.resolve import Instance

_CODE = "AGD203"
_FROZEN = (
    "a gradient that goes through it raises an error in Paddle (3.3.1, on a CPU) where its weights are frozen, as in "
    "line {line}; let them train, and do not give them to the optimizer"
)
_EVALUATED = (
    "the backward of its {layer} raises an error in Paddle (3.3.1, on a CPU) in evaluation; leave that layer in "
    "training, with a dropout of 0"
)
_LAYERS = ("RNN", "LSTM", "GRU")


def plan_recurrent_gradients(view: FileView, planned: Planned) -> Changes:
    """Report recurrent layers of models that the file freezes, and ``eval()`` of those whose gradient it takes."""
    layers = [u.site for u in planned.uses if u.site.name.rpartition(".")[2] in _LAYERS and u.site.role == "call"]
    if not layers:
        return NOTHING
    return Changes(findings=(*_frozen(view, layers), *_evaluated(view, layers)))


def _frozen(view: FileView, layers: list[Site]) -> Iterator[Finding]:
    """The first layer of each model that is frozen."""
    first: dict[Site, int] = {}
    for one in freezing(view):
        layer = _layer_of(view, one.model, layers) if one.model is not None else None
        if layer is not None:
            first.setdefault(layer, one.node.lineno)
    for site, line in first.items():
        yield finding(_CODE, site.node, site.name, what=_FROZEN.format(line=line))


def _evaluated(view: FileView, layers: list[Site]) -> Iterator[Finding]:
    """``model.eval()`` before the model is called and a gradient taken, in a function that does not train it."""
    for call in view.tree.method_calls("eval"):
        function = call.func
        assert isinstance(function, ast.Attribute)
        model = path_of(function.value)
        layer = _layer_of(view, function.value, layers) if model and not call.args else None
        if layer is None:
            continue
        beside = [c for c in view.tree.calls if view.tree.scopes[c].function() is view.tree.scopes[call].function()]
        if any(_is_method(c, "train") for c in beside):
            continue
        run = [c.lineno for c in beside if path_of(c.func) == model and not is_without_grad(view, c)]
        taken = [c.lineno for c in beside if _takes_gradient(view, c)]
        if any(call.lineno < r <= t for r in run for t in taken):
            name = layer.name.rpartition(".")[2]
            yield finding(_CODE, call, view.text(call), what=_EVALUATED.format(layer=name))


def _layer_of(view: FileView, model: ast.expr, layers: Iterable[Site]) -> Site | None:
    """The recurrent layer that the model is, the last one of its kind before, or that its class in the file makes."""
    found: list[Site] = []
    for value in view.evaluator.values(model):
        if isinstance(value, Instance) and value.node is not None:
            first, last = value.node.lineno, value.node.end_lineno or 0
            found += [site for site in layers if first <= site.node.lineno <= last]
        elif isinstance(value, Instance):
            found += [site for site in layers if site.name == value.api and site.node.lineno <= model.lineno]
    return max(found, key=lambda site: (site.node.lineno, site.node.col_offset), default=None)


def _is_method(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == name


def _takes_gradient(view: FileView, call: ast.Call) -> bool:
    named = view.qualified(call.func) in ("torch.autograd.grad", "torch.autograd.backward")
    return named or _is_method(call, "backward")
