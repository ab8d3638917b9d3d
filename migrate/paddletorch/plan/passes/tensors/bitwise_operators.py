"""Bitwise operators of a tensor and a number, ``x & 1``: Paddle takes the number only on the left, ``1 & x``.

Measured on 3.3.1: ``x & 1`` raises "must be Tensor", and ``1 & x`` gives what torch does, in the tensor's dtype.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.inference.dtypes import dtypes_of
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.operators import BITWISE
from paddletorch.plan.syntax.precedence import ATOM, precedence_of
from paddletorch.plan.syntax.side_effects import is_pure

_CODE = "TEN102"
_NUMBERS = frozenset({"int", "bool", "number"})


def plan_bitwise_operators(view: FileView, planned: Planned) -> Changes:
    """Write the number first; ``x &= 1`` becomes ``x = 1 & x``."""
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    taken = {edit.span for edit in planned.edits}
    for node, tensor, number in _operations(view):
        span = view.source.span(node)
        if span in taken or view.is_deselected(_CODE, node):
            continue
        parts = _number_first(view, node, tensor, number)
        edits.append(Edit(span, "", _CODE, parts))
        conversions.append(view.conversion(_CODE, tensor, "bitwise operator", "the number first"))
    return Changes(tuple(edits), tuple(conversions))


def _operations(view: FileView) -> Iterator[tuple[ast.BinOp | ast.AugAssign, ast.expr, ast.expr]]:
    """Each such operation, its tensor and its number."""
    nodes: list[ast.BinOp | ast.AugAssign] = [*view.tree.of_kind(ast.BinOp), *view.tree.of_kind(ast.AugAssign)]
    for node in nodes:
        if node.op.__class__ not in BITWISE:
            continue
        if isinstance(node, ast.BinOp):
            tensor, number = node.left, node.right
        elif is_pure(node.target):
            tensor, number = node.target, node.value
        else:
            continue
        if isinstance(node, ast.BinOp) and not view.is_located(node):
            continue
        found = kinds(view, number)
        if found and found <= _NUMBERS and view.source_tensor(tensor).is_only_object:
            yield node, tensor, number


def _number_first(
    view: FileView, node: ast.BinOp | ast.AugAssign, tensor: ast.expr, number: ast.expr
) -> tuple[str | Span, ...]:
    """The operation's text with the number before the tensor."""
    source = view.source
    cast = view.provide(dtypes_of).of(tensor) == "bool" and "int" in kinds(view, number)
    after = view.quoted(".astype('int64')", tensor) if cast else ""  # of a bool and an integer, torch makes an integer
    assigned: tuple[str | Span, ...] = (source.span(tensor), " = ") if isinstance(node, ast.AugAssign) else ()
    sign = f" {BITWISE[type(node.op)]} "
    return (*assigned, *_operand(view, number), sign, *_operand(view, tensor), after)


def _operand(view: FileView, node: ast.expr) -> tuple[str | Span, ...]:
    """The operand, in brackets unless it is one name, call or number."""
    span = view.source.span(node)
    plain = precedence_of(node) == ATOM or isinstance(node, ast.Constant)
    return (span,) if plain else ("(", span, ")")
