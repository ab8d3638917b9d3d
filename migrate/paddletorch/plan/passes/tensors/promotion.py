"""Operations on tensors of two dtypes: torch promotes them, Paddle does not.

Measured for ``i * f``, int64 by float32: Paddle 3.3 raises TypeError, and 2.6 gives int64, the left one's dtype. So
where both dtypes are known, the lower one is cast.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from packaging.version import Version
from paddletorch_rules.facts import facts
from paddletorch_rules.guesses import suggests

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.inference.counts import count_beside_floats
from paddletorch.plan.inference.dtypes import dtypes_of
from paddletorch.plan.inference.tensor_values import seems_tensor
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.tensors.promoted_operations import Operation, operations
from paddletorch.plan.syntax.brackets import in_own_brackets
from paddletorch.plan.syntax.precedence import ATOM, precedence_of
from paddletorch.plan.syntax.side_effects import is_pure
from paddletorch.resolve.evaluator.call_index import argument_of, is_method
from paddletorch.resolve.facts.dtypes import (
    FLOATING,
    INTEGERS,
    SMALL_INTEGERS,
    Dtypes,
    category,
    promoted,
)

_CODE = "DTY101"
_UNKNOWN_WIDTH = "DTY201"
_NOT_SEEN = "DTY202"
_MAYBE_LOWER = "DTY203"
_REFUSED = "DTY205"


class _Cast(NamedTuple):
    """An operand to cast, and the argument of ``astype``."""

    node: ast.expr
    dtype: str


class _Product(NamedTuple):
    """An operand that is multiplied by ``1.0``, which makes integers the default dtype and changes nothing else."""

    node: ast.expr


def plan_promotion(view: FileView, planned: Planned) -> Changes:
    """Cast operands that torch would promote."""
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    findings: list[Finding] = []
    dtypes = view.provide(dtypes_of)
    for operation in operations(view):
        if not view.is_sources(operation.target or operation.node):
            continue
        for found in _casts(view, dtypes, operation):
            if isinstance(found, Finding):
                findings.append(found)
            elif not view.is_deselected(_CODE, operation.node):
                edits.append(_cast_edit(view, operation, found))
                written = f"astype({found.dtype})" if isinstance(found, _Cast) else "* 1.0"
                conversions.append(view.conversion(_CODE, found.node, "type promotion", written))
    return Changes(tuple(edits), tuple(conversions), tuple(findings))


def _cast_edit(view: FileView, operation: Operation, cast: _Cast | _Product) -> Edit:
    if isinstance(cast, _Product):
        span = view.source.span(cast.node)
        first = isinstance(operation.node, ast.BinOp) and operation.node.left is cast.node
        first = first or (isinstance(operation.node, ast.AugAssign) and precedence_of(cast.node) == ATOM)
        return Edit(span, "", _CODE, (span, " * 1.0") if first else ("(", span, " * 1.0)"))
    infix = isinstance(operation.node, ast.BinOp | ast.Compare | ast.AugAssign)
    inner = view.source.span(cast.node)
    bracketed = in_own_brackets(view.source, inner) if infix else None
    atom = bracketed is not None or precedence_of(cast.node) == ATOM
    parts: tuple[str | Span, ...] = (bracketed or inner,) if atom else ("(", inner, ")")
    return Edit(bracketed or inner, "", _CODE, (*parts, f".astype({cast.dtype})"))


def _casts(view: FileView, dtypes: Dtypes, operation: Operation) -> Iterator[_Cast | _Product | Finding]:
    """The casts that an operation needs, and findings where a dtype is unknown."""
    count = count_beside_floats(view, dtypes, operation.node)
    if count is not None:
        yield _Product(count)
        return
    found = {o: d for o in operation.operands if (d := dtypes.of(o)) is not None}
    yield from _of_small_integers(dtypes, operation, found)
    others = [o for o in operation.operands if o not in found]
    if operation.target is not None:
        written = dtypes.of(operation.target)
        yield from _to(view, dtypes, found, written, operation.target)
        if written is None:
            yield from _to_unseen(view, dtypes, found, operation.target)
        if written is not None and all(dtypes.number(o) is None for o in others):
            yield from _maybe_lower(view, dtypes, operation, others, written, operation.target)
        return
    yield from _given_by_calls(view, dtypes, operation)
    if not found:
        yield from _unseen_mask(view, dtypes, operation)
        yield from _unseen_beside_integers(view, dtypes, operation)
        return
    if dtypes.default != "float32" and (integers := _made_floating(view, dtypes, operation, found)):
        default = "paddle.get_default_dtype()" if dtypes.default == FLOATING else f"'{dtypes.default}'"
        yield from (_Cast(one, view.quoted(default, one)) for one in integers)
        return
    result: str | None = next(iter(found.values()))
    for dtype in found.values():
        result = promoted(result, dtype)
    if result is None or result == INTEGERS:
        return
    if not others:
        like = next((n for n, d in found.items() if d == FLOATING), None)
        yield from _to(view, dtypes, found, result, like)
    elif len(others) == 1 and dtypes.number(others[0]) is not None:
        old = view.settings.target_releases.versions[0] < Version("3.0")
        if old and result == "bool" and dtypes.number(others[0]) == 1:
            yield _Cast(next(iter(found)), view.quoted("'int64'", others[0]))  # Paddle 2.6 converts the number to bool
    elif len(others) == 1 and result == "bool" and _is_compared(view, operation.node, others[0]):
        yield _Cast(next(iter(found)), _dtype_of(view, dtypes.source(others[0])))
    elif len(others) == 1 and dtypes.is_tensor(others[0]) and category(result) < 2 and _is_arithmetic(operation.node):
        quotient = isinstance(operation.node, ast.BinOp) and isinstance(operation.node.op, ast.Div)
        if (result == "bool" or quotient) and _is_named(source := dtypes.source(others[0])):
            yield _Cast(
                next(iter(found)), _dtype_of(view, source)
            )  # the other operand of a division is hardly a bool or int32
        else:
            node = next(iter(found))
            yield finding(_NOT_SEEN, node, "torch.Tensor", first=view.text(node), second=view.text(others[0]))
    elif len(others) == 1 and category(result) == 1 and _is_number_beside(view, operation.node, next(iter(found))):
        node, source = next(iter(found)), dtypes.source(others[0])
        if _is_named(source):
            yield _Cast(node, _dtype_of(view, source))
        else:
            yield finding(_NOT_SEEN, node, "torch.Tensor", first=view.text(node), second=view.text(others[0]))
    elif category(result) < 2:
        yield from _unseen_beside_integers(view, dtypes, operation)
    else:
        yield from _maybe_lower(view, dtypes, operation, others, result, next(iter(found)))


_METHODS = {ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Mod: "__mod__", ast.Pow: "__pow__"}
"""Operators that have no kernel for two tensors of small integers."""


def _of_small_integers(dtypes: Dtypes, operation: Operation, found: Mapping[ast.expr, str]) -> Iterator[Finding]:
    """The finding about an operator that Paddle refuses: beside a number, only of rests and powers."""
    node, kinds_of_operands = operation.node, set(found.values())
    method = _METHODS.get(type(node.op)) if isinstance(node, ast.BinOp) else None
    if not isinstance(node, ast.BinOp) or method is None or len(kinds_of_operands) != 1:
        return
    (dtype,) = kinds_of_operands
    with_number = isinstance(node.op, ast.Mod | ast.Pow) and dtypes.of(node.left) is not None
    whole = len(found) == 2 or (with_number and dtypes.number(node.right) in (0, 1))
    if dtype in SMALL_INTEGERS and whole:
        yield finding(_REFUSED, node, f"tensor.{method}", dtype=dtype)


def _made_floating(
    view: FileView, dtypes: Dtypes, operation: Operation, found: Mapping[ast.expr, str]
) -> list[ast.expr]:
    """The integers of a quotient, of a root, or beside a float: Paddle makes float32, whatever the default dtype is."""
    node = operation.node
    others = [dtypes.number(o) for o in operation.operands if o not in found]
    if any(category(dtype) > 1 for dtype in found.values()) or None in others:
        return []
    if isinstance(node, ast.BinOp):
        return list(found) if isinstance(node.op, ast.Div) or 2 in others else []
    return list(found) if isinstance(node, ast.Call) and len(operation.operands) == 1 else []


def _unseen_beside_integers(view: FileView, dtypes: Dtypes, operation: Operation) -> Iterator[Finding]:
    """The finding about integers beside what is likely a tensor: ``x * torch.arange(3)``, ``n * y.int() + p[mask]``."""
    node = operation.node
    if not isinstance(node, ast.BinOp) or not _is_arithmetic(node):
        return
    for first, second in ((node.left, node.right), (node.right, node.left)):
        is_tensor = seems_tensor(view, second) or (dtypes.of(first) is None and dtypes.is_tensor(second))
        unseen = is_tensor and dtypes.of(second) is None and not dtypes.holds_integers(second)
        if unseen and (dtypes.holds_integers(first) or dtypes.may_be_lower(first)):
            yield finding(_NOT_SEEN, first, "torch.Tensor", first=view.text(first), second=view.text(second))


def _is_number_beside(view: FileView, operation: ast.AST, node: ast.expr) -> bool:
    """Whether ``node`` is ``torch.tensor(1)``, and the other operand of an extreme decides the dtype."""
    if not isinstance(operation, ast.Call) or (view.qualified(operation.func) or "") not in _EXTREMES:
        return False
    value = node.args[0] if isinstance(node, ast.Call) and node.args else None
    return view.qualified(getattr(node, "func", node)) == "torch.tensor" and isinstance(value, ast.Constant)


_EXTREMES = frozenset({"torch.max", "torch.maximum", "torch.min", "torch.minimum"})


def _maybe_lower(
    view: FileView, dtypes: Dtypes, operation: Operation, others: list[ast.expr], dtype: str, known: ast.expr
) -> Iterator[_Product | Finding]:
    """What becomes of the one operand of unknown dtype beside ``known``, which is of this floating-point ``dtype``."""
    if len(others) != 1 or category(dtype) != 2:
        return
    is_named = _may_be_lower(operation.node, _first_source(view, others[0]))
    if not is_named and not view.provide(dtypes_of).may_be_lower(others[0]):
        return
    if isinstance(operation.node, ast.BinOp | ast.AugAssign | ast.Compare) or _is_equality(operation.node):
        yield _Product(others[0])
    else:
        yield finding(_MAYBE_LOWER, others[0], "torch.Tensor", first=view.text(others[0]), second=view.text(known))


def _is_compared(view: FileView, operation: ast.AST, other: ast.expr) -> bool:
    """Whether ``other`` of ``(scores > 0) == labels`` is a tensor whose text can be repeated, to read its dtype."""
    dtypes = view.provide(dtypes_of)
    source = dtypes.source(other)
    is_tensor = dtypes.is_tensor(other) or suggests("compared", _last_name(source))
    return _is_equality(operation) and _is_named(source) and bool(is_tensor)


def _is_equality(operation: ast.AST) -> bool:
    """Whether this is ``a == b``, ``a != b`` or a function that computes the same."""
    if isinstance(operation, ast.Compare):
        return isinstance(operation.ops[0], ast.Eq | ast.NotEq)
    function = operation.func if isinstance(operation, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr in ("eq", "ne")


def _first_source(view: FileView, node: ast.expr) -> ast.expr:
    """The tensor of this dtype that the variables in between come from: ``labels``, from ``rows = labels[:, None]``."""
    dtypes, seen = view.provide(dtypes_of), set[ast.expr]()
    while (node := dtypes.source(node)) not in seen and isinstance(node, ast.Name):
        seen.add(node)
        given = [b.value for b in view.evaluator.reaching(node) if b.kind == "assign"]
        if suggests("label", node.id) or suggests("compared", node.id) or len(given) != 1 or given[0] is None:
            break
        node = given[0]
    return node


def _unseen_mask(view: FileView, dtypes: Dtypes, operation: Operation) -> Iterator[Finding]:
    """The finding about a mask in a product of tensors of two dtypes that are not seen."""
    node = operation.node
    if (
        not isinstance(node, ast.BinOp)
        or not isinstance(node.op, ast.Mult)
        or not any(map(dtypes.is_tensor, operation.operands))
    ):
        return
    masks = [o for o in operation.operands if suggests("mask", _last_name(dtypes.source(o)))]
    if len(masks) == 1:
        other = next(o for o in operation.operands if o is not masks[0])
        if not isinstance(other, ast.Constant) and dtypes.number(other) is None:
            yield finding(_MAYBE_LOWER, masks[0], "torch.Tensor", first=view.text(masks[0]), second=view.text(other))


def _given_by_calls(view: FileView, dtypes: Dtypes, operation: Operation) -> Iterator[Finding]:
    """The finding about a parameter to which a call in the file gives integers, where the other operand is floating."""
    parameters = [_parameter(view, operand) for operand in operation.operands]
    function = next((found for found in parameters if found is not None), None)
    if function is None or len(operation.operands) != 2:
        return
    known = [dtypes.of(operand) for operand in operation.operands]
    if None not in known:
        return
    method = is_method(view.tree.own[function])
    for call in islice(view.evaluator.calls.of(function), _CALLS):
        seen = list(known)
        for place, (operand, owner) in enumerate(zip(operation.operands, parameters, strict=True)):
            if owner is function and isinstance(operand, ast.Name):
                given = argument_of(call, function, operand.id, method)
                seen[place] = dtypes.of(given) if given is not None else None
        if None not in seen and min(categories := [category(d) for d in seen if d is not None]) < 2 == max(categories):
            lower = categories.index(min(categories))
            first, second = (view.text(operation.operands[place]) for place in (lower, 1 - lower))
            yield finding(_MAYBE_LOWER, operation.operands[lower], "torch.Tensor", first=first, second=second)
            return


def _parameter(view: FileView, node: ast.expr) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function whose parameter a variable holds, as it was given; None for anything else."""
    if not isinstance(node, ast.Name):
        return None
    scope = view.tree.scopes[node]
    reached = view.evaluator.reaching(node)
    is_given = len(reached) == 1 and all(b.kind == "parameter" for b in reached) and scope.lookup(node.id)
    function = scope.node if is_given else None
    return function if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) else None


