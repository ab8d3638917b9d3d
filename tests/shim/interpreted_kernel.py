"""The fused backend's kernels under Triton's interpreter, bit for bit against ``reference`` and the policy.

Not collected by itself: ``test_fused`` runs it in a process with TRITON_INTERPRET=1, which must be set before
anything imports Triton. The kernels get small blocks and rows here, so that small tensors have many edges.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import paddle
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paddletorch_rules import Framework
from paddletorch_shim import backends
from paddletorch_shim.backends import paddle_fused, table, torch_fused
from paddletorch_shim.backends.kernels import Kernels
from paddletorch_shim.policy import LossScaleRule, LossScaleState

BLOCK, CHUNK = 32, 96
DTYPES = ("float32", "float16", "bfloat16", "float64")
FRAMEWORKS: tuple[Framework, ...] = ("torch", "paddle")

interpreted = settings(deadline=None, max_examples=8, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (torch_fused, paddle_fused):
        monkeypatch.setattr(module, "words", partial(table.words, chunk=CHUNK))
        monkeypatch.setattr(module, "Kernels", partial(Kernels, block=BLOCK))


def fused(framework: Framework) -> Any:
    return backends.choose(framework, "fused")


def tensor(framework: Framework, values: Any, dtype: str) -> Any:
    if framework == "torch":
        return torch.tensor(values, dtype=torch.float64).to(getattr(torch, dtype))
    return paddle.to_tensor(values, "float64").reshape([-1]).astype(dtype)


def scalar(framework: Framework, value: float) -> Any:
    return torch.tensor(value) if framework == "torch" else paddle.full([], value, "float32")


def bits(grad: Any) -> list[str]:
    wide = grad.double() if isinstance(grad, torch.Tensor) else grad.astype("float64")
    return [float(v).hex() for v in wide.flatten().tolist()]


def numbers(count: int) -> list[float]:
    """Numbers of all sizes whose products with 1/3 must be rounded."""
    return [(-1) ** i * (1 + i % 7 / 7) * 2.0 ** (i % 38 - 24) for i in range(count)]


# ---------------------------------------------------------------------- unscale and check

values = st.one_of(
    st.floats(width=16),
    st.floats(-(2.0**100), 2.0**100, width=32),
    st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 2.0**127, -(2.0**127), 2.0**-149, 65504.0]),
)
lengths = st.one_of(st.integers(0, 40), st.sampled_from([BLOCK, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 17]))
specs = st.lists(
    st.tuples(st.sampled_from(DTYPES), lengths, st.lists(values, max_size=4), st.integers(0, 9)), max_size=6
)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@interpreted
@given(specs, st.floats(2.0**-10, 2.0**24, width=32))
def test_random_tables(framework: Framework, specs: list[tuple[str, int, list[float], int]], scale: float) -> None:
    """Tensors of all dtypes and lengths, with and without an offset that misaligns them, in one launch."""

    def grads() -> list[Any]:
        made = []
        for dtype, length, special, offset in specs:
            whole = tensor(framework, [*([0.0] * offset), *special, *numbers(length)], dtype)
            made.append(whole[offset:])
        return made

    ours, expected = grads(), grads()
    found = fused(framework).unscale_(ours, scalar(framework, scale))
    found_expected = backends.choose(framework, "reference").unscale_(expected, scalar(framework, scale))
    assert found.item() == float(found_expected.item() > 0)
    assert [bits(grad) for grad in ours] == [bits(grad) for grad in expected]


@pytest.mark.parametrize(
    ("dtype", "offset"), [*((dtype, 0) for dtype in DTYPES), *zip(DTYPES, (3, 1, 3, 1), strict=True)]
)
def test_one_infinity_at_every_edge(dtype: str, offset: int) -> None:
    """Every place of a tensor that ends within a vector, a block and a row, in the middle one of three tensors."""
    backend, scale = fused("torch"), torch.tensor(3.0)
    count = CHUNK + BLOCK + 21
    whole = tensor("torch", numbers(offset + count), dtype)
    grads = [torch.ones(5), whole[offset:], torch.ones(CHUNK, dtype=torch.float16)]
    assert backend.unscale_(grads, scale).item() == 0.0
    for position, edge in enumerate(edges(grads[1])):
        value = (math.inf, -math.inf, math.nan)[position % 3]
        before = grads[1][edge].clone()
        grads[1][edge] = value
        assert backend.unscale_(grads, scale).item() == 1.0, edge
        grads[1][edge] = before
    assert backend.unscale_(grads, scale).item() == 0.0


def edges(grad: torch.Tensor) -> list[int]:
    """First and last element of each row of the tensor, of each of its blocks, and of what is read one by one."""
    found = table.Found(grad.data_ptr(), grad.numel(), DTYPES.index(str(grad.dtype).removeprefix("torch.")))
    rows = table.words([found], CHUNK)[0][table.HEADER :].reshape(-1, table.ROW)
    places = set()
    for address, count, _ in rows.tolist():
        start = (address - grad.data_ptr()) // grad.element_size()
        vectors = count // table.VECTOR * table.VECTOR
        for edge in (*range(0, vectors, BLOCK), vectors, count):
            places |= {start + edge - 1, start + edge}
    return sorted(place for place in places if 0 <= place < grad.numel())


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("place", ["first", "last"])
def test_real_block_and_row_lengths(monkeypatch: pytest.MonkeyPatch, dtype: str, value: float, place: str) -> None:
    monkeypatch.undo()
    count = table.CHUNK + 2048 + 1
    ours = tensor("torch", numbers(count), dtype)
    ours[0 if place == "first" else -1] = value
    expected = ours.clone()
    assert fused("torch").unscale_([ours], torch.tensor(3.0)).item() == 1.0
    backends.choose("torch", "reference").unscale_([expected], torch.tensor(3.0))
    assert bits(ours) == bits(expected)


def test_many_tensors() -> None:
    grads = [torch.full((1 + i % 3,), float(i)) for i in range(40)]
    backend = fused("torch")
    assert backend.unscale_(grads, torch.tensor(2.0)).item() == 0.0
    assert all(bool((grad == i / 2).all()) for i, grad in enumerate(grads))
    grads[39][-1] = math.nan
    assert backend.unscale_(grads, torch.tensor(2.0)).item() == 1.0


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_scratch_words_reset_themselves(framework: Framework) -> None:
    backend, grad = fused(framework), tensor(framework, numbers(4 * CHUNK), "float32")
    for value in (1.0, math.inf, 1.0, math.nan, 1.0, 1.0):
        grad[7] = value
        assert backend.unscale_([grad], scalar(framework, 1.0)).item() == float(not math.isfinite(value))


def test_a_check_writes_nothing_and_autograd_notices_a_write() -> None:
    backend, grad = fused("torch"), torch.tensor([1.0, math.inf])
    tensors = backend.place(LossScaleState(4.0), torch.device("cpu"))
    version = grad._version
    assert backend.check_([grad], tensors, None, write=False).found_inf.item() == 1.0
    assert (grad.tolist(), grad._version) == ([1.0, math.inf], version)
    assert backend.check_([grad], tensors, None, write=True).found_inf.item() == 1.0
    assert grad.tolist() == [0.25, math.inf] and grad._version > version


# ---------------------------------------------------------------------- the rule

rules = st.builds(
    LossScaleRule,
    growth_factor=st.floats(1.0, 2.0**40),
    backoff_factor=st.floats(2.0**-40, 1.0),
    growth_interval=st.one_of(st.integers(0, 3), st.just(2**40)),
    backoff_interval=st.one_of(st.integers(0, 3), st.just(2**40)),
    growth_guard=st.booleans(),
    min_scale=st.sampled_from([0.0, 1.0, 0.25, 0.1]),
    float32_factors=st.booleans(),
)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@interpreted
@given(
    st.floats(2.0**-149, 2.0**127, width=32),
    st.lists(st.tuples(rules, st.booleans(), st.sampled_from(["launch", "alone", "rewound"])), min_size=1, max_size=8),
)
def test_the_rule_is_the_policy(
    framework: Framework, scale: float, updates: list[tuple[LossScaleRule, bool, str]]
) -> None:
    """In the check's launch, in one of its own, and in the launch but taken back."""
    backend = fused(framework)
    state = LossScaleState(scale, 1, 1)
    tensors = backend.place(state, None)
    for rule, overflow, way in updates:
        grads = [tensor(framework, [math.inf if overflow else 1.0], "float32")]
        if way == "alone":
            backend.update_(tensors, scalar(framework, float(overflow)), rule)
        else:
            checked = backend.check_(grads, tensors, rule, write=True)
            assert (checked.found_inf.item(), checked.scale.item()) == (float(overflow), state.scale)
        if way == "rewound":
            backend.rewind_(tensors)
        else:
            state = rule.advance(state, overflow)
        read = tensors.read()
        assert (read.good, read.bad) == (state.good, state.bad)
        assert read.scale == float(torch.tensor(state.scale))  # a floor of 0.1 is rounded to float32
        state = LossScaleState(read.scale, state.good, state.bad)


