"""Every backend of a framework gives the same bits, and the right one is chosen."""

from __future__ import annotations

import math
from typing import Any

import paddle
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from paddletorch_rules import Framework
from paddletorch_shim import backends
from paddletorch_shim.backends import torch_native
from paddletorch_shim.policy import LossScaleRule, LossScaleState, float32

# The fused backend needs a device or the interpreter: test_fused has it.
EVERYWHERE = ("native", "reference")

values = st.one_of(
    st.floats(width=16),
    st.floats(-(2.0**100), 2.0**100, width=32),
    st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 2.0**127, -(2.0**127), 2.0**-149, 65504.0]),
)
tensors = st.lists(
    st.tuples(st.sampled_from(["float16", "bfloat16", "float32", "float64"]), st.lists(values, max_size=6)),
    max_size=6,
)
scales = st.floats(2.0**-10, 2.0**24, width=32)


def bits(tensor: Any) -> list[str]:
    wide = tensor.double() if isinstance(tensor, torch.Tensor) else tensor.astype("float64")
    return [float(v).hex() for v in wide.tolist()]


@given(tensors, scales)
def test_torch_backends_agree_with_the_framework(specs: list[tuple[str, list[float]]], scale: float) -> None:
    def grads() -> list[torch.Tensor]:
        return [torch.tensor(v, dtype=torch.float64).to(getattr(torch, dtype)) for dtype, v in specs]

    expected, found_inf = grads(), torch.zeros(())
    inverse = torch.tensor(scale).double().reciprocal().float()
    for grad in expected:
        torch._amp_foreach_non_finite_check_and_unscale_([grad], found_inf, inverse)
    for name in EVERYWHERE:
        ours = grads()
        found = backends.choose("torch", name).unscale_(ours, torch.tensor(scale))
        assert bool(found > 0) == bool(found_inf)
        assert [bits(g) for g in ours] == [bits(g) for g in expected]


@given(tensors, scales)
def test_paddle_backends_agree_with_torch(specs: list[tuple[str, list[float]]], scale: float) -> None:
    specs = [(dtype, v) for dtype, v in specs if dtype != "float16"]  # the scaler refuses float16 gradients
    torch_grads = [torch.tensor(v, dtype=torch.float64).to(getattr(torch, dtype)) for dtype, v in specs]
    expected = backends.choose("torch", "reference").unscale_(torch_grads, torch.tensor(scale))
    for name in EVERYWHERE:
        ours = [paddle.to_tensor(v, "float64").reshape([-1]).astype(dtype) for dtype, v in specs]
        found = backends.choose("paddle", name).unscale_(ours, paddle.full([], scale, "float32"))
        assert bool(found > 0) == bool(expected)
        assert [bits(g) for g in ours] == [bits(g) for g in torch_grads]


rules = st.builds(
    LossScaleRule,
    growth_factor=st.floats(1.0, 2.0**40),
    backoff_factor=st.floats(2.0**-40, 1.0),
    growth_interval=st.integers(0, 3),
    backoff_interval=st.integers(0, 3),
    dynamic=st.booleans(),
    growth_guard=st.booleans(),
    min_scale=st.sampled_from([0.0, 1.0, 0.25]),
    float32_factors=st.booleans(),
)


@settings(max_examples=300)
@given(
    st.floats(2.0**-149, 2.0**127, width=32),
    st.lists(st.tuples(rules, st.booleans()), min_size=1, max_size=8),
    st.sampled_from([("torch", "native"), ("torch", "reference"), ("paddle", "native"), ("paddle", "reference")]),
)
def test_update_is_the_policy(
    scale: float, updates: list[tuple[LossScaleRule, bool]], which: tuple[Framework, str]
) -> None:
    """Also when the rule changes between updates, as the setters do."""
    framework, name = which
    backend = backends.choose(framework, name)
    state = LossScaleState(scale, 1, 1)
    tensors = backend.place(state, None)
    for rule, found in updates:
        flag = torch.tensor(float(found)) if framework == "torch" else paddle.full([], float(found))
        backend.update_(tensors, flag, rule)
        state = rule.advance(state, found)
        assert tensors.read() == state


@pytest.mark.parametrize("layout", ["transposed", "strided", "0-d", "empty"])
@pytest.mark.parametrize("name", EVERYWHERE)
def test_layouts(name: str, layout: str) -> None:
    whole = torch.arange(24.0).reshape(4, 6)
    grad = {
        "transposed": whole.t(),
        "strided": whole[::2, 1::3],
        "0-d": torch.tensor(8.0),
        "empty": torch.ones(0, 3),
    }[layout]
    expected = grad / 4
    found = backends.choose("torch", name).unscale_([grad], torch.tensor(4.0))
    assert torch.equal(grad, expected) and not found


@pytest.mark.parametrize("name", EVERYWHERE)
def test_finite_gradients_whose_squares_overflow_are_finite(name: str) -> None:
    grad = paddle.full([3], 1e30)
    found = backends.choose("paddle", name).unscale_([grad], paddle.full([], 2.0))
    assert not found
    assert grad.tolist() == [float32(float32(1e30) / 2)] * 3


def test_state_tensors_keep_their_storage() -> None:
    """A captured graph would go on reading the old memory otherwise."""
    backend = torch_native.Backend()
    tensors = backend.place(LossScaleState(64.0), None)
    addresses = [t.data_ptr() for t in (tensors.scale, tensors.good, tensors.bad)]
    for interval in (1, 2):
        rule = LossScaleRule(2.0, 0.5, 2, interval)
        for found in (0.0, 1.0, 1.0, 0.0, 0.0):
            backend.update_(tensors, torch.tensor(found), rule)
    backend.write(tensors, LossScaleState(8.0, 1, 0))
    assert [t.data_ptr() for t in (tensors.scale, tensors.good, tensors.bad)] == addresses
    assert tensors.read() == LossScaleState(8.0, 1, 0)


def test_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(backends.ENVIRONMENT_VARIABLE, raising=False)
    assert backends.choose("torch").name == "native"
    assert backends.choose("paddle", "reference").name == "reference"
    monkeypatch.setenv(backends.ENVIRONMENT_VARIABLE, "reference")
    assert backends.choose("torch").name == "reference"
    assert backends.choose("torch", "native").name == "native"
    monkeypatch.setenv(backends.ENVIRONMENT_VARIABLE, "fast")
    with pytest.raises(backends.BackendError, match=r"PADDLETORCH_BACKEND='fast'.*fused, native, reference"):
        backends.choose("torch")
    with pytest.raises(backends.BackendError, match="backend='cuda'"):
        backends.choose("paddle", "cuda")


def test_a_backend_that_cannot_work_is_an_error_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(backends.ENVIRONMENT_VARIABLE, raising=False)
    monkeypatch.delattr(torch, "_amp_update_scale_")
    with pytest.raises(backends.BackendError, match="_amp_update_scale_"):
        backends.choose("torch", "native")
    assert backends.choose("torch").name == "reference"
