"""The fused backend on CUDA tensors: correctness, launches, no wait for the device, graph replay. Needs a device."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from paddletorch_shim import backends
from paddletorch_shim.backends import kernels
from paddletorch_shim.policy import LossScaleRule, LossScaleState
from paddletorch_shim.torch import GradScaler

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device"),
    pytest.mark.skipif(kernels.interpreter_asked(), reason="TRITON_INTERPRET is set: no kernel reaches the device"),
]

DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
INF = math.inf


def fused() -> Any:
    pytest.importorskip("triton", reason="the fused backend needs Triton")
    return backends.choose("torch", "fused")


@contextmanager
def no_wait_for_the_device() -> Iterator[None]:
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(a.isnan(), b.isnan()) and torch.equal(a.nan_to_num(0.0, 1.0, -1.0), b.nan_to_num(0.0, 1.0, -1.0))


# ---------------------------------------------------------------------- the kernel


def test_it_is_the_automatic_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    fused()
    monkeypatch.delenv(backends.ENVIRONMENT_VARIABLE, raising=False)
    scaler = GradScaler()
    scaler.scale(torch.ones(1, device="cuda"))
    assert scaler.backend == "fused"


@pytest.mark.parametrize("seed", range(12))
def test_random_tables(seed: int) -> None:
    """All dtypes and alignments in one launch, some with infinities, against ``reference``."""
    draw = random.Random(seed)
    torch.manual_seed(seed)
    grads = []
    for _ in range(draw.randrange(1, 60)):
        count, offset = draw.choice([0, 1, 15, 16, 17, 2047, 2048, 2049, 32768, 100_001]), draw.randrange(9)
        whole = torch.randn(offset + count, device="cuda", dtype=torch.float64).mul_(2.0 ** draw.randrange(-20, 10))
        grads.append(whole.to(draw.choice(DTYPES))[offset:])
    if seed % 2:
        victim = draw.choice([grad for grad in grads if grad.numel()] or [torch.ones(1, device="cuda")])
        victim[draw.randrange(victim.numel())] = draw.choice([INF, -INF, math.nan])
    expected = [grad.clone() for grad in grads]
    scale = torch.tensor(draw.choice([3.0, 65536.0, 0.7]), device="cuda")
    found = fused().unscale_(grads, scale)
    found_expected = backends.choose("torch", "reference").unscale_(expected, scale)
    assert found.item() == float(found_expected.item() > 0)
    assert all(map(same_bits, grads, expected))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("value", [INF, -INF, math.nan])
def test_one_infinity_at_every_edge(dtype: torch.dtype, value: float) -> None:
    backend, scale = fused(), torch.tensor(1.0, device="cuda")
    grads = [torch.ones(70_001, device="cuda", dtype=dtype)[1:], torch.ones(5, device="cuda")]
    for edge in (0, 1, 6, 7, 8, 15, 16, 2047, 2048, 2055, 32767, 32768, 32775, 65536, 69_998, 69_999):
        grads[0][edge] = value
        assert backend.unscale_(grads, scale).item() == 1.0, edge
        grads[0][edge] = 1.0
        assert backend.unscale_(grads, scale).item() == 0.0, edge


def test_ten_thousand_tensors_many_times() -> None:
    """The programs' order differs from launch to launch; the words they share must reset themselves each time."""
    backend, scale = fused(), torch.tensor(2.0, device="cuda")
    grads = [torch.full((1 + i % 300,), 2.0**60, device="cuda") for i in range(10_000)]
    for number in range(30):
        if number % 3 == 2:
            grads[number * 300][-1] = INF
        assert backend.unscale_(grads, scale).item() == float(number % 3 == 2)
        if number % 3 == 2:
            grads[number * 300][-1] = grads[number * 300 + 1][0]
    assert all(bool((grad == 2.0**30).all()) for grad in grads[::97])


def test_more_than_2_to_the_31_elements() -> None:
    count = 2**31 + 100_003
    if torch.cuda.mem_get_info()[0] < 2 * count + 2**30:
        pytest.skip("less than 6 GB of device memory are free")
    grad = torch.full((count,), 8.0, device="cuda", dtype=torch.float16)
    backend, scale = fused(), torch.tensor(4.0, device="cuda")
    assert backend.unscale_([grad], scale).item() == 0.0
    assert grad[0].item() == grad[2**31 + 5].item() == grad[-1].item() == 2.0
    assert grad.min().item() == grad.max().item() == 2.0
    grad[2**31 + 7] = INF
    assert backend.unscale_([grad], scale).item() == 1.0


