"""One scaler through one schedule, and what must be equal between two such runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from paddletorch_rules import Framework

from paddletorch_shim.parity.engines import Values, engine
from paddletorch_shim.parity.scalers import Scaler
from paddletorch_shim.parity.schedules import Schedule, Settings
from paddletorch_shim.policy import LossScaleRule, LossScaleState, float32, paddle_rule, torch_rule


@dataclass(frozen=True, slots=True)
class Step:
    """What one iteration left behind. ``gradients`` are unscaled; ``parameters`` are after the step."""

    state: LossScaleState
    stepped: bool
    gradients: Values
    parameters: Values


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where a run differs from what it should equal."""

    step: int
    field: str
    expected: Any
    found: Any


def run(api: Framework, backend: str | None, optimizer: str, schedule: Schedule) -> Iterator[Step]:
    """Drive a scaler (``backend`` None: the framework's own) through a schedule."""
    scaler = Scaler(api, backend, schedule.settings)
    model = engine(scaler.framework, optimizer)
    before = model.parameters()
    for iteration in schedule.iterations:
        if iteration.change is not None:
            scaler.change(*iteration.change)
        scaler.iterate(model, iteration)
        after = model.parameters()
        yield Step(scaler.state(), after != before, model.gradients(), after)
        before = after


def predict(api: Framework, schedule: Schedule) -> Iterator[Step]:
    """What each iteration must leave behind, by the policy alone, without any framework; no parameters."""
    settings = schedule.settings
    state = LossScaleState(settings.init_scale)
    for number, iteration in enumerate(schedule.iterations):
        if iteration.change is not None:
            field, value = iteration.change
            if field != "scale":
                settings = settings.changed(field, value)
            elif api == "paddle" or number > 0:  # torch refuses a new scale before the first scale()
                state = replace(state, scale=float32(value))
        scaled = [float32(c * state.scale) for values in iteration.coefficients for c in values]
        inverse = float32(1.0 / state.scale)
        stepped = all(map(math.isfinite, scaled))
        state = rule(api, settings).advance(state, not stepped)
        yield Step(state, stepped, tuple(float32(g * inverse).hex() for g in scaled), ())


def rule(api: Framework, s: Settings) -> LossScaleRule:
    """The policy's rule for the settings under one API."""
    if api == "torch":
        return torch_rule(s.growth_factor, s.backoff_factor, s.growth_interval)
    return paddle_rule(s.growth_factor, s.backoff_factor, s.growth_interval, s.backoff_interval, s.dynamic)


def replay(framework: Framework, optimizer: str, steps: Sequence[Step]) -> Iterator[Values]:
    """Parameters after each step when a plain optimizer, without any scaler, gets the same gradients."""
    model = engine(framework, optimizer)
    for step in steps:
        if step.stepped:
            model.set_gradients(step.gradients)
            model.optimizer.step()
        yield model.parameters()


def compare(found: Sequence[Step], expected: Sequence[Step], *, gradients_of_skipped: bool) -> Difference | None:
    """The first difference in scale, counters, decision or gradients; None if there is none.

    ``gradients_of_skipped`` asks for equal gradients where the step was skipped too.
    """
    for number, (ours, theirs) in enumerate(zip(found, expected, strict=True), start=1):
        for field in ("scale", "good", "bad"):
            a, b = getattr(theirs.state, field), getattr(ours.state, field)
            if a != b:
                return Difference(number, field, a, b)
        if ours.stepped != theirs.stepped:
            return Difference(number, "stepped", theirs.stepped, ours.stepped)
        if (ours.stepped or gradients_of_skipped) and ours.gradients != theirs.gradients:
            return Difference(number, "gradients", theirs.gradients, ours.gradients)
    return None


def compare_parameters(found: Sequence[Step], expected: Sequence[Values]) -> Difference | None:
    """The first step after which the parameters differ."""
    for number, (ours, theirs) in enumerate(zip(found, expected, strict=True), start=1):
        if ours.parameters != theirs:
            return Difference(number, "parameters", theirs, ours.parameters)
    return None
