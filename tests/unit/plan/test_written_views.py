"""What is written into a view, which Paddle's gradients do not see: it is said on the line, and only there."""

from __future__ import annotations

from typing import Any

import numpy as np
import paddle
import pytest
import torch
from paddletorch import convert

PROGRAM = """import torch


def part(y):
    return y[0]


def whole(y):
    return y


x = torch.ones(2, 3, requires_grad=True)
y = x * 2
{write}
y.sum().backward()
gradient = x.grad
"""

SEEN = [
    "part(y).mul_(3)",
    "z = part(y)\nz.mul_(3)",
    "y[0][0] = 1",
    "part(y)[0] = 1",
    "y.view(-1)[0] *= 3",
    "z = y[1:]\nz[0] = 1",
]
RIGHT = ["y[0] *= 3", "y[0, 0] = 1", "whole(y)[0] = 1", "y = y.view(-1)\ny[0] = 1"]


@pytest.mark.parametrize("write", SEEN)
def test_other_gradients_are_reported(write: str) -> None:
    text = PROGRAM.format(write=write)
    result = convert(text, to="paddle")
    assert [(one.code, one.line) for one in result.findings] == [("AGD203", 14 + write.count("\n"))]
    assert not np.array_equal(_gradient(text), _gradient(result.output))


@pytest.mark.parametrize("write", RIGHT)
def test_the_same_gradients_are_not(write: str) -> None:
    text = PROGRAM.format(write=write)
    result = convert(text, to="paddle")
    assert not result.findings
    np.testing.assert_array_equal(_gradient(text), _gradient(result.output))


def _gradient(text: str) -> np.ndarray[Any, Any]:
    names: dict[str, Any] = {}
    exec(text, names)
    gradient = names["gradient"]
    assert isinstance(gradient, torch.Tensor | paddle.Tensor)
    return np.asarray(gradient.numpy())
