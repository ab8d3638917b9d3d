"""Differences of truth values and numbers, ``1.0 - mask``, on the way to torch, which refuses to subtract truth values.

Measured: Paddle 3.3.1 counts them as numbers of the other operand's kind, float32 or int64, and torch 2.13 raises
RuntimeError.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch_rules.guesses import suggests

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.inference.dtypes import dtypes_of
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.brackets import in_own_brackets
from paddletorch.plan.syntax.precedence import ATOM, precedence_of

_CODE = "DTY101"
_MAYBE = "DTY204"

_CASTS = {"int": ".long()", "float": ".float()"}


def plan_truth_differences(view: FileView, planned: Planned) -> Changes:
    """Cast the truth values; report what a name calls a mask, whose dtype the file does not show."""
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    findings: list[Finding] = []
    dtypes = view.provide(dtypes_of)
    for operand, number in _differences(view):
        cast = _CASTS.get(_number(view, number))
        if cast is None or not view.is_sources(operand):
            continue
        if dtypes.of(operand) == "bool":
            if not view.is_deselected(_CODE, operand):
                edits.append(_cast(view, operand, cast))
                conversions.append(view.conversion(_CODE, operand, "type promotion", cast.strip(".()")))
        elif _may_be_mask(view, operand):
            findings.append(finding(_MAYBE, operand, "paddle.Tensor", name=view.text(operand)))
    return Changes(tuple(edits), tuple(conversions), tuple(findings))


def _differences(view: FileView) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each operand of a difference, with the other one."""
    for node in view.tree.of_kind(ast.BinOp):
        if isinstance(node.op, ast.Sub) and view.is_located(node):
            yield node.left, node.right
            yield node.right, node.left


def _number(view: FileView, node: ast.expr) -> str:
    """``int`` or ``float`` of a Python number that is seen; empty for anything else."""
    found = kinds(view, node) - {"number"}
    return next(iter(found)) if len(found) == 1 else ""


def _may_be_mask(view: FileView, node: ast.expr) -> bool:
    """Whether the operand's name calls it a mask, and nothing says that it is no tensor."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    if not suggests("mask", name):
        return False
    found = view.tensor(node)
    return not found.has_others and not found.has_containers and _reads_parameter(view, node)


def _reads_parameter(view: FileView, node: ast.expr) -> bool:
    """Whether the file does not show what makes it: a function's parameter, or an attribute."""
    if not isinstance(node, ast.Name):
        return True
    return any(b.kind == "parameter" for b in view.evaluator.reaching(node))


def _cast(view: FileView, node: ast.expr, cast: str) -> Edit:
    span = view.source.span(node)
    bracketed = in_own_brackets(view.source, span)
    if bracketed is not None:
        return Edit(Span(bracketed.end, bracketed.end), cast, _CODE)
    if precedence_of(node) == ATOM:
        return Edit(span, "", _CODE, (span, cast))
    return Edit(span, "", _CODE, ("(", span, ")" + cast))
