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
from paddletorch.plan.model.member_plan import MemberPlan, record
from paddletorch.plan.model.outcome import target_form
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.view import FileView
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


def plan_members(view: FileView, receivers: Receivers, kept: int | None = None) -> MemberPlan:
    """Plan every member of a tracked instance. ``kept`` is the line of a scaler that stays as it is, if all do."""
    plan = MemberPlan()
    if receivers.are_done:
        return plan
    _plan_matches(view, plan, kept)
    known = view.settings.member_names
    attributes = [n for n in view.tree.attributes if n.attr in known]
    attributes.sort(key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0))
    for node in attributes:
        rows = view.settings.members(node.attr)
        if rows and node not in plan.matched and node not in view.settled:
            _plan_attribute(view, receivers, plan, node, rows, kept)
    _plan_instance_calls(view, plan)
    plan_forwards(view, plan)
    return plan


def _plan_instance_calls(view: FileView, plan: MemberPlan) -> None:
    """Calls of instances themselves, ``cell(x, state)``: rows with the name ``__call__``."""
    rows = view.settings.members("__call__")
    for call in view.tree.calls if rows else ():
        values = view.evaluator.values(call.func)
        types = {v.type for v in values if isinstance(v, Instance)}
        options = [pair for pair in rows if pair[0].receiver in types]
        made_by = {v.api for v in values if isinstance(v, Instance)}
        if not made_by.isdisjoint(view.kept) or any(api.partition(".")[0] == view.target for api in made_by):
            continue  # the object stays the source's, or is the target's already
        if not options or len(types) > 1 or any(not isinstance(v, Instance | NoneValue) for v in values):
            continue
        row, form = options[0]
        if view.suppressed(row.code, call):
            continue
        name = f"{row.receiver}()"
        before = len(view.findings)
        try:
            row, form = choose(view, call, options)
            binding = bind(view, call, row, form, name)
            binding.receiver = call.func
            run_hook(binding)
            target = target_form(row, view)
            template = binding.template or target.template
            if template is None:
                continue
            edits = compose(binding, target, template)
            plan.edits += with_target_root(view, plan, call.func, edits, name)
            record(view, plan, call, row, name, template.replace("{self}", row.receiver or ""))
        except Refusal as refusal:
            del view.findings[before:]
            view.report(refusal.code, call, name, row, **refusal.holes)


def _plan_matches(view: FileView, plan: MemberPlan, kept: int | None) -> None:
    """Expressions that the tables write as a template on the source's side."""
    for match in view.matches.values():
        row, name = match.row, view.text(match.node)
        if kept is not None and row.receiver == "scaler":
            continue
        if view.suppressed(row.code, match.node):
            plan.matched |= match.attributes
            continue
        before = len(view.findings)
        try:
            form = target_form(row, view)
            if not view.is_located(match.node):
                raise Refusal("API216")
            edits = replace_match(view, match, form)
            edits = with_target_root(view, plan, match.start, edits, name)
        except Refusal as refusal:
            del view.findings[before:]
            view.report(refusal.code, match.node, f"{row.receiver} expression", row, **refusal.holes)
            continue
        plan.matched |= match.attributes
        plan.edits += edits
        record(view, plan, match.node, row, name, form.template or f"{row.receiver}.{form.names[0]}")


def _plan_attribute(
    view: FileView,
    receivers: Receivers,
    plan: MemberPlan,
    node: ast.Attribute,
    rows: list[tuple[Row, Form]],
    kept: int | None,
) -> None:
    if isinstance(node.value, ast.Name | ast.Attribute) and _is_framework_name(view, node.value):
        return
    parent = view.parent(node)
    call = parent if isinstance(parent, ast.Call) and parent.func is node else None
    for receiver in dict.fromkeys(row.receiver for row, _ in rows):
        assert receiver is not None
        options = [pair for pair in rows if pair[0].receiver == receiver]
        row, form = options[0]
        evidence = receivers.evidence_for(node, call, receiver, options)
        if (
            evidence is Evidence.NO
            or view.suppressed(row.code, call or node)
            or receivers.overrides(node.value, node.attr)
        ):
            continue
        before = len(view.findings), len(plan.edits)
        if row.kind == "attribute":
            if evidence is Evidence.YES:
                plan_attribute(view, plan, node, row, form)
        elif call is None:
            if evidence is Evidence.YES and row.report is None and kept is None:
                _rename_reference(view, plan, node, options)
        else:
            kept_here = kept if receiver == "scaler" else None
            _plan_call(view, plan, node, call, options, evidence, kept_here)
        if evidence is Evidence.YES:
            _count(
                plan,
                f"{receiver.capitalize()}.{node.attr}",
                len(view.findings) > before[0],
                len(plan.edits) > before[1],
            )
        return


def _is_framework_name(view: FileView, node: ast.expr) -> bool:
    """Whether a dotted name below a framework's module, and no object, stands before the dot."""
    name = view.qualified(node)
    if name is None or view.settings.table.constant(name) is not None:
        return False
    return not any(isinstance(v, Instance) for v in view.evaluator.objects(node))


def _count(plan: MemberPlan, name: str, reported: bool, edited: bool) -> None:
    uses = plan.uses.setdefault(name, Uses())
    if edited:
        uses.converted += 1
    elif reported:
        uses.reported += 1
    else:
        uses.same += 1


def _is_another(view: FileView, call: ast.Call, form: Form) -> bool:
    """Whether the arguments show that the method is not a tensor's: ``line.split(",")``."""
    return fit(view, call, form.signature(view.settings.source_releases.newest)) is Fit.NO


