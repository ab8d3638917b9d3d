"""Ties schedulers to optimizers: torch gives the optimizer to the scheduler, Paddle the scheduler to the optimizer.

To Paddle a statement follows that hands the scheduler over; to torch the scheduler moves behind its optimizer.
"""

from __future__ import annotations

import ast

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.receivers import path_of
from paddletorch.plan.model.outcome import Outcome
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.training.constructors import Made, assigned_to, made, refuse, source_text
from paddletorch.plan.passes.training.paddle_schedulers import Ties
from paddletorch.plan.sites.sites import Site
from paddletorch.plan.syntax.control_flow import exclusive
from paddletorch.plan.syntax.free_names import free_name
from paddletorch.plan.syntax.statements import insert_after

_SEQUENCES = ("torch.optim.lr_scheduler.SequentialLR", "torch.optim.lr_scheduler.ChainedScheduler")


def plan_schedulers(view: FileView, planned: list[tuple[Site, Outcome]]) -> list[Edit]:
    """Edits around the scheduler calls of a file; calls that cannot be tied are refused."""
    schedulers = made(view, planned, "scheduler")
    if not schedulers:
        return []
    if view.target == "paddle":
        for one in schedulers:
            _hand_over(view, one, schedulers)
        return []
    return Ties(view, schedulers, made(view, planned, "optimizer")).plan()


def _hand_over(view: FileView, one: Made, schedulers: list[Made]) -> None:
    """``scheduler = StepDecay(optimizer.get_lr(), ...)`` is followed by ``optimizer.set_lr_scheduler(scheduler)``."""
    optimizer = one.value("optimizer")
    if optimizer is None or _in_sequence(view, one):
        return
    path, code = path_of(optimizer), one.outcome.row.code
    try:
        first = next((s.call for s in schedulers if _same_optimizer(view, s, one, path)), None)
        first = first or next((c for c in view.tree.calls if _hands_over(view, c, one, path)), None)
        if first is not None:
            what = f"a Paddle optimizer follows one scheduler, and {path} has that of line {first.lineno}"
            raise Refusal("LRS201", what=what)
        found = assigned_to(view, one.call)
        if found is None:
            _name_it(view, one, code)
            return
        statement, target = found
    except Refusal as refusal:
        refuse(refusal, one.site, one.outcome)
        return
    text = source_text(view, target) or ast.unparse(target)
    handed = f"{source_text(view, optimizer)}.set_lr_scheduler({text})"
    if isinstance(getattr(statement, "value", None), ast.IfExp):
        handed = f"if {text} is not None:\n{' ' * view.source.indent}{handed}"
    one.outcome.edits.append(insert_after(view, statement, handed, code))


def _same_optimizer(view: FileView, other: Made, one: Made, path: str) -> bool:
    """Whether an earlier scheduler follows the same optimizer in the same run of the code."""
    if other is one or other.call.lineno >= one.call.lineno or other.outcome.target is None:
        return False
    optimizer = other.value("optimizer")
    return (
        optimizer is not None
        and path_of(optimizer) == path
        and not _in_sequence(view, other)
        and view.tree.scopes[other.call].function() is view.tree.scopes[one.call].function()
        and not exclusive(view, other.call, one.call)
    )


def _hands_over(view: FileView, call: ast.Call, one: Made, path: str) -> bool:
    """Whether the call gives the optimizer a scheduler of Paddle's already, in a half-converted file."""
    function = call.func
    if (
        not isinstance(function, ast.Attribute)
        or function.attr != "set_lr_scheduler"
        or path_of(function.value) != path
    ):
        return False
    scopes = view.tree.scopes
    same = scopes[call].function() is scopes[one.call].function()
    return same and not exclusive(view, call, one.call)


def _name_it(view: FileView, one: Made, code: str) -> None:
    """``return StepLR(...)``: give the scheduler a name first."""
    statement, optimizer = view.parent(one.call), one.value("optimizer")
    if not isinstance(statement, ast.Return) or optimizer is None:
        raise Refusal("LRS201", what="the scheduler gets no name of its own here")
    name = free_name(view, one.call, "scheduler")
    start, call = view.source.span(statement).start, view.source.span(one.call).start
    one.outcome.edits.append(Edit(Span(start, call), f"{name} = ", code))
    lines = f"{source_text(view, optimizer)}.set_lr_scheduler({name})\nreturn {name}"
    one.outcome.edits.append(insert_after(view, statement, lines, code))


def _in_sequence(view: FileView, one: Made) -> bool:
    """Whether a SequentialLR takes the scheduler, by its name or directly."""
    found = assigned_to(view, one.call)
    path = path_of(found[1]) if found is not None else ""
    for call in view.tree.calls:
        if call is one.call or view.qualified(call.func) not in _SEQUENCES:
            continue
        inside = list(ast.walk(call))
        if one.call in inside:
            return True
        if path and any(isinstance(n, ast.Name | ast.Attribute) and path_of(n) == path for n in inside):
            return True
    return False
