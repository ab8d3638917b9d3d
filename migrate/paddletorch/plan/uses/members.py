"""Methods and attributes of instances of tracked types: ``scaler.get_scale()``, ``optimizer.zero_grad()``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from paddletorch_rules import Form, Row
from paddletorch_rules.adapters import definitions, readers

from paddletorch.model import Edit, Fate, Span
from paddletorch.plan.calls.bind import bind
from paddletorch.plan.calls.convert_call import Callee, convert_bound_call
from paddletorch.plan.calls.fill_template import fill
from paddletorch.plan.inference.built_on import BuiltOn
from paddletorch.plan.inference.overloads import Fit, choose, fit
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import Finding, finding, refused
from paddletorch.plan.model.match import Match
from paddletorch.plan.model.refusals import (
    LayoutMatters,
    LeftWithAnother,
    Misused,
    NotLocated,
    Refused,
)
from paddletorch.plan.model.same_code import same_code
from paddletorch.plan.model.target_forms import target_form
from paddletorch.plan.model.template import Template
from paddletorch.plan.model.view import FileView
from paddletorch.plan.model.written_code import outside_of_written
from paddletorch.plan.names.spelling import spelled
from paddletorch.plan.sites.attribute_keys import is_set_on_self
from paddletorch.plan.uses.attributes import larger_member, plan_attribute, read_of_unseen_layer
from paddletorch.plan.uses.expression_templates import replace_match
from paddletorch.plan.uses.instance_calls import plan_instance_calls
from paddletorch.plan.uses.linear_weights import is_tied_to_unknown, may_be_linear_weight, may_be_read_from_linear
from paddletorch.plan.uses.method_hooks import METHOD_HOOKS, MemberCall
from paddletorch.plan.uses.passed_methods import plan_reference, renamed
from paddletorch.resolve import Instance
from paddletorch.resolve.scopes.spans import SpanIndex
from paddletorch.resolve.values import UNKNOWN
from paddletorch.text.source import splice

_HOOK_RESULTS = {
    "minimize": "scaler.step + scaler.update",
    "update": "scaler.update + scaler.set_init_loss_scaling",
}


def plan_members(view: FileView, planned: Planned) -> Changes:
    """Plan every use of a member of an instance of a tracked type."""
    receivers = view.provide(Receivers).with_uses(planned.uses)
    aliases, given = planned.naming.aliases, given_members(view, planned)
    file = _File(view, planned, receivers, aliases, _left_scaler(planned), given, view.provide(BuiltOn))
    matches = [(match, _plan_match(file, match)) for match in view.matches.values()]
    matched = {
        n for match, changes in matches if changes is not None and not changes.findings for n in match.attributes
    }
    known = view.settings.member_names
    attributes = outside_of_written(view, (n for n in view.tree.attributes if n.attr in known and n not in matched))
    attributes.sort(key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0))
    removed = _removed(view, planned)
    planned_members = [(n, *_plan_member(file, n)) for n in attributes if n not in planned.handled]
    is_said = (changes.edits or not changes.findings or not removed(n) for n, changes, _ in planned_members)
    members = [(changes, fate) for (_, changes, fate), said in zip(planned_members, is_said, strict=True) if said]
    counted = Changes(unlisted=tuple(fate for _, fate in members if fate is not None))
    planned_matches = [changes for _, changes in matches if changes is not None]
    return joined(
        [*planned_matches, *(changes for changes, _ in members), *plan_instance_calls(view, planned), counted]
    )


def _removed(view: FileView, planned: Planned) -> Callable[[ast.Attribute], bool]:
    """Whether the text of a node goes: arguments that the target does not take. What an edit writes again stays."""
    edits = [edit for use in planned.uses if use.converts for edit in use.every_edit]
    gone = [edit.span for edit in edits if not edit.text and not edit.parts and edit.span.end > edit.span.start]
    kept = [part for edit in edits for part in edit.parts if isinstance(part, Span)]  # moved to another place
    written = [one for edit in edits for one in (edit.text, *edit.parts) if isinstance(one, str)]
    index, moved = (SpanIndex(((one.start, 0), (one.end, 0), one) for one in spans) for spans in (gone, kept))

    def is_removed(node: ast.Attribute) -> bool:
        span = view.source.span(node)
        start, end = (span.start, 0), (span.end, 0)
        is_gone = any(index.around(start, end)) and not any(moved.around(start, end))
        return is_gone and not any(view.text(node) in one for one in written)

    return is_removed


class _File(NamedTuple):
    """The file and the decisions about its uses."""

    view: FileView
    planned: Planned
    receivers: Receivers
    aliases: Mapping[str, str]
    """The converted file's names of the target's modules."""
    left_scaler: int | None
    """The line of a scaler's constructor, if the file has any and all of them are left."""
    given: Mapping[ast.ClassDef, frozenset[str]]
    """The classes that derive from a written one, with the members of the source that this has too."""
    built_on: BuiltOn
    """What comes from packages that are built on the source framework: no such member is known to be the same."""


