"""Schedulers and their optimizers: in torch the scheduler has the optimizer, in Paddle the optimizer the scheduler.

To Paddle, a statement is added that sets the optimizer's scheduler; to torch, the scheduler moves behind the optimizer.
"""

from __future__ import annotations

import ast

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.receivers import path_of
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.refusals import Refused, UnclearSchedule
from paddletorch.plan.model.use import Draft, Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.training.constructors import (
    Constructor,
    assigned_to,
    constructors_of,
    source_text,
)
from paddletorch.plan.passes.training.paddle_schedulers import PaddleSchedulers
from paddletorch.plan.syntax.control_flow import exclusive
from paddletorch.plan.syntax.free_names import free_name
from paddletorch.plan.syntax.statements import insert_after

_SEQUENCES = ("torch.optim.lr_scheduler.SequentialLR", "torch.optim.lr_scheduler.ChainedScheduler")


def plan_schedulers(view: FileView, planned: Planned) -> Changes:
    """Connect each scheduler of a file with its optimizer; refuse those where it cannot be done."""
    draft = Draft(planned.uses)
    schedulers = constructors_of(view, draft, "scheduler")
    if view.target == "torch":
        return PaddleSchedulers(view, draft, schedulers, constructors_of(view, draft, "optimizer")).changes()
    for scheduler in schedulers:
        try:
            draft.revise(_followed(view, draft, scheduler, schedulers))
        except Refused as stop:
            draft.refuse(scheduler.site, stop.refusal)
    return Changes(uses=draft.revised)


def _followed(view: FileView, draft: Draft, scheduler: Constructor, schedulers: list[Constructor]) -> Use:
    """Add ``optimizer.set_lr_scheduler(scheduler)`` after ``scheduler = StepDecay(optimizer.get_lr(), ...)``.

    Raises:
        Refused: the optimizer already has another scheduler, or the scheduler is not assigned.
    """
    use, optimizer = draft[scheduler.site], scheduler.value("optimizer")
    if optimizer is None or _in_sequence(view, scheduler):
        return use
    path, code = path_of(optimizer), scheduler.row.code
    first = next((s.call for s in schedulers if _same_optimizer(view, draft, s, scheduler, path)), None)
    first = first or next((c for c in view.tree.calls if _sets_scheduler(view, c, scheduler, path)), None)
    if first is not None:
        what = f"a Paddle optimizer follows one scheduler, and {path} has that of line {first.lineno}"
        raise Refused(UnclearSchedule(what))
    assigned = assigned_to(view, scheduler.call)
    if assigned is None:
        return use.with_edits(*_named_before_return(view, scheduler, optimizer))
    statement, target = assigned
    text = source_text(view, target) or ast.unparse(target)
    setting = f"{source_text(view, optimizer)}.set_lr_scheduler({text})"
    if isinstance(getattr(statement, "value", None), ast.IfExp):
        setting = f"if {text} is not None:\n{' ' * view.source.indent}{setting}"
    return use.with_edits(insert_after(view, statement, setting, code))


def _same_optimizer(view: FileView, draft: Draft, other: Constructor, scheduler: Constructor, path: str) -> bool:
    """Whether an earlier scheduler has the same optimizer, and both may run."""
    if other is scheduler or other.call.lineno >= scheduler.call.lineno or not draft[other.site].converts:
        return False
    optimizer = other.value("optimizer")
    return (
        optimizer is not None
        and path_of(optimizer) == path
        and not _in_sequence(view, other)
        and view.tree.scopes[other.call].function() is view.tree.scopes[scheduler.call].function()
        and not exclusive(view, other.call, scheduler.call)
    )


def _sets_scheduler(view: FileView, call: ast.Call, scheduler: Constructor, path: str) -> bool:
    """Whether the call already sets the optimizer's scheduler, in a partly converted file."""
    function = call.func
    if (
        not isinstance(function, ast.Attribute)
        or function.attr != "set_lr_scheduler"
        or path_of(function.value) != path
    ):
        return False
    scopes = view.tree.scopes
    same = scopes[call].function() is scopes[scheduler.call].function()
    return same and not exclusive(view, call, scheduler.call)


def _named_before_return(view: FileView, scheduler: Constructor, optimizer: ast.expr) -> list[Edit]:
    """``return StepLR(...)``: assign the scheduler to a variable, set it on the optimizer, and return it.

    Raises:
        Refused: the scheduler is not returned.
    """
    statement, code = view.parent(scheduler.call), scheduler.row.code
    if not isinstance(statement, ast.Return):
        raise Refused(UnclearSchedule("the scheduler gets no name of its own here"))
    name = free_name(view, scheduler.call, "scheduler")
    start, call = view.source.span(statement).start, view.source.span(scheduler.call).start
    lines = f"{source_text(view, optimizer)}.set_lr_scheduler({name})\nreturn {name}"
    return [Edit(Span(start, call), f"{name} = ", code), insert_after(view, statement, lines, code)]


def _in_sequence(view: FileView, scheduler: Constructor) -> bool:
    """Whether a SequentialLR takes the scheduler, by its name or directly."""
    assigned = assigned_to(view, scheduler.call)
    path = path_of(assigned[1]) if assigned is not None else ""
    for call in view.tree.calls:
        if call is scheduler.call or view.qualified(call.func) not in _SEQUENCES:
            continue
        inside = list(ast.walk(call))
        if scheduler.call in inside:
            return True
        if path and any(isinstance(n, ast.Name | ast.Attribute) and path_of(n) == path for n in inside):
            return True
    return False
