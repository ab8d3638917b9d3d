"""The gradient of a grid, where the image needs none: Paddle's own function ends the process there."""

from __future__ import annotations

from typing import Any

import numpy as np
from paddletorch import convert

TEXT = """import torch
import torch.nn.functional as F


def sampled(image, grid):
    return F.grid_sample(image, grid, padding_mode="border")
"""
IMAGE = np.random.default_rng(0).random((1, 2, 5, 5), "float32")
GRID = np.random.default_rng(1).random((1, 4, 4, 2), "float32") - 0.5


def gradient(text: str) -> np.ndarray:
    import paddle
    import torch

    names: dict[str, Any] = {}
    exec(text, names)
    if "torch" in names:
        grid: Any = torch.tensor(GRID, requires_grad=True)
        names["sampled"](torch.tensor(IMAGE), grid).sum().backward()
    else:
        grid = paddle.to_tensor(GRID, stop_gradient=False)
        names["sampled"](paddle.to_tensor(IMAGE), grid).sum().backward()
    return np.asarray(grid.grad)


def test_the_grid_gets_the_gradient_of_torch() -> None:
    found = gradient(convert(TEXT, to="paddle").output)
    np.testing.assert_allclose(found, gradient(TEXT), atol=1e-4)
