"""Random calls of the scalers, also wrong ones and in wrong order, on a framework's own scaler and on the shim's."""

from __future__ import annotations

import math
import pickle
import random
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import paddle
import torch
from paddletorch_rules import Framework
from paddletorch_shim.paddle import GradScaler as OnPaddle
from paddletorch_shim.torch import GradScaler as OnTorch

Call = tuple[str, Any]

GRADIENTS = (1.0, -0.5, 0.25, math.inf, math.nan)

NO_TENSORS = {"float": 1.0, "none": None, "list of a float": [1.0]}
NO_OPTIMIZERS = {"none": None, "text": "x", "number": 5}
SCALES = (8.0, 64.0)
NO_SCALES = {"int": 8, "text": "x", "list": [8.0]}


class Tensors:
    """What the calls need of a framework: two optimizers of one parameter each, a third without any gradient."""

    def __init__(self, framework: Framework) -> None:
        self.framework = framework
        if framework == "torch":
            self.params = [torch.nn.Parameter(torch.ones(1)) for _ in range(3)]
            self.optimizers: list[Any] = [torch.optim.SGD([param], lr=0.5) for param in self.params]
        else:
            one = paddle.nn.initializer.Constant(1.0)
            self.params = [paddle.create_parameter([1], "float32", default_initializer=one) for _ in range(3)]
            self.optimizers = [paddle.optimizer.SGD(0.5, parameters=[param]) for param in self.params]

    def tensor(self, *values: float, gradient: bool = False) -> Any:
        if self.framework == "torch":
            return torch.tensor(values, requires_grad=gradient)
        return paddle.to_tensor(values, stop_gradient=not gradient)

    def loss(self, which: int, gradient: float) -> Any:
        if self.framework == "torch":
            self.params[which].grad = None
        else:
            self.params[which].clear_gradient(False)
        return (self.params[which] * self.tensor(gradient)).sum()

    def values(self) -> list[str]:
        """Parameters and gradients, written so that NaN equals NaN."""
        gradients = [param.grad for param in self.params]
        return [repr(float(v.item())) if v is not None else "none" for v in (*self.params, *gradients)]


def of_torch(scaler: Any, tensors: Tensors, call: Call) -> Any:
    """Make a call of torch's API."""
    name, value = call
    optimizers = tensors.optimizers
    return {
        "backward": lambda: scaler.scale(tensors.loss(value[0], value[1])).backward(),
        "scale": lambda: float(scaler.scale(tensors.tensor(2.0))),
        "scale a list": lambda: [float(one) for one in scaler.scale([tensors.tensor(2.0), tensors.tensor(3.0)])],
        "scale no tensor": lambda: scaler.scale(NO_TENSORS[value]),
        "unscale_": lambda: scaler.unscale_(optimizers[value]),
        "unscale_ no optimizer": lambda: scaler.unscale_(NO_OPTIMIZERS[value]),
        "step": lambda: scaler.step(optimizers[value]),
        "step with a closure": lambda: scaler.step(optimizers[value], closure=None),
        "step with too much": lambda: scaler.step(optimizers[value], 1, 2, 3),
        "step no optimizer": lambda: scaler.step(NO_OPTIMIZERS[value]),
        "update": lambda: scaler.update(),
        "update to": lambda: scaler.update(value),
        "update to a tensor": lambda: scaler.update(tensors.tensor(*value).sum()),
        "update to two": lambda: scaler.update(tensors.tensor(8.0, 9.0)),
        "update to a tensor with gradient": lambda: scaler.update(tensors.tensor(8.0, gradient=True)),
        "update to no scale": lambda: scaler.update(NO_SCALES[value]),
        "set the interval": lambda: scaler.set_growth_interval(value),
        "set the factor": lambda: scaler.set_growth_factor(value),
        "load": lambda: scaler.load_state_dict(
            {"scale": value, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2, "_growth_tracker": 1}
        ),
        "load nothing": lambda: scaler.load_state_dict({}),
        "load a number": lambda: scaler.load_state_dict(5),
        "pickle": lambda: bool(pickle.dumps(scaler)),
        "get": lambda: (scaler.get_scale(), scaler.get_growth_interval(), scaler.is_enabled()),
    }[name]()


def of_paddle(scaler: Any, tensors: Tensors, call: Call) -> Any:
    """Make a call of Paddle's API."""
    name, value = call
    optimizer = tensors.optimizers[0]
    return {
        "backward": lambda: scaler.scale(tensors.loss(0, value[1])).backward(),
        "scale": lambda: float(scaler.scale(tensors.tensor(2.0))),
        "scale no tensor": lambda: scaler.scale(NO_TENSORS[value]),
        "scale a list": lambda: scaler.scale([tensors.tensor(2.0)]),
        "scale integers": lambda: scaler.scale(tensors.tensor(1, 2)),
        "unscale_": lambda: scaler.unscale_(optimizer),
        "unscale_ no optimizer": lambda: scaler.unscale_(NO_OPTIMIZERS[value]),
        "step": lambda: scaler.step(optimizer),
        "step no optimizer": lambda: scaler.step(NO_OPTIMIZERS[value]),
        "step with too much": lambda: scaler.step(optimizer, 1),
        "update": lambda: scaler.update(),
        "update to": lambda: scaler.update(value),
        "minimize": lambda: scaler.minimize(optimizer, tensors.tensor(1.0)) and None,
        "minimize nothing": lambda: scaler.minimize(optimizer),
        "minimize no tensor": lambda: scaler.minimize(optimizer, "x"),
        "set the scale": lambda: scaler.set_init_loss_scaling(value),
        "set no scale": lambda: scaler.set_init_loss_scaling(value),
        "set the growth": lambda: scaler.set_incr_ratio(value),
        "set the backoff": lambda: scaler.set_decr_ratio(value),
        "set no ratio": lambda: scaler.set_incr_ratio({"text": "2", "none": None}[value]),
        "set the interval": lambda: scaler.set_incr_every_n_steps(value),
        "set the other interval": lambda: scaler.set_decr_every_n_nan_or_inf(value),
        "load nothing": lambda: scaler.load_state_dict({}),
        "load a number": lambda: scaler.load_state_dict(5),
        "get": lambda: (scaler.get_incr_ratio(), scaler.get_incr_every_n_steps(), scaler.is_enable()),
    }[name]()


