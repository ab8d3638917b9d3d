"""Plans one file: runs the passes in order. Each reads the view and earlier decisions, and returns its changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from paddletorch.plan.inference.receivers import Receivers
from paddletorch.plan.model.changes import Changes, Pass, Planned
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.refusals import NeedsWholeCall, NoSuchUse
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.order import PASSES
from paddletorch.plan.uses.expression_templates import find_matches


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
        if not one.is_needed(view, planned):
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
    from paddletorch.plan.open_questions import open_questions  # needed only where something is found

    questions = open_questions(view, found)
    return replace(found, questions=questions) if questions != found.questions else found


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
    return isinstance(found.refusal, NoSuchUse | NeedsWholeCall) or (
        found.row is not None and found.row.kind == "unsupported"
    )


def _is_written_elsewhere(view: FileView, written: str, found: Finding) -> bool:
    """Whether the edit that removes the name writes it into another place, as it does with a base class."""
    return view.source.slice(view.source.span(found.node)) in written
