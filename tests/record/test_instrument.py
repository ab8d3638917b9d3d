"""A module of which every expression is looked at does what it does without."""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from paddletorch.model import Ask
from paddletorch.model.questions import Place, place_of
from paddletorch_shim.recording import observer
from paddletorch_shim.recording.answers import Answers
from paddletorch_shim.recording.instrument import instrument
from paddletorch_shim.recording.spots import Spot, ValueSpot, Where

PROGRAM = '''"""What a module may hold."""
from __future__ import annotations
import asyncio
import dataclasses


def decorate(number: int = 3, *rest: "text", key=len, **options: dict) -> str:
    """Documented."""
    def inner(function):
        return function
    return inner


class Base:
    """A class."""
    x: int = 1

    def __init__(self):
        super().__init__()
        self.total = [0]


@decorate(4, *[1, 2], key=max, **{"a": 1})
class Derived(Base, **{}):
    def __init__(self):
        super().__init__()
        self.total += [1]
        self.total[0] += 5
        self.total[0:1], self.other = [7], (y := 3)

    @property
    def text(self):
        return f"{self.total!r:>10} {self.x=}"


@dataclasses.dataclass
class Point:
    x: int
    y: list[int] = dataclasses.field(default_factory=list)


async def wait(n):
    await asyncio.sleep(0)
    return [i async for i in count(n) if i]


async def count(n):
    for i in range(n):
        yield i


def numbers(n):
    got = yield from (i for i in range(n))
    global most
    most = n
    del n
    return got


def matched(value):
    match value:
        case Point(x=0) | {"a": 1}:
            return "zero"
        case [first, *rest] if rest:
            return first, rest
        case Base.x:
            return "constant"
        case _:
            return None


def shape(table, *indexes):
    return table[0][1:2], table[0][..., ] if False else table[-1], not table, -indexes[0], 1 < indexes[0] < 3


d = Derived()
print(d.text, d.total, Point.__annotations__, decorate.__annotations__, decorate.__doc__)
print(asyncio.run(wait(4)), [*numbers(3)], most, {k: v for k, v in zip("ab", [1, 2])}, {*"a"}, (lambda: 1)())
print([matched(value) for value in (Point(0), {"a": 1}, [1, 2], 1, None)], shape([[1, 2], 3], 2))
with open(__file__) as a, open(__file__) as b:
    print(a.readline() == b.readline(), sorted(name for name in globals() if not name.startswith("_")))
try:
    d.total.nothing
except AttributeError as error:
    print("caught", error)
else:
    assert False, "never"
finally:
    print(*"xy", sep="-", end="!\\n", **{})
text = "implicit" " concatenation" f"{d.x}" if d else ""
x, *rest = 1, 2, 3
print(text, x, rest, __name__, __doc__)
'''


class _Keeper:
    answers = Answers("torch")

    def changed(self, spot: Spot, *, new: bool) -> None:
        """Nothing is kept."""

    def is_waiting(self) -> bool:
        """Nothing waits."""
        return False


def _watched(source: str, name: str = "module.py") -> tuple[ast.Module, list[Spot]]:
    tree = ast.parse(source)
    places = {place_of(node) for node in ast.walk(tree) if isinstance(node, ast.expr)}
    spots: list[Spot] = []
    indexes: dict[Place, list[int]] = {}
    for place in places:
        spots.append(ValueSpot(_Keeper(), Where(name, place, name), (Ask.TYPE,)))
        indexes[place] = [observer.watch([spots[-1]])]
    instrument(tree, indexes)
    return tree, spots


def _run(code: Any, file: Path) -> str:
    out = io.StringIO()
    module = ModuleType("module")
    module.__file__ = str(file)
    with contextlib.redirect_stdout(out), pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "module", module)
        exec(code, vars(module))
    return out.getvalue()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the program has syntax of later releases")
def test_a_program_prints_the_same(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(PROGRAM)
    tree, spots = _watched(PROGRAM)
    plain = _run(compile(PROGRAM, str(file), "exec", dont_inherit=True), file)
    assert _run(compile(tree, str(file), "exec", dont_inherit=True), file) == plain
    assert "paddletorch" not in plain
    assert sum(spot.was_reached() for spot in spots) > 150


@pytest.mark.parametrize("name", ["ast", "argparse", "dataclasses", "enum", "inspect", "typing", "asyncio.tasks"])
def test_modules_of_python_still_compile(name: str) -> None:
    module = __import__(name, fromlist=["x"])
    source = Path(module.__file__ or "").read_text(encoding="utf-8")
    tree, _ = _watched(source)
    compile(tree, name, "exec", dont_inherit=True)


def test_a_traceback_is_the_same(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    source = "def f(a):\n    b = {'x': a}\n    return (a.real +\n            b['x'].nothing(1)) * 2\n\nf(1)\n"
    file.write_text(source)
    tree, _ = _watched(source)
    texts = []
    for code in (compile(source, str(file), "exec"), compile(tree, str(file), "exec")):
        with pytest.raises(AttributeError) as caught:
            exec(code, {})
        trace = caught.value.__traceback__
        assert trace is not None
        texts.append("".join(traceback.format_exception(AttributeError, caught.value, trace.tb_next)))
    assert texts[0] == texts[1]
    assert "^" in texts[0] or sys.version_info < (3, 11)


def test_a_name_that_is_not_bound_is_missed_as_before() -> None:
    tree, _ = _watched("def f():\n    x += 1\n\nf()\n")
    with pytest.raises(UnboundLocalError, match="'x'"):
        exec(compile(tree, "module.py", "exec"), {})


def test_a_value_that_misbehaves_stops_nothing() -> None:
    class Odd:
        def __getattribute__(self, name: str) -> object:
            raise RuntimeError(name)

        def __hash__(self) -> int:
            raise RuntimeError("hash")

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("eq")

    tree, spots = _watched("y = x\n")
    odd = Odd()
    names: dict[str, object] = {"x": odd}
    exec(compile(tree, "module.py", "exec"), names)
    assert names["y"] is odd
    assert [answer for spot in spots for _, answer, _ in spot.taken()] == [f"{__name__}.{Odd.__qualname__}"]