def _left_scaler(planned: Planned) -> int | None:
    constructors = [use for use in planned.uses if use.row.instance == "scaler" and use.site.role == "call"]
    return constructors[0].site.node.lineno if constructors and not any(use.converts for use in constructors) else None


def given_members(view: FileView, planned: Planned) -> dict[ast.ClassDef, frozenset[str]]:
    """The local classes whose base is a written class, and what that keeps by the source's names."""
    found: dict[ast.ClassDef, frozenset[str]] = {}
    for use in planned.uses:
        around = view.parent(use.site.node)
        if use.adapter is not None and use.site.role == "base" and isinstance(around, ast.ClassDef):
            if not (use.adapter.is_base or use.adapter.derivable):
                continue
            found[around] = frozenset().union(*(_defined(one.text) for one in definitions(view.target, use.adapter)))
    return found


@cache
def _defined(text: str) -> frozenset[str]:
    """The attributes that a written class sets, and its methods."""
    nodes = list(ast.walk(ast.parse(text)))
    kept = {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    return frozenset(kept | {n.name for n in nodes if isinstance(n, ast.FunctionDef)})


def _plan_match(file: _File, match: Match) -> Changes | None:
    """Plan an expression that matches a template; None to plan its members separately."""
    view, row, name = file.view, match.row, file.view.text(match.node)
    if match.start in file.planned.handled or (file.left_scaler is not None and row.receiver == "scaler"):
        return None
    if _is_given(file, match.start):
        return None
    if view.suppressed(row.code, match.node):
        return NOTHING
    try:
        form = target_form(row, view)
        if not view.is_located(match.node):
            raise Refused(NotLocated())
        changes = spelled(view, file.aliases, match.start, replace_match(view, match, form), name)
    except Refused as stop:
        # its members are then planned separately
        return Changes(findings=(refused(stop.refusal, match.node, f"{row.receiver} expression", row),))
    written = form.template or f"{row.receiver}.{form.names[0]}"
    return changes._replace(conversions=(view.conversion(row.code, match.node, name, written, row.id),))


def _plan_member(file: _File, node: ast.Attribute) -> tuple[Changes, tuple[str, Fate] | None]:
    """Plan one member for the first type that its receiver may have; its name and fate if nothing is said of it."""
    view = file.view
    rows = view.settings.members(node.attr)
    if not rows or (isinstance(node.value, ast.Name | ast.Attribute) and _is_framework_name(view, node.value)):
        return NOTHING, None
    if node.attr == "weight" and is_tied_to_unknown(view, node):
        return Changes(findings=(refused(LayoutMatters(), node, "linear.weight", rows[0][0]),)), None
    if node.attr == "weight" and may_be_read_from_linear(view, node) and not view.suppressed(rows[0][0].code, node):
        linear = next(row for row, _ in rows if row.receiver == "linear")
        return read_of_unseen_layer(view, file.aliases, node, linear), None
    parent = view.parent(node)
    call = parent if isinstance(parent, ast.Call) and parent.func is node else None
    agreed = _plan_for_all_types(file, node, call, rows)
    if agreed is not None:
        return agreed, None
    for receiver in dict.fromkeys(row.receiver for row, _ in rows):
        assert receiver is not None
        options = [pair for pair in rows if pair[0].receiver == receiver]
        row, form = options[0]
        certainty = file.receivers.certainty_for(node, call, receiver, options)
        if row.report is not None and not row.forms(view.target) and _is_super_of(view, node.value, receiver):
            certainty = Certainty.YES
        if certainty is Certainty.NO and row.kind == "attribute" and _has_kernel(view, node.value):
            certainty = Certainty.MAYBE
        if certainty is Certainty.YES and _only_name_shows(view, node, row):
            certainty = Certainty.MAYBE
        is_linear = row.hook == "linear_weight" and certainty is not Certainty.YES
        if is_linear and not view.suppressed(row.code, node) and may_be_linear_weight(view, node):
            return Changes(findings=(refused(LayoutMatters(), node, "linear.weight", row),)), None
        if certainty is Certainty.NO or view.suppressed(row.code, call or node):
            continue
        is_for_any = row.any_receiver and row.kind == "method" and certainty is Certainty.MAYBE
        if (not is_for_any and file.receivers.overrides(node.value, node.attr)) or _is_given(file, node):
            continue
        if row.kind == "method" and is_set_on_self(view, node):
            continue
        changes, is_called = NOTHING, row.kind == "attribute" and call is not None and row.instance in _NOT_CALLED
        if is_called and certainty is not Certainty.YES:
            continue  # whatever has this method, it is none of the framework's
        if is_called:
            name = f"{receiver}.{node.attr}"
            problem = Misused(f"{name}, without brackets", "it is a value, which cannot be called")
            changes = Changes(findings=(refused(problem, node, name, row),))
        elif row.kind == "attribute":
            if certainty is Certainty.YES or row.any_receiver or view.settings.options.unsafe:
                changes = plan_attribute(view, file.aliases, node, row, form)
            else:
                changes = _plan_unknown_layer(file, node, row, [r for r, _ in rows])
        elif call is None:
            if certainty is Certainty.YES and row.report is None and file.left_scaler is None:
                changes = plan_reference(view, node, options)
        else:
            changes = _plan_call(file, node, call, options, certainty)
        unknown = _is_of_package(file, node, changes)
        same = certainty is Certainty.YES and not changes.edits and not _must_be_looked_at(view, changes)
        fate = Fate.NOT_EXAMINED if unknown else Fate.SAME
        return changes, (f"{receiver}.{node.attr}", fate) if same or unknown else None
    if not _is_of_package(file, node, NOTHING) or any(view.suppressed(row.code, call or node) for row, _ in rows):
        return NOTHING, None
    return NOTHING, (f"{rows[0][0].receiver}.{node.attr}", Fate.NOT_EXAMINED)


def _only_name_shows(view: FileView, node: ast.Attribute, row: Row) -> bool:
    """Whether only the attribute's name shows what has it, and a written function is right for own classes too."""
    if row.kind != "attribute" or not row.distinctive or f"{row.receiver}.{node.attr}" not in readers(view.target):
        return False
    return not view.evaluator.objects(node.value) - UNKNOWN


_NOT_CALLED = frozenset({"bool", "device", "dtype", "int", "shape", "tensor"})
"""What attributes hold that nothing can call."""


def _plan_for_all_types(
    file: _File, node: ast.Attribute, call: ast.Call | None, rows: list[tuple[Row, Form]]
) -> Changes | None:
    """The member of an object of one of several known types, if the same edits are right for each of them."""
    types = file.receivers.framework_types(node.value)
    if len(types) < 2 or file.receivers.overrides(node.value, node.attr):
        return None
    bases = [file.view.settings.table.bases(one) for one in types]
    nearest = {next((base for base in own if any(row.receiver == base for row, _ in rows)), None) for own in bases}
    if len(nearest) < 2 or None in nearest:
        return None
    plans: list[Changes] = []
    for receiver in dict.fromkeys(row.receiver for row, _ in rows if row.receiver in nearest):  # in the tables' order
        options = [pair for pair in rows if pair[0].receiver == receiver]
        row, form = options[0]
        if row.report is not None or file.view.suppressed(row.code, call or node):
            return None
        if row.kind == "attribute":
            plans.append(plan_attribute(file.view, file.aliases, node, row, form))
        elif call is not None:
            plans.append(_plan_call(file, node, call, options, Certainty.YES))
    first = plans[0] if plans else NOTHING
    alike = all(one.edits == first.edits and not one.findings for one in plans)
    return first if first.edits and alike and len(plans) == len(nearest) else None


def _is_of_package(file: _File, node: ast.Attribute, changes: Changes) -> bool:
    """Whether nothing is done about a member of what a package gives that is built on the source framework."""
    return not (changes.edits or changes.findings) and file.built_on.source_of(node.value) is not None


def _is_given(file: _File, node: ast.Attribute) -> bool:
    """Whether the receiver is of a local class that has the member from the written class below it."""
    values = file.view.evaluator.values(node.value) if file.given else ()
    own = [value.node for value in values if isinstance(value, Instance) and value.node is not None]
    return bool(own) and all(node.attr in file.given.get(one, ()) for one in own)


def _is_super_of(view: FileView, node: ast.expr, receiver: str) -> bool:
    """Whether this is ``super()`` in a class that derives from one of the framework's of this type."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "super":
        return False
    current: ast.AST | None = node
    while current is not None and not isinstance(current, ast.ClassDef):
        current = view.parent(current)
    names = [view.qualified(base) for base in current.bases] if current is not None else []
    rows = [found[0] for name in names if name and (found := view.settings.lookup(name)) is not None]
    return any(receiver in view.settings.table.bases(row.instance or "") for row in rows)


def _plan_unknown_layer(file: _File, node: ast.Attribute, row: Row, rows: list[Row]) -> Changes:
    """Read an attribute of what may be a layer by a written function, or report it.

    ``rows`` are all rows of the attribute: where most layers keep its name, one that does not must be seen.
    """
    view = file.view
    form, bases = view.settings.emitted(row), view.settings.table.bases
    if row.report is not None or form is None or node.attr in form.names:
        return NOTHING
    keeps = any(r.receiver != row.receiver and r.receiver in bases(row.receiver or "") for r in rows)
    types = {v.type for v in view.evaluator.objects(node.value) if isinstance(v, Instance)}
    if keeps and not any(row.receiver in bases(one) for one in types) and not _has_kernel(view, node.value):
        return NOTHING
    if _is_registered(view, node):
        return NOTHING
    others = {r.receiver for r in rows if r.receiver != row.receiver and r.receiver not in bases(row.receiver or "")}
    is_one = not any(other in bases(one) for other in others for one in types)
    if f"{row.receiver}.{node.attr}" in readers(view.target) and isinstance(node.ctx, ast.Load) and is_one:
        return read_of_unseen_layer(view, file.aliases, node, row)
    template = form.template or "{self}." + form.names[0]
    written = template.replace("{self}", "") if template.count("{self}") == 1 else "an expression of several parts"
    details = {"name": view.text(node.value), "type": row.receiver or "", "attribute": node.attr}
    return Changes(findings=(finding("API234", node, f"{row.receiver}.{node.attr}", row, written=written, **details),))


def _is_registered(view: FileView, node: ast.Attribute) -> bool:
    """Whether it is a buffer or parameter that the file gives to this module by name: the same on both sides."""
    stores = (store for store in view.evaluator.stores_of(node) if store.registered)
    return any(view.text(store.target.value) == view.text(node.value) for store in stores)


def _has_kernel(view: FileView, node: ast.expr) -> bool:
    """Whether the attribute holds what an unseen class makes with a kernel's size: a convolution or a pooling layer."""
    stores = view.evaluator.stores(node.attr) if isinstance(node, ast.Attribute) else ()
    made = [store.value for store in stores if isinstance(store.value, ast.Call)]
    unseen = [call for call in made if not any(isinstance(v, Instance) for v in view.evaluator.values(call))]
    return any(keyword.arg == "kernel_size" for call in unseen for keyword in call.keywords)


def _must_be_looked_at(view: FileView, changes: Changes) -> bool:
    return any(view.settings.table.diagnostics[found.code].severity != "info" for found in changes.findings)


def _is_framework_name(view: FileView, node: ast.expr) -> bool:
    """Whether this is a dotted name in a framework's module, not a member of an object."""
    name = view.qualified(node)
    if name is None or view.settings.table.constant(name) is not None:
        return False
    return not any(isinstance(v, Instance) for v in view.evaluator.objects(node))


def _plan_call(
    file: _File, node: ast.Attribute, call: ast.Call, options: list[tuple[Row, Form]], certainty: Certainty
) -> Changes:
    """Plan a method's call: by a hook that rewrites the statement, or as any other call."""
    view, row = file.view, options[0][0]
    sure = certainty is Certainty.YES
    shown = sure or row.receiver != "tensor"
    name = f"{row.receiver}.{node.attr}"
    try:
        if not view.is_located(call):
            raise Refused(NotLocated())
        row, form = choose(view, call, options)
        if not sure and row.receiver == "tensor" and _is_another(view, call, form):
            return NOTHING
        if _is_written(view, call, row):
            return NOTHING
        hook = METHOD_HOOKS.get(row.hook or "")
        changes = hook(view, MemberCall(node, call, row, name, certainty)) if hook is not None else None
        replacement = _HOOK_RESULTS.get(row.hook or "", name)
        if changes is None and row.report is not None and not (row.forms(view.target) and row.parameters):
            details = {"method": node.attr}
            return Changes(findings=(finding(row.report, call, name, row, **details),)) if shown else NOTHING
        if changes is None:
            edits, findings, replacement = _convert_call(
                view, node, call, row, form, name, sure or not row.any_receiver
            )
            changes = spelled(view, file.aliases, node, edits, name)._replace(findings=findings)
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, call, name, row),)) if shown else NOTHING
    edits = changes.edits
    if not edits and hook is not None:
        return changes  # no change is needed, or the hook reported it
    if not sure and _is_converted_already(view, call, edits):
        return NOTHING
    if not sure and not (row.any_receiver or view.settings.options.unsafe):
        if not edits and row.receiver != "scaler":
            return NOTHING
        details = {"name": view.text(node.value), "type": row.receiver or "", "method": node.attr}
        return Changes(findings=(finding("API212", call, name, row, **details),))
    if row.receiver == "scaler" and file.left_scaler is not None and edits:
        return Changes(findings=(refused(LeftWithAnother(view.text(node), file.left_scaler), call, name, row),))
    if view.target in row.warn:
        changes = changes._replace(findings=(*changes.findings, finding(row.warn[view.target], call, name, row)))
    if not (replacement and edits):
        return changes
    return changes._replace(conversions=(view.conversion(row.code, call, name, replacement, row.id),))


