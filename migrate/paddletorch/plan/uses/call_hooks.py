"""Calls that do not become one call of another function: decorate, emptying the cache, the sharded scaler."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from paddletorch_rules import Form, Row

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.binding import bind
from paddletorch.plan.calls.convert_call import Callee, convert_bound_call
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.refusals import Refused, UnclearDecorate
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.constants import constant
from paddletorch.plan.syntax.statements import remove_statement


@dataclass(frozen=True, slots=True)
class Replaced:
    """What a call becomes: a new name with argument edits, or one edit for the whole."""

    name: str
    """The target's name; empty if the call goes away."""
    edits: tuple[Edit, ...]
    whole: Edit | None = None
    findings: tuple[Finding, ...] = ()


CallHook = Callable[[FileView, ast.Call, Row, Form, str], "Replaced | None"]
"""What takes the place of one call; None leaves it to the generic conversion.

Raises:
    Refused: the call must stay.
"""


def decorate(view: FileView, call: ast.Call, row: Row, form: Form, name: str) -> Replaced | None:
    """``model, optimizer = decorate(models=model, optimizers=optimizer)`` vanishes; O1 changes nothing.

    Measured: level O1 returns its arguments as they are. Level O2 casts the model, which torch's scaler
    refuses, so the model stays as it is and the finding says so.
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
    if isinstance(statement, ast.Expr) or (isinstance(statement, ast.Assign) and _gives_back(statement, parts)):
        return Replaced("", (), remove_statement(view, statement), tuple(findings))
    return Replaced("", _keep_only(view, call, parts, row.code), findings=tuple(findings))


def _gives_back(statement: ast.Assign, parts: list[ast.expr]) -> bool:
    """Whether the statement assigns what the call returns to the variables that it was given."""
    if len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    targets = target.elts if isinstance(target, ast.Tuple) and len(parts) == 2 else [target]
    return [ast.unparse(t) for t in targets] == [ast.unparse(p) for p in parts]


def _keep_only(view: FileView, call: ast.Call, parts: list[ast.expr], code: str) -> tuple[Edit, ...]:
    """Cut the call away around its arguments, whose own text may be edited too.

    Raises:
        Refused: the arguments stand in another order than the results.
    """
    spans = [view.source.span(p) for p in parts]
    if spans != sorted(spans):
        raise Refused(UnclearDecorate("gets its optimizer before its model"))
    whole = view.source.span(call)
    start = Edit(Span(whole.start, spans[0].start), "(" if len(spans) > 1 else "", code)
    end = Edit(Span(spans[-1].end, whole.end), ")" if len(spans) > 1 else "", code)
    return (start, *(Edit(Span(a.end, b.start), ", ", code) for a, b in pairwise(spans)), end)


def drop_statement(view: FileView, call: ast.Call, row: Row, form: Form, name: str) -> Replaced | None:
    """A statement that only empties a cache vanishes; the row's warning says so."""
    statement = view.parent(call)
    if not isinstance(statement, ast.Expr):
        return None
    warned = (finding(row.warn[view.target], call, name, row),) if view.target in row.warn else ()
    return Replaced("", (), remove_statement(view, statement), warned)


def sharded_scaler(view: FileView, call: ast.Call, row: Row, form: Form, name: str) -> Replaced | None:
    """``ShardedGradScaler(...)`` becomes ``fleet.distributed_scaler(GradScaler(...))``, and back."""
    scaler = view.settings.table.row("GradScaler")
    target = view.settings.emitted(scaler)
    if target is None:
        return None
    code, warned = row.code, finding("AMP234", call, name, row)
    if view.target == "paddle":
        converted = convert_bound_call(bind(view, call, scaler, form, name), target, Callee.NAMED)
        span, function = view.source.span(call), view.source.span(call.func)
        wrapper = row.paddle[0].names[0]
        after = Edit(Span(span.end, span.end), ")", code)
        before = Edit(function, f"{wrapper}({target.names[0]}", code)
        return Replaced(wrapper, (*converted.edits, after, before), findings=(*converted.findings, warned))
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
        return None
    parent = view.parent(call)
    if isinstance(parent, ast.Assign) and [ast.unparse(t) for t in parent.targets] == [ast.unparse(call.args[0])]:
        return Replaced("", (), remove_statement(view, parent), (warned,))
    span, inner = view.source.span(call), view.source.span(call.args[0])
    edits = (Edit(Span(span.start, inner.start), "", code), Edit(Span(inner.end, span.end), "", code))
    return Replaced("", edits, findings=(warned,))


CALL_HOOKS: dict[str, CallHook] = {
    "decorate": decorate,
    "drop_statement": drop_statement,
    "sharded_scaler": sharded_scaler,
}
"""The hooks for calls that a table row can name."""
