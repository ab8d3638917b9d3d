"""Operators in place reach the tensors that torch's reach."""

from __future__ import annotations

from typing import Any

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Options
from paddletorch.proof.compare import difference

ENGINE = Engine(Options(target="paddle"))

PROGRAMS = {
    "parameters in a loop": """
import torch

w = torch.ones(3, requires_grad=True)
b = torch.zeros(1, requires_grad=True)


def sgd(params, lr):
    with torch.no_grad():
        for param in params:
            param -= lr * param.grad
            param.grad.zero_()


for _ in range(3):
    loss = ((torch.arange(6.0).reshape(2, 3) @ w + b - 1) ** 2).mean()
    loss.backward()
    sgd([w, b], 0.01)
result = [w, b, loss]
""",
    "leaves by name": """
import torch

w = torch.tensor([1.0, 2.0])
w.requires_grad_()
for _ in range(3):
    loss = (w * w).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad - 0.01
        w.grad.zero_()
result = [w, loss, w.requires_grad]
""",
    "elements of a list": """
import torch

kept = [torch.ones(2), torch.zeros(3)]
for tensor in kept:
    tensor += 2
    tensor *= 1.5
result = kept
""",
    "the caller's tensor": """
import torch

def shift(v: torch.Tensor, by):
    v += by
    v *= by
    v /= 4
    v **= 2
    return v

x = torch.ones(3)
w = torch.tensor([2.0, 3.0, 4.0], requires_grad=True)
y = w * 2
result = [shift(x, 3), x, shift(y, w.exp()), y]
(y * y).sum().backward()
result.append(w.grad)
""",
    "another name": """
import torch

w = torch.tensor([0.5, -1.0], requires_grad=True)
x = w * 3
short = x
x += w.abs()
x *= torch.full((2,), 2.0) + w
x -= 1
(x + short).sum().backward()
result = [x, short, w.grad]
""",
    "attributes": """
import torch

class Meter:
    def __init__(self):
        self.total = torch.zeros(2)
        self.start = self.total

    def update(self, x):
        self.total += x

meter = Meter()
meter.update(torch.ones(2))
meter.update(torch.ones(2))
result = [meter.total, meter.start]
""",
    "elements of dicts and lists": """
import torch

first = torch.ones(2)
parts = {"a": first, "b": torch.zeros(2)}
parts["a"] += 2
parts["b"] -= first
outs = []
x = torch.zeros(2)
for i in range(3):
    x += i
    outs.append(x)
result = [first, parts["a"], parts["b"], outs]
""",
    "data of parameters that is kept elsewhere": """
import torch

m = torch.nn.LayerNorm(2)
made = [p.data for p in m.parameters()]
made[0] += 1
named = {n: p.data for n, p in m.named_parameters()}
named["weight"] *= 3
added = []
for p in m.parameters():
    added.append(p.data)
added[1] -= 5
kept, copies, sums = {}, {}, {}
for n, p in m.named_parameters():
    kept[n] = p.data
    copies[n] = p.detach().clone()
    sums[n] = 0
kept["bias"] /= 4
copies["weight"] += 7
sums["weight"] += 7
result = [m.weight, m.bias, made, added, copies["weight"], sums]
""",
    "what functions and modules give back": """
import torch
from torch import nn

def same(v):
    return v

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.skip = nn.Identity()
        self.relu = nn.ReLU()

    def forward(self, x):
        short = self.skip(x)
        out = self.relu(x)
        out += short
        y = same(out)
        y *= 2
        return out + y

net = Net().eval()
result = [net(torch.tensor([1.0, -2.0])), net(torch.tensor([3.0]))]
""",
    "views without gradients": """
import torch

x = torch.arange(6.0).reshape(2, 3)
with torch.no_grad():
    row = x[0]
    row += 10
    turned = x.T
    turned *= 2
    flat = x.view(-1)
    flat -= 1
    for one in x:
        one += 100
d = x.detach()
d += 1
result = [x, row, turned, flat]
""",
}