def _is_written(view: FileView, call: ast.Call, row: Row) -> bool:
    """Whether the call stands in what the row writes already: ``p.data.copy_(x)``."""
    form = view.settings.emitted(row)
    template = (form.template if form is not None else None) or ""
    member = getattr(call.func, "attr", "")
    is_member = template.startswith("{self}.") and ":" not in template  # an argument that may be missing has no shape
    is_member = is_member and not template.startswith(f"{{self}}.{member}(")  # the source's own call looks the same
    return is_member and Template(template).match(call, view.tree.scopes) is not None


def _is_another(view: FileView, call: ast.Call, form: Form) -> bool:
    """Whether the arguments show that this is no tensor's method: ``line.split(",")``."""
    return fit(view, call, form.signature(view.settings.source_releases.newest)) is Fit.NO


def _edited(view: FileView, span: Span, edits: tuple[Edit, ...]) -> str | None:
    """The text of the span after the edits; None if one is not inside it."""
    if not all(span.holds(e.span) for e in edits):
        return None
    return splice(view.source.body[span.start : span.end], [e.moved(-span.start) for e in edits]).decode("utf-8")


def _is_converted_already(view: FileView, call: ast.Call, edits: tuple[Edit, ...]) -> bool:
    """Whether the code around the call already is what the edits would make of it, from an earlier run."""
    span, node = view.source.span(call), view.parent(call)
    text = _edited(view, span, edits)
    if text is None:
        return False
    try:
        wanted = ast.parse(text, mode="eval").body
    except SyntaxError:
        return False
    while isinstance(node, ast.expr | ast.keyword):
        if same_code(node, wanted):
            return True
        node = view.parent(node)
    return False


