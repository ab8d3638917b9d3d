"""Where the frameworks' own scalers are known to differ from the shim, as expected results.

Each is run on the real framework and on the shim. A framework release that fixes one is noticed because the
outcome is then no longer the expected one. Measured on Paddle 3.3.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Protocol

from packaging.version import Version
from paddletorch_rules import Framework

from paddletorch_shim.parity import scalers

INF = math.inf


class Kit(Protocol):
    """What a scenario needs of a framework."""

    def scaler(self, **settings: Any) -> Any:
        """A scaler; settings in Paddle's spelling."""

    def parameter(self, dtype: str = "float32") -> Any:
        """A parameter of one element, 1.0."""

    def sgd(self, parameter: Any) -> Any:
        """SGD with learning rate 1."""

    def backward(self, scaler: Any, parameter: Any, gradient: float) -> None:
        """Give the parameter the scaled gradient."""

    def tensor(self, *values: float) -> Any:
        """A tensor."""


@dataclass(frozen=True, slots=True)
class Known:
    """A known difference: what the framework's own scaler does and what the shim does instead."""

    code: str
    title: str
    own: str
    shim: str
    observe: Callable[[Kit], str]
    applies: Callable[[], bool] = lambda: True


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen of a known difference. ``shims`` by the framework whose tensors they ran on."""

    known: Known
    own: str
    shims: tuple[tuple[Framework, str], ...]

    @property
    def as_expected(self) -> bool:
        """Whether the framework and the shim both did what is on record."""
        return self.own == self.known.own and all(seen == self.known.shim for _, seen in self.shims)


def observe(frameworks: Sequence[Framework]) -> list[Observation]:
    """Run every known difference on Paddle's own scaler and on the shim of each of ``frameworks``."""
    kits: dict[Framework, Callable[[], Kit]] = {"torch": _TorchKit, "paddle": _PaddleShimKit}
    with scalers.paddle_scaler_active():
        return [
            Observation(known, _seen(known, _PaddleKit()), tuple((f, _seen(known, kits[f]())) for f in frameworks))
            for known in KNOWN
            if known.applies()
        ]


def _seen(known: Known, kit: Kit) -> str:
    try:
        return known.observe(kit)
    except Exception as error:  # the kind of error is the outcome
        return type(error).__name__


def _growth(kit: Kit) -> str:
    scaler, parameter = kit.scaler(init_loss_scaling=2.0**127, incr_every_n_steps=1), kit.parameter()
    kit.backward(scaler, parameter, 2.0**-40)
    scaler.step(kit.sgd(parameter))
    scaler.update()
    return f"scale {_scale(scaler):g}"


def _first_of_two(kit: Kit) -> str:
    scaler, parameters = kit.scaler(init_loss_scaling=64.0), (kit.parameter(), kit.parameter())
    for parameter, gradient in zip(parameters, (INF, 1.0), strict=True):
        kit.backward(scaler, parameter, gradient)
    for parameter in parameters:
        scaler.step(kit.sgd(parameter))
    scaler.update()
    return f"scale {_scale(scaler):g}"


def _unscale_both_first(kit: Kit) -> str:
    scaler, parameters = kit.scaler(init_loss_scaling=64.0), (kit.parameter(), kit.parameter())
    optimizers = [kit.sgd(parameter) for parameter in parameters]
    for parameter, gradient in zip(parameters, (INF, 1.0), strict=True):
        kit.backward(scaler, parameter, gradient)
    for method in (scaler.unscale_, scaler.step):
        for optimizer in optimizers:
            method(optimizer)
    return f"parameters {', '.join(f'{float(p.item()):g}' for p in parameters)}"


def _other_dtype(kit: Kit) -> str:
    from paddle.amp.auto_cast import amp_global_state

    before = amp_global_state().amp_dtype
    amp_global_state().amp_dtype = "bfloat16"
    try:
        return f"loss times {float(kit.scaler(init_loss_scaling=64.0).scale(kit.tensor(1.0)).item()):g}"
    finally:
        amp_global_state().amp_dtype = before


def _float64(kit: Kit) -> str:
    scaler, parameter = kit.scaler(init_loss_scaling=64.0), kit.parameter("float64")
    kit.backward(scaler, parameter, 1.0)
    scaler.step(kit.sgd(parameter))
    return f"parameter {float(parameter.item()):g}"


