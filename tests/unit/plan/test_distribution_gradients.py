"""Gradients of one tensor beside others that take none: Paddle's own functions end the process there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from paddletorch import convert

HEAD = """import torch
from torch.distributions import Bernoulli, LogNormal, Normal, Uniform


def made(x, y):
    return """
CASES = {
    "broadcast": "torch.broadcast_tensors(x, y)[0] * torch.broadcast_tensors(y, x)[0]",
    "one of them": "torch.broadcast_tensors(x, y)[0] ** 2",
    "bernoulli": "Bernoulli(x).log_prob((y > 0.5).float())",
    "normal": "Normal(x, 0.5).log_prob(y)",
    "scale": "Normal(0.0, x).log_prob(y)",
    "log normal": "LogNormal(x, 1).log_prob(y)",
    "uniform": "Uniform(0, x + 1).log_prob(y)",
}
X = np.array([0.2, 0.4, 0.7], "float32")
Y = np.array([[0.9, 0.3, 0.5], [0.1, 0.8, 0.6]], "float32")


def gradient(text: str) -> np.ndarray:
    import paddle
    import torch

    names: dict[str, Any] = {}
    exec(text, names)
    if "torch" in names:
        x: Any = torch.tensor(X, requires_grad=True)
        names["made"](x, torch.tensor(Y)).sum().backward()
    else:
        x = paddle.to_tensor(X, stop_gradient=False)
        names["made"](x, paddle.to_tensor(Y)).sum().backward()
    return np.asarray(x.grad)


@pytest.mark.parametrize("case", CASES)
def test_the_gradient_is_that_of_torch(case: str) -> None:
    text = HEAD + CASES[case] + "\n"
    result = convert(text, to="paddle")
    assert not [one for one in result.findings if one.severity.value != "info"]
    np.testing.assert_allclose(gradient(result.output), gradient(text), atol=1e-4)
