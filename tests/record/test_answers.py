"""What is noted of values of both frameworks."""

from __future__ import annotations

import functools
import math
from collections import OrderedDict
from typing import Any

import numpy as np
import paddle
import pytest
import torch
from paddletorch.model import Ask, Framework
from paddletorch_shim.recording.answers import UNCLEAR, Answers


class Net(torch.nn.Linear):
    pass


class Layer(paddle.nn.Linear):
    pass


class Own(torch.Tensor):
    pass


def function() -> None:
    pass


HERE = __name__


@pytest.mark.parametrize(
    ("framework", "ask", "value", "answer"),
    [
        ("torch", Ask.TYPE, torch.zeros(2), "torch.Tensor"),
        ("torch", Ask.TYPE, torch.nn.Conv2d(1, 1, 1), "torch.nn.modules.conv.Conv2d"),
        ("torch", Ask.TYPE, torch.nn.Parameter(torch.zeros(2)), "torch.nn.parameter.Parameter"),
        ("torch", Ask.TYPE, torch.Generator(), "torch.Generator"),
        ("torch", Ask.TYPE, Net(2, 2), f"{HERE}.Net:torch.nn.modules.linear.Linear"),
        ("torch", Ask.TYPE, torch.zeros(2).as_subclass(Own), f"{HERE}.Own:torch.Tensor"),
        ("torch", Ask.TYPE, None, "builtins.NoneType"),
        ("torch", Ask.TYPE, np.zeros(2), "numpy.ndarray"),
        ("torch", Ask.TYPE, paddle.zeros([2]), "paddle.Tensor"),
        ("torch", Ask.DTYPE, torch.zeros(2, dtype=torch.bfloat16), "bfloat16"),
        ("torch", Ask.DTYPE, True, "bool"),
        ("torch", Ask.DTYPE, 1.5, "float"),
        ("torch", Ask.DTYPE, np.zeros(2), "numpy.ndarray"),
        ("torch", Ask.DTYPE, torch.zeros(2).as_subclass(Own), f"{HERE}.Own:torch.Tensor"),
        ("torch", Ask.RANK, torch.zeros(2, 3), "2"),
        ("torch", Ask.RANK, torch.tensor(2), "0"),
        ("torch", Ask.RANK, 2, "builtins.int"),
        ("torch", Ask.CLASS, torch.nn.LayerNorm, "torch.nn.modules.normalization.LayerNorm"),
        ("torch", Ask.CLASS, Net, f"{HERE}.Net:torch.nn.modules.linear.Linear"),
        ("torch", Ask.CLASS, torch.relu, "torch.relu"),
        ("torch", Ask.CLASS, torch.nn.functional.gelu, "torch.nn.functional.gelu"),
        ("torch", Ask.CLASS, torch.nn.functional.max_pool2d, "torch.nn.functional.max_pool2d"),
        ("torch", Ask.CLASS, torch.Tensor.add, "torch.Tensor.add"),
        ("torch", Ask.CLASS, function, f"{HERE}.function"),
        ("torch", Ask.CLASS, math.sqrt, "math.sqrt"),
        ("torch", Ask.CLASS, int, "builtins.int"),
        ("torch", Ask.CLASS, torch.nn.ReLU(), UNCLEAR),
        ("torch", Ask.CLASS, None, UNCLEAR),
        ("torch", Ask.CLASS, functools.partial(torch.nn.LayerNorm, eps=1e-3), UNCLEAR),
        ("torch", Ask.KEYS, {"b": 1, "a": 2}, "a,b"),
        ("torch", Ask.KEYS, OrderedDict(a=1), "a"),
        ("torch", Ask.KEYS, {}, ""),
        ("torch", Ask.KEYS, {"/home/me/secret": 1}, UNCLEAR),
        ("torch", Ask.KEYS, [], UNCLEAR),
        ("paddle", Ask.TYPE, paddle.zeros([2]), "paddle.Tensor"),
        ("paddle", Ask.TYPE, Layer(2, 2), f"{HERE}.Layer:paddle.nn.layer.common.Linear"),
        ("paddle", Ask.TYPE, paddle.nn.Linear(2, 2).weight, "paddle.base.framework.EagerParamBase:paddle.Tensor"),
        ("paddle", Ask.DTYPE, paddle.zeros([2], dtype="float16"), "float16"),
        ("paddle", Ask.RANK, paddle.zeros([2, 3]), "2"),
        ("paddle", Ask.CLASS, paddle.nn.LayerNorm, "paddle.nn.layer.norm.LayerNorm"),
        ("paddle", Ask.CLASS, paddle.nn.functional.relu, "paddle.nn.functional.relu"),
        ("paddle", Ask.CLASS, paddle.add, "paddle.add"),
    ],
)
def test_answers(framework: Framework, ask: Ask, value: Any, answer: str) -> None:
    assert Answers(framework).of(ask, value, "/no/file.py") == answer
