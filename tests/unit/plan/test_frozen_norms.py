"""AGD203 of a frozen layer norm says what Paddle does: the gradient of its input is that of a weight of ones."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
import torch

X, WEIGHT, GRADIENT = (np.random.default_rng(n).normal(size=(3, 8)).astype("float32") for n in range(3))


def gradient_of_torch(weight: np.ndarray) -> np.ndarray:
    x = torch.tensor(X, requires_grad=True)
    torch.nn.functional.layer_norm(x, (8,), torch.tensor(weight)).backward(torch.tensor(GRADIENT))
    assert x.grad is not None
    return x.grad.numpy()


def gradient_of_paddle(weight: np.ndarray, frozen: bool) -> np.ndarray:
    x = paddle.to_tensor(X, stop_gradient=False)
    given = paddle.to_tensor(weight, stop_gradient=frozen)
    paddle.nn.functional.layer_norm(x, [8], given).backward(paddle.to_tensor(GRADIENT))
    return np.asarray(x.grad)


@pytest.mark.parametrize("frozen", [False, True])
def test_a_frozen_weight_is_taken_for_ones(frozen: bool) -> None:
    expected = gradient_of_torch(np.ones(8, "float32") if frozen else WEIGHT[0])
    np.testing.assert_allclose(gradient_of_paddle(WEIGHT[0], frozen), expected, atol=1e-5)
