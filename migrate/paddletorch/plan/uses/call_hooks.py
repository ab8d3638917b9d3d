"""Hooks for calls that do not become a plain call of another function: ``decorate``, the sharded scaler..."""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from paddletorch_rules import Form, Row

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.bind import bind
from paddletorch.plan.calls.convert_call import Callee, convert_bound_call
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.refusals import Refused, UnclearDecorate
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.constants import constant
from paddletorch.plan.syntax.precedence import brackets_for
from paddletorch.plan.syntax.statements import remove_statement
from paddletorch.text.call_spans import read_layout


class Replaced(NamedTuple):
    """The result of a call hook: a new name with edits of the arguments, or one edit of the whole call."""

    name: str
    """The target's name; empty if the call is removed."""
    edits: tuple[Edit, ...]
    whole: Edit | None = None
    findings: tuple[Finding, ...] = ()


CallHook = Callable[[FileView, ast.Call, Row, Form, str], "Replaced | None"]
"""A hook that converts one call; it returns None to use the generic conversion.

Raises:
    Refused: the call must be left.
"""


def decorate(view: FileView, call: ast.Call, row: Row, form: Form, name: str) -> Replaced | None:
    """Remove ``model, optimizer = decorate(models=model, optimizers=optimizer)``.

    Measured: level O1 returns its arguments as they are. Level O2 casts the model, which torch's scaler
    refuses, so the model is left uncast and a finding says so.
    """
    binding = bind(view, call, row, form, name)
    models, optimizers = binding.value("models"), binding.value("optimizers")
    if models is None:
        raise Refused(UnclearDecorate("is called without models"))
    findings: list[Finding] = []
    level = binding.literal("level")
    if level != "O1" and binding.value("level") is not None:
        shown = view.text(binding.given["level"].value)
        findings.append(finding("AMP229", call, name, row, what=f"(level={shown}) was removed"))
    parts = [models] if optimizers is None or constant(optimizers) is None else [models, optimizers]
    statement = view.parent(call)
    if isinstance(statement, ast.Expr) or (isinstance(statement, ast.Assign) and _reassigns(statement, parts)):
        return Replaced("", (), remove_statement(view, statement), tuple(findings))
    return Replaced("", _delete_around(view, call, parts, row.code), findings=tuple(findings))


def _reassigns(statement: ast.Assign, parts: list[ast.expr]) -> bool:
    """Whether the statement assigns the call's results to the same variables that were its arguments."""
    if len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    targets = target.elts if isinstance(target, ast.Tuple) and len(parts) == 2 else [target]
    return [ast.unparse(t) for t in targets] == [ast.unparse(p) for p in parts]


def _delete_around(view: FileView, call: ast.Call, parts: list[ast.expr], code: str) -> tuple[Edit, ...]:
    """Delete the call around its arguments; other edits inside the arguments remain possible.

    Raises:
        Refused: the arguments have another order than the results.
    """
    spans = [view.source.span(p) for p in parts]
    if spans != sorted(spans):
        raise Refused(UnclearDecorate("gets its optimizer before its model"))
    layout = read_layout(view.source, call)
    spans = [layout.argument(p).value for p in parts]  # with the brackets around each
    whole, place = view.source.span(call), view.parent(call) if len(parts) == 1 else None
    brackets = [
        ("", "") if s != view.source.span(p) else brackets_for(p, view.source.slice(s), place, call)
        for p, s in zip(parts, spans, strict=True)
    ]
    opening, closing = ("(", ")") if len(parts) > 1 else ("", "")
    start = Edit(Span(whole.start, spans[0].start), opening + brackets[0][0], code)
    end = Edit(Span(spans[-1].end, whole.end), brackets[-1][1] + closing, code)
    between = zip(pairwise(spans), pairwise(brackets), strict=True)
    commas = (Edit(Span(a.end, b.start), f"{left[1]}, {right[0]}", code) for (a, b), (left, right) in between)
    return (start, *commas, end)


def drop_statement(view: FileView, call: ast.Call, row: Row, form: Form, name: str) -> Replaced | None:
    """Remove a statement that only empties a cache; the row's warning reports it."""
    statement = view.parent(call)
    if not isinstance(statement, ast.Expr):
        return None
    warned = (finding(row.warn[view.target], call, name, row),) if view.target in row.warn else ()
    return Replaced("", (), remove_statement(view, statement), warned)


def assert_statement(view: FileView, call: ast.Call, row: Row, form: Form, name: str) -> Replaced | None:
    """``torch._assert(condition, message)``, which is written for torch's tracer, becomes a plain ``assert``."""
    statement = view.parent(call)
    if not isinstance(statement, ast.Expr) or len(call.args) != 2 or call.keywords:
        return None
    whole, layout = view.source.span(statement), read_layout(view.source, call)
    condition, message = (argument.value for argument in layout.arguments)
    edges = Span(whole.start, condition.start), Span(condition.end, message.start), Span(message.end, whole.end)
    if any(isinstance(a, ast.Starred) for a in call.args) or any("#" in view.source.slice(e) for e in edges):
        return None
    (left, right), (left_of_message, right_of_message) = map(_brackets_over_lines, call.args)
    texts = f"assert {left}", f"{right}, {left_of_message}", right_of_message
    return Replaced("assert", tuple(Edit(e, text, row.code) for e, text in zip(edges, texts, strict=True)))


def _brackets_over_lines(node: ast.expr) -> tuple[str, str]:
    return ("(", ")") if node.end_lineno != node.lineno else ("", "")


def sharded_scaler(view: FileView, call: ast.Call, row: Row, form: Form, name: str) -> Replaced | None:
    """``ShardedGradScaler(...)`` becomes ``fleet.distributed_scaler(GradScaler(...))``, and back."""
    scaler = view.settings.table.row("GradScaler")
    target = view.settings.emitted(scaler)
    if target is None:
        return None
    code, warned = row.code, finding("AMP234", call, name, row)
    if view.target == "paddle":
        converted = convert_bound_call(bind(view, call, scaler, form, name), target, Callee.NAMED)
        span, function = view.source.span(call), read_layout(view.source, call).function
        wrapper = row.paddle[0].names[0]
        after = Edit(Span(span.end, span.end), ")", code)
        before = Edit(function, f"{wrapper}({target.names[0]}", code)
        return Replaced(wrapper, (*converted.edits, after, before), findings=(*converted.findings, warned))
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
        return None
    parent = view.parent(call)
    if isinstance(parent, ast.Assign) and [ast.unparse(t) for t in parent.targets] == [ast.unparse(call.args[0])]:
        return Replaced("", (), remove_statement(view, parent), (warned,))
    return Replaced("", _delete_around(view, call, call.args, code), findings=(warned,))


CALL_HOOKS: dict[str, CallHook] = {
    "decorate": decorate,
    "assert_statement": assert_statement,
    "drop_statement": drop_statement,
    "sharded_scaler": sharded_scaler,
}
"""The hooks for calls that a table row can name."""
