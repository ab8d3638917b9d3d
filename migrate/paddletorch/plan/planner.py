"""Plans one file: sites, names, imports and members, to edits, conversions and findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paddletorch.model import Conversion, Edit, Span, Uses
from paddletorch.plan.inference.dtypes import Dtypes
from paddletorch.plan.inference.receivers import Receivers
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.outcome import Outcome
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.imports import edit_imports
from paddletorch.plan.names.reexports import passed_on_sites
from paddletorch.plan.names.spelling import Naming, decide, write_names
from paddletorch.plan.passes.strings.attribute_names import plan_attribute_names
from paddletorch.plan.passes.strings.launcher import plan_launcher
from paddletorch.plan.passes.strings.names_in_strings import report_probes, report_strings
from paddletorch.plan.passes.tensors.functions import plan_functions
from paddletorch.plan.passes.tensors.inplace_operators import plan_augmented
from paddletorch.plan.passes.tensors.new_axes import plan_new_axes
from paddletorch.plan.passes.tensors.promotion import plan_promotion
from paddletorch.plan.passes.tensors.subscripts import plan_subscripts
from paddletorch.plan.passes.training.autocast_objects import plan_reentry
from paddletorch.plan.passes.training.hazards import find_hazards
from paddletorch.plan.passes.training.loaders import plan_loaders
from paddletorch.plan.passes.training.optimizers import plan_optimizers
from paddletorch.plan.passes.training.rates import plan_rates
from paddletorch.plan.passes.training.schedulers import plan_schedulers
from paddletorch.plan.sites.sites import Site, find_sites
from paddletorch.plan.syntax.comments import keep_comments
from paddletorch.plan.uses.classes import plan_subclasses
from paddletorch.plan.uses.count import count_uses
from paddletorch.plan.uses.expression_templates import find_matches
from paddletorch.plan.uses.inherited import plan_inherited
from paddletorch.plan.uses.members import plan_members
from paddletorch.plan.uses.partials import plan_partials
from paddletorch.plan.uses.probes import plan_probes
from paddletorch.plan.uses.runtime_calls import asked, plan_unknown
from paddletorch.plan.uses.site import plan_site


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything decided about one file; findings are left in the context."""

    edits: list[Edit]
    conversions: list[Conversion]
    uses: Mapping[str, Uses]


def plan_file(view: FileView) -> Plan:
    """Decide what to do with a file."""
    receivers = Receivers(view)
    dtypes = Dtypes(view)
    view.dtype_of = dtypes.of
    view.matches = find_matches(view, receivers)
    planned = [(site, asked(view, site, plan_site(view, site))) for site in find_sites(view)]
    elsewhere = [(site, plan_site(view, site)) for site in passed_on_sites(view)]
    planned += [(site, outcome) for site, outcome in elsewhere if not outcome.keeps_name]
    _leave_constants(view, planned)
    plan_subclasses(view, planned)
    plan_functions(view, planned)
    called_edits = plan_partials(view)
    plan_loaders(view, planned)
    called_edits += plan_schedulers(view, planned)
    called_edits += plan_optimizers(view, planned)
    groups = decide(view, planned)
    naming = write_names(view, groups)
    converted = [(site, outcome) for site, outcome in planned if outcome.target is not None]
    # an argument's own translation comes before the name that stands there: the first of two at a place counts
    edits = [e for _, outcome in converted for e in outcome.edits] + list(naming.edits) + called_edits
    conversions: list[Conversion] = []
    for site, outcome in planned:
        view.findings += [f for f in outcome.findings if f not in view.findings]
        if outcome.target is not None and outcome.row.kind != "module" and _is_changed(view, site, outcome, naming):
            conversions.append(_conversion(view, site, outcome))
    probe_edits, probe_conversions = plan_probes(view)
    naming.replaced += probe_edits
    edits += probe_edits
    conversions += probe_conversions
    rate_edits, rate_conversions = plan_rates(view, receivers, planned)
    edits += rate_edits
    conversions += rate_conversions
    view.only_left = bool(planned) and not converted
    kept = {site.name for site, outcome in planned if site.role == "call" and outcome.target is None}
    view.kept = frozenset(kept - {site.name for site, outcome in converted})
    members = plan_members(view, receivers, _kept_scaler(planned))
    plan_augmented(view, members)
    inherited_edits, inherited_conversions = plan_inherited(view, planned, naming)
    edits += inherited_edits
    conversions += inherited_conversions
    open_edits, open_modules, open_conversions = plan_unknown(view, planned)
    edits += open_edits
    conversions += open_conversions
    naming.members += members.rooted + open_modules
    naming.replaced += members.edits
    import_edits, import_conversions = edit_imports(view, naming)
    edits += import_edits + members.edits + plan_reentry(view, planned)
    conversions += import_conversions + members.conversions
    beside = (plan_subscripts(view), plan_new_axes(view), plan_launcher(view, planned))
    for more_edits, more_conversions in (*beside, plan_attribute_names(view)):
        edits += more_edits
        conversions += more_conversions
    cast, cast_conversions = plan_promotion(view, dtypes)
    edits = cast + edits
    conversions += cast_conversions
    view.findings = [f for f in view.findings if not _is_gone(view, f, edits)]
    report_strings(view, edits)
    report_probes(view, edits)
    find_hazards(view, receivers, planned)
    edits += keep_comments(view, edits)
    return Plan(edits, conversions, count_uses(view, planned, members))


