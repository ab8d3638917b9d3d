"""Where a value goes, whatever the way is written like."""

from __future__ import annotations

import ast
import textwrap

import pytest
from paddletorch.resolve import Evaluator, ScopeTree
from paddletorch.resolve.flows.flows import Flows
from paddletorch_rules import load

_SHAPES = {"parameters": ("each",), "named_parameters": ("each", 1), "state_dict": ("entry",), "make": ()}


def _uses(text: str, *through: str) -> list[str]:
    """What takes a value of the first ``parameters()`` or the like, as text."""
    tree = ScopeTree(ast.parse(textwrap.dedent(text)))
    evaluator = Evaluator(tree, ("torch", "paddle"), load(), {})
    name, origin = next((n, call) for n in _SHAPES for call in tree.calls_of(n))
    found = Flows(evaluator).consumers(origin, _SHAPES[name], through)  # type: ignore[arg-type]
    return sorted(f"{one.kind} {ast.unparse(one.node)}" for one in found if not one.shape)


_WAYS = {
    "a loop": "for p in m.parameters():\n    p.norm(dim=1)",
    "a list under a name": "ps = list(m.parameters())\nfor p in ps:\n    p.norm(dim=1)",
    "unpacking": "p, = m.parameters()\np.norm(dim=1)",
    "a place of a list": "p = list(m.parameters())[0]\np.norm(dim=1)",
    "the next one": "p = next(iter(m.parameters()))\np.norm(dim=1)",
    "numbered": "for i, p in enumerate(m.parameters()):\n    p.norm(dim=1)",
    "beside another": "for p, q in zip(m.parameters(), others):\n    p.norm(dim=1)",
    "numbered and beside": "for i, (q, p) in enumerate(zip(others, m.parameters())):\n    p.norm(dim=1)",
    "named": "for name, p in m.named_parameters():\n    p.norm(dim=1)",
    "a pair": "for pair in m.named_parameters():\n    p = pair[1]\n    p.norm(dim=1)",
    "a dict of the named": "p = dict(m.named_parameters())['0.weight']\np.norm(dim=1)",
    "entries": "for k, p in m.state_dict().items():\n    p.norm(dim=1)",
    "values": "for p in m.state_dict().values():\n    p.norm(dim=1)",
    "a comprehension": "[p.norm(dim=1) for p in m.parameters()]",
    "a comprehension of it": "for p in [q for q in m.parameters() if q is not None]:\n    p.norm(dim=1)",
    "a dict comprehension": "kept = {n: q for n, q in m.named_parameters()}\np = kept['w']\np.norm(dim=1)",
    "an appended list": "kept = []\nfor q in m.parameters():\n    kept.append(q)\nfor p in kept:\n    p.norm(dim=1)",
    "a function": "def f(p):\n    p.norm(dim=1)\nfor q in m.parameters():\n    f(q)",
    "a keyword": "def f(*, p):\n    p.norm(dim=1)\nfor q in m.parameters():\n    f(p=q)",
    "given back": "def f(m):\n    return list(m.parameters())\nfor p in f(m):\n    p.norm(dim=1)",
    "yielded": "def f(m):\n    yield from m.parameters()\nfor p in f(m):\n    p.norm(dim=1)",
    "a map": "list(map(lambda p: p.norm(dim=1), m.parameters()))",
    "an attribute": (
        "class A:\n    def __init__(self, m):\n        self.ps = list(m.parameters())\n"
        "    def f(self):\n        for p in self.ps:\n            p.norm(dim=1)"
    ),
    "a branch": "p = next(m.parameters()) if a else None\np.norm(dim=1)",
    "added lists": "for p in [x] + list(m.parameters()):\n    p.norm(dim=1)",
    "a star": "for p in [*m.parameters()]:\n    p.norm(dim=1)",
    "a walrus": "if (p := next(m.parameters())) is not None:\n    p.norm(dim=1)",
    "an operator of lists": "ps = []\nps += list(m.parameters())\nfor p in ps:\n    p.norm(dim=1)",
}


@pytest.mark.parametrize("way", _WAYS)
def test_each_way_leads_to_the_use(way: str) -> None:
    """However the parameters are walked over, the member that is read of each is found."""
    assert "member p" in _uses(_WAYS[way])


@pytest.mark.parametrize(
    "text",
    [
        "for p in m.parameters():\n    pass\np = 3\np.norm()",
        "for n, p in m.named_parameters():\n    n.norm()",
        "for p in m.state_dict():\n    p.norm()",
        "for p, q in zip(m.parameters(), others):\n    q.norm()",
        "def f(m):\n    for p in m.parameters():\n        pass\ndef g(p):\n    p.norm()",
        "class A:\n    def f(self, m):\n        self.p = next(m.parameters())\n"
        "class B:\n    def f(self):\n        self.p.norm()",
        "i, p = 0, 1\nfor i, q in enumerate(m.parameters()):\n    i.norm()",
    ],
)
def test_another_value_is_not_followed(text: str) -> None:
    """Another variable of the name, the key of a pair, an attribute of another class."""
    assert not [use for use in _uses(text) if use.startswith("member")]


def test_a_list_in_itself_ends() -> None:
    """The question has an answer where a list holds itself."""
    assert _uses("kept = []\nfor p in m.parameters():\n    kept.append(kept)\n    kept.append(p)\n    kept[0].norm()")


def test_members_that_count_as_the_value() -> None:
    """``p.data.clone()`` is still it, where the question says so."""
    assert _uses("for p in m.parameters():\n    p.data.clone().norm()", "data", "clone") == ["member p.data.clone()"]


def test_what_takes_it() -> None:
    """The kinds of use that are not members."""
    uses = ["p[0]", "f(p)", "p + 1", "p == q", "f'{p}'", "p += 1", "x.a = p", "d[0] = p"]
    text = "\n    ".join(["for p in m.parameters():", *uses])
    kinds = {one.split()[0] for one in _uses(text)}
    assert kinds == {"index", "argument", "operand", "compare", "format", "keep"}
