"""Gradients that are kept when they are cleared have the same values on Paddle."""

from __future__ import annotations

from typing import Any

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Options
from paddletorch.proof.compare import difference

ENGINE = Engine(Options(target="paddle"))

HEAD = """
import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
v = torch.tensor([3.0], requires_grad=True)
unused = torch.tensor([4.0], requires_grad=True)
params = [w, v, unused]
optimizer = torch.optim.SGD(params, lr=0.1)


def loss():
    return (w * w).sum() * v.sum()


"""

KEPT = {
    "a list": """
loss().backward()
kept = [p.grad for p in params]
optimizer.zero_grad()
result = [kept, [p.grad for p in params]]
""",
    "a name": """
loss().backward()
kept, none = w.grad, unused.grad
w.grad = None
result = [kept, none, w.grad]
""",
    "a dict, a view and an attribute": """
class Keeper:
    def run(self):
        loss().backward()
        self.grads = {"w": w.grad, "v": v.grad}
        flat = w.grad.view(-1)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return flat

keeper = Keeper()
result = [keeper.run(), keeper.grads, w]
""",
    "a list of steps": """
history = []
for _ in range(3):
    optimizer.zero_grad()
    loss().backward()
    history.append([p.grad for p in (w, v)])
    optimizer.step()
result = [history, w, v]
""",
}

NOT_KEPT = {
    "read before": "loss().backward()\ng = w.grad\nnorm = g.norm()\noptimizer.zero_grad()\nprint(norm)\n",
    "bound anew in each step": (
        "for _ in range(2):\n    optimizer.zero_grad()\n    loss().backward()\n    g = w.grad\n    g.mul_(0.5)\n"
        "    optimizer.step()\n"
    ),
    "written to": (
        "loss().backward()\ngrads = [p.grad for p in (w, v)]\nfor g in grads:\n    g.mul_(0.5)\noptimizer.step()\n"
        "optimizer.zero_grad()\nprint(len(grads))\n"
    ),
    "filled with zeros": "loss().backward()\ng = w.grad\noptimizer.zero_grad(set_to_none=False)\nprint(g)\n",
}


@pytest.mark.parametrize("case", KEPT)
def test_gives_what_torch_gives(case: str) -> None:
    code = HEAD + KEPT[case]
    converted = ENGINE.convert(code.encode(), "grads.py")
    assert [d.code for d in converted.diagnostics] == []
    assert difference(_result(code), _result(converted.output.decode())) is None
    assert ENGINE.convert(converted.output, "grads.py").output == converted.output


@pytest.mark.parametrize("case", NOT_KEPT)
def test_copies_nothing_else(case: str) -> None:
    converted = ENGINE.convert((HEAD + NOT_KEPT[case]).encode(), "grads.py")
    assert "clone()" not in converted.output.decode()


def _result(code: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(code, "<grads>", "exec"), names)
    return names["result"]