_CALLS = 16
"""Calls of a function that are looked at: what the first ones give says what it is for."""


def _may_be_lower(operation: ast.AST, operand: ast.expr) -> bool:
    """Whether the tensor's name says that it may hold booleans or integers: ``loss * mask``, ``scores > labels``."""
    name = _last_name(operand)
    kind = operation.op if isinstance(operation, ast.BinOp | ast.AugAssign) else operation
    if isinstance(kind, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Call) and _is_number_of_hits(operand):
        return True
    is_mask = isinstance(kind, ast.Mult) and suggests("mask", name)
    is_label = _is_equality(operation) and suggests("compared", name)
    return bool(
        is_mask
        or is_label
        or (isinstance(kind, ast.Mult | ast.Div | ast.Add | ast.Sub | ast.Compare) and suggests("label", name))
    )


def _is_number_of_hits(node: ast.expr) -> bool:
    """Whether this is ``(a == b).sum()`` or ``torch.sum(a == b)``, which are integers whatever is compared."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "sum":
        return False
    return isinstance(node.func.value, ast.Compare) or any(isinstance(one, ast.Compare) for one in node.args[:1])


def _last_name(node: ast.expr) -> str:
    """The name of a variable or attribute; empty for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_arithmetic(node: ast.AST) -> bool:
    """Whether this is arithmetic, which mixes masks and numbers; ``&`` and comparisons rarely do."""
    return not isinstance(node, ast.Compare | ast.Call) and not (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor)
    )


