"""``out=c``, the tensor that takes the result: Paddle 2.6 has no such parameter, so the result is assigned."""

from __future__ import annotations

import ast

from paddletorch_rules import Form

from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.calls.decisions import Decisions
from paddletorch.plan.syntax.side_effects import is_pure


def takes_out(binding: CallBinding, form: Form) -> bool:
    """Whether the call's ``out`` names one tensor, which can be assigned."""
    value, several = binding.value("out"), bool(form.results) or binding.row.instance in _SEVERAL
    if binding.target != "paddle" or binding.literal("out") is None or several:
        return False
    into = isinstance(value, ast.Subscript) and binding.is_statement and is_pure(value)
    return into or isinstance(value, ast.Name | ast.Attribute)


def with_out(binding: CallBinding, decisions: Decisions) -> Decisions:
    """Assign the result to the tensor, which keeps its type; the value is that tensor, as in torch."""
    decisions = decisions.dropping("out")
    before, after = decisions.around
    if isinstance(binding.value("out"), ast.Subscript):  # what it gives would be a tensor of its own
        return decisions.with_around(f"{{out}} = paddle.cast({before}", f"{after}, {{out}}.dtype)")
    return decisions.with_around(f"paddle.assign(paddle.cast({before}", f"{after}, {{out}}.dtype), {{out}})")


_SEVERAL = frozenset({"results", "tensors"})
"""The types of what gives several tensors, whose ``out`` is a tuple of them."""