def _stale(kit: Kit) -> str:
    scaler, parameter = kit.scaler(init_loss_scaling=64.0), kit.parameter()
    optimizer = kit.sgd(parameter)
    kit.backward(scaler, parameter, INF)
    scaler.step(optimizer)
    scaler.update()
    kit.backward(kit.scaler(enable=False), parameter, 1.0)
    optimizer.step()
    return f"parameter {float(parameter.item()):g}"


def _after_overflow(kit: Kit) -> str:
    scaler, parameter = kit.scaler(init_loss_scaling=64.0), kit.parameter()
    kit.backward(scaler, parameter, INF)
    scaler.unscale_(kit.sgd(parameter))
    return f"gradient {float(parameter.grad.item()):g}"


def _scale(scaler: Any) -> float:
    saved = scaler.state_dict()["scale"]
    return float(saved if isinstance(saved, float) else saved[0])


def _numpy_refuses_floats_of_arrays() -> bool:
    """From 2.4 on numpy makes no float of an array with dimensions."""
    return Version(metadata.version("numpy")) >= Version("2.4")


def _backoff(kit: Kit) -> str:
    scaler, parameter = kit.scaler(init_loss_scaling=64.0), kit.parameter()
    kit.backward(scaler, parameter, INF)
    scaler.step(kit.sgd(parameter))
    with scalers.paddle_float_unmended():
        scaler.update()
    return f"scale {_scale(scaler):g}"


KNOWN: tuple[Known, ...] = (
    Known("S0", "an overflow with numpy 2.4", "TypeError", "scale 32", _backoff, _numpy_refuses_floats_of_arrays),
    Known("S3", "growth past float32", "scale inf", "scale 1.70141e+38", _growth),
    Known("S6", "two optimizers, first overflows", "scale 64", "scale 32", _first_of_two),
    Known(
        "S7",
        "the same, unscaled first",
        "parameters nan, 0",
        "parameters 1, 0",
        _unscale_both_first,
    ),
    Known("S12", "autocast's dtype is bfloat16", "loss times 1", "loss times 64", _other_dtype),
    Known("S13", "float64 gradients", "parameter -63", "parameter 0", _float64),
    Known("S18", "a plain step after an overflow", "parameter 1", "parameter 0", _stale),
    Known(
        "S19",
        "infinity after unscale_ (CPU)",
        "gradient nan",
        "gradient inf",
        _after_overflow,
    ),
)


class _TorchKit:
    """The shim on torch tensors."""

    def scaler(self, **settings: Any) -> Any:
        from paddletorch_shim.torch import GradScaler

        return GradScaler(**settings)

    def parameter(self, dtype: str = "float32") -> Any:
        import torch

        return torch.nn.Parameter(torch.ones(1, dtype=getattr(torch, dtype)))

    def sgd(self, parameter: Any) -> Any:
        import torch

        return torch.optim.SGD([parameter], lr=1.0)

    def backward(self, scaler: Any, parameter: Any, gradient: float) -> None:
        parameter.grad = None
        scaler.scale((parameter * gradient).sum()).backward()

    def tensor(self, *values: float) -> Any:
        import torch

        return torch.tensor(values)


class _PaddleKit:
    """Paddle's own scaler on Paddle tensors."""

    def scaler(self, **settings: Any) -> Any:
        import paddle

        return paddle.amp.GradScaler(**settings)

    def parameter(self, dtype: str = "float32") -> Any:
        import paddle

        return paddle.create_parameter([1], dtype, default_initializer=paddle.nn.initializer.Constant(1.0))

    def sgd(self, parameter: Any) -> Any:
        import paddle

        return paddle.optimizer.SGD(1.0, parameters=[parameter])

    def backward(self, scaler: Any, parameter: Any, gradient: float) -> None:
        parameter.clear_gradient(False)
        scaler.scale((parameter * gradient).sum()).backward()

    def tensor(self, *values: float) -> Any:
        import paddle

        return paddle.to_tensor(values)


class _PaddleShimKit(_PaddleKit):
    """The shim on Paddle tensors."""

    def scaler(self, **settings: Any) -> Any:
        from paddletorch_shim.paddle import GradScaler

        return GradScaler(**settings)
