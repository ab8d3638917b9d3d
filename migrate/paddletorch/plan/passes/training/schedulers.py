"""Schedulers and their optimizers: in torch the scheduler has the optimizer, in Paddle the optimizer the scheduler.

To Paddle, a statement is added that sets the optimizer's scheduler; to torch, the scheduler moves behind the optimizer.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Sequence

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.allocations import Allocations
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.refusals import Refused, UnclearSchedule
from paddletorch.plan.model.use import Draft, Use, Uses
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.training.constructors import (
    Constructor,
    assigned_to,
    constructors_of,
    source_text,
)
from paddletorch.plan.passes.training.paddle_schedulers import PaddleSchedulers
from paddletorch.plan.syntax.control_flow import exclusive
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.plan.syntax.free_names import free_name
from paddletorch.plan.syntax.statements import insert_after
from paddletorch.resolve import Instance, Scope
from paddletorch.resolve.evaluator.call_index import argument_of, is_method

_SEQUENCES = ("torch.optim.lr_scheduler.SequentialLR", "torch.optim.lr_scheduler.ChainedScheduler")


def plan_schedulers(view: FileView, planned: Planned) -> Changes:
    """Connect each scheduler of a file with its optimizer; refuse those where it cannot be done."""
    draft = Draft(planned.uses)
    schedulers = constructors_of(view, draft, "scheduler")
    if view.target == "torch":
        return PaddleSchedulers(view, draft, schedulers, constructors_of(view, draft, "optimizer")).changes()
    followed = _Followed(view, schedulers)
    for scheduler in schedulers:
        try:
            draft.revise(_followed(view, draft, planned.uses, scheduler, followed))
        except Refused as stop:
            draft.refuse(scheduler.site, stop.refusal)
    return Changes(uses=draft.revised)


class _Followed:
    """The schedulers of a file by the optimizers that they have, and what makes one of several."""

    def __init__(self, view: FileView, schedulers: Sequence[Constructor]) -> None:
        self._view = view
        self._objects = view.provide(Allocations)
        self._schedulers: dict[tuple[Hashable, Scope], list[Constructor]] = {}
        for scheduler in schedulers:
            if (optimizer := scheduler.value("optimizer")) is not None:
                self._schedulers.setdefault(self._key(optimizer, scheduler.call), []).append(scheduler)
        self._settings: dict[tuple[Hashable, Scope], list[ast.Call]] = {}
        for call in view.tree.method_calls("set_lr_scheduler"):
            if isinstance(call.func, ast.Attribute):
                self._settings.setdefault(self._key(call.func.value, call), []).append(call)
        sequences = [c for c in view.tree.calls if view.qualified(c.func) in _SEQUENCES] if schedulers else []
        inside = [(call, n) for call in sequences for n in self._parts_of(call)]
        self._inside = {n for call, n in inside if n is not call}
        self._variables: dict[Hashable, set[ast.Call]] = {}
        for call, n in inside:
            if isinstance(n, ast.Name | ast.Attribute):
                self._variables.setdefault(self._objects.variable(n), set()).add(call)

    def _parts_of(self, call: ast.Call) -> Iterator[ast.AST]:
        """All nodes of the call, and of the lists that it gets by a name."""
        for node in ast.walk(call):
            yield node
            if isinstance(node, ast.Name | ast.Attribute):
                lists = (one for one in self._objects.assigned(node) if isinstance(one, ast.List | ast.Tuple))
                yield from (part for one in lists for part in ast.walk(one))

    def _key(self, optimizer: ast.expr, place: ast.Call) -> tuple[Hashable, Scope]:
        return self._objects.variable(optimizer), self._view.tree.scopes[place].function()

    def of_caller(self, draft: Draft, scheduler: Constructor, optimizer: ast.expr) -> ast.Call | None:
        """Where a caller of the function around gives a scheduler of its own to the optimizer that it hands to it."""
        scope = self._view.tree.scopes[scheduler.call].function()
        function = scope.node
        if not isinstance(optimizer, ast.Name) or not isinstance(function, ast.FunctionDef):
            return None
        if [b.kind for b in scope.bindings.get(optimizer.id, ())] != ["parameter"]:
            return None
        for call in self._view.evaluator.calls.of(function):
            given = argument_of(call, function, optimizer.id, is_method(scope))
            if given is None or self._is_inside(call):
                continue
            made = [s for s in self.of(given, call) if draft[s.site].converts and not self.in_sequence(s)]
            for other in (*(s.call for s in made), *self.settings(given, call)):
                if not exclusive(self._view, other, call):
                    return other
        return None

    def _is_inside(self, call: ast.Call) -> bool:
        """Whether a SequentialLR takes what the call makes, by its name or directly."""
        assigned = assigned_to(self._view, call)
        return call in self._inside or (assigned is not None and self._objects.variable(assigned[1]) in self._variables)

    def of(self, optimizer: ast.expr, place: ast.Call) -> Sequence[Constructor]:
        """The schedulers that have the optimizer, in the function of ``place``."""
        return self._schedulers.get(self._key(optimizer, place), ())

    def settings(self, optimizer: ast.expr, place: ast.Call) -> Sequence[ast.Call]:
        """The calls that set the optimizer's scheduler, in the function of ``place``."""
        return self._settings.get(self._key(optimizer, place), ())

    def in_sequence(self, scheduler: Constructor) -> bool:
        """Whether a SequentialLR takes the scheduler, by its name or directly."""
        if scheduler.call in self._inside:
            return True
        assigned = assigned_to(self._view, scheduler.call)
        taken = self._variables.get(self._objects.variable(assigned[1]), ()) if assigned is not None else ()
        return any(call is not scheduler.call for call in taken)


