"""Calls with torch's arguments of what only the running program knows, on real Paddle."""

from __future__ import annotations

import functools
from typing import Any

import paddle
import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Options
from paddletorch_shim.paddle import torch_args

nn = paddle.nn


class Inherited(nn.BatchNorm2D):
    """Has Paddle's constructor."""


class Own(nn.LayerNorm):
    """Has torch's parameters, and hands on what it does not know."""

    def __init__(self, width: int, eps: float = 1e-5, **kwargs: Any) -> None:
        torch_args(super().__init__)(width, eps=eps, **kwargs)


def test_arguments_are_those_of_the_layer() -> None:
    assert isinstance(torch_args(nn.ReLU)(inplace=True), nn.ReLU)
    norm = torch_args(nn.BatchNorm2D)(8, 1e-3, 0.25, device=None, dtype=None)
    assert (norm._epsilon, norm._momentum) == (1e-3, 0.75)
    conv = torch_args(nn.Conv2D)(4, 8, 3, 1, 1, 1, 2, False)
    assert (conv._groups, conv.bias) == (2, None)
    assert torch_args(nn.Linear)(3, 4, dtype=paddle.float64).weight.dtype == paddle.float64


def test_defaults_are_torchs() -> None:
    x = paddle.to_tensor([[-1.0, 2.0]])
    same = torch_args(nn.AvgPool2D)(2, padding=1)(paddle.ones([1, 1, 2, 2]))
    assert same.numpy().ravel().tolist() == [0.25] * 4, "padding counts in torch"
    assert torch_args(nn.functional.leaky_relu)(x, negative_slope=0.5).tolist() == [[-0.5, 2.0]]


def test_partial_objects_and_subclasses() -> None:
    made = functools.partial(nn.LayerNorm, epsilon=1e-6)
    assert torch_args(made)(4)._epsilon == 1e-6
    assert torch_args(made)(4, eps=1e-4)._epsilon == 1e-4, "what the call gives counts"
    norm = torch_args(Inherited)(4, eps=0.5)
    assert type(norm) is Inherited
    assert norm._epsilon == 0.5
    assert Own(4, eps=1e-4, elementwise_affine=False)._epsilon == 1e-4
    assert Own(4, elementwise_affine=False).weight is None
    assert functools.partial(torch_args(nn.BatchNorm2D), eps=0.5)(3)._epsilon == 0.5


def test_anything_else_is_given_back() -> None:
    def make(width: int, eps: float = 1.0) -> int:
        return width

    for callee in (make, Own, print, functools.partial(make, eps=2.0), nn.ReLU()):
        assert torch_args(callee) is callee


def test_what_paddle_lacks_is_an_error() -> None:
    with pytest.raises(TypeError, match="momentum=None"):
        torch_args(nn.BatchNorm2D)(4, momentum=None)
    with pytest.raises(TypeError, match="nonsense"):
        torch_args(nn.ReLU)(nonsense=1)


BLOCKS = b"""
from torch import nn

class Block(nn.Module):
    def __init__(self, width, norm_layer=nn.RMSNorm):
        super().__init__()
        self.norm = norm_layer(width, eps=1e-3)

class Other(nn.Module):
    def __init__(self, width, norm_layer=nn.LayerNorm):
        super().__init__()
        self.norm = norm_layer(width, eps=1e-3)

blocks = [Block(4), Other(4), Other(4, nn.RMSNorm)]
"""


def test_a_parameter_may_be_a_class_that_is_written_and_one_of_the_target() -> None:
    made: dict[str, Any] = {}
    exec(Engine(Options("paddle", shim="auto")).convert(BLOCKS, "blocks.py").output, made)
    ours, layer_norm, passed = (block.norm for block in made["blocks"])
    assert (ours.eps, layer_norm._epsilon, passed.eps) == (1e-3, 1e-3, 1e-3)
    assert made["Block"](4, nn.LayerNorm).norm._epsilon == 1e-3, "another file may pass a layer of Paddle's"
