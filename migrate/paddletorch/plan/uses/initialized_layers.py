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
    """Leave the layers, and the base classes, that convert though the initializer of one of their tensors is left."""
    left = [use.site.call for use in planned.uses if use.row.instance == "initializer" and not use.converts]
    given = [keyword for call in left if call is not None for keyword in _parameter(view, call)]
    made = {use.site.call: use for use in planned.uses.converted if use.site.role == "call"} if given else {}
    bases = {view.parent(use.site.node): use for use in planned.uses.converted if use.site.role == "base"}
    by_layer: dict[Use, ast.keyword] = {}
    for keyword in given:
        call = view.parent(keyword)
        assert isinstance(call, ast.Call)
        is_parent = isinstance(call.func, ast.Attribute) and call.func.attr == "__init__"
        use = bases.get(view.parent(view.tree.scopes[call].node)) if is_parent else made.get(call)
        if use is not None:
            by_layer[use] = keyword
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
