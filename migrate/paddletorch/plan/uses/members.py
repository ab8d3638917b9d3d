"""Methods and attributes of tracked instances: ``scaler.get_scale()``, ``optimizer.zero_grad()``."""

from __future__ import annotations

import ast

from paddletorch_rules import Form, Row

from paddletorch.model import Edit, Span, Uses
from paddletorch.plan.calls.arguments import convert_arguments
from paddletorch.plan.calls.binding import bind
from paddletorch.plan.calls.convert_call import run_hook
from paddletorch.plan.calls.fill_template import compose, surrounding
from paddletorch.plan.inference.overloads import Fit, choose, fit
from paddletorch.plan.inference.receivers import Evidence, Receivers
from paddletorch.plan.inference.results import named_result
from paddletorch.plan.model.context import FileContext, Refusal
from paddletorch.plan.model.member_plan import MemberPlan, record
from paddletorch.plan.model.outcome import target_form
from paddletorch.plan.uses.attributes import larger_member, plan_attribute, with_target_root
from paddletorch.plan.uses.expression_templates import replace_match
from paddletorch.plan.uses.layer_calls import plan_forwards
from paddletorch.plan.uses.method_hooks import STATEMENT_HOOKS, MemberCall
from paddletorch.plan.uses.values import renamed_parameters, renames_only
from paddletorch.resolve import Instance, NoneValue
from paddletorch.text.source import splice

_HOOK_RESULTS = {
    "minimize": "scaler.step + scaler.update",
    "update": "scaler.update + scaler.set_init_loss_scaling",
}


def plan_members(context: FileContext, receivers: Receivers, kept: int | None = None) -> MemberPlan:
    """Plan every member of a tracked instance. ``kept`` is the line of a scaler that stays as it is, if all do."""
    plan = MemberPlan()
    if receivers.are_done:
        return plan
    _plan_matches(context, plan, kept)
    known = context.settings.member_names
    attributes = [n for n in context.tree.attributes if n.attr in known]
    attributes.sort(key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0))
    for node in attributes:
        rows = context.settings.members(node.attr)
        if rows and node not in plan.matched and node not in context.settled:
            _plan_attribute(context, receivers, plan, node, rows, kept)
    _plan_instance_calls(context, plan)
    plan_forwards(context, plan)
    return plan


def _plan_instance_calls(context: FileContext, plan: MemberPlan) -> None:
    """Calls of instances themselves, ``cell(x, state)``: rows with the name ``__call__``."""
    rows = context.settings.members("__call__")
    for call in context.tree.calls if rows else ():
        values = context.evaluator.values(call.func)
        types = {v.type for v in values if isinstance(v, Instance)}
        options = [pair for pair in rows if pair[0].receiver in types]
        made_by = {v.api for v in values if isinstance(v, Instance)}
        if not made_by.isdisjoint(context.kept) or any(api.partition(".")[0] == context.target for api in made_by):
            continue  # the object stays the source's, or is the target's already
        if not options or len(types) > 1 or any(not isinstance(v, Instance | NoneValue) for v in values):
            continue
        row, form = options[0]
        if context.suppressed(row.code, call):
            continue
        name = f"{row.receiver}()"
        before = len(context.findings)
        try:
            row, form = choose(context, call, options)
            binding = bind(context, call, row, form, name)
            binding.receiver = call.func
            run_hook(binding)
            target = target_form(row, context)
            template = binding.template or target.template
            if template is None:
                continue
            edits = compose(binding, target, template)
            plan.edits += with_target_root(context, plan, call.func, edits, name)
            record(context, plan, call, row, name, template.replace("{self}", row.receiver or ""))
        except Refusal as refusal:
            del context.findings[before:]
            context.report(refusal.code, call, name, row, **refusal.holes)


def _plan_matches(context: FileContext, plan: MemberPlan, kept: int | None) -> None:
    """Expressions that the tables write as a template on the source's side."""
    for match in context.matches.values():
        row, name = match.row, context.text(match.node)
        if kept is not None and row.receiver == "scaler":
            continue
        if context.suppressed(row.code, match.node):
            plan.matched |= match.attributes
            continue
        before = len(context.findings)
        try:
            form = target_form(row, context)
            if not context.is_located(match.node):
                raise Refusal("API216")
            edits = replace_match(context, match, form)
            edits = with_target_root(context, plan, match.start, edits, name)
        except Refusal as refusal:
            del context.findings[before:]
            context.report(refusal.code, match.node, f"{row.receiver} expression", row, **refusal.holes)
            continue
        plan.matched |= match.attributes
        plan.edits += edits
        record(context, plan, match.node, row, name, form.template or f"{row.receiver}.{form.names[0]}")