def test_the_rule_over_random_schedules() -> None:
    backend, draw = fused(), random.Random(1)
    for _ in range(40):
        state = LossScaleState(2.0 ** draw.randrange(-140, 127), 1, 1)
        tensors = backend.place(state, torch.device("cuda", torch.cuda.current_device()))
        for _ in range(12):
            rule = LossScaleRule(
                draw.choice([2.0, 1.7, 2.0**40]),
                draw.choice([0.5, 0.3, 2.0**-40]),
                draw.randrange(4),
                draw.randrange(4),
                growth_guard=draw.random() < 0.5,
                min_scale=draw.choice([0.0, 1.0]),
                float32_factors=draw.random() < 0.5,
            )
            overflow = draw.random() < 0.4
            grads = [torch.tensor([INF if overflow else 1.0], device="cuda")]
            if draw.random() < 0.5:
                checked = backend.check_(grads, tensors, rule, write=True)
                assert (checked.found_inf.item(), checked.scale.item()) == (float(overflow), state.scale)
                if draw.random() < 0.3:
                    backend.rewind_(tensors)
                    assert tensors.read() == state
                    continue
            else:
                backend.update_(tensors, torch.tensor(float(overflow), device="cuda"), rule)
            state = rule.advance(state, overflow)
            assert tensors.read() == state


@pytest.mark.parametrize("max_norm", [1.0, 1e6])
def test_norm_and_clip(max_norm: float) -> None:
    torch.manual_seed(0)
    shapes = [(1000, 333), (7,), (64, 3, 7, 7), (100_001,)]
    params = [torch.nn.Parameter(torch.zeros(shape, device="cuda")) for shape in shapes]
    scaled = [torch.randn(shape, device="cuda") * 1024 for shape in shapes]
    backend = fused()
    tensors = backend.place(LossScaleState(1024.0), params[0].device)
    grads = [grad.clone() for grad in scaled]
    clipping = backend.norm(grads, tensors, max_norm)
    assert all(map(torch.equal, grads, scaled))
    backend.clip_(grads, tensors, clipping)
    for param, grad in zip(params, scaled, strict=True):
        param.grad = grad / 1024
    norm = torch.nn.utils.clip_grad_norm_(params, max_norm)
    assert clipping.found_inf.item() == 0.0
    torch.testing.assert_close(clipping.norm, norm, rtol=1e-5, atol=0.0)
    for param, grad in zip(params, grads, strict=True):
        torch.testing.assert_close(grad, param.grad, rtol=2e-5, atol=0.0)


def test_a_gradient_on_the_cpu_is_unscaled_too() -> None:
    grads = [torch.full((3,), 8.0, device="cuda"), torch.full((3,), 8.0)]
    scale = torch.tensor(4.0, device="cuda")
    assert fused().unscale_(grads, scale).item() == 0.0
    assert grads[0].tolist() == grads[1].tolist() == [2.0] * 3
    grads[1][0] = math.nan
    assert fused().unscale_(grads, scale).item() > 0.0


def test_two_streams_use_tables_of_their_own() -> None:
    backend, scale = fused(), torch.tensor(2.0, device="cuda")
    grads = [torch.full((100_000,), 2.0**20, device="cuda") for _ in range(4)]
    other = torch.cuda.Stream()
    for _ in range(5):
        backend.unscale_(grads, scale)
        other.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(other):
            backend.unscale_(grads, scale)
        torch.cuda.current_stream().wait_stream(other)
    assert all(bool((grad == 2.0**10).all()) for grad in grads)
    assert len(backend._tables) == 2


# ---------------------------------------------------------------------- no wait, one launch


def model_and_optimizer(name: str) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.Linear(64, 8)).cuda()
    make: dict[str, Callable[..., torch.optim.Optimizer]] = {
        "adam": lambda p: torch.optim.Adam(p, lr=1e-2, fused=True, capturable=True),
        "adamw": lambda p: torch.optim.AdamW(p, lr=1e-2, fused=True, capturable=True),
    }
    return model, make[name](model.parameters())


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("name", ["adam", "adamw"])
def test_a_fused_optimizer_makes_no_host_wait_and_one_launch(name: str, clip: bool) -> None:
    fused()
    model, optimizer = model_and_optimizer(name)
    scaler = GradScaler(init_loss_scaling=64.0, incr_every_n_steps=4, backend="fused")
    x = torch.ones(4, 32, device="cuda")

    def iterate() -> None:
        optimizer.zero_grad()
        scaler.scale(model(x).sum()).backward()
        if clip:
            scaler.unscale_and_clip_(optimizer, 1.0)
        scaler.step(optimizer)
        scaler.update()

    for _ in range(3):
        iterate()
    torch.cuda.synchronize()
    with no_wait_for_the_device():
        iterate()
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as measured:
        iterate()
        torch.cuda.synchronize()
    ours = [event.key for event in measured.key_averages() if event.key in ("sweep", "advance", "unscale_and_clip")]
    launches = sum(event.count for event in measured.key_averages() if event.key in ours)
    assert launches == (2 if clip else 1), ours  # with clipping the rule is a launch of its own
    assert scaler.state_dict()["scale"].item() == 128.0


