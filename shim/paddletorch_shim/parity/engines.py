"""What a run needs of a framework: parameters, an optimizer, and a loss whose gradient is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from paddletorch_rules import Framework

from paddletorch_shim.parity.schedules import SHAPES, SIZES

OPTIMIZERS = ("sgd", "adam", "adamw")

Values = tuple[str, ...]
"""Numbers as ``float.hex`` writes them, so that equality is bit for bit and NaN equals NaN."""


class Engine(Protocol):
    """A tiny model on one framework."""

    optimizer: Any

    def loss(self, coefficients: Sequence[Sequence[float]]) -> Any:
        """A loss whose gradient with respect to the parameters is ``coefficients``."""

    def clear(self) -> None:
        """Drop the gradients."""

    def set_gradients(self, values: Values) -> None:
        """Put these gradients on the parameters."""

    def gradients(self) -> Values:
        """The gradients, flat."""

    def parameters(self) -> Values:
        """The parameters, flat."""


class TorchEngine:
    """Parameters of ones under a torch optimizer, on the CPU."""

    def __init__(self, optimizer: str) -> None:
        import torch

        self._torch = torch
        self._parameters = [torch.nn.Parameter(torch.ones(shape)) for shape in SHAPES]
        make = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[optimizer]
        self.optimizer = make(self._parameters, lr=0.5)

    def loss(self, coefficients: Sequence[Sequence[float]]) -> Any:
        """See ``Engine``."""
        pairs = zip(self._parameters, coefficients, strict=True)
        return sum((p.flatten() * self._torch.tensor(c)).sum() for p, c in pairs)

    def clear(self) -> None:
        """See ``Engine``."""
        self.optimizer.zero_grad()

    def set_gradients(self, values: Values) -> None:
        """See ``Engine``."""
        for p, part in zip(self._parameters, _split(values), strict=True):
            p.grad = self._torch.tensor(part).reshape(p.shape)

    def gradients(self) -> Values:
        """See ``Engine``."""
        return _hex([p.grad for p in self._parameters])

    def parameters(self) -> Values:
        """See ``Engine``."""
        return _hex(self._parameters)


class PaddleEngine:
    """Parameters of ones under a Paddle optimizer, on Paddle's current place."""

    def __init__(self, optimizer: str) -> None:
        import paddle

        self._paddle = paddle
        ones = paddle.nn.initializer.Constant(1.0)
        self._parameters = [
            paddle.create_parameter(list(shape), "float32", default_initializer=ones) for shape in SHAPES
        ]
        make = {"sgd": paddle.optimizer.SGD, "adam": paddle.optimizer.Adam, "adamw": paddle.optimizer.AdamW}
        self.optimizer = make[optimizer](learning_rate=0.5, parameters=self._parameters)

    def loss(self, coefficients: Sequence[Sequence[float]]) -> Any:
        """See ``Engine``."""
        pairs = zip(self._parameters, coefficients, strict=True)
        return sum((p.flatten() * self._paddle.to_tensor(c, "float32")).sum() for p, c in pairs)

    def clear(self) -> None:
        """See ``Engine``."""
        self.optimizer.clear_grad(set_to_zero=False)

    def set_gradients(self, values: Values) -> None:
        """See ``Engine``."""
        for p, part in zip(self._parameters, _split(values), strict=True):
            p.grad = self._paddle.to_tensor(part, "float32").reshape(p.shape)

    def gradients(self) -> Values:
        """See ``Engine``."""
        return _hex([p.grad for p in self._parameters])

    def parameters(self) -> Values:
        """See ``Engine``."""
        return _hex(self._parameters)


def engine(framework: Framework, optimizer: str) -> Engine:
    """A fresh model of ``framework``; the same values in both."""
    return TorchEngine(optimizer) if framework == "torch" else PaddleEngine(optimizer)


def _hex(tensors: Sequence[Any]) -> Values:
    return tuple(float(v).hex() for tensor in tensors for v in tensor.flatten().tolist())


def _split(values: Values) -> list[list[float]]:
    numbers = iter([float.fromhex(v) for v in values])
    return [[next(numbers) for _ in range(size)] for size in SIZES]
