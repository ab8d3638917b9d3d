"""Plans one site: which target API it becomes and what happens to its arguments."""

from __future__ import annotations

import ast

from paddletorch_rules import Form, Row
from paddletorch_rules.hooks import class_checks

from paddletorch.model import Edit
from paddletorch.plan.calls.convert_call import convert_call, run_hook
from paddletorch.plan.inference.overloads import choose
from paddletorch.plan.model.outcome import Outcome, finding, target_form, target_name
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.reexports import reads_alike
from paddletorch.plan.sites.sites import Candidate, Site
from paddletorch.plan.uses.call_hooks import SITE_HOOKS
from paddletorch.plan.uses.probes import answer_probe
from paddletorch.plan.uses.unbound import bind_method, convert_method, methods
from paddletorch.plan.uses.values import (
    as_lambda,
    call_decorator,
    convert_assignment,
    convert_class_member,
    is_decorator,
    warn_value,
)
from paddletorch.resolve import NoneValue, Partial, Qualified


def _suit_all(view: FileView, site: Site, outcomes: list[Outcome]) -> bool:
    """Whether a variable that holds one of several APIs, such as layers, is used so that all give the same edits."""
    if site.anchor.kind not in ("alias", "attribute") or site.node is not site.anchor.node:
        return False
    if any(o.target is None or o.whole is not None or o.full for o in outcomes):
        return False
    edits = [sorted((str(e.span), e.text, str(e.parts)) for e in o.edits) for o in outcomes]
    codes = [[f.code for f in o.findings] for o in outcomes]
    return all(e == edits[0] for e in edits) and all(c == codes[0] for c in codes)


def _needs_no_edit(site: Site, outcome: Outcome) -> bool:
    """Whether a variable that holds an API or something else is used in a way that is right for both as it stands."""
    if site.other is None or site.anchor.kind not in ("alias", "attribute") or site.node is not site.anchor.node:
        return False
    return outcome.target is not None and outcome.whole is None and not (outcome.full or outcome.edits)


def _suits_partials(view: FileView, site: Site, outcome: Outcome) -> bool:
    """Whether a variable holds an API or partials over it, and its call gets the same keywords for both."""
    if site.other is None or site.node is not site.anchor.node or outcome.target is None or outcome.whole is not None:
        return False
    own = {c.name for c in site.candidates}
    values = view.evaluator.values(site.node)
    held = [v for v in values if not (isinstance(v, NoneValue) or (isinstance(v, Qualified) and v.name in own))]
    if not all(isinstance(v, Partial) and v.name in own and v.positional == 0 for v in held):
        return False
    return all(edit.span.start != edit.span.end for edit in outcome.edits)  # a default would overrule the partial's


def _takes_anything(view: FileView, candidate: Candidate) -> bool:
    """Whether the API takes any arguments, as ``Identity`` does: it suits what the others need."""
    signature = candidate.form.signature(view.settings.source_releases.newest)
    return signature is not None and bool(signature.parameters) and all(p.variadic for p in signature.parameters)


def plan_site(view: FileView, site: Site) -> Outcome:
    """Plan a site for each API it may mean; all must agree."""
    row = site.candidates[0].row
    if view.suppressed(row.code, site.call or site.node):
        return Outcome(row, None)
    if not view.is_located(site.call or site.node):
        return _left(view, site, row, Refusal("API216"))
    candidates = [c for c in site.candidates if not _takes_anything(view, c)] or site.candidates
    outcomes = [_plan_candidate(view, site, candidate) for candidate in candidates]
    if site.anchor.kind == "free" and isinstance(site.anchor.node, ast.Name) and site.node is site.anchor.node:
        outcomes = _plausible(outcomes)
    outcomes = [o for o in outcomes if not _misfits(o)] or outcomes
    first = outcomes[0]
    if len({c.name for c in site.candidates}) > 1 and _suit_all(view, site, outcomes):
        first.keeps_name = True
    elif any(not first.same_as(other) for other in outcomes[1:]):
        refused = [o for o in outcomes if o.target is None]
        if len(refused) == len(outcomes):
            return first
        apis = " or ".join(c.name for c in site.candidates)
        return _left(view, site, first.row, Refusal("API202", name=view.text(site.anchor.node), apis=apis))
    if _needs_no_edit(site, first):
        first.keeps_name = True
    elif _suits_partials(view, site, first):
        return first
    elif site.other is not None and first.target is not None and not view.settings.options.unsafe:
        if reads_alike(view, site, first):
            first.keeps_name = True
            return first
        line = str(getattr(site.other, "lineno", 0))
        refusal = Refusal("API201", name=view.text(site.anchor.node), other=line)
        return _left(view, site, first.row, refusal)
    return first


