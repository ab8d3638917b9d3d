"""In-place operators, ``p -= step``, on the way to Paddle: torch changes the tensor, Paddle makes a new one.

Measured on 2.6.2 and 3.3.1: after ``a = x; a += 1`` the tensor ``x`` is unchanged. So a loop with ``p -= step`` for
each parameter would train nothing. Where something else holds the tensor, the result is written into it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from paddletorch.model import Edit
from paddletorch.plan.calls.fill_template import fill
from paddletorch.plan.inference.aliasing import Aliasing, Holder
from paddletorch.plan.inference.bound_elements import is_looped
from paddletorch.plan.inference.in_place_calls import writes_in_place
from paddletorch.plan.inference.no_grad import is_without_grad
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import finding, refused
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.plan.syntax.operators import BITWISE, ELEMENTWISE
from paddletorch.resolve import Binding, Instance, NoneValue, Value
from paddletorch.resolve.facts.tensors import Certainty
from paddletorch.resolve.values import Container

_CODE = "TEN106"
_REPORTED = "TEN214"

_METHODS: Mapping[type[ast.operator], str] = {
    ast.Add: "add_",
    ast.Sub: "subtract_",
    ast.Mult: "multiply_",
    ast.Div: "divide_",
    ast.FloorDiv: "floor_divide_",
    ast.Mod: "remainder_",
}
"""Paddle's methods in place, which take tensors only."""

_KEEPS_OPERANDS = (ast.Mult, ast.Div, ast.Mod, ast.Pow)
"""Operators whose gradients need the operands: of a tensor that is written to afterwards, Paddle refuses them."""


def plan_inplace_operators(view: FileView, planned: Planned) -> Changes:
    """Write into tensors that something else holds; report those that may be tensors."""
    aliases = planned.naming.aliases
    taken = {edit.span for edit in planned.edits}
    statements = view.tree.of_kind(ast.AugAssign)
    plans = [_plan_statement(view, aliases, n) for n in statements if view.source.span(n) not in taken]
    return joined([*plans, *(_plan_write(view, n) for n in _written(view))])


def _written(view: FileView) -> Iterator[ast.Name | ast.Subscript]:
    """What a method in place or an assignment to a part writes into: ``a.fill_(7)``, ``p[1].fill_(7)``."""
    for call in view.tree.calls_of(*filter(writes_in_place, view.tree.calls_by_name)):
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name | ast.Subscript):
            yield call.func.value
    for part in view.tree.of_kind(ast.Subscript):
        if isinstance(part.ctx, ast.Store) and isinstance(part.value, ast.Name):
            yield part.value


def _plan_write(view: FileView, name: ast.Name | ast.Subscript) -> Changes:
    """Report a tensor that is a view in torch and a copy in Paddle."""
    statement = view.statement(name)
    if statement is None or not view.source_tensor(name).is_seen:
        return NOTHING
    holder = view.provide(Aliasing).holder(name, statement)
    return _reported(view, name, holder) if holder is not None and holder.memory == "copied" else NOTHING


def _plan_statement(view: FileView, aliases: Mapping[str, str], statement: ast.AugAssign) -> Changes:
    """Plan one ``p -= step``. For ``p @= q`` torch creates a new tensor too."""
    target, operator = statement.target, ELEMENTWISE.get(type(statement.op))
    if operator is None or not view.is_sources(target):
        return NOTHING
    if isinstance(target, ast.Subscript) and not _is_in_container(view, target):
        return NOTHING
    certain = _is_tensor(view, target, statement)
    if not certain and not _may_be_tensor(view, target, statement.value):
        return NOTHING
    holder = view.provide(Aliasing).holder(target, statement)
    trained = certain and isinstance(target, ast.Name) and _is_trained(view, target, statement)
    if holder is None:
        return _write_into(view, aliases, statement, operator) if trained else NOTHING
    if certain and _reaches(view, holder, statement):
        return _write_into(view, aliases, statement, operator)
    if not certain and _counts(statement, passed=holder.kind == "parameter"):
        return NOTHING
    return _reported(view, target, holder)


def _counts(statement: ast.AugAssign, *, passed: bool) -> bool:
    """Whether this is what is done to counters and strides: an integer is added, multiplied or divided by.

    ``passed``: what the caller passes may well be a tensor, but hardly one that is divided by an integer for whole.
    """
    integer = isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, int)
    operators = (ast.FloorDiv,) if passed else (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)
    return integer and isinstance(statement.op, operators)


def _reaches(view: FileView, holder: Holder, statement: ast.stmt) -> bool:
    """Whether Paddle's holder sees what is written in place, and its gradients flow through that.

    Measured on 3.3.1: after an operator in place on a view, gradients of the other tensor and of the operand are wrong.
    """
    return holder.memory == "same" or (holder.memory == "view" and is_without_grad(view, statement))


def _reported(view: FileView, target: ast.expr, holder: Holder) -> Changes:
    base = "what the caller passes" if holder.kind == "parameter" else holder.text
    return Changes(findings=(finding(_REPORTED, target, "torch.Tensor", name=view.text(target), base=base),))


