"""Ranks and sizes as they are inferred are those of the tensors that the frameworks give."""

from __future__ import annotations

import ast
from textwrap import dedent
from typing import Any

import paddle
import pytest
import torch
from paddletorch.resolve import Evaluator, ScopeTree
from paddletorch.resolve.facts.ranks import Absent, Extent, RankRules
from paddletorch_rules import load

_UNKNOWN = [None]


def _inferred(text: str, framework: str) -> list[Any]:
    """The sizes of what is given to ``show``; ``_UNKNOWN`` where they are not known."""
    tree = ScopeTree(ast.parse(text))
    other = "paddle" if framework == "torch" else "torch"
    flow = RankRules(Evaluator(tree, (framework, other), load(), {})).flow
    (call,) = tree.calls_of("show")
    found = [one for one in flow.of(call.args[0]) if not isinstance(one, Absent)]
    return [one.sizes if isinstance(one, Extent) else None for one in found]


def _is_like(sizes: Any, shape: list[int]) -> bool:
    return len(sizes) == len(shape) and all(a in (None, b) for a, b in zip(sizes, shape, strict=True))


def _run(text: str) -> list[int]:
    shown: list[Any] = []
    exec(text, {"torch": torch, "paddle": paddle, "show": shown.append})
    return list(shown[-1].shape)


_KNOWN = [
    "show(torch.zeros(2, 3))",
    "n = 3\nshow(torch.zeros(2, n))",
    "s = (2, 3)\nshow(torch.zeros(s))",
    "x = torch.zeros(2, 3)\nshow(torch.ones(x.shape))",
    "x = torch.zeros(2, 3)\nshow(torch.ones(*x.shape, 1))",
    "x = torch.zeros(2, 3)\nshow(torch.ones(x.size(0), len(x)))",
    "x = torch.zeros(2, 3)\nb, c = x.shape\nshow(torch.ones(c))",
    "show(torch.tensor([[1, 2], [3, 4]]) * 2.0)",
    "show(torch.tensor(3.0))",
    "show(torch.zeros(()))",
    "x = torch.zeros(2, 1)\nshow(x + torch.arange(4))",
    "x = torch.zeros(3)\nfor _ in range(3):\n    x = x + torch.ones(3)\nshow(x)",
    "x = torch.zeros(3)\nfor _ in range(3):\n    x += 1\nshow(x)",
    "x = torch.zeros(3)\nif len(x) > 1:\n    x = x * 2\nelse:\n    x = torch.ones(3)\nshow(x)",
    "def g():\n    def f(x):\n        return x[:, None]\n    return f(torch.zeros(3))\nshow(g())",
    "class A:\n    def __init__(self):\n        self.x = torch.zeros(3, 4)\n    def get(self):\n        return self.x\n"
    "show(A().get())",
    "class A:\n    def __init__(self):\n        self.x = torch.zeros(3, 4)\nclass B:\n    def __init__(self):\n"
    "        self.x = torch.zeros(3)\nshow(B().x)",
    "show(torch.zeros(2, 3, 4)[0])",
    "show(torch.zeros(2, 3, 4)[..., 0])",
    "show(torch.zeros(2, 3, 4)[None, 1:, 0])",
    "i = 1\nshow(torch.zeros(2, 3, 4)[:, i])",
    "show(torch.zeros(2, 3, 4).sum(1))",
    "show(torch.zeros(2, 3, 4).sum(dim=(1, 2)))",
    "d = (1, 2)\nshow(torch.zeros(2, 3, 4).mean(d, keepdim=True))",
    "show(torch.zeros(2, 3, 4).mean())",
    "show(torch.zeros(2, 3).max(1)[0])",
    "v, i = torch.zeros(2, 3).max(dim=1)\nshow(v)",
    "show(torch.zeros(2, 3, 4).flatten(1))",
    "show(torch.stack([torch.zeros(2), torch.zeros(2)]))",
    "show(torch.cat([torch.zeros(2), torch.zeros(2)]))",
    "a, b = torch.zeros(2, 3).unbind(0)\nshow(b)",
    "for row in torch.zeros(2, 3):\n    show(row)",
    "show(torch.zeros(2, 3).chunk(2)[0])",
    "show(torch.zeros(2, 3) @ torch.zeros(3, 4))",
    "show(torch.zeros(2, 3) @ torch.zeros(3))",
    "show(torch.zeros(2, 3).view(6))",
    "show(torch.zeros(2, 3).reshape(-1, 2))",
    "show(torch.zeros(2, 3).T)",
    "show(torch.nn.Conv1d(3, 4, 1)(torch.zeros(2, 3, 5)))",
    "net = torch.nn.Linear(3, 4)\nshow(net(torch.zeros(2, 3)))",
    "show(-torch.zeros(2, 3) > 0)",
]
_OF_PADDLE = [
    "show(paddle.zeros([2, 3], 'int64'))",
    "show(paddle.full([2, 3], 1.0))",
    "show(paddle.to_tensor([1.0, 2.0]))",
    "show(paddle.zeros([2, 3, 4]).sum(axis=[1, 2]))",
    "show(paddle.uniform([2, 3]) + 1)",
    "show(paddle.zeros([2, 3]).reshape([-1]))",
    "show(paddle.zeros([2, 3]).reshape([0, -1]))",
    "show(paddle.zeros([2, 3]).unsqueeze(0))",
]


@pytest.mark.parametrize("text", [*_KNOWN, *_OF_PADDLE])
def test_the_size_is_that_of_the_tensor(text: str) -> None:
    framework = "paddle" if text in _OF_PADDLE else "torch"
    text = f"import {framework}\n{text}"
    found, shape = _inferred(text, framework), _run(text)
    assert found and all(sizes is not None and _is_like(sizes, shape) for sizes in found), (found, shape)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    show(x)",
        "def f(x):\n    show(x.sum(1))",
        "def f(x, keep):\n    show(torch.zeros(2, 3).sum(1, keepdim=keep))",
        "def f(axes):\n    show(torch.zeros(2, 3).sum(axes))",
        "def f(shape):\n    show(torch.zeros(shape))",
        "x = torch.zeros(2, 3)\nwhile x.sum() < 9:\n    x = x.unsqueeze(0)\nshow(x)",
        "show(torch.zeros(2, 3)[torch.tensor([0, 1])])",
        "show(torch.zeros(2, 1, 3).squeeze())",
        "show(torch.zeros(4).view(torch.int32))",
        "def f(out: torch.Tensor, i):\n    show(torch.zeros(2, 3)[i])",
        "class A:\n    def __init__(self, x):\n        self.x = x\nclass B:\n    def __init__(self):\n"
        "        self.x = torch.zeros(3)\ndef f(a):\n    show(a.x)",
    ],
)
def test_what_the_file_does_not_show_is_not_known(text: str) -> None:
    assert None in _inferred(dedent(f"import torch\n{text}"), "torch")


def test_branches_give_all_that_they_can() -> None:
    text = "import torch\ndef f(flag):\n    x = torch.zeros(3) if flag else torch.zeros(2, 3)\n    show(x)"
    assert sorted(_inferred(text, "torch")) == [(2, 3), (3,)]
