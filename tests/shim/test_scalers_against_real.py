"""The shim's scalers through the same random schedules and calls as the frameworks' own, bit for bit."""

from __future__ import annotations

import decimal
import fractions
import math
from collections.abc import Callable
from typing import Any

import numpy
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


Steps = list[tuple[str, Callable[[Any], Any]]]

ODD: tuple[Any, ...] = (
    *(True, False, None, "2", "a", b"2", [2.0], (2.0,), {}, object(), 2 + 0j),
    *(numpy.float32(2.0), numpy.float64(0.5), numpy.int64(2), numpy.bool_(True), numpy.array(2.0), numpy.ones(1)),
    *(numpy.ones(2), fractions.Fraction(3), decimal.Decimal("2.5"), 10**400),
    *(2, 1, 0, -1, 2.5, 2.0, 1.0, 0.5, -0.5, 1e40, 1e-50, math.nan, math.inf, -math.inf),
)
"""What a constructor may be given by mistake."""


def an_iteration(side: Framework, factor: float) -> Steps:
    """The calls of one, on a model of ``side``."""
    if side == "torch":
        param = torch.nn.Parameter(torch.ones(1))
        optimizer: Any = torch.optim.SGD([param], lr=1.0)
    else:
        param = paddle.create_parameter([1], "float32")
        optimizer = paddle.optimizer.SGD(1.0, parameters=[param])
    return [
        ("scale", lambda scaler: scaler.scale((param * factor).sum()).backward()),
        ("step", lambda scaler: scaler.step(optimizer)),
        ("update", lambda scaler: scaler.update()),
        ("state_dict", lambda scaler: float(scaler.state_dict().get("scale", 1.0))),
    ]


def where_it_fails(make: Callable[[], Any], steps: Steps) -> tuple[str, Any]:
    """The first call that raises and the type of its error; else what the last one gives."""
    made: list[Any] = []
    result = None
    for name, call in (("constructor", lambda _: made.append(make())), *steps):
        try:
            result = call(made[0] if made else None)
        except Exception as error:
            return name, type(error)
    return "", result


@pytest.mark.parametrize("factor", [1.0, math.inf], ids=["finite", "overflow"])
@pytest.mark.parametrize("value", ODD, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize(
    ("api", "setting"),
    [("torch", name) for name in ("init_scale", "growth_factor", "backoff_factor", "growth_interval", "enabled")]
    + [("paddle", name) for name in ("init_loss_scaling", "incr_ratio", "decr_ratio", "enable")],
)
@pytest.mark.filterwarnings("ignore")
def test_wrong_settings_fail_as_the_real_scalers(api: Framework, setting: str, value: Any, factor: float) -> None:
    """An error of theirs has its type in the same call; what they take, and compute nonsense with, may fail at once."""
    from paddletorch_shim.torch import GradScaler as OnTorch

    with paddle_scaler_active():
        if api == "torch":
            theirs = where_it_fails(
                lambda: torch.amp.GradScaler("cpu", **{setting: value}), an_iteration("torch", factor)
            )
            ours = where_it_fails(lambda: OnPaddle("cpu", **{setting: value}), an_iteration("paddle", factor))
        else:
            theirs = where_it_fails(lambda: paddle.amp.GradScaler(**{setting: value}), an_iteration("paddle", factor))
            ours = where_it_fails(lambda: OnTorch(**{setting: value}), an_iteration("torch", factor))
    two_scales = setting == "init_loss_scaling" and isinstance(value, numpy.ndarray) and value.size == 2
    if theirs[0] not in ("", "state_dict") and not two_scales:  # which Paddle computes with for a while
        assert ours == theirs
    else:
        assert ours in [theirs, *(("constructor", kind) for kind in (TypeError, ValueError, AssertionError))] or (
            type(value) is complex  # torch takes its real part
        )


@pytest.mark.parametrize(
    ("wrong", "error"), [(2.5, TypeError), ("2", TypeError), (None, TypeError), (True, TypeError), (0, ValueError)]
)
def test_setters_check_at_once(wrong: Any, error: type[Exception]) -> None:
    scaler = OnPaddle("cpu")
    before = scaler.state_dict()
    with pytest.raises(error):
        scaler.set_growth_interval(wrong)
    with pytest.raises(error):
        scaler.load_state_dict({**before, "growth_interval": wrong})
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