def _to(
    view: FileView, dtypes: Dtypes, found: Mapping[ast.expr, str], result: str | None, like: ast.expr | None
) -> Iterator[_Cast | Finding]:
    """Casts of the operands with a lower dtype; ``like`` is a tensor of a floating-point dtype of unknown width."""
    for node, dtype in found.items():
        if result is None or dtype == result or category(dtype) > category(result):
            continue
        if category(dtype) == category(result) and FLOATING in (dtype, result):
            continue  # most likely the same
        if result in facts().dtype_categories:
            yield _Cast(node, view.quoted(f"'{result}'", node))
        elif like is not None and _is_named(source := dtypes.source(like)):
            yield _Cast(node, _dtype_of(view, source))
        elif like is not None:
            yield finding(_UNKNOWN_WIDTH, node, "torch.Tensor", first=view.text(node), second=view.text(like))


def _to_unseen(view: FileView, dtypes: Dtypes, found: Mapping[ast.expr, str], target: ast.expr) -> Iterator[_Cast]:
    """Casts of integers that are written to a tensor of unseen dtype: ``self.counts += torch.bincount(x)``."""
    if not dtypes.is_certain(target) or not _is_named(target):
        return
    for node, dtype in found.items():
        if category(dtype) < 2:
            yield _Cast(node, _dtype_of(view, target))


def _is_named(node: ast.expr) -> bool:
    """Whether the tensor's text can be repeated, to read its dtype, without computing it again."""
    return is_pure(node) and precedence_of(node) == ATOM


def _dtype_of(view: FileView, node: ast.expr) -> str:
    return f"{view.written(node)}.dtype"
