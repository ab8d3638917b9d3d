"""Integers made of a tensor that has a gradient: torch carries none through them, Paddle does.

Measured on 3.3.1: x - x.astype('int64').astype('float32') has a gradient of 0 instead of 1, and arithmetic with the
indices of ``topk`` stops the backward pass. Where such integers become numbers again they are detached.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache

from paddletorch_rules.facts import facts

from paddletorch.model import Edit
from paddletorch.plan.inference.dtypes import dtypes_of
from paddletorch.plan.inference.torch_functions import CallsByFunction, called_function
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.operators import ELEMENTWISE
from paddletorch.resolve import Binding
from paddletorch.resolve.facts.dtypes import Dtypes, category

_CODE = "DTY101"
_STEPS = frozenset({"argmax", "argmin", "bincount", "ceil", "count_nonzero", "floor", "round", "sign", "sum", "trunc"})
"""Functions whose results have no gradient, or one of zero, or are integers where they are counted."""
_INDICES = frozenset({"cummax", "cummin", "kthvalue", "mode", "sort", "topk"})
"""Functions whose indices carry gradients in Paddle; ``max`` and ``median`` become functions that do not."""
_OPERATORS = tuple(ELEMENTWISE)


def plan_integer_gradients(view: FileView, planned: Planned) -> Changes:
    """Detach integers of tensors with gradients where they are used in arithmetic or cast back."""
    made = frozenset(view.provide(CallsByFunction).of(_makers()))
    if not made:
        return NOTHING
    dtypes = view.provide(dtypes_of)
    variables: dict[str, set[int]] = {}
    """The lists of bindings of which one is a wanted call, by their name and identity."""
    for scope in view.tree.own.values():
        for name, bindings in scope.bindings.items():
            if any(binding.value in made for binding in bindings):
                variables.setdefault(name, set()).add(id(bindings))

    def may_be_tracked(node: ast.expr) -> bool:
        if not isinstance(node, ast.Name):
            return node in made
        lists = variables.get(node.id)
        return lists is not None and id(view.tree.scopes[node].lookup(node.id)) in lists

    operands = filter(may_be_tracked, _operands(view, dtypes, may_be_tracked))
    return joined(
        _detached(view, node) for node in operands if _is_tracked(view, dtypes, node) and view.is_sources(node)
    )


@cache
def _makers() -> frozenset[str]:
    """The names of the functions and methods that ``_binds_tracked`` looks for."""
    casts = (name for name, dtype in facts().casts.items() if category(dtype) == 1)
    return frozenset((*casts, *_INDICES, "argsort", "to", "type"))


def _operands(view: FileView, dtypes: Dtypes, wanted: Callable[[ast.expr], bool]) -> Iterator[ast.expr]:
    """What is cast to floating-point numbers or an operand of arithmetic; nothing of calls without a wanted one."""
    for operation in view.tree.of_kind(ast.BinOp):
        if isinstance(operation.op, _OPERATORS) and view.is_located(operation):
            yield from (operation.left, operation.right)
    for call in view.provide(CallsByFunction).of(_users()):
        if not isinstance(call.func, ast.Attribute) or not view.is_located(call):
            continue
        if not any(map(wanted, (call.func.value, *call.args[:2]))):
            continue
        name = call.func.attr
        if view.qualified(call.func) is not None:
            yield from call.args[:2] if called_function(view, call) in facts().promoting["torch"] else ()
            continue
        cast = facts().casts.get(name)
        if name in ("to", "type") and len(call.args) == 1 and not call.keywords:
            cast = dtypes.named(call.args[0])
        if (cast is not None and category(cast) > 1) or (name in facts().promoting["torch"] and len(call.args) == 1):
            yield call.func.value


@cache
def _users() -> frozenset[str]:
    """The names of the functions and methods in which integers meet other numbers, or become such."""
    return frozenset((*facts().casts, *facts().promoting["torch"], "to", "type"))


def _is_tracked(view: FileView, dtypes: Dtypes, node: ast.expr) -> bool:
    """Whether it holds integers that Paddle ties to the gradient of a tensor."""
    found = dtypes.of(node)
    if found is None or category(found) != 1:
        return False
    if isinstance(node, ast.Name):
        reached = view.evaluator.reaching(node)
        return bool(reached) and all(_binds_tracked(view, dtypes, one) for one in reached)
    return isinstance(node, ast.Call) and _is_made_of_gradients(view, dtypes, node)


def _binds_tracked(view: FileView, dtypes: Dtypes, binding: Binding) -> bool:
    value = binding.value
    if binding.kind == "unpack" and isinstance(value, ast.Call) and binding.path == (1,):
        return called_function(view, value) in _INDICES
    return binding.kind == "assign" and isinstance(value, ast.Call) and _is_made_of_gradients(view, dtypes, value)


def _is_made_of_gradients(view: FileView, dtypes: Dtypes, call: ast.Call) -> bool:
    """Whether the call casts what may be floating-point numbers to integers, or sorts them."""
    if called_function(view, call) == "argsort":
        return True
    if not isinstance(call.func, ast.Attribute) or not dtypes.is_tensor(call.func.value):
        return False
    name, inner = call.func.attr, call.func.value
    cast = facts().casts.get(name) if not call.args else None
    if name in ("to", "type") and len(call.args) == 1:
        cast = dtypes.named(call.args[0])
    if cast is None or category(cast) != 1 or _has_no_gradient(view, inner):
        return False
    before = dtypes.of(inner)
    return before is not None and category(before) == 2


def _has_no_gradient(view: FileView, node: ast.expr) -> bool:
    """Whether the numbers are rounded or counted, so that no gradient but zero comes through."""
    return isinstance(node, ast.Call) and called_function(view, node) in _STEPS | {"detach"}


def _detached(view: FileView, node: ast.expr) -> Changes:
    if view.is_deselected(_CODE, node):
        return NOTHING
    span = view.source.span(node)
    edit = Edit(span, "", _CODE, (span, ".detach()"))
    return Changes((edit,), (view.conversion(_CODE, node, "integers without a gradient", "detach()"),))
