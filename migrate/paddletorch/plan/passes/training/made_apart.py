"""Schedulers and clips that Paddle's optimizers get from elsewhere: classes of the file that work beside torch's.

A scheduler moves behind its optimizer where both are made in one block, and clipping becomes calls before the steps. In
a factory, ``def build(lr, clip): return Adam(learning_rate=lr, grad_clip=clip)``, neither is seen: the scheduler stays
an object that is made before its optimizers, and the optimizer follows it if it gets one. So it does where the program
asks an optimizer for its scheduler, ``optimizer._learning_rate``.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Sequence
from dataclasses import replace

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.allocations import Allocations
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.refusals import Refusal, UnclearClipping, UnclearSchedule
from paddletorch.plan.model.use import Draft, Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.training.clipping import CLIPS, plan_clipping
from paddletorch.plan.passes.training.constructors import (
    Constructor,
    assigned_to,
    constructors_of,
    source_text,
)
from paddletorch.plan.passes.training.schedulers import plan_schedulers
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.plan.uses.adapters import adapted, takes_as_it_stands
from paddletorch.resolve import Instance, Unknown

_STEPS_SCHEDULERS = "Model"
"""The row of what asks its optimizer for the scheduler, and steps it."""

_OF_FLEET = "paddle.distributed.fleet.distributed_optimizer"
"""Gives the optimizer that it gets."""


def plan_made_apart(view: FileView, planned: Planned) -> Changes:
    """Give classes to the schedulers and clips that other passes would leave, and let optimizers take them."""
    draft = Draft(planned.uses)
    optimizers = constructors_of(view, draft, "optimizer")
    schedulers = [u for u in planned.uses if u.row.instance == "scheduler" and u.site.role == "call" and u.converts]
    clips = [u for u in planned.uses if u.row.id in CLIPS and u.site.role == "call" and u.converts]
    if not (optimizers or schedulers or clips):
        return NOTHING
    made = _Made(view, planned, optimizers)
    made.follow(schedulers)
    made.clip(clips)
    return Changes(tuple(made.settings), uses=made.revised(), handled=made.handled)


class _Made:
    """What becomes of the optimizers of a file, and of the schedulers and clips that go to them or elsewhere."""

    def __init__(self, view: FileView, planned: Planned, optimizers: Sequence[Constructor]) -> None:
        self._view = view
        self._planned = planned
        self._optimizers = optimizers
        self._adapted: list[Use] = []
        self._rates: dict[Constructor, ast.expr] = {}
        self._clips: dict[Constructor, ast.expr] = {}
        self.handled: frozenset[ast.AST] = frozenset()
        """Where optimizers are asked for their schedulers, which they have, or are given one."""
        self.settings: list[Edit] = []
        """What becomes of ``optimizer.set_lr_scheduler(scheduler)``."""

    def follow(self, schedulers: Sequence[Use]) -> None:
        """Find the schedulers that would be left, and the optimizers whose rate may be one that is made elsewhere."""
        after = plan_schedulers(self._view, self._planned)
        left = {u.site: _refusal(u) for u in after.uses if not u.converts}
        asked = self._asked() | self._resumed()
        followed = {call for one in asked for call in self._made_by(one.value("learning_rate"))}
        apart = [u for u in schedulers if u.site.call in followed or isinstance(left.get(u.site), UnclearSchedule)]
        self._adapt(apart)
        adapted_calls = {u.site.call for u in (*self._adapted, *schedulers) if u.adapter is not None}
        staying = self._staying()
        for optimizer in self._optimizers:
            rate = optimizer.value("learning_rate")
            if rate is None or self._has_rates_of_groups(optimizer):
                continue
            refusal = left.get(optimizer.site)
            if rate in adapted_calls or optimizer in asked:
                self._rates[optimizer] = rate
            if not isinstance(rate, ast.Name | ast.Attribute):
                continue
            if not staying.isdisjoint(self._makers(rate)):
                continue
            if isinstance(refusal, UnclearSchedule) or (refusal is None and self._comes_from_elsewhere(rate)):
                self._rates[optimizer] = rate

        nodes = [node for node in self._view.tree.members.get("_learning_rate", ()) if isinstance(node.ctx, ast.Load)]
        self.handled = frozenset(n for n in nodes if self._constructors(n.value) & self._rates.keys())
        self._set_anew({u.site.call for u in self._adapted})

    def _set_anew(self, apart: Container[ast.Call | None]) -> None:
        """``optimizer.set_lr_scheduler(scheduler)`` of a scheduler with a class of its own lets that one follow."""
        view = self._view
        for call in view.tree.method_calls("set_lr_scheduler"):
            scheduler = call.args[0] if len(call.args) == 1 and not call.keywords else None
            if not isinstance(scheduler, ast.Name | ast.Attribute) or not isinstance(call.func, ast.Attribute):
                continue
            made = view.evaluator.objects(scheduler)
            if not made or not all(isinstance(v, Instance) and v.call in apart for v in made):
                continue
            name, optimizer = view.source.span(scheduler), view.source.span(call.func.value)
            parts = (name, ".follow(", optimizer, ")")
            self.settings.append(Edit(view.source.span(call), "", "LRS101", parts))
            self.handled |= {call.func}

    def _asked(self) -> set[Constructor]:
        """The optimizers that are asked for their schedulers, elsewhere than by the name that they get."""
        found: set[Constructor] = set()
        for node in self._view.tree.members.get("_learning_rate", ()):
            made = self._constructors(node.value)
            if any(not isinstance(one.value("learning_rate"), ast.Call) or not self._is_by(one, node) for one in made):
                found |= made
        if any(use.row.id == _STEPS_SCHEDULERS and use.converts for use in self._planned.uses):
            found |= {one for one in self._optimizers if self._made_by(one.value("learning_rate"))}
        return found

    def _resumed(self) -> set[Constructor]:
        """The optimizers whose scheduler is told where it stands: torch's then wants an optimizer that was restored."""
        return {
            one
            for one in self._optimizers
            if any(_is_resumed(call) for call in self._made_by(one.value("learning_rate")))
        }

    def _constructors(self, receiver: ast.expr) -> set[Constructor]:
        """The optimizers of the file that the receiver is, if it can be nothing else and each has a rate."""
        values = [
            v for v in self._view.evaluator.objects(receiver) if not isinstance(v, Instance) or v.api != _OF_FLEET
        ]
        calls = {v.call if isinstance(v, Instance) else None for v in values}
        found = {one for one in self._optimizers if one.call in calls}
        return found if len(found) == len(calls) and all(one.value("learning_rate") for one in found) else set()

    def _is_by(self, optimizer: Constructor, node: ast.Attribute) -> bool:
        """Whether the optimizer is assigned to what the attribute is asked of."""
        assigned = assigned_to(self._view, optimizer.call)
        return assigned is not None and path_of(assigned[1]) == path_of(node.value)

    def _made_by(self, rate: ast.expr | None) -> set[ast.Call]:
        """The calls that make what the rate is, and what these get."""
        found: set[ast.Call] = set()
        waiting = [rate] if rate is not None else []
        while waiting:
            made = self._view.evaluator.objects(waiting.pop())
            calls = {v.call for v in made if isinstance(v, Instance) and v.type == "scheduler" and v.call is not None}
            calls -= found
            found |= calls
            waiting += [one for call in calls for one in (*call.args, *(k.value for k in call.keywords))]
        return found

    def clip(self, clips: Sequence[Use]) -> None:
        """Find the clips that would be left, and the optimizers that get one of them."""
        before = self._planned.with_changes(Changes(uses=self.revised()))
        scheduled = before.with_changes(plan_schedulers(self._view, before))
        left = {u.site: _refusal(u) for u in plan_clipping(self._view, scheduled).uses if not u.converts}
        apart = [u for u in clips if u.site in left]
        calls = {u.site.call for u in apart}
        for optimizer in self._optimizers:
            given = optimizer.value("grad_clip")
            if not isinstance(given, ast.Name | ast.Attribute):
                continue
            is_left = isinstance(left.get(optimizer.site), UnclearClipping)
            if is_left or any(value in calls for value in self._view.provide(Allocations).assigned(given)):
                self._clips[optimizer] = given
        self._adapt(apart)

    def _adapt(self, uses: Sequence[Use]) -> None:
        for use in uses:
            call = use.site.call
            found = adapted(self._view, use, call) if call and takes_as_it_stands(self._view, use) else None
            if found is not None:
                self._adapted.append(found)

    def _staying(self) -> set[ast.Call]:
        """The calls of schedulers that stay the source's."""
        uses = self._planned.uses.with_uses(self._adapted)
        calls = (u.site.call for u in uses if u.row.instance == "scheduler" and u.adapter is None)
        return {call for call in calls if call is not None}

    def _makers(self, rate: ast.expr) -> set[ast.Call]:
        """The calls that may have made the rate."""
        objects = self._view.evaluator.objects(rate)
        return {v.call for v in objects if isinstance(v, Instance) and v.call is not None}

    def _has_rates_of_groups(self, optimizer: Constructor) -> bool:
        """Whether a group has a rate of its own, of which the scheduler's is a factor."""
        given = optimizer.binding.origin("parameters")
        keys = {k.value for k in ast.walk(given) if isinstance(k, ast.Constant)} if given is not None else set()
        return "learning_rate" in keys

    def _comes_from_elsewhere(self, rate: ast.expr) -> bool:
        """Whether the rate is a parameter, or an attribute that holds one, of which no caller is seen."""
        view = self._view
        if not any(isinstance(value, Unknown) for value in view.evaluator.objects(rate)):
            return False
        if isinstance(rate, ast.Attribute):
            is_own = isinstance(rate.value, ast.Name) and rate.value.id == "self"
            stored = [s.value for s in view.evaluator.stores(rate.attr)] if is_own else []
            return bool(stored) and all(isinstance(s, ast.Name) and self._comes_from_elsewhere(s) for s in stored)
        if not isinstance(rate, ast.Name):
            return False
        bindings = view.tree.scopes[rate].lookup(rate.id)
        return len(bindings) == 1 and _is_open_parameter(bindings[0].node, rate.id)

    def revised(self) -> tuple[Use, ...]:
        """The uses with what was found so far."""
        optimizers = {**self._rates, **self._clips}
        return (*self._adapted, *(self._wrapped(one) for one in optimizers))

    def _wrapped(self, optimizer: Constructor) -> Use:
        view, code = self._view, optimizer.row.code
        use = self._planned.uses[optimizer.site]
        before, after = "", ""
        if isinstance(rate := self._rates.get(optimizer), ast.Call):
            return self._wrapped_inline(optimizer, use, rate)
        if rate is not None:
            text = source_text(view, rate)
            if not isinstance(rate, ast.Constant):
                use = use.with_edits(Edit(view.source.span(rate), f"paddle_rate({text})", code))
            before, after = "paddle_scheduled(", f", {text})"
        if (clip := self._clips.get(optimizer)) is not None:
            before, after = f"paddle_clipped({before}", f"{after}, {source_text(view, clip)})"
        whole = view.source.span(optimizer.call)
        return use.with_edits(Edit(whole, "", code, (before, whole, after)))

    def _wrapped_inline(self, optimizer: Constructor, use: Use, rate: ast.Call) -> Use:
        """``Adam(learning_rate=StepDecay(...))``: the scheduler, which sets the rate, becomes another argument."""
        source = self._view.source
        whole, place = source.span(optimizer.call), source.span(rate)
        keyword = tuple(e for e in use.edits if e.span == Span(place.start, place.start))
        number = "".join(e.text for e in keyword) + "0.0"
        before, after = "paddle_scheduled(", ")"
        if (clip := self._clips.get(optimizer)) is not None:
            before, after = f"paddle_clipped({before}", f"), {source_text(self._view, clip)})"
        ends = Span(whole.start, place.start), Span(place.end, whole.end)
        parts = (before, ends[0], number, ends[1], ", ", place, after)
        kept = tuple(e for e in use.edits if e not in keyword)
        return replace(use, edits=kept).with_edits(Edit(whole, "", optimizer.row.code, parts))


def _is_open_parameter(node: ast.AST | None, name: str) -> bool:
    """Whether the function takes the parameter without a number as its default."""
    if not isinstance(node, ast.arg) or (node.annotation is not None and "float" in ast.unparse(node.annotation)):
        return False
    return node.arg == name


def _is_resumed(call: ast.Call) -> bool:
    given = [k.value for k in call.keywords if k.arg == "last_epoch"]
    return any(ast.unparse(one) != "-1" for one in given)


def _refusal(use: Use) -> Refusal | None:
    return next((found.refusal for found in use.findings if found.refusal is not None), None)
