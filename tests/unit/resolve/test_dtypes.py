"""The dtypes that are inferred, against those that the frameworks have when the same text runs."""

from __future__ import annotations

import ast
from textwrap import dedent

import paddle
import pytest
import torch
from paddletorch.resolve import Evaluator, Qualified, ScopeTree
from paddletorch.resolve.facts.dtypes import FLOATING, INTEGERS, Dtypes, category
from paddletorch_rules import load


def inferred(framework: str, text: str) -> list[str | None]:
    """What is inferred of the argument of each ``show(...)``."""
    tree = ScopeTree(ast.parse(text))
    order = (framework, "paddle" if framework == "torch" else "torch")
    evaluator = Evaluator(tree, order, load(), {})  # type: ignore[arg-type]

    def qualified(node: ast.expr) -> str | None:
        names = {v.name for v in evaluator.values(node) if isinstance(v, Qualified)}
        return names.pop() if len(names) == 1 else None

    dtypes = Dtypes(evaluator, framework, qualified, None)
    return [dtypes.of(call.args[0]) for call in sorted(tree.calls_of("show"), key=lambda call: call.lineno)]


def run(framework: str, text: str) -> list[str]:
    """The dtypes when the text runs."""
    shown: list[str] = []
    exec(text, {"torch": torch, "paddle": paddle, "show": lambda x: shown.append(str(x.dtype).rpartition(".")[2])})
    return shown


BOTH = """
m = {f}.ones([3]) > 0
for _ in range(2):
    m = m & ({f}.zeros([3]) > 0)
show(m)
---
m = {f}.ones([3]) > 0
while bool(m.any()):
    m = ~m
show(m)
---
x = {f}.zeros([3])
for _ in range(2):
    x = x + {f}.ones([3])
show(x)
---
x = 0
for _ in range(2):
    x += {f}.ones([3])
show(x)
---
def f(c):
    x = None
    if c:
        x = {f}.arange(3)
    else:
        x = {f}.arange(4)
    return x, x > 0
i, m = f(True)
show(i)
show(m)
---
class A:
    def __init__(self):
        self.x = {f}.zeros([3])
    def get(self):
        return self.x
class B:
    def __init__(self):
        self.x = {f}.arange(3)
    def get(self):
        return self.x
show(A().get())
show(B().get())
show(B().x)
---
class A:
    def __init__(self):
        self.x = {f}.zeros([3])
class D(A):
    def get(self):
        return self.x * 2
show(D().get())
---
class M({nn}):
    def __init__(self):
        super().__init__()
        self.fc = {f}.nn.Linear(3, 3)
    def forward(self, x):
        return self.fc(x)
show(M()({f}.ones([2, 3])))
---
with {f}.no_grad():
    x = {f}.arange(3)
show(x)
---
try:
    x = {f}.arange(3)
except ValueError:
    x = {f}.arange(4)
show(x)
---
if (m := {f}.ones([3]) > 0) is not None:
    show(m)
---
def _f(x):
    show(x)
_f({f}.arange(3))
---
for a, b in zip([{f}.zeros([2])], [{f}.arange(2)]):
    show(a)
    show(b)
---
show([{f}.arange(n) for n in (1, 2)][0])
---
d = {f}.float64
x = {f}.zeros([3], dtype=d)
show(x)
show({f}.ones([2], dtype=x.dtype))
---
def f(x, dtype={f}.float16):
    return {f}.zeros([2], dtype=dtype)
show({f}.zeros([2], dtype={f}.float16))
---
x = {f}.arange(3)
show(x / 2)
show(x * 2)
show(x + 1.5)
show(x // 2)
show(-x)
show(x == 1)
---
show({f}.sum({f}.ones([3]) > 0))
show({f}.cumsum({f}.arange(3), 0))
show({f}.argmax({f}.ones([3])))
show({f}.exp({f}.arange(3)))
show({f}.topk({f}.ones([3]), 1)[0])
show({f}.topk({f}.ones([3]), 1)[1])
show({f}.where({f}.ones([3]) > 0, {f}.zeros([3]), {f}.ones([3])))
show({f}.full([2], 1.5))
show({f}.full([2], True))
show({f}.full([2], 1))
v, i = {f}.topk({f}.ones([3]), 2)
show(i)
---
show({f}.stack([{f}.arange(3), {f}.arange(3)]))
show({f}.reshape({f}.arange(4), [2, 2]).sum())
show({f}.arange(4)[1:])
show({f}.arange(4).reshape([2, 2])[0].unsqueeze(0))
---
f = lambda: {f}.arange(3)
show(f())
---
x = {f}.ones([3]) > 0
x &= {f}.ones([3]) > 0
show(x)
"""

