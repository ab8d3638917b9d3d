"""The work for a file grows as the file does: no two parts of it are compared with each other one by one.

Counted are the lines of Python that run, which is the same on every machine. For work of ``c + a * n + b * n * n``,
the second difference over n, 2n and 3n gives ``b`` alone: how many lines run for each pair of two things.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.gate.converted_text import ConvertedText
from paddletorch.model import Framework, Options
from paddletorch.resolve.scopes.reaching import ReachingDefinitions
from paddletorch.resolve.scopes.scopes import ScopeTree
from paddletorch.text.source import Source

SIZE = 24

ALLOWED = 3.0
"""Lines for each pair: what takes n * log(n) comes to about one at this size, some to more."""

MORE = {
    "functions of one name": 13.0,  # any of them may be called by each call, and gives its type and its dtype
    "operators behind branches": 12.0,  # log(n) groups of what reaches each line
    "paddle operators on counter": 8.0,  # groups, made only of more bindings than the least size has
    "loops in sequence": 8.0,
    "long loop": 12.0,
    "nested loops": 16.0,
    "tries in sequence": 50.0,  # log(n) groups of what reaches each line
    "globals declared": 300.0,  # a dtype is not looked for behind more than 64 definitions
    "member calls in one sum": 7.0,  # a sum is as deep as it is long
}
"""Families that may take more, and why."""


def growing() -> ModuleType:
    """The sources that the benchmark measures too."""
    folder = str(Path(__file__).parents[3] / "benchmarks")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("growing")
    finally:
        sys.path.remove(folder)


FAMILIES = growing().FAMILIES
CASES = [(to, name) for to, families in FAMILIES.items() for name in families]


@contextmanager
def counted_lines() -> Iterator[list[int]]:
    """Count the lines of Python that run meanwhile."""
    count = [0]

    def step(_frame: FrameType, event: str, _argument: Any) -> Any:
        count[0] += event == "line"
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        yield count
    finally:
        sys.settrace(before)


def pairs(engine: Engine, family: Any) -> float:
    """Lines that run for each pair of the things that the family has many of."""
    sources = [family(times * SIZE).encode() for times in (1, 2, 3)]
    engine.convert(sources[-1], "<growth>")  # what is kept of the tables is not counted
    work = []
    for source in sources:
        with counted_lines() as count:
            engine.convert(source, "<growth>")
        work.append(count[0])
    return (work[2] - 2 * work[1] + work[0]) / (2 * SIZE**2)


@pytest.fixture(scope="module")
def engines() -> dict[Framework, Engine]:
    return {to: Engine(Options(to)) for to in FAMILIES}


@pytest.mark.parametrize(("to", "name"), CASES, ids=[name for _, name in CASES])
def test_work_does_not_grow_with_the_square(engines: dict[Framework, Engine], to: Framework, name: str) -> None:
    assert pairs(engines[to], FAMILIES[to][name]) < MORE.get(name, ALLOWED)


def test_work_that_grows_with_the_square_is_seen() -> None:
    class Comparing(Engine):
        def convert(self, data: bytes, path: str, evidence: Any = None) -> Any:
            lines = data.splitlines()
            sum(one == other for one in lines for other in lines)
            return super().convert(data, path)

    assert pairs(Comparing(Options("paddle")), FAMILIES["paddle"]["rebound in module"]) > 0.9


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 100])
def test_what_reaches_is_the_same_in_groups(count: int) -> None:
    """Groups hold what the bindings would hold one by one, each once."""
    lines = [f"    if c == {n}:\n        x = {n}" for n in range(count)]
    tree = ScopeTree(ast.parse("def f(x, c):\n" + "\n".join(lines) + "\n    return x\n"))
    load = tree.names["x"][0]
    reached = ReachingDefinitions(tree).of(load, tree.scopes[load].lookup("x"))
    flat: list[Any] = []
    queue: list[Any] = list(reached.parts())
    while queue:
        part = queue.pop()
        queue += getattr(part, "parts", ())
        flat += [] if hasattr(part, "parts") else [part]
    assert len(reached) == count + 1
    assert sorted(map(id, flat)) == sorted(map(id, reached))


def test_lines_of_statements_are_found_without_a_look_at_all() -> None:
    """The gate asks for the lines around each edit that it finds fault with."""
    work = []
    for count in (SIZE, 2 * SIZE, 3 * SIZE):
        source = Source(b"".join(b"def f%d(x):\n    return x\n" % n for n in range(count)))
        module = ast.parse(source.text)
        text = ConvertedText(source, module, ScopeTree(module), ())
        with counted_lines() as lines:
            found = [text.lines_of(source.span(function.body[0])) for function in module.body]  # type: ignore[attr-defined]
        assert found == [{2 * n + 2} for n in range(count)]
        work.append(lines[0])
    assert (work[2] - 2 * work[1] + work[0]) / (2 * SIZE**2) < ALLOWED