_OPTIMIZER = (0, 0, 0, 1, 1, 2)
_CHOICES: dict[Framework, dict[str, tuple[int, Sequence[Any]]]] = {
    "torch": {
        "backward": (9, [(which, gradient) for which in (0, 0, 1) for gradient in GRADIENTS]),
        "scale": (2, (None,)),
        "scale a list": (1, (None,)),
        "scale no tensor": (1, tuple(NO_TENSORS)),
        "unscale_": (4, _OPTIMIZER),
        "unscale_ no optimizer": (1, tuple(NO_OPTIMIZERS)),
        "step": (6, _OPTIMIZER),
        "step with a closure": (1, _OPTIMIZER),
        "step with too much": (1, _OPTIMIZER),
        "step no optimizer": (1, tuple(NO_OPTIMIZERS)),
        "update": (5, (None,)),
        "update to": (1, SCALES),
        "update to a tensor": (1, ((8.0,), (8.0, 9.0))),
        "update to two": (1, (None,)),
        "update to a tensor with gradient": (1, (None,)),
        "update to no scale": (1, tuple(NO_SCALES)),
        "set the interval": (1, (1, 2, 3)),
        "set the factor": (1, (1.5, 2.0, 4.0)),
        "load": (1, SCALES),
        "load nothing": (1, (None,)),
        "load a number": (1, (None,)),
        "pickle": (1, (None,)),
        "get": (1, (None,)),
    },
    "paddle": {
        "backward": (9, [(0, gradient) for gradient in GRADIENTS]),
        "scale": (1, (None,)),
        "scale no tensor": (1, tuple(NO_TENSORS)),
        "scale a list": (1, (None,)),
        "scale integers": (1, (None,)),
        "unscale_": (4, (None,)),
        "unscale_ no optimizer": (1, tuple(NO_OPTIMIZERS)),
        "step": (6, (None,)),
        "step no optimizer": (1, tuple(NO_OPTIMIZERS)),
        "step with too much": (1, (None,)),
        "update": (5, (None,)),
        "update to": (1, SCALES),
        "minimize": (2, (None,)),
        "minimize nothing": (1, (None,)),
        "minimize no tensor": (1, (None,)),
        "set the scale": (1, SCALES),
        "set no scale": (1, ("x",)),
        "set the growth": (1, (1.0, 1.5, 2.0)),
        "set the backoff": (1, (0.5, 0.25, 1.0)),
        "set no ratio": (1, ("text", "none")),
        "set the interval": (1, (1, 2, 3, 2.0)),
        "set the other interval": (1, (1, 2)),
        "load nothing": (1, (None,)),
        "load a number": (1, (None,)),
        "get": (1, (None,)),
    },
}


def random_calls(api: Framework, seed: int, most: int = 24) -> list[Call]:
    chosen = random.Random(seed)
    names = list(_CHOICES[api])
    weights = [_CHOICES[api][name][0] for name in names]
    picked = chosen.choices(names, weights, k=chosen.randint(2, most))
    return [(name, chosen.choice(_CHOICES[api][name][1])) for name in picked]


def outcome(made: Callable[[], Any]) -> Any:
    """The type of the error, or what the call returned."""
    try:
        return made()
    except Exception as error:
        return type(error)


def first_difference(api: Framework, calls: Sequence[Call]) -> str | None:
    """Where the shim's scaler with ``api`` first differs from the framework's own; None if it never does.

    Compared are the errors' types, results, saved states and parameters after each call; gradients only where both
    frameworks' own scalers leave the same ones, which Paddle's does not after an infinity.
    """
    make = of_torch if api == "torch" else of_paddle
    other: Framework = "paddle" if api == "torch" else "torch"
    sides = (Tensors(api), Tensors(other))
    scalers: tuple[Any, Any]
    if api == "torch":
        scalers = (torch.amp.GradScaler("cpu", 16.0, growth_interval=2), OnPaddle("cpu", 16.0, growth_interval=2))
    else:
        settings = {"init_loss_scaling": 16.0, "incr_every_n_steps": 2, "decr_every_n_nan_or_inf": 2}
        scalers = (paddle.amp.GradScaler(**settings), OnTorch(**settings))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, call in enumerate(calls):
            seen = [outcome(lambda: make(*pair, call)) for pair in zip(scalers, sides, strict=True)]  # noqa: B023
            seen_states = [_plain(scaler.state_dict()) for scaler in scalers]
            values = [one.values() if api == "torch" else one.values()[:3] for one in sides]
            for what, (theirs, ours) in (("result", seen), ("state", seen_states), ("values", values)):
                if theirs != ours:
                    return f"{what} after {calls[: number + 1]}: {theirs} and {ours}"
    return None


def _plain(state: dict[str, Any]) -> dict[str, float]:
    return {key: float(value.item() if hasattr(value, "item") else value) for key, value in state.items()}