def _plan_attribute(
    context: FileContext,
    receivers: Receivers,
    plan: MemberPlan,
    node: ast.Attribute,
    rows: list[tuple[Row, Form]],
    kept: int | None,
) -> None:
    if isinstance(node.value, ast.Name | ast.Attribute) and _is_framework_name(context, node.value):
        return
    parent = context.parent(node)
    call = parent if isinstance(parent, ast.Call) and parent.func is node else None
    for receiver in dict.fromkeys(row.receiver for row, _ in rows):
        assert receiver is not None
        options = [pair for pair in rows if pair[0].receiver == receiver]
        row, form = options[0]
        evidence = receivers.evidence_for(node, call, receiver, options)
        if (
            evidence is Evidence.NO
            or context.suppressed(row.code, call or node)
            or receivers.overrides(node.value, node.attr)
        ):
            continue
        before = len(context.findings), len(plan.edits)
        if row.kind == "attribute":
            if evidence is Evidence.YES:
                plan_attribute(context, plan, node, row, form)
        elif call is None:
            if evidence is Evidence.YES and row.report is None and kept is None:
                _rename_reference(context, plan, node, options)
        else:
            kept_here = kept if receiver == "scaler" else None
            _plan_call(context, plan, node, call, options, evidence, kept_here)
        if evidence is Evidence.YES:
            _count(
                plan,
                f"{receiver.capitalize()}.{node.attr}",
                len(context.findings) > before[0],
                len(plan.edits) > before[1],
            )
        return


def _is_framework_name(context: FileContext, node: ast.expr) -> bool:
    """Whether a dotted name below a framework's module, and no object, stands before the dot."""
    name = context.qualified(node)
    if name is None or context.settings.table.constant(name) is not None:
        return False
    return not any(isinstance(v, Instance) for v in context.evaluator.objects(node))


def _count(plan: MemberPlan, name: str, reported: bool, edited: bool) -> None:
    uses = plan.uses.setdefault(name, Uses())
    if edited:
        uses.converted += 1
    elif reported:
        uses.reported += 1
    else:
        uses.same += 1


def _is_another(context: FileContext, call: ast.Call, form: Form) -> bool:
    """Whether the arguments show that the method is not a tensor's: ``line.split(",")``."""
    return fit(context, call, form.signature(context.settings.source_releases.newest)) is Fit.NO


def _rename_reference(
    context: FileContext, plan: MemberPlan, node: ast.Attribute, options: list[tuple[Row, Form]]
) -> None:
    """A bound method that is passed on, not called."""
    named = [(r, own, f) for r, own in options for f in r.forms(context.target) if f.names and f.template is None]
    if not isinstance(node.ctx, ast.Load):
        return
    row = named[0][0] if named else options[0][0]
    if not named:
        problem = "it is passed on without a call"
        context.report("API210", node, f"{row.receiver}.{node.attr}", row, problem=problem, signature="()")
        return
    _, own, form = named[0]
    name, target = f"{row.receiver}.{node.attr}", form.names[0]
    if not context.is_located(node):
        return
    same_name = node.attr in form.names
    if same_name and isinstance(node.value, ast.Call):
        return  # ``torch.aminmax(x).max`` is a field
    if len(options) > 1 or (row.parameters if not same_name else not renames_only(context, row, own, form)):
        arguments = renamed_parameters(context, row)
        context.report("API204", node, name, row, replacement=f"{row.receiver}.{target}", arguments=arguments)
    if same_name:
        return
    end = context.source.span(node).end
    plan.edits.append(Edit(Span(end - len(node.attr.encode()), end), target, row.code))
    record(context, plan, node, row, name, f"{row.receiver}.{target}")


