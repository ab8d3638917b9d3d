"""Methods and attributes of tracked instances: ``scaler.get_scale()``, ``optimizer.zero_grad()``."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from paddletorch_rules import Form, Row

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.arguments import convert_arguments
from paddletorch.plan.binding import bind
from paddletorch.plan.calls import run_hook, target_form
from paddletorch.plan.context import FileContext, Refusal
from paddletorch.plan.receivers import Evidence, Receivers
from paddletorch.plan.statements import STATEMENT_HOOKS, MemberCall
from paddletorch.plan.template import Template

_TEMPLATE_DEPTH = 8
_HOOK_RESULTS = {
    "minimize": "scaler.step + scaler.update",
    "update": "scaler.update + scaler.set_init_loss_scaling",
}


@dataclass
class MemberPlan:
    """What becomes of the members used in a file."""

    edits: list[Edit] = field(default_factory=list)
    conversions: list[Conversion] = field(default_factory=list)
    matched: set[ast.AST] = field(default_factory=set)


def plan_members(context: FileContext, receivers: Receivers, kept: int | None = None) -> MemberPlan:
    """Plan every member of a tracked instance. ``kept`` is the line of a scaler that stays as it is, if all do."""
    plan = MemberPlan()
    if kept is None:
        _match_templates(context, receivers, plan)
    known = context.settings.member_names
    attributes = [n for n in context.tree.scopes if isinstance(n, ast.Attribute) and n.attr in known]
    attributes.sort(key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0))
    for node in attributes:
        rows = context.settings.members(node.attr)
        if rows and node not in plan.matched:
            _plan_attribute(context, receivers, plan, node, rows, kept)
    return plan


def _match_templates(context: FileContext, receivers: Receivers, plan: MemberPlan) -> None:
    """Find source-side expressions that the tables write as a template, outermost first."""
    for row in context.settings.table.rows:
        if row.receiver is None or row not in context.settings.rows:
            continue
        forms = [f for f in row.forms(context.settings.source) if f.template is not None and not f.names]
        for form in forms:
            templates = [Template(text) for text in (form.template or "", *form.also)]
            for node in [n for n in context.tree.scopes if isinstance(n, ast.Attribute)]:
                if node not in plan.matched:
                    _match_around(context, receivers, plan, node, row, templates)


def _match_around(
    context: FileContext,
    receivers: Receivers,
    plan: MemberPlan,
    start: ast.Attribute,
    row: Row,
    templates: list[Template],
) -> None:
    assert row.receiver is not None
    best: tuple[ast.expr, dict[str, ast.expr]] | None = None
    node: ast.AST | None = start
    for _ in range(_TEMPLATE_DEPTH):
        if not isinstance(node, ast.expr):
            break
        for template in templates:
            holes = template.match(node)
            if holes is not None and holes.get("self") is start.value:
                best = node, holes
        node = context.parent(node)
    if best is None or receivers.evidence(start.value, row.receiver) is not Evidence.YES:
        return
    node, holes = best
    try:
        form = target_form(row, context)
        if not context.is_located(node):
            raise Refusal("API216")
    except Refusal as refusal:
        context.report(refusal.code, node, f"{row.receiver} expression", row, **refusal.holes)
        return
    plan.matched.update(n for n in ast.walk(node) if isinstance(n, ast.Attribute))
    _replace_by_template(context, plan, node, holes, row, form, context.text(node))


def _replace_by_template(
    context: FileContext,
    plan: MemberPlan,
    node: ast.expr,
    holes: dict[str, ast.expr],
    row: Row,
    form: Form,
    name: str,
) -> None:
    """Write the template around the receiver, whose own text stays."""
    text = form.template if form.template is not None else "{self}." + form.names[0] + "()"
    before, _, after = context.quoted(text, node).partition("{self}")
    inner, span = context.source.span(holes["self"]), context.source.span(node)
    plan.edits += [
        Edit(Span(span.start, inner.start), before, row.code),
        Edit(Span(inner.end, span.end), after, row.code),
    ]
    _record(context, plan, node, row, name, text.replace("{self}", row.receiver or ""))


def _record(context: FileContext, plan: MemberPlan, node: ast.expr, row: Row, name: str, replacement: str) -> None:
    line, column = context.source.position(context.source.span(node).start)
    plan.conversions.append(Conversion(row.code, name, replacement, line, column))


def _plan_attribute(
    context: FileContext,
    receivers: Receivers,
    plan: MemberPlan,
    node: ast.Attribute,
    rows: list[tuple[Row, Form]],
    kept: int | None,
) -> None:
    if isinstance(node.value, ast.Name) and context.qualified(node.value) is not None:
        return
    for row, form in rows:
        assert row.receiver is not None
        evidence = receivers.evidence(node.value, row.receiver)
        if evidence is Evidence.NO or context.suppressed(row.code, node) or receivers.overrides(node.value, node.attr):
            continue
        parent = context.parent(node)
        call = parent if isinstance(parent, ast.Call) and parent.func is node else None
        if row.kind == "attribute":
            context.report(row.report or "API208", node, f"{row.receiver}.{node.attr}", row, method=node.attr)
            return
        if call is None:
            if evidence is Evidence.YES and row.report is None and kept is None:
                _rename_reference(context, plan, node, row)
            return
        _plan_call(context, plan, node, call, row, form, evidence, kept if row.receiver == "scaler" else None)
        return


def _rename_reference(context: FileContext, plan: MemberPlan, node: ast.Attribute, row: Row) -> None:
    """A bound method that is passed on, not called."""
    forms = [f for f in row.forms(context.target) if f.template is None]
    if not isinstance(node.ctx, ast.Load):
        return
    if not forms:
        problem = "it is passed on without a call"
        context.report("API210", node, f"{row.receiver}.{node.attr}", row, problem=problem, signature="()")
        return
    name, target = f"{row.receiver}.{node.attr}", forms[0].names[0]
    if node.attr in forms[0].names or not context.is_located(node):
        return
    if row.parameters:
        renamed = ", ".join(f"{p.name(context.settings.source)} is {p.name(context.target)}" for p in row.parameters)
        context.report("API204", node, name, row, replacement=f"{row.receiver}.{target}", arguments=renamed)
    end = context.source.span(node).end
    plan.edits.append(Edit(Span(end - len(node.attr.encode()), end), target, row.code))
    _record(context, plan, node, row, name, f"{row.receiver}.{target}")


def _plan_call(
    context: FileContext,
    plan: MemberPlan,
    node: ast.Attribute,
    call: ast.Call,
    row: Row,
    form: Form,
    evidence: Evidence,
    kept: int | None,
) -> None:
    name = f"{row.receiver}.{node.attr}"
    before = len(context.findings)
    try:
        if not context.is_located(call):
            raise Refusal("API216")
        hook = STATEMENT_HOOKS.get(row.hook or "")
        edits = hook(context, MemberCall(node, call, row, name, evidence)) if hook is not None else None
        if edits is not None:
            replacement = _HOOK_RESULTS.get(row.hook or "", name)
        elif row.report is not None and not (row.forms(context.target) and row.parameters):
            if evidence is Evidence.YES:
                context.report(row.report, call, name, row, method=node.attr)
            return
        else:
            edits, replacement = _convert_call(context, plan, node, call, row, form, name)
    except Refusal as refusal:
        del context.findings[before:]
        context.report(refusal.code, call, name, row, **refusal.holes)
        return
    if not edits and hook is not None:
        return  # a plain use, or one that the hook reported
    if evidence is not Evidence.YES and not context.settings.options.unsafe:
        del context.findings[before:]
        shown = context.text(node.value)
        context.report("API212", call, name, row, name=shown, type=row.receiver or "", method=node.attr)
        return
    if kept is not None and edits:
        del context.findings[before:]
        context.report("API211", call, name, row, name=context.text(node), other=str(kept))
        return
    plan.edits += edits
    if replacement:
        _record(context, plan, call, row, name, replacement)


def _convert_call(
    context: FileContext,
    plan: MemberPlan,
    node: ast.Attribute,
    call: ast.Call,
    row: Row,
    form: Form,
    name: str,
) -> tuple[list[Edit], str]:
    target = target_form(row, context)
    if target.template is not None and not target.names:
        if call.args or call.keywords:
            raise Refusal("API210", problem="it takes no arguments", signature="()")
        before, _, after = context.quoted(target.template, call).partition("{self}")
        inner, span = context.source.span(node.value), context.source.span(call)
        return [
            Edit(Span(span.start, inner.start), before, row.code),
            Edit(Span(inner.end, span.end), after, row.code),
        ], target.template.replace("{self}", row.receiver or "")
    binding = bind(context, call, row, form, name)
    run_hook(binding)
    edits = convert_arguments(binding, target)
    if node.attr not in target.names:
        end = context.source.span(node).end
        edits.append(Edit(Span(end - len(node.attr.encode()), end), target.names[0], row.code))
    return edits, f"{row.receiver}.{target.names[0]}" if edits else ""
