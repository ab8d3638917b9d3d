"""Random training schedules: settings, gradients, overflows, setters, checkpoints; one for each seed."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from typing import Any, Literal

SHAPES: tuple[tuple[int, ...], ...] = ((3,), (2, 2))
"""The parameters that every run trains."""

SIZES = tuple(math.prod(shape) for shape in SHAPES)

Field = Literal["scale", "growth_factor", "backoff_factor", "growth_interval", "backoff_interval"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Constructor values of a scaler, named as in ``LossScaleRule``; torch's has no last two."""

    init_scale: float
    growth_factor: float
    backoff_factor: float
    growth_interval: int
    backoff_interval: int
    dynamic: bool

    def changed(self, field: Field, value: float) -> Settings:
        """The settings after a setter was called."""
        changed: dict[str, Any] = {field: value}
        return replace(self, **changed)


@dataclass(frozen=True, slots=True)
class Iteration:
    """One training step.

    Args:
        coefficients: the gradient of each parameter before scaling, flat.
        unscale_first: call ``unscale_`` before ``step``.
        minimize: call Paddle's ``minimize`` instead of ``step`` and ``update``.
        reload: before the step, move the state through ``state_dict`` into a new scaler.
        change: before the step, a setting to change and its new value.
    """

    coefficients: tuple[tuple[float, ...], ...]
    unscale_first: bool = False
    minimize: bool = False
    reload: bool = False
    change: tuple[Field, float] | None = None

    @property
    def finite(self) -> bool:
        """Whether every coefficient is finite; a finite one may still overflow once it is scaled."""
        return all(math.isfinite(c) for values in self.coefficients for c in values)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A reproducible training run."""

    seed: int
    settings: Settings
    iterations: tuple[Iteration, ...]


def make(seed: int, steps: int) -> Schedule:
    """The schedule of ``seed`` with ``steps`` iterations.

    Scales stay far from the ends of float32: what happens there is a known difference, checked on its own.
    """
    rng = random.Random(seed)
    settings = Settings(
        init_scale=rng.choice((1.0, 64.0, 1000.0, 1024.0, 65536.0)),
        growth_factor=rng.choice((2.0, 2.0, 1.5, 1.1, 4.0)),
        backoff_factor=rng.choice((0.5, 0.5, 0.75, 0.1)),
        growth_interval=rng.choice((1, 2, 3, 5, 2000)),
        backoff_interval=rng.choice((1, 1, 2, 3)),
        dynamic=rng.random() < 0.85,
    )
    overflow_rate = rng.choice((0.0, 0.1, 0.3, 0.6))
    return Schedule(seed, settings, tuple(_iteration(rng, overflow_rate) for _ in range(steps)))


def _iteration(rng: random.Random, overflow_rate: float) -> Iteration:
    # Odd multiples of 1/8 are never zero, so every applied step changes the parameters, exactly under SGD.
    values = [[rng.randrange(-15, 16, 2) / 8 for _ in range(size)] for size in SIZES]
    if rng.random() < overflow_rate:
        values_of_one = rng.choice(values)
        values_of_one[rng.randrange(len(values_of_one))] = rng.choice((math.inf, -math.inf, math.nan, 2.0**127))
    change = _change(rng) if rng.random() < 0.06 else None
    return Iteration(
        coefficients=tuple(tuple(v) for v in values),
        unscale_first=rng.random() < 0.4,
        minimize=rng.random() < 0.2,
        reload=rng.random() < 0.05,
        change=change,
    )


def _change(rng: random.Random) -> tuple[Field, float]:
    changes: tuple[tuple[Field, tuple[float, ...]], ...] = (
        ("scale", (2.0, 512.0, 3000.0)),
        ("growth_factor", (2.0, 3.0)),
        ("backoff_factor", (0.5, 0.25)),
        ("growth_interval", (1, 2, 4)),
        ("backoff_interval", (1, 2)),
    )
    field, values = rng.choice(changes)
    return field, rng.choice(values)
