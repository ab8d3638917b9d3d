"""Plans one file: runs the passes in order. Each reads the view and earlier decisions, and returns its changes."""

from __future__ import annotations

from dataclasses import replace

from paddletorch.model import Span
from paddletorch.plan.inference.receivers import Receivers
from paddletorch.plan.model.changes import Pass, Planned
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.refusals import NoSuchUse
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.decide import plan_names
from paddletorch.plan.names.imports import plan_imports
from paddletorch.plan.passes.strings.attribute_names import plan_attribute_names
from paddletorch.plan.passes.strings.launcher import plan_launcher
from paddletorch.plan.passes.strings.names_in_strings import plan_names_in_probes, plan_names_in_strings
from paddletorch.plan.passes.tensors.functions import plan_functions
from paddletorch.plan.passes.tensors.inplace_operators import plan_inplace_operators
from paddletorch.plan.passes.tensors.new_axes import plan_new_axes
from paddletorch.plan.passes.tensors.promotion import plan_promotion
from paddletorch.plan.passes.tensors.subscripts import plan_subscripts
from paddletorch.plan.passes.training.autocast_objects import plan_autocast_objects
from paddletorch.plan.passes.training.clipping import plan_clipping
from paddletorch.plan.passes.training.hazards import plan_hazards
from paddletorch.plan.passes.training.loaders import plan_loaders
from paddletorch.plan.passes.training.optimizers import plan_optimizers
from paddletorch.plan.passes.training.rates import plan_rates
from paddletorch.plan.passes.training.schedulers import plan_schedulers
from paddletorch.plan.syntax.comments import plan_comments
from paddletorch.plan.uses.count import plan_unknown_names
from paddletorch.plan.uses.expression_templates import find_matches
from paddletorch.plan.uses.inherited import plan_inherited
from paddletorch.plan.uses.layer_calls import plan_layer_calls
from paddletorch.plan.uses.members import plan_members
from paddletorch.plan.uses.partials import plan_partials
from paddletorch.plan.uses.planned_sites import plan_constants, plan_sites
from paddletorch.plan.uses.probes import plan_probes
from paddletorch.plan.uses.runtime_calls import plan_unknown_calls
from paddletorch.plan.uses.subclasses import plan_subclasses

PASSES = (
    Pass("type promotion", plan_promotion),  # before the edits of operands, around which its casts go
    Pass("sites", plan_sites),
    Pass("constants of calls that stay", plan_constants),
    Pass("base classes", plan_subclasses),
    Pass("autograd functions", plan_functions),
    Pass("data loaders", plan_loaders),
    Pass("schedulers", plan_schedulers),
    Pass("optimizers", plan_optimizers),  # after schedulers, which may change the optimizer's rate
    Pass("clipping", plan_clipping),  # only of optimizers that convert
    Pass("names", plan_names),  # the last pass that revises uses
    Pass("calls of partial objects", plan_partials),
    Pass("probes", plan_probes),
    Pass("learning rates", plan_rates),  # rewrites statements before their members are planned
    Pass("members", plan_members),
    Pass("calls of layers", plan_layer_calls),
    Pass("in-place operators", plan_inplace_operators),
    Pass("inherited constructors", plan_inherited),
    Pass("calls of unknown layers", plan_unknown_calls),
    Pass("imports", plan_imports),  # needs every module that is named in new text
    Pass("autocast objects", plan_autocast_objects),
    Pass("subscripts", plan_subscripts),
    Pass("new axes", plan_new_axes),
    Pass("launcher", plan_launcher),
    Pass("attribute names", plan_attribute_names),
    Pass("names in strings", plan_names_in_strings),  # after all edits of strings
    Pass("names in probes", plan_names_in_probes),
    Pass("hazards", plan_hazards),
    Pass("unknown names", plan_unknown_names),
    Pass("comments", plan_comments),  # last: saves the comments that edits would delete
)


def plan_file(view: FileView) -> Planned:
    """Decide what to change in a file and what to report."""
    matches = find_matches(view, view.provide(Receivers))
    if matches:  # the view without them, and what it has provided, serve as well
        view = replace(view, matches=matches)
    planned = Planned()
    for one in PASSES:
        planned = planned.with_changes(one.plan(view, planned))
    return planned


def findings_of(view: FileView, planned: Planned) -> list[Finding]:
    """All findings, each once, except those about expressions that edits remove."""
    found = [f for use in planned.uses for f in use.findings] + planned.findings
    return [f for f in dict.fromkeys(found) if not _is_dropped(view, planned, f)]


def _is_dropped(view: FileView, planned: Planned, finding: Finding) -> bool:
    """Whether an edit removes the expression that a finding is about, such as a dtype that becomes a name."""
    if not isinstance(finding.refusal, NoSuchUse):
        return False
    span = view.source.span(finding.node)
    return any(
        e.parts
        and e.span.start <= span.start < span.end <= e.span.end
        and not any(isinstance(p, Span) and p.start <= span.start and span.end <= p.end for p in e.parts)
        for e in planned.edits
    )
