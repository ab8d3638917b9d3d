"""The loss-scale rule as a pure state machine: torch's, Paddle's dynamic-graph and Paddle's static-graph one.

Nothing here needs a framework. Every number equals what the frameworks' own scalers compute, bit for bit:
the scale is a float32, torch multiplies it by a float64 factor and rounds once, Paddle rounds the factor to
float32 first (measured: torch 2.13 ``_amp_update_scale_``, Paddle 3.3.1 ``GradScaler`` and
``update_loss_scaling_``).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


def float32(value: float) -> float:
    """``value`` rounded to float32 (to nearest even), with infinity past its range."""
    try:
        rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


@dataclass(frozen=True, slots=True)
class LossScaleState:
    """What a scaler carries from step to step.

    Args:
        scale: the loss scale, a float32 value.
        good: finite steps since the last change or overflow (torch ``_growth_tracker``, Paddle
            ``incr_count``).
        bad: overflowed steps in a row since the last reduction (Paddle ``decr_count``; torch keeps none).
    """

    scale: float
    good: int = 0
    bad: int = 0


@dataclass(frozen=True, slots=True)
class LossScaleRule:
    """How the scale follows the steps. Values are taken as they are: the scalers check them.

    Args:
        growth_factor: multiplies the scale after ``growth_interval`` finite steps in a row.
        backoff_factor: multiplies the scale after ``backoff_interval`` overflowed steps in a row.
        growth_interval: finite steps in a row before the scale grows; compared with ``==``, so 0 never grows.
        backoff_interval: overflowed steps in a row before the scale backs off (Paddle's
            ``decr_every_n_nan_or_inf``; 1 in torch).
        dynamic: False keeps scale and counters as they are.
        growth_guard: growth that would leave the float32 range keeps the scale instead.
        min_scale: a backoff never goes below it; 0.0 is no floor.
        float32_factors: factors are rounded to float32 before they are used, as Paddle does.
    """

    growth_factor: float
    backoff_factor: float
    growth_interval: int
    backoff_interval: int = 1
    dynamic: bool = True
    growth_guard: bool = True
    min_scale: float = 0.0
    float32_factors: bool = False

    def advance(self, state: LossScaleState, found_inf: bool) -> LossScaleState:
        """The state after one update; ``found_inf`` says whether any gradient held an infinity or a NaN."""
        if not self.dynamic:
            return state
        if found_inf:
            bad = state.bad + 1
            if bad != self.backoff_interval:
                # With an interval of 1 torch has no such counter: it stays 0 there because 1 == 1.
                return LossScaleState(state.scale, 0, bad)
            return LossScaleState(max(self._times(state.scale, self.backoff_factor), self.min_scale), 0, 0)
        good = state.good + 1
        if good != self.growth_interval:
            return LossScaleState(state.scale, good, 0)
        grown = self._times(state.scale, self.growth_factor)
        keep = self.growth_guard and not math.isfinite(grown)
        return LossScaleState(state.scale if keep else grown, 0, 0)

    def trajectory(self, state: LossScaleState, overflows: Iterable[bool]) -> Iterator[LossScaleState]:
        """The state after each update of a schedule of overflows."""
        for found_inf in overflows:
            state = self.advance(state, found_inf)
            yield state

    def _times(self, scale: float, factor: float) -> float:
        # A product of two float32 values is exact in float64, so one rounding gives float32's own product.
        return float32(scale * (float32(factor) if self.float32_factors else factor))


def torch_rule(growth_factor: float, backoff_factor: float, growth_interval: int) -> LossScaleRule:
    """The rule of ``torch.amp.GradScaler``: backs off at each overflow, guards its growth, has no floor."""
    return LossScaleRule(growth_factor, backoff_factor, growth_interval)


def paddle_rule(
    incr_ratio: float,
    decr_ratio: float,
    incr_every_n_steps: int,
    decr_every_n_nan_or_inf: int,
    use_dynamic_loss_scaling: bool = True,
) -> LossScaleRule:
    """The rule of ``paddle.amp.GradScaler`` in dynamic graphs: it can grow to infinity and has no floor."""
    return LossScaleRule(
        incr_ratio,
        decr_ratio,
        incr_every_n_steps,
        decr_every_n_nan_or_inf,
        dynamic=use_dynamic_loss_scaling,
        growth_guard=False,
        float32_factors=True,
    )


def paddle_static_rule(
    incr_ratio: float, decr_ratio: float, incr_every_n_steps: int, decr_every_n_nan_or_inf: int
) -> LossScaleRule:
    """The rule of Paddle's static-graph operator ``update_loss_scaling``: growth guard and a floor of 1.0."""
    return LossScaleRule(
        incr_ratio,
        decr_ratio,
        incr_every_n_steps,
        decr_every_n_nan_or_inf,
        min_scale=1.0,
        float32_factors=True,
    )