def _write_into(view: FileView, aliases: Mapping[str, str], statement: ast.AugAssign, sign: str) -> Changes:
    """The statement as a call that writes the result into the tensor."""
    target = statement.target
    if view.is_deselected(_CODE, statement):
        return NOTHING
    arguments: dict[str, ast.expr | tuple[ast.expr, ast.expr] | str] = {"self": target, "value": statement.value}
    template = _template(view, statement, sign)
    try:
        parts = fill(view, template, arguments, target)
        edit = Edit(view.source.span(statement), "", _CODE, tuple(parts))
        changes = spelled(view, aliases, target, (edit,), "torch.Tensor")
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, target, "torch.Tensor"),))
    written = template.partition("(")[0].replace("{self}", view.text(target))
    return changes._replace(conversions=(view.conversion(_CODE, statement, "in-place operator", written),))


def _template(view: FileView, statement: ast.AugAssign, sign: str) -> str:
    recorded = not is_without_grad(view, statement)
    method = _METHODS.get(type(statement.op))
    if recorded and method is not None and view.source_tensor(statement.value).is_certain:
        return f"{{self}}.{method}({{value}})"
    values = view.evaluator.values(statement.value)
    number = bool(values) and all(isinstance(v, Instance) and v.type == "foreign" for v in values)
    scaled = number and isinstance(statement.op, ast.Mult | ast.Div)
    if number and isinstance(statement.op, tuple(BITWISE)):
        return f"paddle.assign({{value}} {sign} {{self}}, {{self}})"  # Paddle takes the number only on the left
    kept = recorded and isinstance(statement.op, _KEEPS_OPERANDS) and not scaled
    read = "{self}.clone()" if kept else "{self}"
    return f"paddle.assign({read} {sign} {{value}}, {{self}})"


def _is_in_container(view: FileView, target: ast.Subscript) -> bool:
    """Whether the target is an element of a list or dict; of a part of a tensor both frameworks write the same."""
    base = [v for v in view.evaluator.values(target.value) if not isinstance(v, NoneValue)]
    return bool(base) and all(isinstance(v, Container) for v in base)


def _is_tensor(view: FileView, target: ast.expr, statement: ast.AugAssign) -> bool:
    """Whether all known values of the target are tensors, or its gradient is read in the statement."""
    if isinstance(target, ast.Name):
        reads = (n for n in ast.walk(statement.value) if isinstance(n, ast.Attribute) and n.attr == "grad")
        if any(isinstance(n.value, ast.Name) and n.value.id == target.id for n in reads):
            return True
    found = view.source_tensor(target)
    if found.is_seen or found.has_others or found.has_containers:
        return found.is_likely
    held = target.value if isinstance(target, ast.Subscript) else None
    stored = view.provide(Aliasing).stored_elements(held) if isinstance(held, ast.Name) else ()
    return bool(stored) and all(view.source_tensor(one).is_certain for one in stored)  # of what was made empty


def _may_be_tensor(view: FileView, target: ast.expr, value: ast.expr) -> bool:
    """Whether the target, of which not all values are known, can be a tensor."""
    found = view.source_tensor(target)
    if found.is_seen:
        return True
    known = found.has_others or found.has_containers
    if known or isinstance(target, ast.Subscript):
        return False
    if view.source_tensor(value).is_seen:
        return True
    return found.certainty is Certainty.MAYBE and not any(_is_other(v) for v in view.evaluator.values(value))


def _is_other(value: Value) -> bool:
    """Whether this is a list, a string or an array, not a number, which a tensor takes as an operand too."""
    if isinstance(value, Container):
        return True
    return isinstance(value, Instance) and value.type == "foreign" and value.api not in ("int", "float", "bool")


def _is_trained(view: FileView, target: ast.Name, statement: ast.AugAssign) -> bool:
    """Whether the tensor itself must change: a loop's element, or under ``no_grad`` a parameter or leaf tensor."""
    bound = view.provide(_Variables).of(view.tree.scopes[target].lookup(target.id))
    return bound.in_loop or (bound.to_trained and is_without_grad(view, statement))


class _Bound(NamedTuple):
    """To what the bindings of a variable may bind it."""

    in_loop: bool
    """To the elements of what a loop iterates over."""
    to_trained: bool
    """To a leaf tensor with gradients, or to what the caller passes."""


class _Variables:
    """What the bindings of each variable of one file show, found once."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._found: dict[int, _Bound] = {}
        """By the identity of the list of bindings."""

    def of(self, bindings: Sequence[Binding]) -> _Bound:
        """To what all the bindings of a variable may bind it."""
        found = self._found.get(id(bindings))
        if found is None:
            values = [b for b in bindings if b.kind != "augment"]
            trained = any(b.kind == "parameter" or self._needs_grad(b) for b in values)
            found = self._found[id(bindings)] = _Bound(any(is_looped(self._view, b) for b in values), trained)
        return found

    def _needs_grad(self, binding: Binding) -> bool:
        """Whether this binds a leaf tensor with gradients: ``zeros(2, requires_grad=True)``, ``w.requires_grad_()``."""
        if binding.value is None:
            return False
        for node in ast.walk(binding.value):
            if isinstance(node, ast.keyword) and node.arg == "requires_grad":
                return True
            if isinstance(node, ast.Attribute) and node.attr in ("requires_grad_", "Parameter"):
                return True
        return binding.name in self._set_to_need_grad

    @cached_property
    def _set_to_need_grad(self) -> frozenset[str]:
        tree = self._view.tree
        members = (*tree.members.get("requires_grad", ()), *tree.members.get("requires_grad_", ()))
        names = (m.value for m in members if isinstance(m.value, ast.Name))
        return frozenset(n.id for n in names if tree.scopes[n].lookup(n.id))