# ---------------------------------------------------------------------- graphs

STEPS = 1000


def batches() -> list[float]:
    """What is multiplied into each step's input: mostly 1, sometimes an overflow."""
    draw = random.Random(3)
    return [draw.choice([INF, math.nan]) if draw.random() < 0.1 else 1.0 + draw.random() for _ in range(STEPS)]


def train(name: str, clip: bool, graphed: bool, backend: str = "fused") -> tuple[list[torch.Tensor], dict[str, Any]]:
    model, optimizer = model_and_optimizer(name)
    scaler = GradScaler(
        init_loss_scaling=1024.0, incr_every_n_steps=7, decr_every_n_nan_or_inf=2, min_scale=1.0, backend=backend
    )
    x = torch.ones(4, 32, device="cuda")

    def iterate() -> None:
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(model(x).square().mean()).backward()
        if clip:
            scaler.unscale_and_clip_(optimizer, 0.1)
        scaler.step(optimizer)
        scaler.update()

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            iterate()
    torch.cuda.current_stream().wait_stream(side)
    replay: Callable[[], Any] = iterate
    if graphed:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            iterate()
        replay = graph.replay
    for value in batches():
        x.fill_(value)
        replay()
    return [param.detach().clone() for param in model.parameters()], scaler.state_dict()


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("name", ["adam", "adamw"])
def test_graph_replay_is_eager(name: str, clip: bool) -> None:
    """Bit for bit over 1,000 steps, about 100 of them overflows."""
    fused()
    eager, eager_state = train(name, clip, graphed=False)
    graphed, graphed_state = train(name, clip, graphed=True)
    assert all(map(torch.equal, graphed, eager))
    assert graphed_state == {**eager_state, "scale": graphed_state["scale"]}
    assert graphed_state["scale"].item() == eager_state["scale"].item()
    if not clip:
        native, native_state = train(name, clip, graphed=False, backend="native")
        assert all(map(torch.equal, native, eager))
        assert native_state["scale"].item() == eager_state["scale"].item()


def test_step_and_update_are_captured_together() -> None:
    fused()
    model, optimizer = model_and_optimizer("adam")
    scaler = GradScaler(init_loss_scaling=64.0, backend="fused")
    x = torch.ones(4, 32, device="cuda")

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(model(x).sum()).backward()
        scaler.step(optimizer)

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
            scaler.update()
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        step()
    with pytest.raises(RuntimeError, match="Capture both or none"):
        scaler.update()


# ---------------------------------------------------------------------- Paddle


def test_paddle_tensors() -> None:
    paddle = pytest.importorskip("paddle", reason="Paddle is not installed")
    if not (paddle.is_compiled_with_cuda() and paddle.device.cuda.device_count()):
        pytest.skip("this Paddle has no CUDA device")
    paddle.device.set_device("gpu:0")
    try:
        backend, reference = backends.choose("paddle", "fused"), backends.choose("paddle", "reference")

        def grads(value: float) -> list[Any]:
            numbers = paddle.arange(100_001, dtype="float32") * 0.37 + 1.0
            made = [numbers[n:].astype(dtype) for n in (0, 1, 5) for dtype in ("float32", "bfloat16", "float64")]
            made[4][17] = value
            return made

        tensors = backend.place(LossScaleState(3.0), None)
        for value in (1.0, INF, math.nan):
            ours, expected = grads(value), grads(value)
            found = backend.unscale_(ours, tensors.scale)
            reference.unscale_(expected, tensors.scale)
            assert found.item() == float(not math.isfinite(value))
            for a, b in zip(ours, expected, strict=True):
                a, b = a.astype("float64"), b.astype("float64")
                assert bool(((a == b) | (a.isnan() & b.isnan())).all())
        rule = LossScaleRule(2.0, 0.5, 1)
        backend.check_(grads(INF), tensors, rule, write=True)
        assert tensors.read() == LossScaleState(1.5)
    finally:
        paddle.device.set_device("cpu")
