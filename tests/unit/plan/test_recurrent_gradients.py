"""Gradients through recurrent layers that are frozen or in evaluation: Paddle raises, and that is said."""

from __future__ import annotations

from typing import Any

import pytest
from paddletorch import convert

PROGRAM = """import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.{layer}(3, 4)

    def forward(self, x):
        return self.rnn(x)[0]


net = Net()
x = torch.ones(2, 5, 3, requires_grad=True)
{lines}
"""

FROZEN = [
    "for p in net.rnn.parameters():\n    p.requires_grad = False\nnet(x).sum().backward()",
    "net.requires_grad_(False)\nnet(x).sum().backward()",
]
EVALUATED = ["net.eval()\nnet(x).sum().backward()", "net.eval()\nloss = net(x).sum()\ntorch.autograd.grad(loss, x)"]
RIGHT = [
    "net(x).sum().backward()",
    "net.eval()\nwith torch.no_grad():\n    net(x)",
    "net.train()\nnet(x).sum().backward()\nnet.eval()",
    "head = nn.Conv1d(1, 1, 1)\nfor p in head.parameters():\n    p.requires_grad = False\nnet(x).sum().backward()",
]


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize(("line", "lines"), [*((8, lines) for lines in FROZEN), *((16, lines) for lines in EVALUATED)])
def test_where_paddle_raises_it_is_said(layer: str, line: int, lines: str) -> None:
    text = PROGRAM.format(layer=layer, lines=lines)
    result = convert(text, to="paddle")
    assert ("AGD203", line) in [(one.code, one.line) for one in result.findings]
    _run(text)
    with pytest.raises((RuntimeError, ValueError)):
        _run(result.output)


@pytest.mark.parametrize("lines", RIGHT)
def test_elsewhere_nothing_is(lines: str) -> None:
    result = convert(PROGRAM.format(layer="LSTM", lines=lines), to="paddle")
    assert "AGD203" not in [one.code for one in result.findings]
    _run(result.output)


def _run(text: str) -> None:
    names: dict[str, Any] = {}
    exec(text, names)
