"""Edits in and around the values of a call's arguments: what a table translates, and what a hook puts around them."""

from __future__ import annotations

import ast

from paddletorch_rules import ValueMap
from paddletorch_rules.facts import facts

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.calls.decisions import Decisions
from paddletorch.plan.calls.translate import translate_edits
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.model.refusals import ArgumentsNotReadable, Refusal, Refused, StatedByTable
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.placeholders import with_brackets
from paddletorch.plan.syntax.precedence import ATOM, precedence_of
from paddletorch.resolve import Instance
from paddletorch.text.call_spans import LayoutError, read_layout


class ValueEdits:
    """The edits of the values of one call."""

    def __init__(self, binding: CallBinding, decisions: Decisions) -> None:
        self._binding = binding
        self._decisions = decisions
        self._view = binding.view

    def edits(self, name: str, value: ast.expr, values: ValueMap | None) -> list[Edit]:
        """Edits in a value that stays where it is.

        Raises:
            Refused: the value has no counterpart.
        """
        try:
            found = list(translate_edits(self._view, value, values, self._binding.row.code))
        except Refused as stop:
            raise Refused(_about(stop.refusal, name)) from None
        around = self._plain_numbers(name, value) or self._decisions.wraps.get(name)
        if around is not None:
            span = self._with_own_brackets(value) if around[0].startswith("*") else self._view.source.span(value)
            before, after = with_brackets(*self.quoted(around), value)
            found += [Edit(Span(span.start, span.start), before), Edit(Span(span.end, span.end), after)]
        return found

    def quoted(self, around: tuple[str, str]) -> tuple[str, str]:
        """Text for before and after a value, with quotes that a string around the call leaves free."""
        before, after = around
        return self._view.quoted(before, self._binding.node), self._view.quoted(after, self._binding.node)

    def _with_own_brackets(self, value: ast.expr) -> Span:
        """The span of an argument with the brackets around it, in which no star may stand."""
        call = self._binding.node
        if value not in (*call.args, *(keyword.value for keyword in call.keywords)):
            return self._view.source.span(value)
        try:
            return read_layout(self._view.source, call).argument(value).value
        except LayoutError as error:
            raise Refused(ArgumentsNotReadable(str(error))) from None

    def _plain_numbers(self, name: str, node: ast.expr) -> tuple[str, str] | None:
        """What goes around sizes and axes that Paddle reads from a tensor or an array: torch wants the numbers."""
        one, sizes = name == "axis", facts().sizes["paddle"]
        if self._binding.target != "torch" or name in self._decisions.wraps or not (one or name in {"perm", *sizes}):
            return None
        if any(part is getattr(node, "value", None) for part, _ in self._decisions.replaced):
            return None  # a hook reads the numbers elsewhere
        is_array = _is_array(self._view, node)
        if not is_array and kinds(self._view, node) != {"Tensor"}:
            return None
        if not is_array and _is_taken_for_tensor(self._view, node):
            return None if one else ("list(", ")")
        if one and not is_array:
            return "int(", ")"
        return ("", ".tolist()") if precedence_of(node) == ATOM else ("(", ").tolist()")


def _about(refusal: Refusal, parameter: str) -> Refusal:
    """A refusal of a value, with the parameter that it is for."""
    if not isinstance(refusal, StatedByTable):
        return refusal
    return StatedByTable(refusal.code, (*refusal.details, ("parameter", parameter)), refusal.questions)


def _is_taken_for_tensor(view: FileView, node: ast.expr) -> bool:
    """Whether it is an input of ``forward``, or a part of one, that may be a list of numbers too."""
    while isinstance(node, ast.Subscript | ast.Starred):
        node = node.value
    values = view.evaluator.values(node) if isinstance(node, ast.Name) else ()
    return any(isinstance(v, Instance) and v.api == "forward" for v in values)


def _is_array(view: FileView, node: ast.expr) -> bool:
    values = view.evaluator.values(node)
    makers = {f"numpy.{name}" for name in facts().numpy_arrays}
    return bool(values) and all(isinstance(v, Instance) and v.api in makers for v in values)
