"""Arguments of which only one value converts, such as a layout: that it is this one is checked as the code runs."""

from __future__ import annotations

import ast

from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.syntax.constants import constant
from paddletorch.plan.syntax.side_effects import is_pure


def check_values(binding: CallBinding) -> None:
    """``data_format=layout`` becomes ``{"NCHW": None}[layout]`` beside the call, which raises for another layout."""
    view = binding.view
    for pair in binding.row.parameters:
        name = pair.name(view.settings.source)
        if name is None or pair.name(view.target) is not None or pair.otherwise != "API221" or pair.ignore:
            continue
        value = binding.value(name)
        if value is None or name in binding.dropped or not _is_string(pair.neutral):
            continue
        if constant(value) is not ... or not isinstance(value, ast.Name | ast.Attribute) or not is_pure(value):
            continue
        before, after = binding.around
        binding.drop(name)
        binding.surround(f"({before}", f"{after}, {{{{{pair.neutral}: None}}}}[{{{name}}}])[0]")
        binding.report("API228", parameter=name, neutral=str(pair.neutral), value=ast.unparse(value))


def _is_string(neutral: str | None) -> bool:
    return neutral is not None and isinstance(constant(ast.parse(neutral, mode="eval").body), str)
