"""Leaves a layer whose initializer is left: below the layer it would stand alone, applied to no tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.plan.calls.initialized import tensor_for
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.refusals import StatedByTable
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView

_ATTRIBUTE = "NNL203"


def plan_initialized_layers(view: FileView, planned: Planned) -> Changes:
    """Leave the layers that convert, though the initializer of one of their tensors is left."""
    left = [use.site.call for use in planned.uses if use.row.instance == "initializer" and not use.converts]
    given = [keyword for call in left if call is not None for keyword in _parameter(view, call)]
    layers = {use.site.call: use for use in planned.uses.converted if use.site.role == "call"} if given else {}
    by_layer = {layers[call]: k for k in given if isinstance(call := view.parent(k), ast.Call) and call in layers}
    return Changes(uses=tuple(_left(use, keyword) for use, keyword in by_layer.items()))


def _parameter(view: FileView, initializer: ast.Call) -> Iterator[ast.keyword]:
    """The parameter of a layer that the initializer, itself or in an attribute, is written for."""
    if tensor_for(view, initializer) is None:
        return
    keyword = view.parent(initializer)
    attribute = view.parent(keyword) if isinstance(keyword, ast.keyword) and keyword.arg == "initializer" else keyword
    keyword = view.parent(attribute) if isinstance(attribute, ast.Call) else attribute
    if isinstance(keyword, ast.keyword):
        yield keyword


def _left(use: Use, keyword: ast.keyword) -> Use:
    details = (("parameter", str(keyword.arg)), ("value", ast.unparse(keyword.value)))
    return use.refuse(StatedByTable(_ATTRIBUTE, details))