TORCH = """
x = torch.zeros(3)
x += torch.arange(3)
show(x)
---
v, i = torch.max(torch.ones(2, 2), dim=1)
show(v)
show(i)
show(torch.max(torch.ones(2), torch.zeros(2)))
show(torch.ones(2, 2).max(1).indices)
show(torch.ones(2, 2).max())
show(torch.sort(torch.arange(3)).values)
---
show(torch.zeros(3) * torch.arange(3))
show((torch.ones(3) > 0) + torch.arange(3))
show(torch.cat([torch.arange(3), torch.ones(2)]))
show(torch.tensor([1, 2.5]))
show(torch.tensor([True, False]))
show(torch.tensor(3))
show(torch.as_tensor([[1, 2], [3, 4]]))
show(torch.ones(3).type(torch.LongTensor))
show(torch.ones(3).to("cpu"))
show(torch.ones(3).to(torch.arange(3)))
show(torch.rand(3).ge_(0.5))
show(torch.zeros(2, dtype=float))
show(torch.ones(3).view(torch.int32))
show(torch.ones(3).where(torch.ones(3) > 0, torch.zeros(3)))
show(torch.einsum("i,i->i", torch.ones(2), torch.ones(2)))
show(torch.sum(torch.ones(2).int()))
---
i = torch.arange(3)
show(torch.div(i, 2))
show(torch.div(i, 2, rounding_mode="floor"))
show(i.div(2, rounding_mode="trunc"))
show(i.div(2.0, rounding_mode="floor"))
show(torch.divide(i, i, rounding_mode=None))
q = i
for _ in range(2):
    q = torch.div(q, 2, rounding_mode="floor")
show(q)
---
i = torch.arange(3)
show(i.clamp(min=1))
show(i.clamp(max=0.5))
show(torch.clamp(i, 0, 1.5))
show(torch.clamp(i > 0, max=0))
show(torch.clip(i, None, 1.5))
show(i.clamp_min(0.5))
show(torch.clamp_max(i, 2))
show(i.clamp_(max=2))
show(torch.ones(3).half().clamp(0.0, 1.0))
---
def f(x):
    m = x > 0
    for _ in range(2):
        m = m | (x < -1)
    show(torch.cumsum(m, 0))
    show(torch.flip(~m, [0]))
    show(m * torch.arange(3))
f(torch.ones(3))
"""

PADDLE = """
show(1 - (paddle.ones([3]) > 0))
show(1.5 * (paddle.ones([3]) > 0))
show(paddle.mean(paddle.arange(3)))
show(paddle.arange(3).mean())
show(paddle.to_tensor([1, 2]).astype("float32"))
show(paddle.cast(paddle.arange(3), "bool"))
show(paddle.zeros([2], "int32"))
show(paddle.to_tensor([1.0], "float64"))
show(paddle.to_tensor([[True, False]]))
show(paddle.max(paddle.ones([2, 2]), 1))
show(paddle.sort(paddle.arange(3)))
show(paddle.greater_than(paddle.ones([2]), paddle.zeros([2])))
show(paddle.ones([2]) + paddle.ones([2], "float64"))
show(paddle.sum(paddle.ones([2], "int32")))
show(paddle.prod(paddle.ones([2], "int32")))
show(paddle.numel(paddle.ones([2])))
show(paddle.ones([2]).masked_fill(paddle.ones([2]) > 0, 1))
"""

CASES = [
    *((f, case.format(f=f, nn={"torch": "torch.nn.Module", "paddle": "paddle.nn.Layer"}[f]))
      for f in ("torch", "paddle") for case in BOTH.split("---\n")),
    *(("torch", case) for case in TORCH.split("---\n")),
    *(("paddle", case) for case in PADDLE.split("---\n")),
]  # fmt: skip


@pytest.mark.parametrize(("framework", "text"), CASES)
@pytest.mark.filterwarnings("ignore")
def test_what_is_inferred_is_what_the_framework_has(framework: str, text: str) -> None:
    text = f"import {framework}\n{text}"
    found, real = inferred(framework, text), run(framework, text)
    assert len(found) == len(real)
    for one, other in zip(found, real, strict=True):
        kinds = {FLOATING: 2, INTEGERS: 1}
        assert one == other or (one in kinds and kinds[one] == category(other)), (one, other)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    show(x)\nf(torch.arange(3))",  # other files may call it
        "def f(c, x):\n    y = torch.zeros(3)\n    if c:\n        y = x\n    show(y)",
        "def f(c):\n    show(torch.zeros(3) if c else torch.arange(3))",
        "def f(x, d=torch.float32):\n    show(x.to(d))",
        "class A:\n    def __init__(self, x):\n        self.x = x\nclass B:\n    x = torch.zeros(3)\n"
        "def f(a: A):\n    show(a.x)",
        "def f(x, y):\n    show(x > y)",  # numbers, or arrays
        "xs = [torch.zeros(3)]\nother(xs)\nshow(xs[0])",
        "show(torch.zeros(3, dtype=other))",
        "show(torch.from_numpy(other))",
        "def f(mode):\n    show(torch.div(torch.arange(3), 2, rounding_mode=mode))",
        "def f(bound=None):\n    show(torch.arange(3).clamp(max=bound))",
        "def _f(x, low=-10.0):\n    show(torch.where(x > 0, x, torch.clamp(x, max=low)))\n_f(torch.ones(3) > 0, low=0)",
    ],
)
def test_what_nothing_shows_is_unknown(text: str) -> None:
    assert inferred("torch", f"import torch\n{text}\n") == [None]


@pytest.mark.parametrize(
    ("text", "default"),
    [
        ("torch.set_default_dtype(torch.float64)", "float64"),
        ("set_it = torch.set_default_dtype\nset_it(torch.float64)", "float64"),
        ("dtype = torch.float64\ntorch.set_default_dtype(dtype)", "float64"),
        ("from torch import set_default_dtype, float64\nset_default_dtype(float64)", "float64"),
        ("torch.set_default_dtype(other)", FLOATING),
        ("torch.set_default_dtype(torch.float64)\ntorch.set_default_dtype(torch.float16)", FLOATING),
        ("torch.set_default_tensor_type(torch.DoubleTensor)", "float64"),
        ("text = 'set_default_dtype'", "float32"),
        ("other.set_default_dtype(torch.float64)", "float32"),
    ],
)
def test_the_default_is_that_of_the_calls(text: str, default: str) -> None:
    assert inferred("torch", f"import torch\n{dedent(text)}\nshow(torch.zeros(3))\n") == [default]
