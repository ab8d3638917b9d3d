"""Whether a tensor is held elsewhere when it is written in place, as a program's own code would show it."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from paddletorch.model import Ask
from paddletorch.model.questions import place_of
from paddletorch_shim.recording import observer
from paddletorch_shim.recording.answers import Answers
from paddletorch_shim.recording.instrument import instrument, written_in_place
from paddletorch_shim.recording.spots import SharingSpot, Spot, Where


class _Keeper:
    def __init__(self, framework: Any) -> None:
        self.answers = Answers(framework)

    def changed(self, spot: Spot, *, new: bool) -> None:
        """Nothing is kept."""

    def is_waiting(self) -> bool:
        """Nothing waits."""
        return False


def _shared(source: str, written: str, framework: str = "torch") -> list[str]:
    """The answers about the last expression with the text ``written``."""
    tree = ast.parse(source)
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.expr) and ast.unparse(n) == written]
    place = max(place_of(node) for node in nodes)
    part = written_in_place(tree).get(place)
    spot = SharingSpot(_Keeper(framework), Where("f.py", place, "f.py"), (Ask.SHARED,), part)
    instrument(tree, {place: [observer.watch([spot])]})
    exec(compile(tree, "f.py", "exec"), {})
    return [answer for _, answer, _ in spot.taken()]


FUNCTION = "import torch\ndef f({parameter}):\n    {before}\n    {write}\n    return x\n\n{call}\n"


@pytest.mark.parametrize(
    ("before", "write", "shared"),
    [
        ("x = torch.ones(3)", "x.add_(1)", "no"),
        ("x = torch.ones(3) * 2", "x += 1", "no"),
        ("x = torch.ones(3)", "x[0] = 1", "no"),
        ("x = torch.ones(3); y = x", "x.add_(1)", "yes"),
        ("x = torch.ones(3); y = [x]", "x += 1", "yes"),
        ("x = torch.ones(3); y = x.view(-1)", "x.add_(1)", "yes"),
        ("x = torch.ones(3); y = x.detach()", "x.add_(1)", "yes"),
        ("y = torch.ones(3); x = y[:2]", "x.add_(1)", "yes"),
        ("x = torch.ones(3); y = x.numpy()", "x.add_(1)", "yes"),
        ("import numpy; x = torch.from_numpy(numpy.ones(3))", "x.add_(1)", "yes"),
        ("x = torch.nn.Parameter(torch.ones(3)).data", "x.add_(1)", "no"),
        ("x = torch.nn.Parameter(torch.ones(3))", "x.data.add_(1); x.grad", "yes"),
        ("x = 3", "x += 1", "no"),
        ("x = [3]", "x += [1]", "yes"),
    ],
)
def test_a_variable(before: str, write: str, shared: str) -> None:
    source = FUNCTION.format(parameter="", before=before, write=write, call="f()")
    assert _shared(source.replace("return x", "return 0"), "x") == [shared]


def test_an_argument_that_the_caller_still_holds() -> None:
    held = FUNCTION.format(parameter="x", before="pass", write="x.add_(1)", call="y = torch.ones(3)\nf(y)")
    handed = FUNCTION.format(parameter="x", before="pass", write="x.add_(1)", call="f(torch.ones(3))")
    assert _shared(held.replace("return x", "return 0"), "x") == ["yes"]
    assert _shared(handed.replace("return x", "return 0"), "x") == ["no"]


@pytest.mark.parametrize(
    ("make", "shared"),
    [
        ("self.register_buffer('held', torch.ones(3))", "no"),
        ("self.held = torch.ones(3)", "no"),
        ("self.held = torch.nn.Parameter(torch.ones(3), requires_grad=False)", "yes"),
        ("self.register_buffer('held', torch.ones(3)); self.state = self.state_dict()", "yes"),
        ("self.register_buffer('held', torch.ones(3)); self.other = self.held", "yes"),
    ],
)
@pytest.mark.parametrize("write", ["self.held += 1", "self.held.add_(1)"])
def test_an_attribute(make: str, shared: str, write: str) -> None:
    source = (
        "import torch\nclass Net(torch.nn.Module):\n"
        f"    def __init__(self):\n        super().__init__()\n        {make}\n"
        f"    def forward(self):\n        {write}\n\nNet()()\n"
    )
    assert _shared(source, "self.held") == [shared]


@pytest.mark.parametrize(
    ("make", "write", "shared"),
    [
        ("d = {'a': torch.ones(3)}", "d['a'] += 1", "no"),
        ("d = [torch.ones(3) * 2]; i = 0", "d[i] += 1", "no"),
        ("d = {'a': torch.ones(3)}; x = d['a']", "d['a'] += 1", "yes"),
        ("d = [torch.ones(3)] * 2", "d[0] += 1", "yes"),
        ("d = [torch.ones(3).view(1, 3)]", "d[0] += 1", "yes"),
        ("d = __import__('collections').defaultdict(int); d['a'] = torch.ones(3)", "d['a'] += 1", "no"),
        ("d = __import__('collections').defaultdict(int)", "d['a'] += 1", "yes"),
        ("d = torch.ones(3)", "d[0] += 1", "yes"),
    ],
)
def test_an_element(make: str, write: str, shared: str) -> None:
    source = f"import torch\n{make}\n{write}\n"
    assert _shared(source, write.partition(" ")[0]) == [shared]


def test_an_element_of_a_class_of_the_program_is_not_read_twice() -> None:
    source = (
        "read = []\nclass Held(dict):\n"
        "    def __getitem__(self, key):\n        read.append(key)\n        return 1\n\n"
        "d = Held()\nd['a'] += 1\nassert read == ['a']\n"
    )
    assert _shared(source, "d['a']") == ["yes"]


def test_a_property_is_not_read_twice() -> None:
    source = (
        "read = []\nclass Counter:\n"
        "    @property\n    def held(self):\n        read.append(1)\n        return 1\n"
        "    @held.setter\n    def held(self, value):\n        pass\n"
        "def f(self):\n    self.held += 1\n\nf(Counter())\nassert read == [1]\n"
    )
    assert _shared(source, "self.held") == ["yes"]


def test_paddle_does_not_say() -> None:
    assert _shared("import paddle\nx = paddle.ones([3])\nx.add_(x)\n", "x", "paddle") == ["yes"]
