"""The policy against the operators and scalers it stands for, on random schedules."""

from __future__ import annotations

import math

import paddle
import torch
from hypothesis import given
from hypothesis import strategies as st
from paddletorch_shim.parity.scalers import paddle_scaler_active
from paddletorch_shim.policy import (
    LossScaleState,
    float32,
    paddle_rule,
    paddle_static_rule,
    torch_rule,
)

scales = st.floats(2.0**-149, 2.0**127, width=32)
growths = st.floats(1.0, 10.0, exclude_min=True)
backoffs = st.floats(0.01, 1.0, exclude_max=True)
intervals = st.integers(0, 5)
overflows = st.lists(st.booleans(), min_size=4, max_size=40)


@given(st.floats(allow_nan=False))
def test_float32_rounds_as_torch_does(value: float) -> None:
    assert float32(value) == torch.tensor(value, dtype=torch.float64).float().item()


@given(scales, growths, backoffs, intervals, overflows)
def test_torch_rule_equals_torch_update(
    scale: float, growth: float, backoff: float, interval: int, schedule: list[bool]
) -> None:
    real_scale = torch.tensor(scale, dtype=torch.float32)
    real_good = torch.tensor(0, dtype=torch.int32)
    rule = torch_rule(growth, backoff, interval)
    for state, found in zip(rule.trajectory(LossScaleState(scale), schedule), schedule, strict=True):
        torch._amp_update_scale_(real_scale, real_good, torch.tensor(float(found)), growth, backoff, interval)
        assert (state.scale, state.good, state.bad) == (real_scale.item(), real_good.item(), 0)


@given(scales, growths, backoffs, intervals, st.integers(0, 4), overflows, st.booleans())
def test_paddle_rule_equals_paddle_scaler(
    scale: float,
    growth: float,
    backoff: float,
    interval: int,
    backoff_interval: int,
    schedule: list[bool],
    dynamic: bool,
) -> None:
    with paddle_scaler_active():
        real = paddle.amp.GradScaler(
            init_loss_scaling=scale,
            incr_ratio=growth,
            decr_ratio=backoff,
            incr_every_n_steps=interval,
            decr_every_n_nan_or_inf=backoff_interval,
            use_dynamic_loss_scaling=dynamic,
        )
        rule = paddle_rule(growth, backoff, interval, backoff_interval, dynamic)
        for state, found in zip(rule.trajectory(LossScaleState(scale), schedule), schedule, strict=True):
            real._cache_found_inf = found
            real.update()
            saved = real.state_dict()
            assert state == LossScaleState(float(saved["scale"][0]), saved["incr_count"], saved["decr_count"])


@given(scales, growths, backoffs, intervals, st.integers(1, 4), overflows)
def test_static_rule_equals_paddle_operator(
    scale: float, growth: float, backoff: float, interval: int, backoff_interval: int, schedule: list[bool]
) -> None:
    real_scale = paddle.full([1], scale, "float32")
    good, bad = paddle.zeros([1], "int32"), paddle.zeros([1], "int32")
    rule = paddle_static_rule(growth, backoff, interval, backoff_interval)
    for state, found in zip(rule.trajectory(LossScaleState(scale), schedule), schedule, strict=True):
        paddle._C_ops.update_loss_scaling_(
            [paddle.ones([1])],
            paddle.to_tensor([found]),
            real_scale,
            good,
            bad,
            interval,
            backoff_interval,
            growth,
            backoff,
            False,
        )
        assert state == LossScaleState(real_scale.item(), good.item(), bad.item())


@given(scales, growths, backoffs, st.integers(1, 5), overflows)
def test_with_an_interval_of_one_and_exact_factors_both_rules_are_one(
    scale: float, growth: float, backoff: float, interval: int, schedule: list[bool]
) -> None:
    growth, backoff = float32(growth), float32(backoff)
    a = torch_rule(growth, backoff, interval).trajectory(LossScaleState(scale), schedule)
    b = paddle_rule(growth, backoff, interval, 1).trajectory(LossScaleState(scale), schedule)
    for torch_state, paddle_state in zip(a, b, strict=True):
        if math.isinf(paddle_state.scale):  # only torch guards its growth
            assert torch_state.scale * growth > 2.0**127
            return
        assert torch_state == paddle_state


def test_tolerated_overflows_restart_after_a_finite_step() -> None:
    rule = paddle_rule(2.0, 0.5, 1000, 2)
    schedule = [False, True, False, True, True, True, True]
    scales = [state.scale for state in rule.trajectory(LossScaleState(64.0), schedule)]
    assert scales == [64.0, 64.0, 64.0, 64.0, 32.0, 32.0, 16.0]


def test_a_static_scaler_never_moves() -> None:
    rule = paddle_rule(2.0, 0.5, 1, 1, use_dynamic_loss_scaling=False)
    assert set(rule.trajectory(LossScaleState(64.0, 3, 1), [True, False, True])) == {LossScaleState(64.0, 3, 1)}
