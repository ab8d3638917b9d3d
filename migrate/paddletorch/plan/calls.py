"""Plans one site: which target API it becomes and what happens to its arguments."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from paddletorch_rules import Form, Row
from paddletorch_rules.hooks import ARGUMENT_HOOKS

from paddletorch.model import Edit, Span
from paddletorch.plan.arguments import convert_arguments
from paddletorch.plan.binding import CallBinding, bind
from paddletorch.plan.context import FileContext, Finding, Refusal
from paddletorch.plan.rewrites import SITE_HOOKS
from paddletorch.plan.sites import Candidate, Site
from paddletorch.plan.template import Template


@dataclass
class Outcome:
    """What a site becomes. ``target`` is None if it is left alone; ``findings`` say why, or warn."""

    row: Row
    target: str | None
    edits: list[Edit] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    full: bool = False
    """The edits write the new name themselves, in full."""
    whole: Edit | None = None
    """What replaces the whole call or statement, where the target is not a plain call."""

    def same_as(self, other: Outcome) -> bool:
        """Whether two readings of a site lead to the same result."""
        codes = [f.code for f in self.findings]
        return (
            self.target == other.target
            and self.whole == other.whole
            and sorted(self.edits, key=str) == sorted(other.edits, key=str)
            and codes == [f.code for f in other.findings]
        )


def plan_site(context: FileContext, site: Site) -> Outcome:
    """Plan a site for each API it may mean; all must agree."""
    row = site.candidates[0].row
    if context.suppressed(row.code, site.call or site.node):
        return Outcome(row, None)
    if not context.is_located(site.call or site.node):
        return _left(context, site, row, Refusal("API216"))
    outcomes = [_plan_candidate(context, site, candidate) for candidate in site.candidates]
    if site.anchor.kind == "free" and isinstance(site.anchor.node, ast.Name) and site.node is site.anchor.node:
        outcomes = _plausible(outcomes)
    outcomes = [o for o in outcomes if not _misfits(o)] or outcomes
    first = outcomes[0]
    if any(not first.same_as(other) for other in outcomes[1:]):
        refused = [o for o in outcomes if o.target is None]
        if len(refused) == len(outcomes):
            return first
        apis = " or ".join(c.name for c in site.candidates)
        return _left(context, site, first.row, Refusal("API202", name=context.text(site.anchor.node), apis=apis))
    if site.other is not None and first.target is not None and not context.settings.options.unsafe:
        line = str(getattr(site.other.node, "lineno", 0))
        refusal = Refusal("API201", name=context.text(site.anchor.node), other=line)
        return _left(context, site, first.row, refusal)
    return first


def _misfits(outcome: Outcome) -> bool:
    """Whether the arguments make no sense under this reading of the name."""
    return outcome.target is None and any(f.code == "API210" for f in outcome.findings)


def _plausible(outcomes: list[Outcome]) -> list[Outcome]:
    """For a name that nothing binds: the readings that fit the arguments without a finding, if there are any."""
    fitting = [o for o in outcomes if o.target is not None]
    silent = [o for o in fitting if not o.findings]
    return silent or fitting or outcomes


def _left(context: FileContext, site: Site, row: Row, refusal: Refusal) -> Outcome:
    return Outcome(row, None, findings=[finding(refusal, site.node, site.name, row)])


def finding(refusal: Refusal, node: ast.expr, name: str, row: Row) -> Finding:
    """A refusal as a finding at ``node``."""
    return Finding(refusal.code, node, name, tuple(sorted(refusal.holes.items())), row)


def _plan_candidate(context: FileContext, site: Site, candidate: Candidate) -> Outcome:
    before = len(context.findings)
    try:
        outcome = _convert(context, site, candidate)
    except Refusal as refusal:
        outcome = Outcome(candidate.row, None)
        del context.findings[before:]
        context.findings.append(finding(refusal, site.node, candidate.name, candidate.row))
    outcome.findings += context.findings[before:]
    del context.findings[before:]
    return outcome


def _convert(context: FileContext, site: Site, candidate: Candidate) -> Outcome:
    row = candidate.row
    if site.role == "patch":
        raise Refusal("API209", replacement=target_name(row, context) or "the counterpart")
    if site.role == "probe":
        replacement = target_name(row, context) or "the counterpart"
        what = context.text(site.call) if site.call is not None else "the probe"
        raise Refusal("API205", what=what, replacement=replacement)
    hook = SITE_HOOKS.get(row.hook or "")
    if hook is not None and site.role == "call" and site.call is not None:
        replaced = hook(context, site.call, row, candidate.form, candidate.name)
        if replaced is not None:
            return Outcome(row, replaced.name, replaced.edits, full=True, whole=replaced.whole)
    if row.kind == "unsupported" or not row.forms(context.target):
        raise Refusal(row.report or "API208", what="is not used in a way that can be converted")
    if row.hook == "sharded_scaler":
        if site.role not in ("annotation", "check"):
            raise Refusal("AMP234")
        row = context.settings.table.row("GradScaler")  # a function is no class: there the plain scaler stands
    form = target_form(row, context)
    outcome = Outcome(candidate.row, form.names[0] if form.names else None)
    if row.kind == "module":
        if site.role == "value":
            raise Refusal("API205", what="this use", replacement=form.names[0])
        return outcome
    if context.target in row.warn and site.role in ("call", "partial"):
        context.report(row.warn[context.target], site.node, candidate.name, row)
    if site.call is not None and site.role in ("call", "partial"):
        _convert_call(context, site, candidate, form, outcome)
    elif site.role == "member":
        _convert_member(context, site, candidate, form, outcome)
    elif _is_decorator(context, site.node):
        outcome.edits += _call_decorator(context, site, candidate, form)
    elif site.role == "value" and row.kind in ("class", "context", "function"):
        _warn_value(context, site, candidate, outcome)
    return outcome


def _is_decorator(context: FileContext, node: ast.expr) -> bool:
    parent = context.parent(node)
    return isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) and node in parent.decorator_list


def _call_decorator(context: FileContext, site: Site, candidate: Candidate, form: Form) -> list[Edit]:
    """``@custom_fwd`` becomes ``@custom_fwd(device_type='cuda')`` where the target needs what the spelling implied."""
    if context.target in candidate.row.warn:
        context.report(candidate.row.warn[context.target], site.node, candidate.name, candidate.row)
    signature = form.signature(context.settings.target_releases.newest)
    given = [
        f"{target}={value}"
        for name, value in candidate.form.fixed.items()
        for pair in candidate.row.parameters
        if pair.name(context.settings.source) == name and (target := pair.name(context.target)) is not None
        if signature is not None and (p := signature.get(target)) is not None and p.default is None
    ]
    end = context.source.span(site.node).end
    text = context.quoted(f"({', '.join(given)})", site.node)
    return [Edit(Span(end, end), text, candidate.row.code)] if given else []


def target_form(row: Row, context: FileContext) -> Form:
    """The form to emit.

    Raises:
        Refusal: no spelling exists in every allowed release.
    """
    form = row.emitted(context.target, context.settings.target_releases.versions)
    if form is None:
        newest = row.forms(context.target)[0]
        raise Refusal("API208", replacement=newest.names[0], since=str(newest.since))
    return form


def target_name(row: Row, context: FileContext) -> str | None:
    """The name that would be emitted, for messages."""
    forms = row.forms(context.target)
    return forms[0].names[0] if forms and forms[0].names else None


def _convert_call(context: FileContext, site: Site, candidate: Candidate, form: Form, outcome: Outcome) -> None:
    assert site.call is not None
    skip = 1 if site.role == "partial" else 0
    binding = bind(context, site.call, candidate.row, candidate.form, candidate.name, skip)
    if form.template is not None:
        if site.role == "call":
            run_hook(binding)
            convert_arguments(binding, form)
            outcome.whole = _by_template(context, site.call, candidate, form)
            return
        raise Refusal("API204", replacement=form.template, arguments="")
    run_hook(binding)
    outcome.edits += convert_arguments(binding, form)


def _by_template(context: FileContext, call: ast.Call, candidate: Candidate, form: Form) -> Edit:
    """Write the template, or what takes the place of the larger expression that the source's form names."""
    parent = context.parent(call)
    whole = isinstance(parent, ast.expr) and any(Template(t).match(parent) is not None for t in candidate.form.also)
    node, text = (parent, form.also[0]) if whole and form.also else (call, form.template or "")
    assert isinstance(node, ast.expr)
    return Edit(context.source.span(node), context.quoted(text, node), candidate.row.code)


