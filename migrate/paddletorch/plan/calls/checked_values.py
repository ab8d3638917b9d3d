"""Arguments of which only one value converts, such as a layout: that it is this one is checked as the code runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import NamedTuple

from paddletorch.model import Edit
from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.calls.decisions import Decisions
from paddletorch.plan.model.refusals import NeedsWholeCall, Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.constants import constant
from paddletorch.plan.syntax.side_effects import is_pure
from paddletorch.plan.syntax.statements import insert_after, insert_before, own_line
from paddletorch.resolve import Instance


class Check(NamedTuple):
    """A source parameter, its value in the call, and the value that converts in its ``forms``, as the source writes it.

    ``is_known`` says that the value can be no other.
    """

    name: str
    value: ast.expr
    forms: tuple[str, ...]
    is_known: bool = False


def checked_values(binding: CallBinding, decisions: Decisions) -> list[Check]:
    """The variables of the call that must have one value."""
    view = binding.view
    found: list[Check] = []
    for pair, name, target_name in view.settings.pairs(binding.row):
        neutral = pair.neutral
        if name is None or target_name is not None or pair.otherwise != "API221" or pair.ignore:
            continue
        value = binding.value(name)
        if value is None or name in decisions.dropped or neutral is None or not _is_key(neutral):
            continue
        if constant(value) is not ... or not isinstance(value, ast.Name | ast.Attribute) or not is_pure(value):
            continue
        found.append(Check(name, value, _forms(binding, neutral), _is_asked_of_layer(binding, name, value)))
    return found


def _forms(binding: CallBinding, neutral: str) -> tuple[str, ...]:
    """The value, and for a number of a two-dimensional layer also ``(1, 1)``."""
    axes = re.search(r"([123])d$", binding.name)
    if axes is None or isinstance(constant(ast.parse(neutral, mode="eval").body), str | bool):
        return (neutral,)
    numbers = ", ".join([neutral] * int(axes[1]))
    return (neutral, f"({numbers},)" if axes[1] == "1" else f"({numbers})")


def _is_asked_of_layer(binding: CallBinding, name: str, value: ast.expr) -> bool:
    """Whether it is such a value of one of the framework's layers, which was asked where the layer is made."""
    if not isinstance(value, ast.Attribute) or value.attr not in ("_data_format", name):
        return False
    objects, bases = binding.view.evaluator.objects(value.value), binding.view.settings.table.bases
    return bool(objects) and all(isinstance(v, Instance) and "layer" in bases(v.type) for v in objects)


def without_checked(binding: CallBinding, decisions: Decisions, checks: Sequence[Check]) -> Decisions:
    """What is decided once the checked variables leave the call, and a finding says so."""
    details = [{"parameter": c.name, "neutral": c.forms[0], "value": ast.unparse(c.value)} for c in checks]
    findings = [binding.finding("API228", **one) for one, c in zip(details, checks, strict=True) if not c.is_known]
    return decisions.dropping(*(check.name for check in checks)).with_findings(*findings)


def with_checks(binding: CallBinding, decisions: Decisions, checks: Sequence[Check]) -> Decisions:
    """``data_format=layout`` goes to a function around the call, which raises for another layout."""
    for check in checks:
        if check.is_known:
            continue
        before, after = decisions.around
        allowed = ", ".join((f"{{{check.name}}}", *check.forms))
        decisions = decisions.with_around(f"{binding.view.settings.source}_checked({before}", f"{after}, {allowed})")
    return decisions


def is_statement(binding: CallBinding) -> bool:
    """Whether the call is all that a statement on lines of its own does, returns or assigns to names."""
    view, call = binding.view, binding.expression
    statement = view.parent(call)
    if isinstance(statement, ast.Assign) and not all(isinstance(target, ast.Name) for target in statement.targets):
        return False
    whole = isinstance(statement, ast.Expr | ast.Assign | ast.Return) and statement.value is call
    return whole and isinstance(statement, ast.stmt) and own_line(view, statement)


def check_before(binding: CallBinding, checks: Sequence[Check]) -> list[Edit]:
    """A test in lines of their own, before the statement that the call is.

    Raises:
        Refused: the call is part of a larger statement.
    """
    view = binding.view
    statement = view.parent(binding.expression)
    if not isinstance(statement, ast.stmt) or not is_statement(binding):
        names = ", ".join(check.name for check in checks)
        raise Refused(NeedsWholeCall("a parent's constructor", f"a check of {names} and the call"))
    lines: list[str] = []
    for check in checks:
        if check.is_known:
            continue
        value = view.written(check.value)
        forms = [view.quoted(form, binding.expression) for form in check.forms]
        other = f"{value} not in ({', '.join(forms)})" if len(forms) > 1 else f"{value} != {forms[0]}"
        if check.forms[0] in ("False", "True"):
            other = value if check.forms[0] == "False" else f"not {value}"
        lines += [f"if {other}:", f"{' ' * view.source.indent}raise ValueError({value})"]
    return [insert_before(view, statement, "\n".join(lines), binding.row.code)] if lines else []


def kept_after(binding: CallBinding, checks: Sequence[Check]) -> list[Edit]:
    """The checked arguments of a parent's constructor, kept as attributes if the class reads them."""
    view = binding.view
    statement = view.parent(binding.expression)
    assert isinstance(statement, ast.stmt)
    kept = [f"self.{c.name} = {ast.unparse(c.value)}" for c in checks if _is_read_of_self(view, statement, c.name)]
    return [insert_after(view, statement, "\n".join(kept), binding.row.code)] if kept else []


def _is_read_of_self(view: FileView, statement: ast.stmt, name: str) -> bool:
    """Whether the class that calls its parent reads the argument back as an attribute, which only the source sets."""
    owner: ast.AST | None = statement
    while owner is not None and not isinstance(owner, ast.ClassDef):
        owner = view.parent(owner)
    reads = (node for node in ast.walk(owner) if isinstance(node, ast.Attribute)) if owner is not None else ()
    return any(
        node.attr == name and isinstance(node.ctx, ast.Load) and ast.unparse(node.value) == "self" for node in reads
    )


def _is_key(neutral: str) -> bool:
    """Whether the value is a string, a flag or a whole number, which tell one setting from another."""
    return isinstance(constant(ast.parse(neutral, mode="eval").body), str | int)
