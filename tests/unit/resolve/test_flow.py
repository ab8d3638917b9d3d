"""How a fact flows: the fact of these tests is the type of the literal that a value was made of."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from paddletorch.resolve import Evaluator, ScopeTree
from paddletorch.resolve.facts.flow import Flow, Held
from paddletorch_rules import load

Facts = frozenset[str | Held[str]]


class Literals:
    """Each literal has the name of its type; operators join what they are given."""

    unknown = "?"
    integer = "int"

    def __init__(self, text: str) -> None:
        tree = ScopeTree(ast.parse(dedent(text)))
        self.tree = tree
        self.flow: Flow[str] = Flow(Evaluator(tree, ("torch", "paddle"), load(), {}), self)

    def constant(self, node: ast.Constant) -> frozenset[str]:
        return frozenset() if node.value is None else frozenset({type(node.value).__name__})

    def call(self, node: ast.Call) -> None:
        return None

    def attribute(self, node: ast.Attribute) -> None:
        return None

    def operator(self, node: ast.BinOp | ast.UnaryOp | ast.Compare) -> frozenset[str]:
        assert isinstance(node, ast.BinOp)
        return self.flow.plain(node.left) | self.flow.plain(node.right)

    def augmented(self, before: Facts, node: ast.AugAssign) -> frozenset[str]:
        return self.flow.plain(node.value)

    def subscript(self, node: ast.Subscript, fact: str) -> frozenset[str]:
        return frozenset({fact})

    def element(self, fact: str) -> frozenset[str]:
        return frozenset({fact})

    def annotated(self, annotation: ast.expr) -> frozenset[str]:
        return frozenset({"float"}) if ast.unparse(annotation) == "Float" else frozenset()

    def seen(self, node: ast.expr, found: Facts) -> Facts:
        return found

    def of_shown(self) -> set[str]:
        """The facts of the argument of ``show(...)``."""
        (call,) = self.tree.calls_of("show")
        return {"held" if isinstance(one, Held) else one for one in self.flow.of(call.args[0])}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = 1\nshow(x)", {"int"}),
        ("x = None\nif c:\n    x = 1\nshow(x)", {"int"}),
        ("def f(c):\n    x = 1\n    if c:\n        x = 1.0\n    show(x)", {"int", "float"}),
        ("def f(c):\n    x = 1\n    for _ in c:\n        show(x)\n        x = x + 1.0", {"int", "float"}),
        ("def f(c):\n    x = 1\n    while c:\n        x += 1.0\n    show(x)", {"int", "float"}),
        ("a, (b, c) = 1, ('', 2.0)\nshow(c)", {"float"}),
        ("def f():\n    return 1, ''\na, b = f()\nshow(b)", {"str"}),
        ("for i, x in enumerate([1.0]):\n    show(i)", {"int"}),
        ("for a, b in zip((1, 2), ('a', 'b')):\n    show(b)", {"str"}),
        ("if (x := 1):\n    show(x)", {"int"}),
        ("with open('a') as x:\n    show(x)", {"?"}),
        ("xs = [1]\nxs.append('')\nfor x in xs:\n    show(x)", {"int", "?"}),
        ("show([x for x in (1, 2)][0])", {"int"}),
        ("def f(x):\n    show(x)\nf(1)", {"int", "?"}),
        ("def _f(x):\n    show(x)\n_f(1)\n_f('')", {"int", "str"}),
        ("def _f(x):\n    show(x)\n_f(1)\nother(_f)", {"int", "?"}),
        ("def _f(x):\n    show(x)\n_f(1)\n_f(**given)", {"int", "?"}),
        ("def f(x: Float):\n    show(x)\nf(1)", {"float"}),
        ("def f():\n    yield 1\nshow(f())", {"?"}),
        ("def f(n):\n    return 1 if n else f(n - 1)\nshow(f(3))", {"int"}),
        ("import torch\n@torch.no_grad()\ndef f():\n    return 1\nshow(f())", {"int"}),
        ("@other\ndef f():\n    return 1\nshow(f())", {"?"}),
    ],
)
def test_facts_flow_through(text: str, found: set[str]) -> None:
    assert Literals(text).of_shown() == found


BESIDE = """
class A{base}:
    def __init__(self, c):
        self.x = 1
        {more}

    def get(self):
        return self.x

class B:
    def __init__(self):
        self.x = ""
"""


@pytest.mark.parametrize(
    ("base", "more", "shown", "found"),
    [
        ("", "pass", "show(A(1).get())", {"int"}),
        ("", "pass", "show(A(1).x)", {"int"}),
        ("", "pass", "show(B().x)", {"str"}),
        ("", "self.x += 1.0", "show(A(1).x)", {"int", "float"}),
        ("", "c.x = 1.0", "show(A(other).x)", {"int", "float"}),  # c may be an A
        ("", "b = B(); b.x = 1.0", "show(A(1).x)", {"int"}),
        ("(Base)", "pass", "class Base:\n    x = 1.0\nshow(A(1).get())", {"int", "float"}),
        ("", "pass", "class D(A):\n    def get(self):\n        return 1.0\nshow(A(1).get())", {"int", "float"}),
        ("", "pass", "class D(A):\n    def set(self):\n        self.x = 1.0\nshow(A(1).x)", {"int", "float"}),
        ("", "pass", "show(other.x)", {"?"}),
        ("", "pass", "class P:\n    @property\n    def x(self):\n        return 1.0\nshow(P().x)", {"float"}),
    ],
)
def test_attributes_are_those_of_their_class(base: str, more: str, shown: str, found: set[str]) -> None:
    assert Literals(BESIDE.format(base=base, more=more) + shown).of_shown() == found
