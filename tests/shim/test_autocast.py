"""``autocast``, ``custom_fwd`` and ``custom_bwd`` on Paddle, with torch's meaning.

Paddle casts nothing on the CPU, so these tests tell ``auto_cast`` that its place is an accelerator and
look at the state it sets in the real tracer: level and dtype are what its kernels obey.
"""

from __future__ import annotations

import copy
import inspect
import sys
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import paddle
import pytest
import torch
from paddle.amp.auto_cast import amp_global_state
from paddle.base.framework import _dygraph_tracer
from paddletorch_shim import autocast as module
from paddletorch_shim.paddle import autocast, custom_bwd, custom_fwd


class _Tracer:
    """The real tracer, with another place."""

    def __init__(self, place: Any) -> None:
        object.__setattr__(self, "_expected_place", place)

    def __getattr__(self, name: str) -> Any:
        return getattr(_dygraph_tracer(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_dygraph_tracer(), name, value)


@pytest.fixture
def accelerator(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    place = SimpleNamespace(
        is_gpu_place=lambda: False,
        is_xpu_place=lambda: False,
        is_custom_place=lambda: True,
        is_cpu_place=lambda: False,
    )
    paddle_module = sys.modules["paddle.amp.auto_cast"]
    monkeypatch.setattr(paddle_module, "_dygraph_tracer", lambda: _Tracer(place))
    monkeypatch.setattr(paddle_module, "_is_custom_device_bfloat16_supported", lambda: True, raising=False)
    monkeypatch.setattr(module, "_current_expected_place", lambda: place)
    monkeypatch.setattr(amp_global_state(), "amp_dtype", "float32")
    yield
    assert now() == "off"


def now() -> str:
    """The autocast dtype in force, or 'off'."""
    tracer = _dygraph_tracer()
    return str(tracer._amp_dtype) if tracer._amp_level != paddle.base.core.AmpLevel.O0 else "off"


def test_signatures_are_torchs() -> None:
    def names(function: Any) -> list[tuple[str, Any, Any]]:
        return [(p.name, p.default, p.kind) for p in inspect.signature(function).parameters.values()]

    assert names(autocast) == names(torch.amp.autocast)
    assert names(custom_fwd) == names(torch.amp.custom_fwd)
    assert names(custom_bwd) == names(torch.amp.custom_bwd)


@pytest.mark.usefixtures("accelerator")
def test_one_object_is_entered_again_and_again_and_inside_itself() -> None:
    region = autocast("cuda")
    for _ in range(2):
        with region:
            assert now() == "float16"
            with region:
                assert now() == "float16"
            assert now() == "float16"
        assert now() == "off"


@pytest.mark.usefixtures("accelerator")
def test_nested_regions_restore_what_was_around_them() -> None:
    with autocast("cuda", "bfloat16"):
        with autocast("cuda", enabled=False):
            assert now() == "off"
            with autocast("cuda", paddle.float16):
                assert now() == "float16"
            assert now() == "off"
        assert now() == "bfloat16"


@pytest.mark.usefixtures("accelerator")
def test_an_exception_leaves_the_region() -> None:
    with pytest.raises(ZeroDivisionError), autocast("cuda"):
        1 / 0  # noqa: B018
    assert now() == "off"


@pytest.mark.usefixtures("accelerator")
def test_decorator() -> None:
    @autocast("cuda", dtype="bfloat16")
    def forward(depth: int) -> str:
        """Recursive, so the object is inside itself."""
        return forward(depth - 1) if depth else now()

    assert forward(2) == forward(0) == "bfloat16"
    assert forward.__name__ == "forward"
    with pytest.raises(TypeError, match="requires a callable"):
        autocast("cuda")(1)  # type: ignore[type-var]


@pytest.mark.usefixtures("accelerator")
@pytest.mark.parametrize("before", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize(
    "arguments", [{"dtype": "bfloat16"}, {"enabled": False}, {"enabled": False, "dtype": "float32"}]
)
def test_the_global_dtype_is_restored(arguments: dict[str, Any], before: str) -> None:
    """Paddle's own context leaves its dtype behind, and its scaler turns itself off at the next scale()."""
    amp_global_state().amp_dtype = before
    with autocast("cuda", **arguments):
        assert amp_global_state().amp_dtype == ("bfloat16" if arguments.get("enabled", True) else before)
    assert amp_global_state().amp_dtype == before


@pytest.mark.usefixtures("accelerator")
def test_paddles_own_scaler_still_works_after_a_region(active_paddle_scaler: None) -> None:
    """Its scale() is called after the region and asks for float16 in the global."""
    amp_global_state().amp_dtype = "float32"
    scaler = paddle.amp.GradScaler(init_loss_scaling=64.0)
    with autocast("cuda"):
        loss = paddle.ones([])
    with autocast("cuda", "bfloat16"), autocast("cuda", enabled=False):
        pass
    assert scaler.scale(loss).item() == 64.0


@pytest.mark.usefixtures("accelerator")
def test_a_cpu_region_changes_nothing_on_an_accelerator() -> None:
    with autocast("cuda"), autocast("cpu", enabled=False):
        assert now() == "float16"
    with autocast("cpu"):
        assert now() == "off"


@pytest.mark.usefixtures("accelerator")
def test_one_object_in_two_threads() -> None:
    region, inside, leave = autocast("cuda"), threading.Event(), threading.Event()
    seen = []

    def other() -> None:
        with region:
            inside.set()
            leave.wait(10)
        seen.append("left")

    thread = threading.Thread(target=other)
    with region:
        thread.start()
        assert inside.wait(10)
    leave.set()
    thread.join()
    assert seen == ["left"]
    assert now() == "off"


def test_default_dtypes_are_torchs() -> None:
    for device in ("cuda", "cpu"):
        assert autocast(device).fast_dtype == str(torch.get_autocast_dtype(device)).rpartition(".")[2]


def test_a_dtype_that_cannot_be_cast_to_disables_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="float32 is not supported. Disabling autocast"):
        region = autocast("cuda", "float32")
    with region:
        assert now() == "off"


def test_device_type_must_be_a_str() -> None:
    for make in (autocast, lambda d: custom_fwd(device_type=d), lambda d: custom_bwd(device_type=d)):
        with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
            make(False)


def test_an_object_can_be_copied() -> None:
    with copy.deepcopy(autocast("cuda", enabled=False)):
        assert now() == "off"


def test_on_the_cpu_paddle_says_that_it_casts_nothing() -> None:
    with pytest.warns(UserWarning, match="makes no effect"), autocast("cuda"):
        assert now() == "off"


# ---------------------------------------------------------------------- custom_fwd, custom_bwd


def layer(seen: list[str], **arguments: Any) -> Any:
    class Double(paddle.autograd.PyLayer):
        @staticmethod
        @custom_fwd(device_type="cuda", **arguments)
        def forward(ctx: Any, x: Any, scale: float = 2.0) -> Any:
            seen.append(f"forward {now()} {x.dtype}")
            return x * scale

        @staticmethod
        @custom_bwd(device_type="cuda")
        def backward(ctx: Any, grad: Any) -> Any:
            seen.append(f"backward {now()}")
            return grad * 2

    return Double


def x() -> Any:
    return paddle.to_tensor([1.0], stop_gradient=False)


@pytest.mark.usefixtures("accelerator")
def test_backward_runs_under_the_autocast_of_forward() -> None:
    seen: list[str] = []
    with autocast("cuda", "bfloat16"):
        y = layer(seen).apply(x())
    y.backward()
    z = layer(seen).apply(x())
    with autocast("cuda"):
        z.backward()
    assert seen == [
        "forward bfloat16 paddle.float32",
        "backward bfloat16",
        "forward off paddle.float32",
        "backward off",
    ]


@pytest.mark.usefixtures("accelerator")
def test_cast_inputs_turns_autocast_off_and_casts() -> None:
    seen: list[str] = []
    tensor = x()
    with autocast("cuda"):
        layer(seen, cast_inputs=paddle.bfloat16).apply(tensor, scale=2.0).astype("float32").backward()
    layer(seen, cast_inputs="bfloat16").apply(x()).backward()
    assert seen == [
        "forward off paddle.bfloat16",
        "backward off",
        "forward off paddle.float32",
        "backward off",
    ]
    assert tensor.grad.item() == 2.0


def test_cast_inputs_goes_into_containers_and_spares_float64_and_integers() -> None:
    nested = {"a": [paddle.ones([1]), (paddle.ones([1], "float64"), paddle.ones([1], "int32"))], "b": "text"}
    cast = module._cast(nested, "bfloat16")
    assert [cast["a"][0].dtype, cast["a"][1][0].dtype, cast["a"][1][1].dtype] == [
        paddle.bfloat16,
        paddle.float64,
        paddle.int32,
    ]
    assert cast["b"] == "text"