def _convert_call(
    view: FileView, node: ast.Attribute, call: ast.Call, row: Row, form: Form, name: str, with_larger: bool
) -> tuple[tuple[Edit, ...], tuple[Finding, ...], str]:
    """The edits, the findings and the method's new name; ``with_larger`` reads what stands around the call too.

    Raises:
        Refused: it must be left.
    """
    target, receiver = target_form(row, view), row.receiver or ""
    larger = larger_member(view, node, form, target, row.code) if with_larger else ()
    if larger:
        return tuple(larger), (), target.also[0].replace("{self}", receiver)
    if target.template is not None and not target.signatures and not target.names:
        return _as_attribute(view, node, call, row, target.template), (), target.template.replace("{self}", receiver)
    binding = bind(view, call, row, form, name, receiver=node.value)
    converted = convert_bound_call(binding, target, Callee.METHOD)
    if converted.template is not None:
        return converted.every_edit, converted.findings, converted.template.replace("{self}", receiver)
    edits = converted.every_edit
    if node.attr not in target.names:
        edits = (*edits, renamed(view, node, target.names[0], row.code))
    return edits, converted.findings, f"{receiver}.{target.names[0]}" if edits else ""


def _as_attribute(view: FileView, node: ast.Attribute, call: ast.Call, row: Row, template: str) -> tuple[Edit, ...]:
    """Convert a call without arguments to an attribute or expression of the receiver.

    Raises:
        Refused: the call has arguments.
    """
    if call.args or call.keywords:
        raise Refused(Misused("()", "it takes no arguments"))
    return (Edit(view.source.span(call), "", row.code, tuple(fill(view, template, {"self": node.value}, call))),)
