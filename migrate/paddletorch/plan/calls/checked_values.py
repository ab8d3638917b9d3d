"""Arguments of which only one value converts, such as a layout: that it is this one is checked as the code runs."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from paddletorch.model import Edit
from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.calls.decisions import Decisions
from paddletorch.plan.model.refusals import NeedsWholeCall, Refused
from paddletorch.plan.syntax.constants import constant
from paddletorch.plan.syntax.side_effects import is_pure
from paddletorch.plan.syntax.statements import insert_before, own_line
from paddletorch.resolve import Instance


@dataclass(frozen=True, slots=True)
class Check:
    """A source parameter, its value in the call, and the one value that converts, as the source writes it.

    ``is_known`` says that the value can be no other.
    """

    name: str
    value: ast.expr
    neutral: str
    is_known: bool = False


def checked_values(binding: CallBinding, decisions: Decisions) -> list[Check]:
    """The variables of the call that must have one value."""
    view = binding.view
    found: list[Check] = []
    for pair in binding.row.parameters:
        name, neutral = pair.name(view.settings.source), pair.neutral
        if name is None or pair.name(view.target) is not None or pair.otherwise != "API221" or pair.ignore:
            continue
        value = binding.value(name)
        if value is None or name in decisions.dropped or neutral is None or not _is_key(neutral):
            continue
        if constant(value) is not ... or not isinstance(value, ast.Name | ast.Attribute) or not is_pure(value):
            continue
        found.append(Check(name, value, neutral, _is_layout_of_layer(binding, value)))
    return found


def _is_layout_of_layer(binding: CallBinding, value: ast.expr) -> bool:
    """Whether it is the layout of one of the framework's layers, which was asked where the layer is made."""
    if not isinstance(value, ast.Attribute) or value.attr != "_data_format":
        return False
    objects, bases = binding.view.evaluator.objects(value.value), binding.view.settings.table.bases
    return bool(objects) and all(isinstance(v, Instance) and "layer" in bases(v.type) for v in objects)


def without_checked(binding: CallBinding, decisions: Decisions, checks: Sequence[Check]) -> Decisions:
    """What is decided once the checked variables leave the call, and a finding says so."""
    details = [{"parameter": c.name, "neutral": c.neutral, "value": ast.unparse(c.value)} for c in checks]
    findings = [binding.finding("API228", **one) for one, c in zip(details, checks, strict=True) if not c.is_known]
    return decisions.dropping(*(check.name for check in checks)).with_findings(*findings)


def with_checks(decisions: Decisions, checks: Sequence[Check]) -> Decisions:
    """``data_format=layout`` becomes ``{"NCHW": None}[layout]`` beside the call, which raises for another layout."""
    for check in checks:
        if check.is_known:
            continue
        before, after = decisions.around
        check_of = f"{{{{{check.neutral}: None}}}}[{{{check.name}}}]"
        decisions = decisions.with_around(f"({before}", f"{after}, {check_of})[0]")
    return decisions


def check_before(binding: CallBinding, checks: Sequence[Check]) -> list[Edit]:
    """A test in lines of their own, before the statement of a parent's constructor, which nothing can stand around.

    Raises:
        Refused: the call is part of a larger statement.
    """
    view = binding.view
    statement = view.parent(binding.expression)
    if not isinstance(statement, ast.Expr) or not own_line(view, statement):
        names = ", ".join(check.name for check in checks)
        raise Refused(NeedsWholeCall("a parent's constructor", f"a check of {names} and the call"))
    lines: list[str] = []
    for check in checks:
        value = view.source.slice(view.source.span(check.value))
        neutral = view.quoted(check.neutral, binding.expression)
        lines += [f"if {value} != {neutral}:", f"{' ' * view.source.indent}raise ValueError({value})"]
    return [insert_before(view, statement, "\n".join(lines), binding.row.code)]


def _is_key(neutral: str) -> bool:
    """Whether the value is a string or a flag, which tell one setting from another."""
    return isinstance(constant(ast.parse(neutral, mode="eval").body), str | bool)
