"""A batch norm of which one parameter is frozen: torch trains the other, Paddle does not, and that is said."""

from __future__ import annotations

from typing import Any

import paddle
import pytest
import torch
from paddletorch import convert

PROGRAM = """import torch
import torch.nn as nn

net = nn.BatchNorm1d(3)
net.{frozen}.requires_grad = False
loss = (net(torch.arange(12.0).reshape(4, 3) ** 2) ** 3).sum()
loss.backward()
gradient = net.{other}.grad
"""


@pytest.mark.parametrize(("frozen", "other"), [("weight", "bias"), ("bias", "weight")])
def test_the_frameworks_differ_where_it_is_said(frozen: str, other: str) -> None:
    text = PROGRAM.format(frozen=frozen, other=other)
    result = convert(text, to="paddle")
    assert [(one.code, one.line) for one in result.findings if one.severity.value != "info"] == [("AGD203", 5)]
    assert isinstance(_gradient(text), torch.Tensor)
    assert not isinstance(_gradient(result.output), paddle.Tensor)


def _gradient(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(text, names)
    return names["gradient"]
