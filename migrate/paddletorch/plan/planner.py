"""Plans one file: sites, names, imports and members, to edits, conversions and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from paddletorch.model import Conversion, Edit
from paddletorch.plan.calls import Outcome, plan_site
from paddletorch.plan.classes import plan_subclasses
from paddletorch.plan.context import FileContext
from paddletorch.plan.hazards import find_hazards
from paddletorch.plan.imports import edit_imports
from paddletorch.plan.members import plan_members
from paddletorch.plan.naming import decide, write_names
from paddletorch.plan.partials import plan_partials
from paddletorch.plan.receivers import Receivers
from paddletorch.plan.reentry import plan_reentry
from paddletorch.plan.sites import Site, find_sites
from paddletorch.plan.strings import report_strings


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything decided about one file; findings are left in the context."""

    edits: list[Edit]
    conversions: list[Conversion]
    counts: Mapping[str, int]


def plan_file(context: FileContext) -> Plan:
    """Decide what to do with a file."""
    receivers = Receivers(context)
    sites = find_sites(context)
    planned = [(site, plan_site(context, site)) for site in sites]
    called_edits = plan_subclasses(context, planned)
    called_edits += plan_partials(context)
    groups = decide(context, planned)
    naming = write_names(context, groups)
    edits = list(naming.edits) + called_edits
    conversions: list[Conversion] = []
    for site, outcome in planned:
        context.findings += [f for f in outcome.findings if f not in context.findings]
        if outcome.target is not None:
            edits += outcome.edits
            if outcome.row.kind != "module":
                conversions.append(_conversion(context, site, outcome))
    import_edits, import_conversions = edit_imports(context, naming)
    members = plan_members(context, receivers, _kept_scaler(planned))
    edits += import_edits + members.edits + plan_reentry(context, planned)
    conversions += import_conversions + members.conversions
    report_strings(context)
    find_hazards(context, receivers, planned)
    counts = Counter(site.name for site in sites if site.candidates[0].row.kind != "module")
    return Plan(edits, conversions, counts)


def _kept_scaler(planned: list[tuple[Site, Outcome]]) -> int | None:
    """The line of a scaler's constructor if the file has some and none of them converts."""
    made = [(s, o) for s, o in planned if o.row.instance == "scaler" and s.role == "call"]
    return made[0][0].node.lineno if made and all(o.target is None for _, o in made) else None


def _conversion(context: FileContext, site: Site, outcome: Outcome) -> Conversion:
    line, column = context.source.position(context.source.span(site.node).start)
    name = next((c.name for c in site.candidates), site.name)
    return Conversion(outcome.row.code, name, outcome.target or "removed", line, column)