def run_hook(binding: CallBinding) -> None:
    """Run the row's hook on a call's arguments, if it has one."""
    hook = ARGUMENT_HOOKS.get(binding.row.hook or "")
    if hook is not None:
        hook(binding)


def _convert_member(context: FileContext, site: Site, candidate: Candidate, form: Form, outcome: Outcome) -> None:
    """``GradScaler.__init__(self, ...)`` and other uses of the class's members."""
    attribute = context.parent(site.node)
    assert isinstance(attribute, ast.Attribute)
    if site.call is not None and attribute.attr == "__init__":
        binding = bind(context, site.call, candidate.row, candidate.form, candidate.name, 1)
        run_hook(binding)
        outcome.edits += convert_arguments(binding, form)
    elif not isinstance(attribute.ctx, ast.Load):
        raise Refusal("API209", replacement=outcome.target or "the counterpart")
    elif context.settings.members(attribute.attr):
        raise Refusal("API204", replacement=outcome.target or "", arguments=attribute.attr)


def _warn_value(context: FileContext, site: Site, candidate: Candidate, outcome: Outcome) -> None:
    target, source = context.target, context.settings.source
    renamed = [
        f"{p.name(source)} is {p.name(target)}"
        for p in candidate.row.parameters
        if p.name(source) and p.name(target) and p.name(source) != p.name(target)
    ]
    if candidate.row.parameters:
        context.report(
            "API204",
            site.node,
            candidate.name,
            candidate.row,
            replacement=outcome.target or "",
            arguments=", ".join(renamed) or "the parameters differ",
        )