# ---------------------------------------------------------------------- norm and clipping


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("max_norm", [0.5, 1e9])
@pytest.mark.parametrize("dtypes", [("float32",), ("float32", "bfloat16", "float16")])
def test_norm_and_clip(framework: Framework, max_norm: float, dtypes: tuple[str, ...]) -> None:
    """The norm up to the rounding of its sum; what is written exactly, given the coefficient."""
    scale = 24.0
    values = [[v / 64 for v in numbers(count)] for count in (1, 24, 2 * CHUNK + 3)]
    grads = [tensor(framework, v, dtype) for v in values for dtype in dtypes]
    expected = [tensor(framework, v, dtype) for v in values for dtype in dtypes]
    before = [bits(grad) for grad in grads]
    backend = fused(framework)
    tensors = backend.place(LossScaleState(scale), None)
    clipping = backend.norm(grads, tensors, max_norm)
    assert clipping.found_inf.item() == 0.0
    assert [bits(grad) for grad in grads] == before
    reference = backends.choose(framework, "reference")
    reference.unscale_(expected, scalar(framework, scale))
    norm = math.sqrt(math.fsum(float.fromhex(v) ** 2 for grad in expected for v in bits(grad)))
    assert clipping.norm.item() == pytest.approx(norm, rel=1e-6)
    coefficient = torch.tensor(clipping.norm.item()).add(1e-6).reciprocal().mul(max_norm).clamp(max=1.0)
    assert clipping.factors[1].item() == coefficient.item()
    assert clipping.grad_scale.item() == (torch.tensor(scale) / coefficient).item()
    backend.clip_(grads, tensors, clipping)
    ours = [torch.tensor(grad.astype("float32").tolist()) if framework == "paddle" else grad for grad in grads]
    for grad, wanted in zip(ours, expected, strict=True):
        dtype = str(wanted.dtype).rpartition(".")[2]
        plain = torch.tensor(wanted.astype("float32").tolist()) if framework == "paddle" else wanted
        clipped = (plain.float() * coefficient).to(getattr(torch, dtype))
        assert bits(grad.to(clipped.dtype)) == bits(clipped)


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_norm_of_an_overflow(value: float) -> None:
    backend = fused("torch")
    clipping = backend.norm([torch.tensor([1.0, value])], backend.place(LossScaleState(2.0), torch.device("cpu")), 1.0)
    assert clipping.found_inf.item() == 1.0
    assert not math.isfinite(clipping.norm.item())


