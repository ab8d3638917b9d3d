"""Layers that write into their input do so on Paddle too where the input is read again, and only there."""

from __future__ import annotations

from typing import Any

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Options, Severity
from paddletorch.proof.compare import difference

ENGINE = Engine(Options(target="paddle"))

PROGRAM = """
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {layers}

    def forward(self, x):
        {forward}


net = Net()
w = torch.tensor([[1.0, -2.0, 0.5], [-0.25, 3.0, -1.0]], requires_grad=True)
result = [net(w * 2)]
result[0].sum().backward()
result.append(w.grad)
"""

READ_AGAIN = {
    "the same name": ("self.act = nn.ReLU(inplace=True)", "y = self.act(x)\nreturn x * 3 + y"),
    "before the name means the sum": (
        "self.res = nn.Sequential(nn.ReLU(inplace=True), nn.Softmax(-1))",
        "x = x * 1\nx = self.res(x) + x\nreturn x",
    ),
    "in the same expression": ("self.act = nn.ReLU(True)", "return x + self.act(x)"),
    "by the first layer": (
        "self.res = nn.Sequential(nn.ReLU(inplace=True), nn.Softmax(-1))",
        "return self.res(x) + x",
    ),
    "with settings": ("self.act = nn.LeakyReLU(0.2, inplace=True)", "short = x\ny = self.act(x)\nreturn short + y * y"),
    "without a function in place": ("self.act = nn.SiLU(inplace=True)", "y = self.act(x)\nreturn x * 2 + y"),
    "by the caller": (
        "self.act = nn.ReLU(inplace=True)",
        "y = x * 2\nz = self.inner(y)\nreturn y + z\n\ndef inner(self, x):\n    return self.act(x) + 1",
    ),
}

ALONE = {
    "the usual block": (
        "self.body = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.ReLU(inplace=True))\n"
        "self.act = nn.ReLU(inplace=True)",
        "identity = x\nout = self.body(x)\nout = out + identity\nout = self.act(out)\nreturn out",
    ),
    "an argument of its own": ("self.act = nn.ReLU6(inplace=True)", "return x * self.act(x + 3) / 6"),
    "a name that means another tensor afterwards": (
        "self.act = nn.ReLU(inplace=True)",
        "y = x * 2\nif y.ndim == 2:\n    y = self.act(y)\nreturn y",
    ),
    "a setting that may be off": (
        "inplace = not self.training\nself.act = nn.ReLU(inplace=inplace)",
        "return self.act(x)",
    ),
}


def _program(layers: str, forward: str) -> str:
    inside = "\n        "
    forward = inside.join(forward.split("\n")).replace(inside + "def ", "\n    def ").replace(inside + "    ", inside)
    return PROGRAM.format(layers=inside.join(layers.split("\n")), forward=forward)


@pytest.mark.parametrize("case", READ_AGAIN)
def test_writes_where_the_input_is_read_again(case: str) -> None:
    code = _program(*READ_AGAIN[case])
    converted = ENGINE.convert(code.encode(), "layers.py")
    assert [d.code for d in converted.diagnostics if d.severity is not Severity.INFO] == []
    assert difference(_result(code), _result(converted.output.decode())) is None
    assert ENGINE.convert(converted.output, "layers.py").output == converted.output


@pytest.mark.parametrize("case", ALONE)
def test_changes_no_call_where_it_is_not(case: str) -> None:
    layers, forward = ALONE[case]
    converted = ENGINE.convert(_program(layers, forward).encode(), "layers.py")
    assert "NNL211" not in [d.code for d in converted.diagnostics]
    for line in forward.split("\n"):
        assert line in converted.output.decode()


@pytest.mark.parametrize(
    ("layers", "forward"),
    [
        ("self.res = nn.Sequential(nn.SiLU(inplace=True), nn.Softmax(-1))", "return self.res(x) + x"),
        ("inplace = not self.training\nself.act = nn.ReLU(inplace=inplace)", "return self.act(x) + x"),
        ("self.act = nn.ReLU(inplace=True)", "y = x[0]\nz = self.act(y)\nreturn x + z"),
    ],
)
def test_what_cannot_be_written_is_reported(layers: str, forward: str) -> None:
    converted = ENGINE.convert(_program(layers, forward).encode(), "layers.py")
    assert "NNL211" in [d.code for d in converted.diagnostics]


def _result(code: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(code, "<layers>", "exec"), names)
    return names["result"]
