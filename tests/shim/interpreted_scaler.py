"""The scalers with the fused backend under Triton's interpreter: the same as with ``reference``, in fewer launches.

Not collected by itself: ``test_fused`` runs it in a process with TRITON_INTERPRET=1.
"""

from __future__ import annotations

import copy
import math
import pickle
from collections import Counter
from collections.abc import Callable
from typing import Any

import paddle
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paddletorch_shim.backends.kernels import Kernels
from paddletorch_shim.paddle import GradScaler as OnPaddle
from paddletorch_shim.torch import GradScaler as OnTorch

interpreted = settings(deadline=None, max_examples=8, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

INF = math.inf


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each kernel was launched."""
    counts: Counter[str] = Counter()

    def counted(name: str, real: Callable[..., None]) -> Callable[..., None]:
        def launch(*args: Any, **kwargs: Any) -> None:
            counts[name] += 1
            real(*args, **kwargs)

        return launch

    for name in ("sweep", "unscale_and_clip", "advance", "rewind"):
        monkeypatch.setattr(Kernels, name, counted(name, getattr(Kernels, name)))
    return counts


class OfTorch:
    """Two parameters under an optimizer each, and the shim's scaler with Paddle's API."""

    def __init__(self, backend: str, make: Callable[..., torch.optim.Optimizer] | None = None, **kwargs: Any) -> None:
        self.params = [torch.nn.Parameter(torch.ones(3)) for _ in range(2)]
        make = make or (lambda params: torch.optim.SGD(params, lr=0.5, momentum=0.5))
        self.optimizers = [make([param]) for param in self.params]
        self.scaler = OnTorch(
            **{"init_loss_scaling": 64.0, "incr_every_n_steps": 2, "decr_every_n_nan_or_inf": 2, **kwargs},
            backend=backend,
        )

    def backward(self, which: int, value: float) -> None:
        self.params[which].grad = None
        self.scaler.scale((self.params[which] * torch.tensor([1.0, value, 0.3])).sum()).backward()

    def change(self, ratio: float) -> None:
        self.scaler.set_incr_ratio(ratio)

    def values(self) -> list[Any]:
        grads = [None if p.grad is None else [float(v).hex() for v in p.grad.tolist()] for p in self.params]
        return [p.tolist() for p in self.params] + grads

    def state(self) -> list[Any]:
        saved = self.scaler.state_dict()
        return [saved["scale"].item(), saved["incr_count"], saved["decr_count"]]

    def reload(self) -> None:
        self.scaler.load_state_dict(copy.deepcopy(self.scaler.state_dict()))


class OfPaddle:
    """The same with torch's API on Paddle."""

    def __init__(self, backend: str, **kwargs: Any) -> None:
        ones = paddle.nn.initializer.Constant(1.0)
        self.params = [paddle.create_parameter([3], "float32", default_initializer=ones) for _ in range(2)]
        self.optimizers = [paddle.optimizer.Momentum(0.5, 0.5, parameters=[param]) for param in self.params]
        self.scaler = OnPaddle("cpu", **{"init_scale": 64.0, "growth_interval": 2, **kwargs}, backend=backend)

    def backward(self, which: int, value: float) -> None:
        self.optimizers[which].clear_grad(set_to_zero=False)
        self.scaler.scale((self.params[which] * paddle.to_tensor([1.0, value, 0.3])).sum()).backward()

    def change(self, ratio: float) -> None:
        self.scaler.set_growth_factor(ratio)

    def values(self) -> list[Any]:
        grads = [None if p.grad is None else [float(v).hex() for v in p.grad.tolist()] for p in self.params]
        return [p.tolist() for p in self.params] + grads

    def state(self) -> list[Any]:
        saved = self.scaler.state_dict()
        return [saved["scale"], saved["_growth_tracker"], 0]

    def reload(self) -> None:
        self.scaler.load_state_dict(self.scaler.state_dict())


SIDES = (OfTorch, OfPaddle)

# ---------------------------------------------------------------------- any order of calls

calls = st.one_of(
    st.tuples(
        st.sampled_from(["backward"]), st.integers(0, 1), st.sampled_from([1.0, 1 / 3, -2.0, INF, -INF, math.nan])
    ),
    st.tuples(st.sampled_from(["unscale_", "step", "step", "unscale_and_clip_"]), st.integers(0, 1)),
    st.tuples(st.sampled_from(["update", "update", "state", "reload"])),
    st.tuples(st.just("change"), st.sampled_from([1.5, 3.0])),
)


def perform(side: Any, call: tuple[Any, ...]) -> Any:
    """One call; what it raises is part of what it does."""
    name, *arguments = call
    try:
        if name in ("backward", "change", "state", "reload"):
            return getattr(side, name)(*arguments)
        if name == "update":
            return side.scaler.update()
        optimizer = side.optimizers[arguments[0]]
        if name == "unscale_and_clip_":
            return side.scaler.unscale_and_clip_(optimizer, 1e9) and None  # too large to clip: exact
        return getattr(side.scaler, name)(optimizer)
    except (AssertionError, RuntimeError) as error:
        return str(error)


@pytest.mark.filterwarnings("ignore:gradients are divided", "ignore:update\\(\\) was called")
@pytest.mark.parametrize("make", SIDES)
@interpreted
@given(st.lists(calls, max_size=25))
def test_any_order_of_calls_does_what_reference_does(
    make: Callable[[str], Any], program: list[tuple[Any, ...]]
) -> None:
    ours, expected = make("fused"), make("reference")
    for number, call in enumerate(program):
        seen = perform(ours, call), ours.values()
        assert seen == (perform(expected, call), expected.values()), (number, call)
    assert ours.state() == expected.state()


# ---------------------------------------------------------------------- launches


def iteration(side: Any, value: float) -> None:
    side.backward(0, value)
    side.scaler.step(side.optimizers[0])
    side.scaler.update()


@pytest.mark.parametrize("make", SIDES)
def test_a_step_is_one_launch(make: Callable[[str], Any], launches: Counter[str]) -> None:
    side = make("fused")
    side.backward(0, 1.0)
    launches.clear()  # the backend was tried out
    for value in (1.0, INF, 1.0, 1.0):
        iteration(side, value)
    assert launches == {"sweep": 4}
    assert side.state()[0] == (128.0 if make is OfTorch else 64.0)


@pytest.mark.parametrize("make", SIDES)
def test_with_two_optimizers_the_rule_is_a_launch_of_its_own(
    make: Callable[[str], Any], launches: Counter[str]
) -> None:
    side = make("fused")
    side.backward(0, 1.0)
    launches.clear()
    for number in range(4):
        for which in (0, 1):
            side.backward(which, 1.0)
            side.scaler.step(side.optimizers[which])
        side.scaler.update()
        assert launches == {"sweep": 2 * number + 2, "advance": number + 1, "rewind": 1}


@pytest.mark.parametrize("make", SIDES)
def test_unscale_alone_leaves_the_rule_to_update(make: Callable[[str], Any], launches: Counter[str]) -> None:
    side = make("fused")
    side.backward(0, INF)
    launches.clear()
    side.scaler.unscale_(side.optimizers[0])
    side.scaler.step(side.optimizers[0])
    assert launches == {"sweep": 1}
    side.scaler.update()
    assert launches == {"sweep": 1, "advance": 1}


@pytest.mark.parametrize("make", SIDES)
def test_a_look_between_step_and_update_sees_the_state_before(make: Callable[[str], Any]) -> None:
    side = make("fused")
    for _ in range(2):
        side.backward(0, 1.0)
        side.scaler.step(side.optimizers[0])
        before = side.state()
        assert float(side.scaler._scale.item()) == before[0] == 64.0
        side.scaler.update()
    assert before[1] == 1
    assert side.state() == [128.0, 0, 0]


def test_minimize_and_a_static_scale(launches: Counter[str]) -> None:
    side = OfTorch("fused")
    side.backward(0, 1.0)
    launches.clear()
    side.scaler.minimize(side.optimizers[0], torch.ones(1))
    assert launches == {"sweep": 1} and side.state() == [64.0, 1, 0]
    static = OfTorch("fused", use_dynamic_loss_scaling=False)
    for value in (1.0, INF):
        iteration(static, value)
    assert static.state()[0] == 64.0


def test_a_pickled_scaler_goes_on() -> None:
    side = OfTorch("fused")
    iteration(side, 1.0)
    side.scaler = pickle.loads(pickle.dumps(side.scaler))
    assert side.scaler.backend == "fused"
    iteration(side, 1.0)
    assert side.state() == [128.0, 0, 0]


# ---------------------------------------------------------------------- optimizers that divide by grad_scale

FUSED = {
    "adam": lambda params: torch.optim.Adam(params, lr=0.1, fused=True),
    "adamw": lambda params: torch.optim.AdamW(params, lr=0.1, fused=True),
    "sgd": lambda params: torch.optim.SGD(params, lr=0.1, momentum=0.9, fused=True),
}


@pytest.mark.parametrize("name", FUSED)
@interpreted
@given(st.lists(st.sampled_from([1.0, 1 / 3, -7.0, INF, math.nan]), max_size=12), st.sampled_from([64.0, 1000.0]))
def test_a_fused_optimizer_gets_what_torchs_scaler_gives_it(name: str, gradients: list[float], scale: float) -> None:
    """Bit for bit, also with a scale that is not a power of two."""
    side = OfTorch("fused", FUSED[name], decr_every_n_nan_or_inf=1, init_loss_scaling=scale)
    own = OfTorch("reference", FUSED[name])
    own.scaler = torch.amp.GradScaler("cpu", init_scale=scale, growth_interval=2)
    for value in (1.0, *gradients):  # torch's own scaler gives fused SGD garbage if its first step overflows
        iteration(side, value)
        iteration(own, value)
        assert side.params[0].tolist() == own.params[0].tolist()
        assert side.state()[0] == own.scaler.get_scale()
        if math.isfinite(value):
            assert side.params[0].grad.tolist() == own.params[0].grad.tolist()


def test_a_grad_scale_of_the_program_counts_too() -> None:
    side = OfTorch("fused", lambda params: torch.optim.SGD(params, lr=1.0, fused=True))
    side.optimizers[0].grad_scale = torch.tensor(2.0)
    iteration(side, 1.0)
    assert side.params[0].tolist() == pytest.approx([0.5, 0.5, 0.85])


# ---------------------------------------------------------------------- unscale_and_clip_


@pytest.mark.parametrize("max_norm", [0.25, 100.0])
@pytest.mark.parametrize("name", [*FUSED, "plain"])
def test_unscale_and_clip_is_the_two_calls_on_torch(name: str, max_norm: float, launches: Counter[str]) -> None:
    make = FUSED.get(name)
    ours, expected = OfTorch("fused", make), OfTorch("reference", make)
    for number, value in enumerate((1.0, -2.0, INF, 1.0, math.nan, 0.5)):
        ours.backward(0, value)
        expected.backward(0, value)
        launches.clear()
        norm = ours.scaler.unscale_and_clip_(ours.optimizers[0], max_norm)
        folds = make is not None and (name != "sgd" or number > 0)  # SGD's first step makes its momentum
        assert launches == ({"sweep": 1} if folds else {"sweep": 1, "unscale_and_clip": 1})
        expected.scaler.unscale_(expected.optimizers[0])
        norm_expected = torch.nn.utils.clip_grad_norm_([expected.params[0]], max_norm)
        if math.isfinite(value):
            assert norm.item() == pytest.approx(norm_expected.item(), rel=1e-6)
        else:
            assert not math.isfinite(norm.item())
        with pytest.raises(RuntimeError, match="already been called"):
            ours.scaler.unscale_(ours.optimizers[0])
        for side in (ours, expected):
            side.scaler.step(side.optimizers[0])
            side.scaler.update()
        assert ours.params[0].tolist() == pytest.approx(expected.params[0].tolist(), rel=1e-5)
        assert ours.state() == expected.state()


@pytest.mark.parametrize("max_norm", [0.25, 100.0])
def test_unscale_and_clip_is_the_two_calls_on_paddle(max_norm: float, launches: Counter[str]) -> None:
    ours, expected = OfPaddle("fused"), OfPaddle("reference")
    for value in (1.0, -2.0, INF, 1.0, math.nan, 0.5):
        ours.backward(0, value)
        expected.backward(0, value)
        launches.clear()
        norm = ours.scaler.unscale_and_clip_(ours.optimizers[0], max_norm)
        assert launches == {"sweep": 1, "unscale_and_clip": 1}
        expected.scaler.unscale_(expected.optimizers[0])
        norm_expected = paddle.nn.utils.clip_grad_norm_([expected.params[0]], max_norm)
        if math.isfinite(value):
            assert norm.item() == pytest.approx(norm_expected.item(), rel=1e-6)
        for side in (ours, expected):
            side.scaler.step(side.optimizers[0])
            side.scaler.update()
        assert ours.params[0].tolist() == pytest.approx(expected.params[0].tolist(), rel=1e-5)
        assert ours.state() == expected.state()
