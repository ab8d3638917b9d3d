"""``out=c``, the tensor that takes the result: Paddle 2.6 has no such parameter, so the result is assigned."""

from __future__ import annotations

import ast

from paddletorch_rules import Form

from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.syntax.side_effects import is_pure


def take_out(binding: CallBinding, form: Form) -> bool:
    """Take ``out`` from the call, if it names one tensor; ``write_out`` puts it around what the call becomes."""
    value = binding.value("out")
    if binding.target != "paddle" or binding.literal("out") is None or form.results:
        return False
    into = isinstance(value, ast.Subscript) and binding.is_statement and is_pure(value)
    if not into and not isinstance(value, ast.Name | ast.Attribute):
        return False
    binding.drop("out")
    return True


def write_out(binding: CallBinding) -> None:
    """Assign the result to the tensor, which keeps its type; the value is that tensor, as in torch."""
    before, after = binding.around
    if isinstance(binding.value("out"), ast.Subscript):  # what it gives would be a tensor of its own
        binding.surround(f"{{out}} = paddle.cast({before}", f"{after}, {{out}}.dtype)")
        return
    binding.surround(f"paddle.assign(paddle.cast({before}", f"{after}, {{out}}.dtype), {{out}})")
