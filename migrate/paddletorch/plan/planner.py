"""Plans one file: runs the passes in order. Each reads the view and earlier decisions, and returns its changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from paddletorch.plan.inference.receivers import Receivers
from paddletorch.plan.model.changes import Changes, Pass, Planned
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.refusals import NoSuchUse
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.decide import plan_names
from paddletorch.plan.names.imports import plan_imports
from paddletorch.plan.open_questions import open_questions
from paddletorch.plan.passes.packages import plan_packages
from paddletorch.plan.passes.strings.attribute_names import plan_attribute_names
from paddletorch.plan.passes.strings.class_names import plan_class_names
from paddletorch.plan.passes.strings.evaluated_text import plan_evaluated_text
from paddletorch.plan.passes.strings.imported_text import plan_imported_text
from paddletorch.plan.passes.strings.launcher import plan_launcher
from paddletorch.plan.passes.strings.names_in_strings import plan_names_in_probes, plan_names_in_strings
from paddletorch.plan.passes.strings.wrapped_models import plan_wrapped_models
from paddletorch.plan.passes.tensors.arrays_of_tensors import plan_arrays_of_tensors
from paddletorch.plan.passes.tensors.augmented_assignments import plan_augmented_assignments
from paddletorch.plan.passes.tensors.bitwise_operators import plan_bitwise_operators
from paddletorch.plan.passes.tensors.blocks_of_parameters import plan_blocks_of_parameters
from paddletorch.plan.passes.tensors.compared_sizes import plan_compared_sizes
from paddletorch.plan.passes.tensors.functions import plan_functions
from paddletorch.plan.passes.tensors.indexed_views import plan_indexed_views
from paddletorch.plan.passes.tensors.inplace_layers import plan_inplace_layers
from paddletorch.plan.passes.tensors.inplace_operators import plan_inplace_operators
from paddletorch.plan.passes.tensors.integer_gradients import plan_integer_gradients
from paddletorch.plan.passes.tensors.new_axes import plan_new_axes
from paddletorch.plan.passes.tensors.packed_sequences import plan_packed_sequences
from paddletorch.plan.passes.tensors.parameters_with_statistics import plan_parameters_with_statistics
from paddletorch.plan.passes.tensors.picked_weights import plan_picked_weights
from paddletorch.plan.passes.tensors.promotion import plan_promotion
from paddletorch.plan.passes.tensors.replaced_layers import plan_replaced_layers
from paddletorch.plan.passes.tensors.saved_values import plan_saved_values
from paddletorch.plan.passes.tensors.statistics import plan_statistics
from paddletorch.plan.passes.tensors.subscripts import plan_subscripts
from paddletorch.plan.passes.tensors.tied_weights import plan_tied_weights
from paddletorch.plan.passes.tensors.truth_differences import plan_truth_differences
from paddletorch.plan.passes.tensors.written_parts import plan_written_parts
from paddletorch.plan.passes.training.autocast_objects import plan_autocast_objects
from paddletorch.plan.passes.training.checkpoints import plan_checkpoints
from paddletorch.plan.passes.training.clipping import plan_clipping
from paddletorch.plan.passes.training.collate_functions import plan_collate_functions
from paddletorch.plan.passes.training.hazards import plan_hazards
from paddletorch.plan.passes.training.kept_gradients import plan_kept_gradients
from paddletorch.plan.passes.training.loaders import plan_loaders
from paddletorch.plan.passes.training.made_apart import plan_made_apart
from paddletorch.plan.passes.training.optimizers import plan_optimizers
from paddletorch.plan.passes.training.rates import plan_rates
from paddletorch.plan.passes.training.reset_methods import plan_reset_methods
from paddletorch.plan.passes.training.schedulers import plan_schedulers
from paddletorch.plan.passes.training.states_of_unseen_objects import plan_states_of_unseen_objects
from paddletorch.plan.passes.training.train_methods import plan_train_methods
from paddletorch.plan.passes.training.unguarded_wrappers import plan_unguarded_wrappers
from paddletorch.plan.syntax.comments import plan_comments
from paddletorch.plan.syntax.emptied_blocks import plan_emptied_blocks
from paddletorch.plan.uses.adapters import plan_adapters
from paddletorch.plan.uses.constants import plan_constants
from paddletorch.plan.uses.count import plan_unknown_names
from paddletorch.plan.uses.decorators import plan_compiling_decorators
from paddletorch.plan.uses.expression_templates import find_matches
from paddletorch.plan.uses.inherited import plan_inherited
from paddletorch.plan.uses.layer_calls import plan_layer_calls
from paddletorch.plan.uses.members import plan_members
from paddletorch.plan.uses.module_annotations import plan_module_annotations
from paddletorch.plan.uses.partials import plan_partials
from paddletorch.plan.uses.planned_sites import plan_sites
from paddletorch.plan.uses.probes import plan_probes
from paddletorch.plan.uses.runtime_calls import plan_unknown_calls
from paddletorch.plan.uses.source_calls import plan_source_calls
from paddletorch.plan.uses.subclasses import plan_subclasses
from paddletorch.plan.uses.unknown_members import plan_unknown_members

PASSES = (
    # these three before the edits of operands, around which their casts go
    Pass("integer gradients", plan_integer_gradients, codes=("DTY101",)),
    Pass("type promotion", plan_promotion, codes=("DTY101", "DTY201", "DTY202", "DTY203")),
    Pass("differences of truth values", plan_truth_differences, codes=("DTY101", "DTY204")),
    Pass("sites", plan_sites),
    Pass("layers with the source's calls", plan_source_calls),
    Pass("packed sequences", plan_packed_sequences),
    Pass("constants of calls that stay", plan_constants, leaves_uses=True),
    Pass("compiling decorators", plan_compiling_decorators, leaves_uses=True),
    Pass("base classes", plan_subclasses, leaves_uses=True),
    Pass("autograd functions", plan_functions, leaves_uses=True),
    Pass("data loaders", plan_loaders, leaves_uses=True),
    Pass(
        "schedulers and clips made apart", plan_made_apart, leaves_uses=True
    ),  # those that the next passes would leave
    Pass("schedulers", plan_schedulers, leaves_uses=True),
    Pass("optimizers", plan_optimizers, leaves_uses=True),
    Pass("clipping", plan_clipping, leaves_uses=True),  # only of optimizers that convert
    Pass("names", plan_names, leaves_uses=True),  # the last pass that revises uses
    Pass("calls of partial objects", plan_partials),
    Pass("probes", plan_probes),
    Pass("learning rates", plan_rates),  # rewrites statements before their members are planned
    Pass("wrapped models", plan_wrapped_models),  # renames members before they are planned
    Pass("tied weights", plan_tied_weights),  # rewrites statements before their members are planned
    Pass("picked weights", plan_picked_weights),
    Pass("running statistics", plan_statistics),  # rewrites members before they are planned
    Pass("parameters with statistics", plan_parameters_with_statistics),  # as the one before
    Pass("blocks of parameters", plan_blocks_of_parameters),
    Pass("saved values", plan_saved_values),  # rewrites statements before their members are planned
    Pass("states of unseen objects", plan_states_of_unseen_objects),  # rewrites calls, as the one below
    Pass("written parts", plan_written_parts, codes=("TEN106", "AGD203")),  # as the one before
    Pass("reset methods", plan_reset_methods),  # rewrites calls before their members are planned
    Pass("members", plan_members),
    Pass("calls of layers", plan_layer_calls),
    Pass("unguarded wrappers", plan_unguarded_wrappers),
    Pass("kept gradients", plan_kept_gradients),
    Pass("in-place layers", plan_inplace_layers),
    Pass("in-place operators", plan_inplace_operators, codes=("TEN106", "TEN214")),
    Pass("compared sizes", plan_compared_sizes, codes=("TEN106",)),
    Pass("arrays of tensors", plan_arrays_of_tensors, codes=("TEN106",)),
    Pass(
        "bitwise operators", plan_bitwise_operators, codes=("TEN102",)
    ),  # of statements that the pass before has not rewritten
    Pass(
        "augmented assignments", plan_augmented_assignments, codes=("TEN106",)
    ),  # of statements that no pass before it has rewritten
    Pass("inherited constructors", plan_inherited),
    Pass("calls of unknown layers", plan_unknown_calls),
    Pass("functions that join batches", plan_collate_functions),
    Pass("adapters of layers", plan_adapters),
    Pass("modules as annotations", plan_module_annotations),
    Pass("imports", plan_imports),  # needs every module that is named in new text
    Pass("autocast objects", plan_autocast_objects),
    Pass("subscripts", plan_subscripts, codes=("TEN105", "TEN212")),
    Pass("new axes", plan_new_axes, codes=("TEN105", "TEN213")),
    Pass("indexed views", plan_indexed_views, codes=("TEN105", "TEN215")),
    Pass("train methods", plan_train_methods),
    Pass("launcher", plan_launcher),
    Pass("attribute names", plan_attribute_names),
    Pass("names of classes", plan_class_names),
    Pass("replaced layers", plan_replaced_layers),
    Pass("evaluated text", plan_evaluated_text),
    Pass("imported text", plan_imported_text),
    Pass("names in strings", plan_names_in_strings),  # after all edits of strings
    Pass("names in probes", plan_names_in_probes),
    Pass("hazards", plan_hazards),
    Pass("checkpoints", plan_checkpoints),
    Pass("packages", plan_packages),
    Pass("unknown names", plan_unknown_names),
    Pass("unknown members", plan_unknown_members),
    Pass("emptied blocks", plan_emptied_blocks),  # after all that removes statements
    Pass("comments", plan_comments),  # last: saves the comments that edits would delete
)


def plan_file(view: FileView) -> Planned:
    """Decide what to change in a file and what to report."""
    view = view.provide(_with_matches).leaving(view.blocked, view.suppressions)
    planned = Planned()
    for leaves_uses, passes in groupby(PASSES, key=attrgetter("leaves_uses")):
        planned = (_agreed if leaves_uses else _run)(view, planned, tuple(passes))
    return planned


def _with_matches(view: FileView) -> FileView:
    return view.matching(find_matches(view, view.provide(Receivers)))


def _run(view: FileView, planned: Planned, passes: Sequence[Pass]) -> Planned:
    """What is decided after these passes."""
    for one in passes:
        if one.codes and not any(map(view.settings.is_asked, one.codes)):
            continue
        view.evaluator.limit.check()
        planned = planned.with_changes(one.plan(view, planned))
    return planned


def _agreed(view: FileView, planned: Planned, passes: Sequence[Pass]) -> Planned:
    """What is decided after passes that may leave uses; they run again until none of them counts on one that is left.

    So an edit beside a use, such as a statement that moves, is made only if every use that it belongs to converts.
    """
    while True:
        decided = _run(view, planned, passes)
        left = tuple(use for use in decided.uses if not use.converts and planned.uses.converts(use.site))
        if not left and view.blocked:
            converted = (use for use in decided.uses.converted if not planned.uses.leaves(use.site))
            left = tuple(use.refuse(None) for use in converted if _edits_blocked_lines(view, use))
        if not left:
            return decided
        planned = planned.with_changes(Changes(uses=left))


def _edits_blocked_lines(view: FileView, use: Use) -> bool:
    """Whether an edit of the use, such as one of a call of its class's constructor, is on lines that must stay."""
    return any(view.is_blocked(edit.span) for edit in use.every_edit)


