"""What is written into a result that Paddle's backward needs: the copy that is written to has torch's gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from paddletorch import convert

HEAD = """import torch
import torch.nn.functional as F


def made(x: torch.Tensor, y: torch.Tensor):
"""
CASES = {
    "quotient": ["z = x / y", "z[0] = 1"],
    "reciprocal": ["z = 1 / x", "z[0] *= 2"],
    "function": ["z = torch.div(x, y)", "z[:, 1] += y[:, 0]"],
    "method": ["z = x.div(y)", "z[0] = 1"],
    "in brackets": ["z = (x / y)", "z[0] = 1"],
    "view": ["z = x / y", "z = z.view(3, 2)", "z = z.permute(1, 0)", "z[..., 0] /= 3"],
    "view in place": ["z = (x / y).t()", "z[0] = 1"],
    "activation": ["z = F.silu(x)", "z[z > 0.3] = 0"],
    "normalized": ["z = F.normalize(x, dim=1)", "z[0] = 0.5"],
}
OTHERS = {
    "by a number": ["z = x / 2", "z[0] = 1"],
    "a product": ["z = x * y", "z[0] = 1"],
    "a new tensor": ["z = x / y", "z = z + 1", "z[0] = 1"],
    "an operand": ["z = y * 1", "w = x / z", "z = w.sum(1)"],
}
X = np.array([[0.2, 0.4, 0.7], [0.9, 0.6, 0.1]], "float32")
Y = np.array([[0.9, 0.3, 0.5], [0.1, 0.8, 0.6]], "float32")


def program(lines: list[str]) -> str:
    return HEAD + "".join(f"    {line}\n" for line in [*lines, "return z"])


def gradient(text: str) -> np.ndarray:
    import paddle
    import torch

    names: dict[str, Any] = {}
    exec(text, names)
    if "torch" in names:
        x: Any = torch.tensor(X, requires_grad=True)
        (names["made"](x, torch.tensor(Y)) ** 2).sum().backward()
    else:
        x = paddle.to_tensor(X, stop_gradient=False)
        (names["made"](x, paddle.to_tensor(Y)) ** 2).sum().backward()
    return np.asarray(x.grad)


@pytest.mark.parametrize("case", CASES)
def test_the_gradient_is_that_of_torch(case: str) -> None:
    text = program(CASES[case])
    output = convert(text, to="paddle").output
    np.testing.assert_allclose(gradient(output), gradient(text), rtol=1e-4, atol=1e-5)
    assert convert(output, to="paddle").output == output


@pytest.mark.parametrize("case", OTHERS)
def test_other_results_are_not_copied(case: str) -> None:
    text = program(OTHERS[case])
    output = convert(text, to="paddle").output
    assert ".clone()" not in output
    np.testing.assert_allclose(gradient(output), gradient(text), rtol=1e-4, atol=1e-5)


def test_what_runs_without_gradients_is_left() -> None:
    lines = ["with torch.no_grad():", "    z = x / y", "    z[0] = 1"]
    assert ".clone()" not in convert(program(lines), to="paddle").output
