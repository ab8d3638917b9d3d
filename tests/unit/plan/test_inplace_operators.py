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
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_trains_as_torch_does(program: str) -> None:
    code = PROGRAMS[program]
    converted = ENGINE.convert(code.encode(), "in_place.py")
    assert [d.code for d in converted.diagnostics] == []
    assert difference(_result(code), _result(converted.output.decode())) is None


@pytest.mark.parametrize("bound", ["a = x", "a = x[0]", "a = x.view(-1)[1:]", "a = x.T"])
def test_a_shared_tensor_is_reported(bound: str) -> None:
    code = f"import torch\n\nx = torch.zeros(2, 2)\n{bound}\na += 1\nprint(x)\n"
    assert [d.code for d in ENGINE.convert(code.encode(), "in_place.py").diagnostics] == ["TEN214"]


@pytest.mark.parametrize("bound", ["a = x + 1", "a = x.clone()", "a = x[x > 0]", "a = torch.relu(x)"])
def test_a_tensor_of_its_own_is_not(bound: str) -> None:
    code = f"import torch\n\nx = torch.zeros(2, 2)\n{bound}\na += 1\nprint(x, a)\n"
    assert ENGINE.convert(code.encode(), "in_place.py").diagnostics == ()


def _result(code: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(code, "<in place>", "exec"), names)
    return names["result"]