def _misfits(outcome: Outcome) -> bool:
    """Whether the arguments make no sense under this reading of the name."""
    return outcome.target is None and any(f.code == "API210" for f in outcome.findings)


def _plausible(outcomes: list[Outcome]) -> list[Outcome]:
    """For a name that nothing binds: the readings that fit the arguments without a finding, if there are any."""
    fitting = [o for o in outcomes if o.target is not None]
    silent = [o for o in fitting if not o.findings]
    return silent or fitting or outcomes


def _left(view: FileView, site: Site, row: Row, refusal: Refusal) -> Outcome:
    return Outcome(row, None, findings=[finding(refusal, site.node, site.name, row)])


def _plan_candidate(view: FileView, site: Site, candidate: Candidate) -> Outcome:
    before = len(view.findings)
    try:
        outcome = _convert(view, site, candidate)
        if outcome.target is None and not outcome.findings and len(view.findings) == before:
            replacement = target_name(candidate.row, view) or "the counterpart"
            raise Refusal("API205", what="this use", replacement=replacement)
    except Refusal as refusal:
        outcome = Outcome(candidate.row, None)
        del view.findings[before:]
        view.findings.append(finding(refusal, site.node, candidate.name, candidate.row))
    outcome.findings += view.findings[before:]
    del view.findings[before:]
    return outcome


def _overload(view: FileView, site: Site, candidate: Candidate) -> Candidate:
    """The row that the call fits, where several have the name."""
    options = view.settings.overloads(candidate.name)
    if len(options) < 2:
        return candidate
    constants = [o for o in options if o[0].kind == "constant"]
    options = [o for o in options if o[0].kind != "constant"]
    if site.role not in ("call", "partial") or site.call is None:
        named = [o for o in options if (f := _emitted(o[0], view)) is not None and f.names and f.template is None]
        return Candidate(candidate.name, *[*constants, *named, (candidate.row, candidate.form)][0])
    if not options:
        return candidate
    return Candidate(candidate.name, *choose(view, site.call, options, 1 if site.role == "partial" else 0))


def _emitted(row: Row, view: FileView) -> Form | None:
    return view.settings.emitted(row)


