"""Calls that become something other than a call of the same shape: decorate, the cache, the sharded scaler."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from paddletorch_rules import Form, Row
from paddletorch_rules.hooks.amp import scaler as check_scaler

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.arguments import convert_arguments
from paddletorch.plan.calls.binding import bind
from paddletorch.plan.calls.translate import constant
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.statements import remove_statement


@dataclass(frozen=True, slots=True)
class Replaced:
    """What a call becomes: a new name with argument edits, or one edit for the whole."""

    name: str
    edits: list[Edit]
    whole: Edit | None = None


SiteHook = Callable[[FileView, ast.Call, Row, Form, str], "Replaced | None"]


def decorate(view: FileView, call: ast.Call, row: Row, form: Form, name: str) -> Replaced | None:
    """``model, optimizer = decorate(models=model, optimizers=optimizer)`` vanishes; O1 changes nothing.

    Measured: level O1 returns its arguments as they are. Level O2 casts the model, which torch's scaler
    refuses, so the model stays as it is and the finding says so.
    """
    binding = bind(view, call, row, form, name)
    models, optimizers = binding.value("models"), binding.value("optimizers")
    if models is None:
        raise Refusal("AMP229", what="is called without models")
    level = binding.literal("level")
    if level != "O1" and binding.value("level") is not None:
        shown = view.text(binding.given["level"].value)
        view.report("AMP229", call, name, row, what=f"(level={shown}) was removed")
    parts = [models] if optimizers is None or constant(optimizers) is None else [models, optimizers]
    parent = view.parent(call)
    if isinstance(parent, ast.Expr):
        return Replaced("", [], remove_statement(view, parent))
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        target = parent.targets[0]
        targets = target.elts if isinstance(target, ast.Tuple) and len(parts) == 2 else [target]
        if [ast.unparse(t) for t in targets] == [ast.unparse(p) for p in parts]:
            return Replaced("", [], remove_statement(view, parent))
    return Replaced("", _keep_only(view, call, parts, row.code))


def _keep_only(view: FileView, call: ast.Call, parts: list[ast.expr], code: str) -> list[Edit]:
    """Cut the call away around its arguments, whose own text may be edited too."""
    spans = [view.source.span(p) for p in parts]
    if spans != sorted(spans):
        raise Refusal("AMP229", what="gets its optimizer before its model")
    whole = view.source.span(call)
    edits = [Edit(Span(whole.start, spans[0].start), "(" if len(spans) > 1 else "", code)]
    edits += [Edit(Span(a.end, b.start), ", ", code) for a, b in pairwise(spans)]
    return [*edits, Edit(Span(spans[-1].end, whole.end), ")" if len(spans) > 1 else "", code)]


def drop_statement(view: FileView, call: ast.Call, row: Row, form: Form, name: str) -> Replaced | None:
    """A statement that only empties a cache vanishes; the row's warning says so."""
    statement = view.parent(call)
    if not isinstance(statement, ast.Expr):
        return None
    if view.target in row.warn:
        view.report(row.warn[view.target], call, name, row)
    return Replaced("", [], remove_statement(view, statement))


def sharded_scaler(view: FileView, call: ast.Call, row: Row, form: Form, name: str) -> Replaced | None:
    """``ShardedGradScaler(...)`` becomes ``fleet.distributed_scaler(GradScaler(...))``, and back."""
    scaler = view.settings.table.row("GradScaler")
    target = view.settings.emitted(scaler)
    if target is None:
        return None
    code = row.code
    if view.target == "paddle":
        binding = bind(view, call, scaler, form, name)
        check_scaler(binding)
        edits = convert_arguments(binding, target)
        view.report("AMP234", call, name, row)
        span, function = view.source.span(call), view.source.span(call.func)
        open_name = f"{row.paddle[0].names[0]}({target.names[0]}"
        return Replaced(
            row.paddle[0].names[0],
            [*edits, Edit(Span(span.end, span.end), ")", code), Edit(function, open_name, code)],
        )
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
        return None
    view.report("AMP234", call, name, row)
    parent = view.parent(call)
    if isinstance(parent, ast.Assign) and [ast.unparse(t) for t in parent.targets] == [ast.unparse(call.args[0])]:
        return Replaced("", [], remove_statement(view, parent))
    span, inner = view.source.span(call), view.source.span(call.args[0])
    return Replaced("", [Edit(Span(span.start, inner.start), "", code), Edit(Span(inner.end, span.end), "", code)])


SITE_HOOKS: dict[str, SiteHook] = {
    "decorate": decorate,
    "drop_statement": drop_statement,
    "sharded_scaler": sharded_scaler,
}
"""The call hooks that a table row can name."""
