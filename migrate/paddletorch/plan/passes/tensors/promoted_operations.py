"""Operations on several tensors whose result torch promotes: operators, functions, and methods in place or not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from paddletorch_rules.facts import facts

from paddletorch.plan.inference.dtypes import dtypes_of
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.inference.torch_functions import CallsByFunction
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.operators import ELEMENTWISE
from paddletorch.resolve.facts.dtypes import function_name

_OPERATORS = tuple(ELEMENTWISE)
_NO_OPERATORS = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
"""Comparisons that are none of the elements of tensors."""


class Operation(NamedTuple):
    """The operands of one operation; ``target`` is what an in-place operation writes to; its dtype is fixed."""

    node: ast.expr | ast.stmt
    operands: list[ast.expr]
    target: ast.expr | None = None


def operations(view: FileView) -> Iterator[Operation]:
    """Each operation that promotes dtypes in torch."""
    tree = view.tree
    for update in tree.of_kind(ast.AugAssign):
        if isinstance(update.op, _OPERATORS):
            yield Operation(update, [update.value], update.target)
    for operation in tree.of_kind(ast.BinOp):
        if isinstance(operation.op, _OPERATORS) and view.is_located(operation):
            yield Operation(operation, [operation.left, operation.right])
    for compared in tree.of_kind(ast.Compare):
        is_one = len(compared.comparators) == 1 and not isinstance(compared.ops[0], _NO_OPERATORS)
        if is_one and view.is_located(compared):
            yield Operation(compared, [compared.left, compared.comparators[0]])
    names = _names() if view.provide(dtypes_of).default == "float32" else _names() | facts().floating_results["torch"]
    for call in view.provide(CallsByFunction).of(names):
        if not any(isinstance(argument, ast.Starred) for argument in call.args) and view.is_located(call):
            yield from _called(view, call)


@cache
def _names() -> frozenset[str]:
    """The names of the functions and methods that ``_called`` looks for."""
    promoting = facts().promoting["torch"]
    in_place = (f"{name}_" for name in promoting)
    return frozenset((*promoting, *_OF_TWO, *in_place, *facts().joining["torch"], "where"))


def _called(view: FileView, call: ast.Call) -> Iterator[Operation]:
    name = view.qualified(call.func)
    if name is not None and name.startswith("torch."):
        last = function_name(name)
        given = {k.arg: k.value for k in call.keywords}
        named = [given[k] for k in ("input", "self", "other", "vec2") if k in given]
        arguments = [*call.args, *named]
        promotes = last in facts().promoting["torch"]
        if len(arguments) >= 2 and (promotes or (last in _OF_TWO and _is_tensor(view, arguments[1]))):
            yield Operation(call, arguments[:2])
        elif last == "where" and len(arguments) == 3:
            yield Operation(call, arguments[1:])
        elif last in facts().joining["torch"] and call.args and isinstance(call.args[0], ast.List | ast.Tuple):
            yield Operation(call, [e for e in call.args[0].elts if not isinstance(e, ast.Starred)])
        elif last in facts().floating_results["torch"] and arguments:
            yield Operation(call, arguments[:1])
    elif name is None and isinstance(call.func, ast.Attribute) and call.func.attr in facts().floating_results["torch"]:
        yield Operation(call, [call.func.value])
    elif name is None and isinstance(call.func, ast.Attribute) and call.args:
        last = call.func.attr
        if last.endswith("_") and _promotes_in_place(last.removesuffix("_")):
            yield Operation(call, [call.args[0]], call.func.value)
        elif last in facts().promoting["torch"]:
            yield Operation(call, [call.func.value, call.args[0]])
        elif last == "where" and len(call.args) == 2:
            yield Operation(call, [call.func.value, call.args[1]])


_OF_TWO = ("max", "min")


def _is_tensor(view: FileView, node: ast.expr) -> bool:
    """Whether the second argument is another tensor, and no dimension."""
    return kinds(view, node) == {"Tensor"}


def _promotes_in_place(name: str) -> bool:
    """Whether the in-place operation computes in the dtype of its tensor, as all but comparisons do."""
    return name in facts().promoting["torch"] and name not in facts().bool_results["torch"]
