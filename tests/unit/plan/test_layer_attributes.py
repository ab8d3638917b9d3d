"""Numbers and lists that replace tensors in attributes of layers: in Paddle the plain assignment raises."""

from __future__ import annotations

from typing import Any

import pytest
from paddletorch import convert

TEXT = """import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = 0.0
        self.cache = []

    def forward(self, x):
        self.loss = 0.0
        self.loss += x.mean()
        self.cache = torch.cat([x, x])
        return self.loss

    def clear(self):
        self.cache = []
        self.loss = 0.0
"""


def used(text: str) -> list[Any]:
    names: dict[str, Any] = {}
    exec(text, names)
    framework = names.get("torch") or names["paddle"]
    model, x = names["Model"](), framework.ones([2])
    seen = [float(model(x)), float(model(x)), len(model.cache)]
    model.clear()
    seen += [model.loss, model.cache, float(model(x)), len(model.cache)]
    return seen


def test_they_hold_the_same() -> None:
    expected = [1.0, 1.0, 4, 0.0, [], 1.0, 4]
    assert used(TEXT) == used(convert(TEXT, to="paddle").output) == expected


def test_the_assignment_raises_in_paddle() -> None:
    text = convert(TEXT, to="paddle").output.replace("object.__setattr__(self, 'loss', 0.0)", "self.loss = 0.0")
    with pytest.raises(TypeError, match="assignment to buffers"):
        used(text)


def test_a_class_attribute_hides_the_tensor() -> None:
    import paddle

    class Layer(paddle.nn.Layer):
        stride = None

    layer = Layer()
    layer.stride = paddle.ones([2])
    assert layer.stride is None