def _leave_constants(view: FileView, planned: list[tuple[Site, Outcome]]) -> None:
    """Constants in the arguments of a call that stays stay with it, such as its dtype; so do initializers."""
    staying = [s.call for s, o in planned if s.call is not None and o.target is None and s.role == "call"]
    left = [view.source.span(call) for call in staying]
    attributes = [view.source.span(s.call) for s, o in planned if s.call is not None and o.row.id == "ParamAttr"]
    whole = [span for span in attributes if any(call.holds(span) for call in left)]
    for site, outcome in planned if left else ():
        if outcome.target is None:
            continue
        span = view.source.span(site.node)
        held = left if outcome.row.kind == "constant" or outcome.row.instance == "initializer" else whole
        if any(other.holds(span) for other in held):
            outcome.target, outcome.whole, outcome.edits, outcome.findings = None, None, [], []


def _is_gone(view: FileView, finding: Finding, edits: list[Edit]) -> bool:
    """Whether the expression that a finding is about was dropped, such as a dtype that became a name."""
    if finding.code != "API205":
        return False
    span = view.source.span(finding.node)
    return any(
        e.parts
        and e.span.start <= span.start < span.end <= e.span.end
        and not any(isinstance(p, Span) and p.start <= span.start and span.end <= p.end for p in e.parts)
        for e in edits
    )


def _is_changed(view: FileView, site: Site, outcome: Outcome, naming: Naming) -> bool:
    """Whether a use becomes another text; a name that no import brings may be the target's own already."""
    if site.anchor.kind != "free" or outcome.edits or outcome.whole is not None or view.tree.stars:
        return True
    span = view.source.span(site.node)
    return any(span.holds(edit.span) for edit in naming.edits)


def _kept_scaler(planned: list[tuple[Site, Outcome]]) -> int | None:
    """The line of a scaler's constructor if the file has some and none of them converts."""
    made = [(s, o) for s, o in planned if o.row.instance == "scaler" and s.role == "call"]
    return made[0][0].node.lineno if made and all(o.target is None for _, o in made) else None


def _conversion(view: FileView, site: Site, outcome: Outcome) -> Conversion:
    line, column = view.source.position(view.source.span(site.node).start)
    name = next((c.name for c in site.candidates), site.name)
    return Conversion(outcome.row.code, name, outcome.target or "removed", line, column, outcome.row.id)
