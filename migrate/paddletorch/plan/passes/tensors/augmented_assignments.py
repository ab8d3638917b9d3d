"""Augmented assignments, ``x += y``, on the way to torch: Paddle makes a new tensor, torch writes into the old one.

Written as ``x = x + y``, torch leaves every other name for the tensor as it is, as Paddle does, and takes leaves of the
graph, results that the backward pass needs, views, and operands that enlarge or promote the result.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import refused
from paddletorch.plan.model.refusals import EvaluatedTwice
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.operators import IN_PLACE
from paddletorch.plan.syntax.precedence import precedence_of, required_precedence
from paddletorch.plan.syntax.side_effects import is_pure
from paddletorch.resolve import Binding, Instance
from paddletorch.resolve.facts.tensors import Certainty
from paddletorch.resolve.values import Container, Value

_CODE = "TEN106"
_NUMBERS = frozenset({"int", "float", "bool"})
_STORAGE = "data"
"""The attribute that writes into the tensor in both frameworks: ``p.data += step``."""


def plan_augmented_assignments(view: FileView, planned: Planned) -> Changes:
    """Write ``x = x + y`` for ``x += y`` wherever x can be a tensor."""
    taken = {edit.span for edit in planned.edits}
    statements = [n for n in view.tree.of_kind(ast.AugAssign) if type(n.op) in IN_PLACE]
    return joined(_plan_statement(view, n) for n in statements if view.source.span(n) not in taken)


def _plan_statement(view: FileView, statement: ast.AugAssign) -> Changes:
    target = statement.target
    if view.is_deselected(_CODE, statement) or not view.is_sources(target):
        return NOTHING
    if not _may_be_tensor(view, target, statement.value):
        return NOTHING
    if isinstance(statement.value, ast.Starred):  # ``x += *y`` parses, and no compiler takes it
        return NOTHING
    if not is_pure(target):  # evaluated once as it stands, twice if it is written twice
        return Changes(findings=(refused(EvaluatedTwice((view.text(target),)), target, "paddle.Tensor"),))
    edit = _rebound(view, statement)
    written = f"{view.text(target)} = {view.text(target)} {IN_PLACE[type(statement.op)]} ..."
    return Changes((edit,), (view.conversion(_CODE, statement, "in-place operator", written),))


def _rebound(view: FileView, statement: ast.AugAssign) -> Edit:
    """``x += y`` as ``x = x + y``, with brackets around ``y`` where it binds less tightly than the operator."""
    source, operator = view.source, IN_PLACE[type(statement.op)]
    whole, target, value = (source.span(n) for n in (statement, statement.target, statement.value))
    sign = f"{operator}=".encode()
    after = source.body.index(sign, target.end) + len(sign)  # only blanks and brackets can stand before the sign
    bare = b"(" not in source.body[after : value.start]
    needed = required_precedence(statement, statement.value)
    gap = Span(after, value.start)
    rest: tuple[str | Span, ...] = (Span(after, whole.end),)
    if bare and precedence_of(statement.value) < needed:
        rest = (gap, "(", Span(value.start, whole.end), ")")
    return Edit(whole, "", _CODE, (target, " = ", target, f" {operator}", *rest))


def _may_be_tensor(view: FileView, target: ast.expr, value: ast.expr) -> bool:
    """Whether the target can hold a tensor; for what is not known, whether nothing shows something else."""
    if isinstance(target, ast.Attribute) and target.attr == _STORAGE:
        return False
    if isinstance(target, ast.Subscript):
        return _is_element_of_container(view, target) or _may_be_element(view, target, value)
    found = view.source_tensor(target)
    if found.is_seen:
        if found.has_containers:
            return view.source_tensor(value).is_certain
        return not _is_sequence(view, value)
    if found.has_others or found.has_containers:
        return False  # numbers, strings, lists, arrays, objects of classes in sight
    return found.certainty is Certainty.MAYBE and not _shows_other(view, target, value)


def _is_element_of_container(view: FileView, target: ast.Subscript) -> bool:
    """Whether a list or dict holds the tensor; one that is part of a tensor is written to in both frameworks."""
    base = view.evaluator.values(target.value)
    if not any(isinstance(v, Container) for v in base):
        return False
    return not isinstance(target.slice, ast.Slice) and view.source_tensor(target).is_seen


def _may_be_element(view: FileView, target: ast.Subscript, value: ast.expr) -> bool:
    """Whether a list or dict may hold the tensor: nothing shows what has the element, and a tensor is added to it."""
    if isinstance(target.slice, ast.Slice | ast.Tuple):
        return False
    if not view.source_tensor(value).is_seen:
        return False
    if isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
        return True  # no tensor has keys
    held = view.source_tensor(target.value)
    return not held.is_seen and not held.has_others and not view.source_tensor(target).has_others


def _is_sequence(view: FileView, value: ast.expr) -> bool:
    """Whether the operand extends a list: ``x += [y]``."""
    found = view.evaluator.values(value)
    return bool(found) and all(isinstance(v, Container) for v in found)


def _shows_other(view: FileView, target: ast.expr, value: ast.expr) -> bool:
    """Whether the operand, or another use of the name, shows a list, a string or an array."""
    found = view.evaluator.values(value)
    if any(isinstance(v, Container) or _is_foreign(v) for v in found):
        return True
    if not isinstance(target, ast.Name):
        return False
    return view.provide(_OtherVariables).has(view.tree.scopes[target].lookup(target.id))


class _OtherVariables:
    """Whether the variables of one file hold no tensors, as far as their uses show, found once for each."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._found: dict[int, bool] = {}
        """By the identity of the list of bindings."""

    def has(self, bindings: Sequence[Binding]) -> bool:
        """Whether something shows that the variable with these bindings holds no tensor."""
        if id(bindings) not in self._found:
            self._found[id(bindings)] = self._shown(bindings)
        return self._found[id(bindings)]

    def _shown(self, bindings: Sequence[Binding]) -> bool:
        if all(b.kind == "augment" for b in bindings):  # part of a program, such as a counter in an example
            return True
        return any(_is_passed_to_other_library(self._view, n) for n in self._view.tree.reads(bindings))


def _is_passed_to_other_library(view: FileView, node: ast.expr) -> bool:
    call = view.parent(node)
    if not isinstance(call, ast.Call) or node not in call.args:
        return False
    made = view.evaluator.values(call)
    return bool(made) and all(_is_foreign(v) for v in made) and view.qualified(call.func) is not None


def _is_foreign(value: Value) -> bool:
    """Whether this is an array or a string, not a number, which a tensor takes as an operand too."""
    return isinstance(value, Instance) and value.type == "foreign" and value.api not in _NUMBERS