def _plan_call(
    context: FileContext,
    plan: MemberPlan,
    node: ast.Attribute,
    call: ast.Call,
    options: list[tuple[Row, Form]],
    evidence: Evidence,
    kept: int | None,
) -> None:
    row, form = options[0]
    name = f"{row.receiver}.{node.attr}"
    before, rooted = len(context.findings), len(plan.rooted)
    try:
        if not context.is_located(call):
            raise Refusal("API216")
        row, form = choose(context, call, options)
        if evidence is not Evidence.YES and row.receiver == "tensor" and _is_another(context, call, form):
            return
        hook = STATEMENT_HOOKS.get(row.hook or "")
        edits = hook(context, MemberCall(node, call, row, name, evidence)) if hook is not None else None
        if edits is not None:
            replacement = _HOOK_RESULTS.get(row.hook or "", name)
        elif row.report is not None and not (row.forms(context.target) and row.parameters):
            if evidence is Evidence.YES:
                context.report(row.report, call, name, row, method=node.attr)
            return
        else:
            edits, replacement = _convert_call(context, node, call, row, form, name)
            edits = with_target_root(context, plan, node, edits, name)
    except Refusal as refusal:
        del context.findings[before:]
        if evidence is Evidence.YES or row.receiver != "tensor":
            context.report(refusal.code, call, name, row, **refusal.holes)
        return
    if not edits and hook is not None:
        return  # a plain use, or one that the hook reported
    if evidence is not Evidence.YES and _stands_already(context, call, edits):
        del context.findings[before:], plan.rooted[rooted:]
        return
    if evidence is not Evidence.YES and not (row.any_receiver or context.settings.options.unsafe):
        del context.findings[before:], plan.rooted[rooted:]
        if edits or row.receiver == "scaler":
            shown = context.text(node.value)
            context.report("API212", call, name, row, name=shown, type=row.receiver or "", method=node.attr)
        return
    if kept is not None and edits:
        del context.findings[before:], plan.rooted[rooted:]
        context.report("API211", call, name, row, name=context.text(node), other=str(kept))
        return
    if context.target in row.warn:
        context.report(row.warn[context.target], call, name, row)
    plan.edits += edits
    if replacement and edits:
        record(context, plan, call, row, name, replacement)


def _edited(context: FileContext, span: Span, edits: list[Edit]) -> str | None:
    """The text of the span after the edits, if they all lie inside it."""
    if not all(span.holds(e.span) for e in edits):
        return None
    return splice(context.source.body[span.start : span.end], [e.moved(-span.start) for e in edits]).decode("utf-8")


def _stands_already(context: FileContext, call: ast.Call, edits: list[Edit]) -> bool:
    """Whether what is around the call is what it would become: an earlier run has converted it."""
    span, node = context.source.span(call), context.parent(call)
    text = _edited(context, span, edits)
    if text is None:
        return False
    try:
        wanted = ast.dump(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return False
    while isinstance(node, ast.expr | ast.keyword):
        if ast.dump(node) == wanted:
            return True
        node = context.parent(node)
    return False


def _convert_call(
    context: FileContext, node: ast.Attribute, call: ast.Call, row: Row, form: Form, name: str
) -> tuple[list[Edit], str]:
    target = target_form(row, context)
    larger = larger_member(context, node, form, target, row.code)
    if larger:
        return larger, target.also[0].replace("{self}", row.receiver or "")
    if target.template is not None and not target.signatures and not target.names:
        if call.args or call.keywords:
            raise Refusal("API210", problem="it takes no arguments", signature="()")
        before, _, after = context.quoted(target.template, call).partition("{self}")
        inner, span = context.source.span(node.value), context.source.span(call)
        return [
            Edit(Span(span.start, inner.start), before, row.code),
            Edit(Span(inner.end, span.end), after, row.code),
        ], target.template.replace("{self}", row.receiver or "")
    binding = bind(context, call, row, form, name)
    binding.receiver = node.value
    run_hook(binding)
    whole, template = named_result(context, call, target, binding.beside) if target.results else (None, target.template)
    template = binding.template or template
    if template is not None:
        edits = [*surrounding(binding), *compose(binding, target, template, whole)]
        return edits, template.replace("{self}", row.receiver or "")
    edits = [*surrounding(binding), *convert_arguments(binding, target)]
    if node.attr not in target.names:
        end = context.source.span(node).end
        edits.append(Edit(Span(end - len(node.attr.encode()), end), target.names[0], row.code))
    return edits, f"{row.receiver}.{target.names[0]}" if edits else ""