def _followed(view: FileView, draft: Draft, uses: Uses, scheduler: Constructor, followed: _Followed) -> Use:
    """Add ``optimizer.set_lr_scheduler(scheduler)`` after ``scheduler = StepDecay(optimizer.get_lr(), ...)``.

    Raises:
        Refused: the optimizer is left, or already has another scheduler, or the scheduler is not assigned.
    """
    use, optimizer = draft[scheduler.site], scheduler.value("optimizer")
    made = view.evaluator.objects(optimizer) if optimizer is not None else ()
    if any(isinstance(v, Instance) and v.call is not None and uses.leave(v) for v in made):
        raise Refused(UnclearSchedule("its optimizer is left as it is"))
    if optimizer is None or followed.in_sequence(scheduler):
        return use
    path, code = path_of(optimizer), scheduler.row.code
    others = (s for s in followed.of(optimizer, scheduler.call) if _runs_too(view, draft, s, scheduler))
    first = next((s.call for s in others if not followed.in_sequence(s)), None)
    settings = followed.settings(optimizer, scheduler.call)
    first = first or next((c for c in settings if not exclusive(view, c, scheduler.call)), None)
    first = first or followed.of_caller(draft, scheduler, optimizer)
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


def _runs_too(view: FileView, draft: Draft, other: Constructor, scheduler: Constructor) -> bool:
    """Whether an earlier scheduler converts, and may run in the same call."""
    if other is scheduler or other.call.lineno >= scheduler.call.lineno or not draft[other.site].converts:
        return False
    return not exclusive(view, other.call, scheduler.call)


def _named_before_return(view: FileView, scheduler: Constructor, optimizer: ast.expr) -> list[Edit]:
    """``return StepLR(...)``: assign the scheduler to a variable, set it on the optimizer, and return it.

    Raises:
        Refused: the scheduler is not returned.
    """
    statement, code = view.parent(scheduler.call), scheduler.row.code
    if not isinstance(statement, ast.Return):
        raise Refused(UnclearSchedule("the scheduler gets no name of its own here"))
    name = free_name(view, scheduler.call, "scheduler")
    start = view.source.span(statement).start
    keyword = Span(start, start + len("return"))  # what follows may be a bracket
    gap = "" if view.source.body[keyword.end : keyword.end + 1].isspace() else " "
    lines = f"{source_text(view, optimizer)}.set_lr_scheduler({name})\nreturn {name}"
    return [Edit(keyword, f"{name} ={gap}", code), insert_after(view, statement, lines, code)]