ALONE = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, blocks, drop_path, norm):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)
        self.norm = norm(3)
        self.relu = nn.ReLU(inplace=True)
        self.blocks = nn.Sequential(*blocks)
        self.drop_path = drop_path
        self.step = 0
        self.seen = torch.zeros(1)

    def forward(self, x):
        identity = x
        out = self.relu(self.norm(self.conv(x)))
        out += identity
        out = self.drop_path(out)
        out *= 0.5
        out = self.blocks(out)
        out -= out.mean()
        self.step += 1
        total = 0
        for part in out.chunk(2):
            total += part.sum()
        return out / total
"""
"""Nothing else holds what changes in place."""


@pytest.mark.parametrize("program", PROGRAMS)
def test_trains_as_torch_does(program: str) -> None:
    code = PROGRAMS[program]
    converted = ENGINE.convert(code.encode(), "in_place.py")
    assert [d.code for d in converted.diagnostics] == []
    assert difference(_result(code), _result(converted.output.decode())) is None


def test_nothing_changes_where_nothing_else_holds_the_tensor() -> None:
    converted = ENGINE.convert(ALONE.encode(), "in_place.py")
    assert "TEN214" not in [d.code for d in converted.diagnostics]
    assert [
        line for line in converted.output.decode().splitlines() if ("=" in line and "+=" in line) or "-=" in line
    ] == [line for line in ALONE.splitlines() if "+=" in line or "-=" in line]


@pytest.mark.parametrize(
    "bound",
    ["a = x[0]", "a = x.view(-1)[1:]", "a = x.T", "a, b = x.chunk(2)", "a = torch.split(x, 1)[0]"],
)
def test_a_view_whose_gradients_paddle_does_not_see_is_reported(bound: str) -> None:
    code = f"import torch\n\nx = torch.zeros(2, 2)\n{bound}\na += 1\nprint(x)\n"
    assert _warned(code) == ["TEN214"]


@pytest.mark.parametrize("written", ["a.fill_(7)", "a[0] = 1", "a[:, 0] *= 2", "a *= 2"])
def test_a_copy_that_is_a_view_in_torch_is_reported(written: str) -> None:
    head = "import torch\n\nx = torch.zeros(2, 2)\na, b = x.chunk(2, 1)\n"
    code = head + written + "\nprint(x)\n"
    assert _warned(code) == ["TEN214"]
    assert _warned(head + written + "\nprint(a)\n") == []


@pytest.mark.parametrize(
    "lines",
    [
        "v += 1",  # a parameter
        "v *= torch.ones(2)",
        "w = v.h\nw -= 3.0\nprint(v)",
        "w = v\nw /= 2\nprint(v)",
    ],
)
def test_what_may_be_a_tensor_is_reported(lines: str) -> None:
    body = "".join(f"    {line}\n" for line in lines.splitlines())
    code = f"import torch\n\ndef f(v):\n{body}    return v\n"
    assert _warned(code) == ["TEN214"]


@pytest.mark.parametrize(
    "lines", ["v += [1]", "v += 'a'", "w = v.steps\nw += 1", "w = v.size()\nw += (1,)", "w = len(v)\nw += 1"]
)
def test_what_is_no_tensor_is_not(lines: str) -> None:
    body = "".join(f"    {line}\n" for line in lines.splitlines())
    code = f"import torch\n\ndef f(v):\n{body}    return v\n"
    assert "TEN214" not in [d.code for d in ENGINE.convert(code.encode(), "in_place.py").diagnostics]


@pytest.mark.parametrize("bound", ["a = x + 1", "a = x.clone()", "a = x[x > 0]", "a = torch.relu(x)"])
def test_a_tensor_of_its_own_is_not(bound: str) -> None:
    code = f"import torch\n\nx = torch.zeros(2, 2)\n{bound}\na += 1\nprint(x, a)\n"
    assert ENGINE.convert(code.encode(), "in_place.py").diagnostics == ()


def _warned(code: str) -> list[str]:
    """The codes of the findings that are no mere remarks."""
    return [d.code for d in ENGINE.convert(code.encode(), "in_place.py").diagnostics if d.severity != "info"]


def _result(code: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(code, "<in place>", "exec"), names)
    return names["result"]
