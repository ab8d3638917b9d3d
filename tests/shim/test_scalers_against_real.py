"""The shim's scalers through the same random schedules and calls as the frameworks' own, bit for bit."""

from __future__ import annotations

import math
from typing import Any

import paddle
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paddletorch_rules import Framework
from paddletorch_shim.paddle import GradScaler as OnPaddle
from paddletorch_shim.parity import runs
from paddletorch_shim.parity.engines import OPTIMIZERS
from paddletorch_shim.parity.scalers import paddle_scaler_active
from paddletorch_shim.parity.schedules import SIZES, Field, Iteration, Schedule, Settings

from . import scaler_calls

# Odd multiples of 1/8: never zero, so that an applied step is seen in the parameters.
finite = st.integers(-8, 7).map(lambda n: (2 * n + 1) / 8)
special = st.sampled_from([math.inf, -math.inf, math.nan, 2.0**127])
gradients = st.tuples(
    *(
        st.lists(st.one_of(finite, finite, finite, finite, finite, special), min_size=n, max_size=n).map(tuple)
        for n in SIZES
    )
)
changes: st.SearchStrategy[tuple[Field, float]] = st.one_of(
    st.tuples(st.just("scale"), st.floats(1.0, 2.0**20, width=32)),
    st.tuples(st.just("growth_factor"), st.floats(1.25, 4.0)),
    st.tuples(st.just("backoff_factor"), st.floats(0.25, 0.9)),
    st.tuples(st.just("growth_interval"), st.integers(1, 4)),
    st.tuples(st.just("backoff_interval"), st.integers(1, 3)),
)
schedules = st.builds(
    Schedule,
    st.just(0),
    st.builds(
        Settings,
        init_scale=st.floats(1.0, 2.0**20, width=32),
        growth_factor=st.floats(1.25, 4.0),
        backoff_factor=st.floats(0.25, 0.9),
        growth_interval=st.integers(1, 4),
        backoff_interval=st.integers(1, 3),
        dynamic=st.booleans(),
    ),
    st.lists(
        st.builds(
            Iteration,
            gradients,
            unscale_first=st.booleans(),
            minimize=st.booleans(),
            reload=st.booleans(),
            change=st.one_of(st.none(), st.none(), changes),
        ),
        min_size=1,
        max_size=14,
    ).map(tuple),
)


@pytest.mark.parametrize("api", ["torch", "paddle"])
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schedule=schedules)
def test_equal_to_the_framework(api: Framework, schedule: Schedule) -> None:
    target: Framework = "paddle" if api == "torch" else "torch"
    with paddle_scaler_active():
        real = list(runs.run(api, None, "sgd", schedule))
        assert runs.compare(real, list(runs.predict(api, schedule)), gradients_of_skipped=api == "torch") is None
        for optimizer in OPTIMIZERS:
            replayed = list(runs.replay(target, optimizer, real))
            for backend in ("native", "reference"):
                shim = list(runs.run(api, backend, optimizer, schedule))
                # Paddle's CPU kernel zeroes gradients once it has met an infinity; torch goes on unscaling.
                assert runs.compare(shim, real, gradients_of_skipped=api == "torch") is None
                assert runs.compare_parameters(shim, replayed) is None
                if optimizer == "sgd":
                    assert runs.compare_parameters(shim, [step.parameters for step in real]) is None


# ------------------------------------------------------------------ wrong calls too


@pytest.mark.parametrize("start", range(0, 300, 50))
@pytest.mark.parametrize("api", ["torch", "paddle"])
def test_random_calls_in_any_order_do_the_same(api: Framework, start: int) -> None:
    with paddle_scaler_active():
        for seed in range(start, start + 50):
            assert scaler_calls.first_difference(api, scaler_calls.random_calls(api, seed)) is None


