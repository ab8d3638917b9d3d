"""Tracebacks, inspect, linecache, warnings and debuggers show the lines that were written."""

from __future__ import annotations

import bdb
import importlib
import inspect
import linecache
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import TYPE_CHECKING

import paddletorch_shim
import pytest

if TYPE_CHECKING:
    from .conftest import Run

TRAINING = Path(__file__).parents[2] / "fixtures" / "training" / "to_paddle"

# converting removes line 3, adds a line above line 7, and puts other text on most lines
WRITTEN = """\
import torch
import torch.nn as nn
torch.backends.cudnn.benchmark = True

def divide(x, y):
    z = torch.cat(
        [x, y.view(-1)],
        dim=0,
    ); w = z.max(dim=0)[0]
    n = z.size(0) - 4
    return w / (1 // n)

def fail(x): return [torch.relu(i).item().no_such_method() for i in x.unbind(0)]

class Net(nn.Module):
    @property
    def answer(self): return torch.tensor(42)
    def forward(self, x):

        # what for
        return torch.clamp(x, min=0.5) ; 'end'
"""


@pytest.fixture
def converted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """WRITTEN, imported with Paddle."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PADDLETORCH_NO_CACHE", "1")
    (tmp_path / "written_for_torch.py").write_text(WRITTEN)
    with paddletorch_shim.install("paddle", packages=["written_for_torch"]):
        yield importlib.import_module("written_for_torch")
    del sys.modules["written_for_torch"]


def test_a_traceback_shows_the_line_that_was_written(converted: ModuleType) -> None:
    import paddle

    x = paddle.ones([2])
    with pytest.raises(ZeroDivisionError) as caught:
        converted.divide(x, x.reshape([2, 1]))
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno, last.line) == (converted.__file__, 11, "return w / (1 // n)")
    if sys.version_info >= (3, 11):
        assert WRITTEN.splitlines()[10][last.colno : last.end_colno] == "1 // n"
    with pytest.raises(AttributeError) as missing:
        converted.fail(x)
    frames = traceback.extract_tb(missing.value.__traceback__)
    assert {frame.lineno for frame in frames if frame.filename == converted.__file__} == {13}
    if sys.version_info >= (3, 11):
        last = frames[-1]
        assert WRITTEN.splitlines()[12][last.colno : last.end_colno] == "torch.relu(i).item().no_such_method"


def test_inspect_shows_what_was_written(converted: ModuleType) -> None:
    lines = WRITTEN.splitlines(keepends=True)
    assert inspect.getsource(converted) == WRITTEN
    assert inspect.getsource(converted.divide) == "".join(lines[4:11])
    assert inspect.getsourcelines(converted.Net) == (lines[14:], 15)
    assert inspect.getsource(converted.Net.answer.fget) == "".join(lines[15:17])
    assert inspect.getsourcelines(converted.Net.forward) == (lines[17:], 18)
    assert inspect.getcomments(converted.divide) is None
    assert inspect.getsourcefile(converted.Net) == converted.__file__
    assert converted.__loader__.get_source("written_for_torch") == WRITTEN
    linecache.clearcache()
    assert linecache.getline(converted.__file__, 10, vars(converted)) == lines[9]


class Stops(bdb.Bdb):
    """Notes the line and the local names at each stop."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[int, list[str]]] = []

    def user_line(self, frame: FrameType) -> None:
        if self.break_here(frame):
            self.seen.append((frame.f_lineno, sorted(frame.f_locals)))
        self.set_continue()


def test_a_breakpoint_on_a_written_line_stops_there(converted: ModuleType) -> None:
    import paddle

    stops, x = Stops(), paddle.ones([3])
    assert converted.__file__ is not None
    for line in (6, 10, 21):
        assert stops.set_break(converted.__file__, line) is None
    stops.runcall(converted.divide, x, x)
    stops.runcall(converted.Net(), x)
    lines = [(line, names) for line, names in stops.seen if line != 6]
    assert stops.seen[0] == (6, ["x", "y"])
    assert lines == [(10, ["w", "x", "y", "z"]), (21, ["self", "x"])]