def _convert(view: FileView, site: Site, candidate: Candidate) -> Outcome:
    attribute = view.parent(site.node)
    if site.role == "member" and isinstance(attribute, ast.Attribute) and not attribute.attr.startswith("__"):
        options = methods(view, candidate.name, attribute.attr)
        if options and site.call is not None:
            return _unbound(view, site.call, attribute, options)
    candidate = _overload(view, site, candidate)
    row = candidate.row
    if row.annotation and site.role not in ("annotation", "check", "alias"):
        raise Refusal("API205", what="this use", replacement=target_name(row, view) or "the counterpart")
    if row.annotation and site.role == "check" and _never_holds(view, site, row):
        raise Refusal("API205", what="the check", replacement=target_form(row, view).template or "the counterpart")
    if site.role == "check" and row.kind == "class" and _is_wider(view, row):
        raise Refusal("API205", what="the check", replacement=target_name(row, view) or "the counterpart")
    if site.role == "patch" and row.kind == "constant" and not row.forms(view.target):
        raise Refusal(row.report or "API209", replacement="the counterpart", what="is assigned to")
    if site.role == "patch" and row.kind == "constant" and target_form(row, view).assign:
        return convert_assignment(view, site, row)
    if site.role == "patch":
        raise Refusal("API209", replacement=target_name(row, view) or "the counterpart")
    if site.role == "probe" and site.call is not None:
        answered = answer_probe(view, site.call, candidate.name, row)
        if answered is not None:
            return answered
    if site.role == "probe":
        replacement = target_name(row, view) or "the counterpart"
        what = view.text(site.call) if site.call is not None else "the probe"
        raise Refusal("API205", what=what, replacement=replacement)
    hook = SITE_HOOKS.get(row.hook or "")
    if hook is not None and site.role == "call" and site.call is not None:
        replaced = hook(view, site.call, row, candidate.form, candidate.name)
        if replaced is not None:
            return Outcome(row, replaced.name, replaced.edits, full=True, whole=replaced.whole)
    if row.kind == "unsupported" or not row.forms(view.target):
        raise Refusal(row.report or "API208", what="is not used in a way that can be converted")
    if row.hook == "sharded_scaler":
        if site.role not in ("annotation", "check"):
            raise Refusal("AMP234")
        row = view.settings.table.row("GradScaler")  # a function is no class: there the plain scaler stands
    form = target_form(row, view)
    outcome = Outcome(candidate.row, form.names[0] if form.names else None)
    if row.kind == "constant":
        if view.target in row.warn and site.role != "annotation":
            view.report(row.warn[view.target], site.node, candidate.name, row)
        if form.template is not None:
            text = view.quoted(form.template, site.node)
            outcome.target, outcome.whole = form.template, Edit(view.source.span(site.node), text, row.code)
        return outcome
    if row.kind == "module":
        if site.role == "value":
            raise Refusal("API205", what="this use", replacement=form.names[0])
        return outcome
    if view.target in row.warn and _is_warned(view, site, row):
        view.report(row.warn[view.target], site.node, candidate.name, row)
    if site.call is not None and site.role in ("call", "partial"):
        convert_call(view, site, candidate, form, outcome)
    elif site.role == "member":
        convert_class_member(view, site, candidate, form, outcome)
    elif is_decorator(view, site.node):
        outcome.edits += call_decorator(view, site, candidate, form)
    elif site.role == "value" and (function := as_lambda(view, site, candidate, form)) is not None:
        outcome.target, outcome.whole = form.template, function
    elif site.role == "value" and not form.names and row.kind == "function":
        raise Refusal("API205", what="this use", replacement=form.template or "the counterpart")
    elif site.role == "value" and row.kind in ("class", "context", "function"):
        warn_value(view, site, candidate, outcome)
    return outcome


def _never_holds(view: FileView, site: Site, row: Row) -> bool:
    """Whether a check for a class of the source would let in what is a plain string on the other side, and more."""
    if target_form(row, view).template != "str":
        return False
    parent = view.parent(site.node)
    beside = parent.elts if isinstance(parent, ast.Tuple) else []
    return not any(isinstance(e, ast.Name) and e.id == "str" for e in beside)


def _is_wider(view: FileView, row: Row) -> bool:
    """Whether the base of all layers takes the place of a narrower class."""
    found = view.settings.table.lookup(view.target, target_name(row, view) or "")
    return found is not None and found[0].id == "nn.Module" and row.id != "nn.Module"


def _unbound(view: FileView, call: ast.Call, attribute: ast.Attribute, options: list[tuple[Row, Form]]) -> Outcome:
    """``torch.Tensor.add(x, y)``: the method is called on its tensor."""
    binding = bind_method(view, call, attribute, options)
    row = binding.row
    if row.report is not None and not row.forms(view.target):
        raise Refusal(row.report, method=attribute.attr)
    run_hook(binding)
    (whole, *edits), target = convert_method(view, call, binding, target_form(row, view))
    if view.target in row.warn:
        view.report(row.warn[view.target], call, binding.name, row)
    return Outcome(row, target, edits, full=True, whole=whole)


def _is_warned(view: FileView, site: Site, row: Row) -> bool:
    """Whether the row's warning is for this use: a call, or a class statement that its check finds wanting."""
    if site.role != "base":
        return site.role in ("call", "partial")
    check = class_checks().get(row.id)
    statement = view.parent(site.node)
    return check is None or not isinstance(statement, ast.ClassDef) or check(statement, view.target)
