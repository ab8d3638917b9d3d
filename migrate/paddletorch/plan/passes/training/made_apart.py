"""Schedulers and clips that Paddle's optimizers get from elsewhere: classes of the file that work beside torch's.

A scheduler moves behind its optimizer where both are made in one block, and clipping becomes calls before the steps. In
a factory, ``def build(lr, clip): return Adam(learning_rate=lr, grad_clip=clip)``, neither is seen: the scheduler stays
an object that is made before its optimizers, and the optimizer follows it if it gets one.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from paddletorch.model import Edit
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.refusals import Refusal, UnclearClipping, UnclearSchedule
from paddletorch.plan.model.use import Draft, Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.training.clipping import CLIPS, assigned_values, plan_clipping
from paddletorch.plan.passes.training.constructors import Constructor, constructors_of, source_text
from paddletorch.plan.passes.training.schedulers import plan_schedulers
from paddletorch.plan.uses.adapters import adapted, takes_as_it_stands
from paddletorch.resolve import Instance, Unknown

_NUMBERS = (ast.Constant, ast.BinOp, ast.UnaryOp)


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
    return Changes(uses=made.revised())


class _Made:
    """What becomes of the optimizers of a file, and of the schedulers and clips that go to them or elsewhere."""

    def __init__(self, view: FileView, planned: Planned, optimizers: Sequence[Constructor]) -> None:
        self._view = view
        self._planned = planned
        self._optimizers = optimizers
        self._adapted: list[Use] = []
        self._rates: dict[Constructor, ast.expr] = {}
        self._clips: dict[Constructor, ast.expr] = {}

    def follow(self, schedulers: Sequence[Use]) -> None:
        """Find the schedulers that would be left, and the optimizers whose rate may be one that is made elsewhere."""
        after = plan_schedulers(self._view, self._planned)
        left = {u.site: _refusal(u) for u in after.uses if not u.converts}
        inline = {o.value("learning_rate") for o in self._optimizers if o.site in left}
        self._adapt(
            [u for u in schedulers if isinstance(left.get(u.site), UnclearSchedule) and u.site.call not in inline]
        )
        unnamed = UnclearSchedule("the scheduler gets no name of its own here")
        self._adapted += [u.refuse(unnamed) for u in schedulers if u.adapter is not None and u.site.call in inline]
        staying = self._staying()
        for optimizer in self._optimizers:
            rate = optimizer.value("learning_rate")
            if not isinstance(rate, ast.Name | ast.Attribute) or self._has_rates_of_groups(optimizer):
                continue
            refusal = left.get(optimizer.site)
            if not staying.isdisjoint(self._makers(rate)):
                continue
            if isinstance(refusal, UnclearSchedule) or (refusal is None and self._comes_from_elsewhere(rate)):
                self._rates[optimizer] = rate

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
            if is_left or any(value in calls for value in assigned_values(self._view, given)):
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
        if (rate := self._rates.get(optimizer)) is not None:
            text = source_text(view, rate)
            use = use.with_edits(Edit(view.source.span(rate), f"paddle_rate({text})", code))
            before, after = "paddle_scheduled(", f", {text})"
        if (clip := self._clips.get(optimizer)) is not None:
            before, after = f"paddle_clipped({before}", f"{after}, {source_text(view, clip)})"
        whole = view.source.span(optimizer.call)
        return use.with_edits(Edit(whole, "", code, (before, whole, after)))


def _is_open_parameter(node: ast.AST | None, name: str) -> bool:
    """Whether the function takes the parameter without a number as its default."""
    if not isinstance(node, ast.arg) or (node.annotation is not None and "float" in ast.unparse(node.annotation)):
        return False
    return node.arg == name


def _refusal(use: Use) -> Refusal | None:
    return next((found.refusal for found in use.findings if found.refusal is not None), None)