def findings_of(view: FileView, planned: Planned) -> list[Finding]:
    """All findings with their open questions, each once, except those about expressions that edits remove."""
    return [_with_questions(view, found) for found in _without_removed(view, planned)]


def _with_questions(view: FileView, found: Finding) -> Finding:
    questions = open_questions(view, found)
    return replace(found, questions=questions) if questions else found


def _without_removed(view: FileView, planned: Planned) -> list[Finding]:
    found = list(dict.fromkeys([f for use in planned.uses for f in use.findings] + planned.findings))
    if not any(_is_of_name(f) for f in found):
        return found
    kept = view.kept(planned.edits)
    if kept is None:
        return found
    written = "\0".join(edit.text for edit in planned.edits)
    # the name that is left does not matter if an edit removes it, such as a dtype that becomes a string
    return [
        f
        for f in found
        if not _is_of_name(f) or kept.touches(view.source.span(f.node)) or _is_written_elsewhere(view, written, f)
    ]


def _is_of_name(found: Finding) -> bool:
    """Whether it says of a name that it stays, and nothing of what it is used for."""
    return isinstance(found.refusal, NoSuchUse) or (found.row is not None and found.row.kind == "unsupported")


def _is_written_elsewhere(view: FileView, written: str, found: Finding) -> bool:
    """Whether the edit that removes the name writes it into another place, as it does with a base class."""
    return view.source.slice(view.source.span(found.node)) in written