@pytest.mark.parametrize("started", [["script.py"], ["-m", "script"]])
def test_pdb_stops_on_written_lines(started: list[str], tmp_path: Path, python: Run) -> None:
    (tmp_path / "script.py").write_text(WRITTEN + "\nprint(divide(torch.ones(2), torch.ones(2)))\n")
    commands = f"break {tmp_path / 'script.py'}:10\ncontinue\np z.shape, type(z).__module__\nlist\nnext\nwhere\nquit\n"
    done = python("-m", "pdb", "-m", "paddletorch", "run", "--on", "paddle", *started, stdin=commands)
    assert "script.py(10)divide()" in done.stdout
    assert "(paddle.Size([4]), 'paddle')" in done.stdout
    assert "10 B->\t    n = z.size(0) - 4" in done.stdout
    assert "script.py(11)divide()\n-> return w / (1 // n)" in done.stdout
    assert done.returncode == 0 and "exited" not in done.stdout
    done = python("-m", "pdb", "-m", "paddletorch", "run", "--on", "paddle", *started, stdin="continue\nup\nquit\n")
    assert "Entering post mortem debugging" in done.stdout
    assert "ZeroDivisionError" in done.stderr + done.stdout


def test_a_breakpoint_call_and_a_warning_are_on_their_lines(tmp_path: Path, paddletorch_run: Run) -> None:
    (tmp_path / "script.py").write_text(
        "import torch\nimport warnings\ntorch.backends.cudnn.deterministic = True\n\n"
        "def f(x):\n    y = torch.flatten(x, 1)\n    warnings.warn('look')\n    breakpoint()\n    return y\n\n"
        "f(torch.ones(2, 3))\n"
    )
    done = paddletorch_run("script.py")
    assert "script.py:7: UserWarning: look\n  warnings.warn('look')" in done.stderr
    assert f"> {tmp_path / 'script.py'}(9)f()\n-> return y" in done.stdout.replace(
        "(8)f()\n-> breakpoint()", "(9)f()\n-> return y"
    )


def functions(module: ModuleType) -> Iterator[FunctionType]:
    for value in vars(module).values():
        members = vars(value).values() if isinstance(value, type) else [value]
        for member in members:
            inner = getattr(member, "fget", member)
            if isinstance(inner, FunctionType) and inner.__module__ == module.__name__:
                yield inner


@pytest.mark.parametrize("name", sorted(path.name.removesuffix(".in.py") for path in TRAINING.glob("*.in.py")))
def test_each_line_that_runs_is_one_that_was_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (TRAINING / f"{name}.in.py").read_text()
    module_name = f"unmodified_{name}"
    (tmp_path / f"{module_name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PADDLETORCH_NO_CACHE", "1")
    import torch  # noqa: F401 - the module as it was written needs it

    written = importlib.import_module(module_name)
    del sys.modules[module_name]
    with paddletorch_shim.install("paddle", packages=[module_name], allow=["AMP"]):
        converted = importlib.import_module(module_name)
    del sys.modules[module_name]
    mine = [f for f in functions(converted) if not f.__name__.startswith("torch_")]  # those the converter writes
    pairs = [(f, next(g for g in functions(written) if g.__qualname__ == f.__qualname__)) for f in mine]
    assert len(pairs) > 5
    for function, original in pairs:
        if function.__code__.co_filename == converted.__file__:
            assert inspect.getsource(function) == inspect.getsource(original)
            assert lines(function) <= lines(original)


def lines(function: FunctionType) -> set[int]:
    found = {line for *_, line in function.__code__.co_lines() if line is not None}
    for constant in function.__code__.co_consts:
        if inspect.iscode(constant):
            found |= {line for *_, line in constant.co_lines() if line is not None}
    return found
