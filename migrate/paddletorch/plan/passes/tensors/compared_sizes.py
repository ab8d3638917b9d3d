"""Sizes that are compared with what is not seen, ``x.shape != shape``, on the way to torch, whose sizes are tuples.

A Paddle program gives lists of numbers, which no tuple equals. What is seen to be a list or a tuple is the matter of
the size itself (``plan/inference/shapes``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit
from paddletorch.plan.inference.shapes import is_size, sequence_kind
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import refused
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.resolve import NoneValue
from paddletorch.resolve.facts.tensors import tensorhood

_CODE = "TEN106"


def plan_compared_sizes(view: FileView, planned: Planned) -> Changes:
    """Make a size of the other operand."""
    return joined(_plan_operand(view, planned, operand) for operand in _unseen(view))


def _unseen(view: FileView) -> Iterator[ast.expr]:
    """What sizes are compared with, where the file does not show what sequence that is."""
    for node in view.tree.of_kind(ast.Compare):
        if len(node.ops) > 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq) or not view.is_located(node):
            continue
        sides = (node.left, node.comparators[0])
        for one, other in (sides, sides[::-1]):
            if (
                is_size(view, one)
                and isinstance(other, ast.Name | ast.Attribute)
                and _is_unseen(view, other)
                and view.is_sources(other)
            ):
                yield other


def _is_unseen(view: FileView, node: ast.expr) -> bool:
    values = view.evaluator.values(node)  # a parameter of forward, which is taken for a tensor, is none here
    other = tensorhood(values).has_others or NoneValue() in values
    return not other and not _reads_size(view, node) and not sequence_kind(view, node)


def _reads_size(view: FileView, node: ast.expr | None) -> bool:
    """Whether this is the ``shape`` of something, or a variable that holds one."""
    if isinstance(node, ast.Name):
        reached = view.evaluator.reaching(node)
        return bool(reached) and all(isinstance(b.value, ast.Attribute) and _reads_size(view, b.value) for b in reached)
    return isinstance(node, ast.Attribute) and node.attr == "shape"


def _plan_operand(view: FileView, planned: Planned, node: ast.expr) -> Changes:
    span = view.source.span(node)
    if view.is_deselected(_CODE, node):
        return NOTHING
    edit = Edit(span, "", _CODE, ("torch.Size(", span, ")"))
    try:
        changes = spelled(view, planned.naming.aliases, node, (edit,), "paddle.Tensor.shape")
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, node, "paddle.Tensor.shape"),))
    return changes._replace(conversions=(view.conversion(_CODE, node, "paddle.Tensor.shape", "torch.Size"),))
