"""Layers of a Sequential by an index: Paddle's appends what is put at a negative one, and torch's takes no name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.model.changes import Changes, Planned, joined
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.brackets import first_part, with_brackets
from paddletorch.plan.syntax.side_effects import is_pure
from paddletorch.resolve import Instance
from paddletorch.resolve.values import Container

_CODE = "NNL101"
_SEQUENTIAL = "paddle.nn.Sequential"


def plan_replaced_layers(view: FileView, planned: Planned) -> Changes:
    """Count ``net[-1] = layer`` from the front, which is right for lists too, and get ``net["conv"]`` by its name."""
    return joined(_replaced(view) if view.target == "paddle" else _named(view))


def _named(view: FileView) -> Iterator[Changes]:
    for node in view.tree.subscripts:
        if not isinstance(node.ctx, ast.Load) or kinds(view, node.slice) != {"str"} or not view.is_located(node):
            continue
        values = view.evaluator.objects(node.value)
        if not values or not all(isinstance(v, Instance) and v.api == _SEQUENTIAL for v in values):
            continue
        if view.is_deselected(_CODE, node) or not view.is_sources(node.value):
            continue
        whole, base = view.source.span(node), first_part(view.source, node.value, node)
        name = with_brackets(view.source, view.source.span(node.slice), base.end)
        edit = Edit(whole, "", _CODE, (base, ".get_submodule(", name, ")"))
        yield Changes((edit,), (view.conversion(_CODE, node, "sequential[name]", "sequential.get_submodule(name)"),))


def _replaced(view: FileView) -> Iterator[Changes]:
    for node in view.tree.subscripts:
        index, statement = node.slice, view.parent(node)
        negative = isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub)
        if not negative or not isinstance(node.ctx, ast.Store) or not isinstance(statement, ast.Assign):
            continue
        if not is_pure(node.value) or not _is_layer(view, statement.value) or view.is_deselected(_CODE, statement):
            continue
        if any(isinstance(v, Container) for v in view.evaluator.objects(node.value)):
            continue
        if not view.is_sources(statement.value):
            continue
        assert isinstance(index, ast.UnaryOp)
        base = view.written(node.value)
        number = view.written(index.operand)
        edit = Edit(view.source.span(index), f"len({base}) - {number}", _CODE)
        conversion = view.conversion(_CODE, node, "sequential[-n] = ...", "sequential[len(sequential) - n] = ...")
        yield Changes((edit,), (conversion,))


def _is_layer(view: FileView, node: ast.expr) -> bool:
    bases = view.settings.table.bases
    values = view.evaluator.objects(node)
    return any(isinstance(v, Instance) and "module" in bases(v.type) for v in values)
