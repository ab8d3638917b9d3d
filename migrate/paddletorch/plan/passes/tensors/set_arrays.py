"""NumPy arrays that become weights of layers whose class is not seen: ``p.set_value(array)`` in a walk over parameters.

A linear layer's weight is ``[in, out]`` in Paddle and ``[out, in]`` in torch. Where the layer is known, the array is
turned; in a walk over all parameters or layers nothing is, and only another shape raises.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.findings import refused
from paddletorch.plan.model.refusals import LayoutMatters
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Instance

_ROW = "linear.weight"
_WALKS = ("parameters", "named_parameters")
_LAYER = re.compile(r"paddle\.nn\.(?!functional|initializer)[A-Z]\w*")
_WITH_LINEAR = re.compile(r"Linear|Attention|Transformer")
"""Layers that a file makes where a weight may be a linear layer's; one that makes none may get any model."""

_ALIKE = frozenset({"zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "float32", "sqrt", "log", "prod"})
"""Functions of NumPy that give numbers, or the same whatever the layout is."""


def plan_set_arrays(view: FileView, planned: Planned) -> Changes:
    """Leave each array that is set, unless it is random or filled with one number."""
    row = view.settings.table.row(_ROW)
    layers = [use.site.name for use in planned.uses if _LAYER.fullmatch(use.site.name) and use.site.role == "call"]
    if layers and not any(_WITH_LINEAR.search(name) for name in layers):
        return NOTHING
    left: list[ast.Call] = []
    for call in view.tree.method_calls("set_value"):
        assert isinstance(call.func, ast.Attribute)
        parameter = call.func.value
        if not call.args or view.is_deselected(row.code, call) or not _may_be_of_linear(view, parameter):
            continue
        if not view.is_sources(parameter):
            continue
        if any(_is_array(view, node) for node in _parts(view, call.args[0])):
            left.append(call)
    findings = tuple(refused(LayoutMatters(), call, _ROW, row) for call in left)
    return Changes(findings=findings, handled=frozenset(call.func for call in left))


def _may_be_of_linear(view: FileView, parameter: ast.expr) -> bool:
    """``p`` of a walk over parameters, or ``layer.weight`` of a layer that is not seen."""
    if isinstance(parameter, ast.Attribute):
        known = [value for value in view.evaluator.values(parameter.value) if isinstance(value, Instance) and value.api]
        return parameter.attr == "weight" and isinstance(parameter.value, ast.Name) and not known
    bindings = view.evaluator.reaching(parameter) if isinstance(parameter, ast.Name) else ()
    walked = [node for b in bindings if b.value is not None for node in ast.walk(b.value)]
    return any(isinstance(node, ast.Attribute) and node.attr in _WALKS for node in walked)


def _parts(view: FileView, node: ast.expr) -> Iterator[ast.AST]:
    """The expressions in what is set, and in what its variables hold."""
    for part in ast.walk(node):
        yield part
        for binding in view.evaluator.reaching(part) if isinstance(part, ast.Name) else ():
            if binding.kind == "assign" and binding.value is not None:
                yield from ast.walk(binding.value)


def _is_array(view: FileView, node: ast.AST) -> bool:
    name = (view.qualified(node.func) or "") if isinstance(node, ast.Call) else ""
    return name.startswith("numpy.") and not name.startswith("numpy.random.") and name.rpartition(".")[2] not in _ALIKE