def test_the_norm_of_float64_gradients_is_left_to_two_calls() -> None:
    backend = fused("torch")
    tensors = backend.place(LossScaleState(2.0), torch.device("cpu"))
    assert backend.norm([torch.ones(3, dtype=torch.float64)], tensors, 1.0) is None


# ---------------------------------------------------------------------- tables


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of gradients of each table that was built."""
    sizes: list[int] = []
    for module in (torch_fused, paddle_fused):

        def words(found: Any, _real: Any = module.words) -> Any:
            sizes.append(len(found))
            return _real(found)

        monkeypatch.setattr(module, "words", words)
    return sizes


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_table_is_built_once_for_each_set_of_addresses(framework: Framework, built: list[int]) -> None:
    backend, scale = fused(framework), scalar(framework, 2.0)
    first = [tensor(framework, [8.0] * n, "float32") for n in (3, 4)]
    second = [tensor(framework, [8.0] * n, "float32") for n in (5, 6, 7)]
    for _ in range(3):
        backend.unscale_(first, scale)
        backend.unscale_(second, scale)
    assert built == [2, 3]
    assert first[0].tolist() == [1.0] * 3 and second[2].tolist() == [1.0] * 7


def test_the_same_address_with_another_meaning_is_another_table(built: list[int]) -> None:
    """Memory that is freed and used again for a gradient of another size, dtype or layout."""
    backend, scale = fused("torch"), torch.tensor(2.0)
    memory = torch.zeros(64)
    for view, double in (
        (memory[:10], False),
        (memory[:11], False),
        (memory[:10].view(torch.bfloat16)[:10], False),
        (memory[:10].view(torch.float16)[:10], False),
        (memory[:40].view(10, 4).t(), False),
        (memory[:40].view(10, 4)[:, :1], True),
        (memory[:10], False),
    ):
        memory.zero_()
        view.fill_(8.0)
        backend.unscale_([view], scale)
        assert view.flatten().tolist() == [4.0] * view.numel()
        rest = memory.clone()
        view.zero_()
        assert not memory.any(), "wrote outside"
        assert rest.any() and isinstance(double, bool)
    assert len(built) == 6


def test_kept_tables_are_few() -> None:
    backend, scale = fused("torch"), torch.tensor(2.0)
    kept = [torch.ones(3) for _ in range(20)]
    for grad in kept:
        backend.unscale_([grad], scale)
    assert len(backend._tables) == 8


class Plain(torch.Tensor):
    """A subclass that a kernel knows nothing about."""


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: torch.ones(6)[::2], "has gaps"),
        (lambda: torch.ones(4, 6)[:, 1:3], "has gaps"),
        (lambda: torch.ones(3, dtype=torch.complex64), "is torch.complex64"),
        (lambda: torch.ones(3).as_subclass(Plain), "is a Plain"),
        (lambda: torch.frombuffer(bytearray(13), dtype=torch.float32, offset=1).add_(1), "is not aligned"),
    ],
)
def test_what_the_kernel_cannot_take_goes_to_native(make: Any, reason: str, caplog: pytest.LogCaptureFixture) -> None:
    backend, scale = fused("torch"), torch.tensor(4.0)
    grads, expected = [torch.ones(3), make(), torch.ones(2)], make() / 4
    with caplog.at_level(logging.DEBUG, "paddletorch_shim"):
        assert backend.unscale_(grads, scale).item() == 0.0
    assert reason in caplog.text and "(1 such)" in caplog.text
    assert torch.equal(grads[1], expected) and grads[0].tolist() == [0.25] * 3 and grads[2].tolist() == [0.25] * 2
    tensors = backend.place(LossScaleState(4.0), torch.device("cpu"))
    assert backend.check_(grads, tensors, None, write=False) is None
    with torch.no_grad():
        grads[1][0] = math.nan
    assert backend.unscale_(grads, scale).item() > 0


def test_gradients_that_share_memory_are_unscaled_one_after_the_other() -> None:
    backend, whole = fused("torch"), torch.full((12,), 16.0)
    grads = [whole[:8], torch.full((3,), 16.0), whole[4:], whole[:0]]
    assert backend.unscale_(grads, torch.tensor(4.0)).item() == 0.0
    assert whole.tolist() == [4.0] * 4 + [1.0] * 4 + [4.0] * 4
    assert grads[1].tolist() == [4.0] * 3


def test_paddle_layouts() -> None:
    backend, reference = fused("paddle"), backends.choose("paddle", "reference")

    def grads() -> list[Any]:
        whole = paddle.arange(24, dtype="float32").reshape([4, 6])
        return [whole.t(), paddle.arange(10, dtype="float32")[::2], paddle.ones([0, 3]), paddle.full([], 8.0)]

    ours, expected = grads(), grads()
    scale = paddle.full([], 4.0)
    assert backend.unscale_(ours, scale).item() == reference.unscale_(expected, scale).item() == 0.0
    assert [grad.tolist() for grad in ours] == [grad.tolist() for grad in expected]


def test_a_negative_view() -> None:
    """Its memory holds the negated numbers, which unscale to negated results."""
    negative = torch._neg_view(torch.tensor([3.0, -5.0]))
    assert fused("torch").unscale_([negative], torch.tensor(3.0)).item() == 0.0
    assert negative.tolist() == [-1.0, torch.tensor(3.0).reciprocal().mul(5.0).item()]


def test_nothing_to_do() -> None:
    backend = fused("torch")
    assert backend.unscale_([], torch.tensor(2.0)).item() == 0.0
    assert backend.unscale_([torch.ones(0)], torch.tensor(2.0)).item() == 0.0


# ---------------------------------------------------------------------- choice


def test_the_interpreter_is_never_the_automatic_choice() -> None:
    for framework in FRAMEWORKS:
        assert backends.choose(framework).name == "native"
        assert backends.choose(framework, "fused").name == "fused"


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A compiler that makes a wrong kernel, where the choice is automatic."""
    real = Kernels.sweep

    def sweep(self: Any, table: Any, found: int, state: Any, **asked: Any) -> None:
        real(self, table, found, state, **{**asked, "write": False})

    monkeypatch.setattr(Kernels, "sweep", sweep)
    always = property(lambda self: True, lambda self, value: None)
    for module in (torch_fused, paddle_fused):
        monkeypatch.setattr(module.Backend, "automatic", always, raising=False)
    return iter(())


@pytest.mark.usefixtures("broken")
def test_a_kernel_that_gives_wrong_results_is_found_before_the_first_step(caplog: pytest.LogCaptureFixture) -> None:
    from paddletorch_shim.paddle import GradScaler as OnPaddle
    from paddletorch_shim.torch import GradScaler as OnTorch

    for make, loss in ((OnTorch, torch.ones(1)), (OnPaddle, paddle.ones([1]))):
        with pytest.raises(backends.BackendError, match="wrong results"):
            make(backend="fused").scale(loss)
        scaler = make()
        assert scaler.backend == "fused"
        scaler.scale(loss)
        assert scaler.backend == "native"
        assert "wrong results" in caplog.text
        caplog.clear()