def _rename_reference(view: FileView, plan: MemberPlan, node: ast.Attribute, options: list[tuple[Row, Form]]) -> None:
    """A bound method that is passed on, not called."""
    named = [(r, own, f) for r, own in options for f in r.forms(view.target) if f.names and f.template is None]
    if not isinstance(node.ctx, ast.Load):
        return
    row = named[0][0] if named else options[0][0]
    if not named:
        problem = "it is passed on without a call"
        view.report("API210", node, f"{row.receiver}.{node.attr}", row, problem=problem, signature="()")
        return
    _, own, form = named[0]
    name, target = f"{row.receiver}.{node.attr}", form.names[0]
    if not view.is_located(node):
        return
    same_name = node.attr in form.names
    if same_name and isinstance(node.value, ast.Call):
        return  # ``torch.aminmax(x).max`` is a field
    if len(options) > 1 or (row.parameters if not same_name else not renames_only(view, row, own, form)):
        arguments = renamed_parameters(view, row)
        view.report("API204", node, name, row, replacement=f"{row.receiver}.{target}", arguments=arguments)
    if same_name:
        return
    end = view.source.span(node).end
    plan.edits.append(Edit(Span(end - len(node.attr.encode()), end), target, row.code))
    record(view, plan, node, row, name, f"{row.receiver}.{target}")


def _plan_call(
    view: FileView,
    plan: MemberPlan,
    node: ast.Attribute,
    call: ast.Call,
    options: list[tuple[Row, Form]],
    evidence: Evidence,
    kept: int | None,
) -> None:
    row, form = options[0]
    name = f"{row.receiver}.{node.attr}"
    before, rooted = len(view.findings), len(plan.rooted)
    try:
        if not view.is_located(call):
            raise Refusal("API216")
        row, form = choose(view, call, options)
        if evidence is not Evidence.YES and row.receiver == "tensor" and _is_another(view, call, form):
            return
        hook = STATEMENT_HOOKS.get(row.hook or "")
        edits = hook(view, MemberCall(node, call, row, name, evidence)) if hook is not None else None
        if edits is not None:
            replacement = _HOOK_RESULTS.get(row.hook or "", name)
        elif row.report is not None and not (row.forms(view.target) and row.parameters):
            if evidence is Evidence.YES:
                view.report(row.report, call, name, row, method=node.attr)
            return
        else:
            edits, replacement = _convert_call(view, node, call, row, form, name)
            edits = with_target_root(view, plan, node, edits, name)
    except Refusal as refusal:
        del view.findings[before:]
        if evidence is Evidence.YES or row.receiver != "tensor":
            view.report(refusal.code, call, name, row, **refusal.holes)
        return
    if not edits and hook is not None:
        return  # a plain use, or one that the hook reported
    if evidence is not Evidence.YES and _stands_already(view, call, edits):
        del view.findings[before:], plan.rooted[rooted:]
        return
    if evidence is not Evidence.YES and not (row.any_receiver or view.settings.options.unsafe):
        del view.findings[before:], plan.rooted[rooted:]
        if edits or row.receiver == "scaler":
            shown = view.text(node.value)
            view.report("API212", call, name, row, name=shown, type=row.receiver or "", method=node.attr)
        return
    if kept is not None and edits:
        del view.findings[before:], plan.rooted[rooted:]
        view.report("API211", call, name, row, name=view.text(node), other=str(kept))
        return
    if view.target in row.warn:
        view.report(row.warn[view.target], call, name, row)
    plan.edits += edits
    if replacement and edits:
        record(view, plan, call, row, name, replacement)


def _edited(view: FileView, span: Span, edits: list[Edit]) -> str | None:
    """The text of the span after the edits, if they all lie inside it."""
    if not all(span.holds(e.span) for e in edits):
        return None
    return splice(view.source.body[span.start : span.end], [e.moved(-span.start) for e in edits]).decode("utf-8")


def _stands_already(view: FileView, call: ast.Call, edits: list[Edit]) -> bool:
    """Whether what is around the call is what it would become: an earlier run has converted it."""
    span, node = view.source.span(call), view.parent(call)
    text = _edited(view, span, edits)
    if text is None:
        return False
    try:
        wanted = ast.dump(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return False
    while isinstance(node, ast.expr | ast.keyword):
        if ast.dump(node) == wanted:
            return True
        node = view.parent(node)
    return False


def _convert_call(
    view: FileView, node: ast.Attribute, call: ast.Call, row: Row, form: Form, name: str
) -> tuple[list[Edit], str]:
    target = target_form(row, view)
    larger = larger_member(view, node, form, target, row.code)
    if larger:
        return larger, target.also[0].replace("{self}", row.receiver or "")
    if target.template is not None and not target.signatures and not target.names:
        if call.args or call.keywords:
            raise Refusal("API210", problem="it takes no arguments", signature="()")
        before, _, after = view.quoted(target.template, call).partition("{self}")
        inner, span = view.source.span(node.value), view.source.span(call)
        return [
            Edit(Span(span.start, inner.start), before, row.code),
            Edit(Span(inner.end, span.end), after, row.code),
        ], target.template.replace("{self}", row.receiver or "")
    binding = bind(view, call, row, form, name)
    binding.receiver = node.value
    run_hook(binding)
    whole, template = named_result(view, call, target, binding.beside) if target.results else (None, target.template)
    template = binding.template or template
    if template is not None:
        edits = [*surrounding(binding), *compose(binding, target, template, whole)]
        return edits, template.replace("{self}", row.receiver or "")
    edits = [*surrounding(binding), *convert_arguments(binding, target)]
    if node.attr not in target.names:
        end = view.source.span(node).end
        edits.append(Edit(Span(end - len(node.attr.encode()), end), target.names[0], row.code))
    return edits, f"{row.receiver}.{target.names[0]}" if edits else ""
