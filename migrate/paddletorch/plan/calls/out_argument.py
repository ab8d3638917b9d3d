"""``out=c``, the tensor that takes the result, or several: Paddle 2.6 has no such parameter, so it is assigned."""

from __future__ import annotations

import ast

from paddletorch_rules import Form

from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.calls.decisions import Decisions
from paddletorch.plan.inference.named_tuples import fields_of
from paddletorch.plan.syntax.side_effects import is_pure


def takes_out(binding: CallBinding, form: Form) -> bool:
    """Whether the call's ``out`` names one tensor, which can be assigned."""
    value, several = binding.value("out"), bool(form.results) or binding.row.instance in _SEVERAL
    if binding.target != "paddle" or binding.literal("out") is None or several:
        return False
    into = isinstance(value, ast.Subscript) and binding.is_statement and is_pure(value)
    return into or isinstance(value, ast.Name | ast.Attribute)


def takes_several(binding: CallBinding, form: Form) -> bool:
    """Whether the call's ``out`` names a tensor for each of several results, and nothing else is done with those."""
    if not form.results and binding.row.instance not in _SEVERAL:
        return False
    value = binding.value("out")
    if binding.target != "paddle" or not isinstance(value, ast.Tuple | ast.List):
        return False
    return binding.is_statement and all(isinstance(one, ast.Name | ast.Attribute) for one in value.elts)


def with_several(form: Form, decisions: Decisions) -> tuple[Decisions, str | None]:
    """Assign each result to its tensor by a written function; and the template of all, if the form has fields."""
    fields = [form.results[name] for name in fields_of(form)] if form.results else []
    before, after = decisions.dropping("out").around
    opened, closed = ("(", ")") if fields else ("", "")
    around = decisions.dropping("out").with_around(f"torch_out({before}{opened}", f"{closed}{after}, {{out}})")
    return around, ", ".join(fields) or None


def with_out(binding: CallBinding, decisions: Decisions) -> Decisions:
    """Assign the result to the tensor, which keeps its type; the value is that tensor, as in torch."""
    decisions = decisions.dropping("out")
    before, after = decisions.around
    if isinstance(binding.value("out"), ast.Subscript):  # what it gives would be a tensor of its own
        return decisions.with_around(f"{{out}} = paddle.cast({before}", f"{after}, {{out}}.dtype)")
    return decisions.with_around(f"paddle.assign(paddle.cast({before}", f"{after}, {{out}}.dtype), {{out}})")


_SEVERAL = frozenset({"results", "tensors"})
"""The types of what gives several tensors, whose ``out`` is a tuple of them."""
