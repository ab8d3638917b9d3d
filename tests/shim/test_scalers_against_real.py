"""The shim's scalers through the same random schedules as the frameworks' own, bit for bit."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paddletorch_rules import Framework
from paddletorch_shim.parity import runs
from paddletorch_shim.parity.engines import OPTIMIZERS
from paddletorch_shim.parity.scalers import paddle_scaler_active
from paddletorch_shim.parity.schedules import SIZES, Field, Iteration, Schedule, Settings

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
