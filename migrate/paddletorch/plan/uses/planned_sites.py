"""Plans the sites of a file: of the meanings that a name may have, what holds for all of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from paddletorch_rules.adapters import adapters

from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.refusals import (
    AmbiguousApi,
    ArgumentsDoNotFit,
    NeedsWholeCall,
    NotLocated,
    UncertainBinding,
)
from paddletorch.plan.model.site import Candidate, Site
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView, without_device
from paddletorch.plan.names.reexports import reads_alike, reexported_sites
from paddletorch.plan.sites.sites import find_sites
from paddletorch.plan.uses.adapters import with_adapter
from paddletorch.plan.uses.partials import has_same_edits
from paddletorch.plan.uses.planned_candidates import is_variable, plan_candidate
from paddletorch.plan.uses.runtime_calls import with_callee_wrapped
from paddletorch.plan.uses.stored_classes import with_stored_adapters
from paddletorch.resolve import NoneValue, Partial, Qualified


def plan_sites(view: FileView, planned: Planned) -> Changes:
    """Plan each site of the file, and uses of re-exported names that need more than their import converted."""
    here = [with_callee_wrapped(view, with_adapter(view, plan_site(view, site))) for site in view.provide(find_sites)]
    here = with_stored_adapters(view, here)
    elsewhere = [plan_site(view, site) for site in reexported_sites(view)]
    return Changes(uses=(*here, *(use for use in elsewhere if not use.keeps_name)))


def plan_site(view: FileView, site: Site) -> Use:
    """Plan a site for each API that it may mean; all results must be the same."""
    row = site.candidates[0].row
    if view.suppressed(row.code, site.call or site.node):
        return Use(site, row, None)
    if not view.is_located(site.call or site.node):
        return Use(site, row, None).refuse(NotLocated())
    possible = list(site.candidates)
    if view.target == "paddle" and len(possible) > 1:
        names = without_device([c.name for c in possible])
        possible = [c for c in possible if c.name in names]
    candidates = [c for c in possible if not _takes_anything(view, c)] or possible
    readings = [plan_candidate(view, site, candidate) for candidate in candidates]
    if site.anchor.kind == "free" and isinstance(site.anchor.node, ast.Name) and site.node is site.anchor.node:
        readings = _plausible(readings)
    readings = [use for use in readings if not _does_not_fit(use)] or readings
    first = readings[0]
    if len({c.name for c in possible}) > 1 and _same_edits(view, site, readings):
        notes = (f for use in readings[1:] for f in use.findings if _is_note(view, f) and f not in first.findings)
        first = replace(first.with_findings(*notes), keeps_name=True)
    elif any(not first.same_as(other) for other in readings[1:]):
        if not any(use.converts for use in readings):
            return first
        return first.refuse(AmbiguousApi(view.text(site.anchor.node), tuple(c.name for c in site.candidates)))
    return _with_other_meaning(view, first)


def _with_other_meaning(view: FileView, use: Use) -> Use:
    """Check a use whose name may also be no API: it converts only if the edits are right for both."""
    site = use.site
    if _needs_no_edit(use):
        return replace(use, keeps_name=True)
    if site.recorded and (use.whole is not None or use.writes_name):
        return use.refuse(NeedsWholeCall("a variable that may hold something else in another run", use.target or ""))
    if site.recorded and use.converts and use.edits and (_may_be_adapted(view, site) or _has_other_values(use)):
        return use.refuse(UncertainBinding(view.text(site.anchor.node), getattr(site.anchor.node, "lineno", 0)))
    if _suits_partials(view, use) or site.other is None or not use.converts:
        return use
    if reads_alike(view, use):
        return replace(use, keeps_name=True)
    if view.settings.options.unsafe:
        return use
    return use.refuse(UncertainBinding(view.text(site.anchor.node), int(getattr(site.other, "lineno", 0))))


def _may_be_adapted(view: FileView, site: Site) -> bool:
    """Whether what is called may have become an adapter, which takes the source's arguments.

    A class that a table or a function gives may have; what the caller passes is the class itself.
    """
    passed = site.anchor.bindings and all(b.kind == "parameter" for b in site.anchor.bindings)
    return not passed and any(c.name in adapters(view.target) for c in site.candidates)


def _has_other_values(use: Use) -> bool:
    """Whether the call gives a value that means something else under the same name: ``momentum``.

    If the class is an adapter in another run, such a value would be taken for the source's without a word.
    """
    call = use.site.call
    given = {k.arg for k in call.keywords} if call is not None else set()
    unnamed = call is not None and len(call.args) > 1
    return any(
        p.values is not None and p.torch == p.paddle and (unnamed or p.torch in given) for p in use.row.parameters
    )


def _is_note(view: FileView, found: Finding) -> bool:
    """Whether the finding asks for nothing."""
    return view.settings.table.diagnostics[found.code].severity == "info"


def _same_edits(view: FileView, site: Site, readings: Iterable[Use]) -> bool:
    """Whether a variable may hold one of several APIs, and the edits are the same for each; notes may be its own."""
    if not is_variable(site) or any(not r.converts or r.whole is not None or r.writes_name for r in readings):
        return False
    edits = {tuple(sorted((str(e.span), e.text, str(e.parts)) for e in r.edits)) for r in readings}
    codes = {tuple(f.code for f in r.findings if not _is_note(view, f)) for r in readings}
    return len(edits) == 1 and (len(codes) == 1 or site.role == "value")  # a variable that is only read stays


def _needs_no_edit(use: Use) -> bool:
    """Whether a variable may hold an API or something else, and its use needs no edit for either."""
    if use.site.other is None or not is_variable(use.site):
        return False
    return use.converts and use.whole is None and not (use.writes_name or use.edits)


def _suits_partials(view: FileView, use: Use) -> bool:
    """Whether a variable holds an API or partial objects of it, and the edits of its call are right for both."""
    site = use.site
    if site.other is None or site.node is not site.anchor.node or not use.converts or use.whole is not None:
        return False
    own = {c.name for c in site.candidates}
    values = view.evaluator.values(site.node)
    others = [v for v in values if not (isinstance(v, NoneValue) or (isinstance(v, Qualified) and v.name in own))]
    if not all(isinstance(v, Partial) and v.positional == 0 for v in others):
        return False
    if not all(v.name in own or has_same_edits(view, use, v.name) for v in others if isinstance(v, Partial)):
        return False
    return all(
        edit.span.start != edit.span.end for edit in use.edits
    )  # an added default would override the partial object's argument


def _takes_anything(view: FileView, candidate: Candidate) -> bool:
    """Whether the API accepts any arguments, as ``Identity`` does, so that the edits for others are right for it."""

    def look_up() -> bool:
        signature = candidate.form.signature(view.settings.source_releases.newest)
        return signature is not None and bool(signature.parameters) and all(p.variadic for p in signature.parameters)

    return view.settings.cached("takes anything", candidate.form, look_up)


def _does_not_fit(use: Use) -> bool:
    """Whether the arguments do not fit this meaning of the name."""
    return not use.converts and any(isinstance(f.refusal, ArgumentsDoNotFit) for f in use.findings)


def _plausible(readings: list[Use]) -> list[Use]:
    """The plausible meanings of a name that nothing binds: those that convert, if possible without a finding."""
    fitting = [use for use in readings if use.converts]
    silent = [use for use in fitting if not use.findings]
    return silent or fitting or readings