@pytest.mark.parametrize(
    "then",
    [
        ["unscale_", "step", "update", "pickle"],
        ["backward", "step", "update", "step"],
        ["backward", "unscale_", "backward of another", "step of another", "update", "backward", "step", "update"],
        ["update to", "backward", "unscale_", "step", "update"],
        ["backward of another", "step of another", "update", "backward", "step", "update"],
    ],
)
@pytest.mark.parametrize("first", [["scale", "step"], ["scale", "unscale_", "step"], ["scale", "unscale_"]])
def test_an_optimizer_without_gradients_stays_unscaled(first: list[str], then: list[str]) -> None:
    """After 'No inf checks were recorded', until the next update."""
    values = {"backward": (0, 1.0), "backward of another": (1, math.inf), "step of another": 1, "update to": 64.0}
    calls: list[scaler_calls.Call] = [
        (name.removesuffix(" of another"), values.get(name, 0)) for name in (*first, *then)
    ]
    assert scaler_calls.first_difference("torch", calls) is None


def test_it_does_not_pass_because_nothing_is_compared() -> None:
    """A scaler that differs in one number, or in whether a call is an error, is found."""
    sides = {"step": ("step", 0), "backward": ("backward", (0, 1.0)), "update": ("update", None)}
    calls = [sides["backward"], sides["step"], sides["update"]]
    assert scaler_calls.first_difference("torch", calls) is None
    original = OnPaddle.update

    def forgetful(self: OnPaddle, new_scale: Any = None) -> None:
        original(self, 32.0)

    OnPaddle.update = forgetful  # type: ignore[method-assign]
    try:
        assert "state after" in str(scaler_calls.first_difference("torch", calls))
    finally:
        OnPaddle.update = original  # type: ignore[method-assign]


def first_iteration(**settings: Any) -> None:
    """One of torch's own scaler, which looks at its settings only where it needs them."""
    param = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([param], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", **settings)
    scaler.scale(param.sum()).backward()
    scaler.step(optimizer)
    scaler.update()


@pytest.mark.parametrize(
    "settings",
    [
        {"growth_interval": 2.5},
        {"growth_interval": 2.0},
        {"growth_interval": "2"},
        {"growth_interval": None},
        {"growth_factor": "2"},
        {"backoff_factor": None},
        {"init_scale": "a"},
        {"init_scale": [2.0]},
        {"growth_factor": 1.0},
        {"backoff_factor": 1.0},
    ],
)
def test_wrong_settings_are_errors_of_torchs_type(settings: dict[str, Any]) -> None:
    """At once, while torch's own scaler takes some of them and fails at the first update."""
    theirs = scaler_calls.outcome(lambda: first_iteration(**settings))
    assert theirs is not None
    assert scaler_calls.outcome(lambda: OnPaddle("cpu", **settings)) is theirs
    if "growth_interval" in settings:
        scaler = OnPaddle("cpu")
        before = scaler.state_dict()
        for change in (
            lambda: scaler.set_growth_interval(settings["growth_interval"]),
            lambda: scaler.load_state_dict({**before, **settings}),
        ):
            with pytest.raises(theirs):
                change()
            assert scaler.state_dict() == before


@pytest.mark.parametrize("value", [[1.0], (1.0,), {"a": 1.0}, 1.0, None, "x"])
def test_what_paddle_cannot_scale_is_an_error_of_its_type(value: Any) -> None:
    from paddletorch_shim.torch import GradScaler

    given = [torch.ones(1)] if value == [1.0] else value
    theirs = [paddle.ones([1])] if value == [1.0] else value
    with paddle_scaler_active():
        expected = scaler_calls.outcome(lambda: paddle.amp.GradScaler().scale(theirs))
    assert expected is AttributeError
    assert scaler_calls.outcome(lambda: GradScaler().scale(given)) is expected


def test_a_list_is_scaled_where_torch_scales_it() -> None:
    real, ours = torch.amp.GradScaler("cpu", init_scale=4.0), OnPaddle("cpu", init_scale=4.0)
    assert [float(one) for one in real.scale([torch.ones(1)])] == [float(one) for one in ours.scale([paddle.ones([1])])]
    for wrong in ([1.0], [None], [[2.0]]):
        for scaler in (real, ours):
            with pytest.raises(ValueError, match="outputs must be a Tensor or an iterable of Tensors"):
                scaler.scale(wrong)
