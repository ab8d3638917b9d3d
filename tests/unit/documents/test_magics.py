"""What IPython takes for itself is covered, and nothing else: IPython's own transformer is asked."""

from __future__ import annotations

import ast
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager
from paddletorch.documents.magics import without_magics

CELLS = [
    "%matplotlib inline\nx = 1",
    "!pip install -q torch \\\n    torchvision\nimport torch",
    "if x:\n    !ls {folder}\n    y = 2",
    "for i in range(3):\n    %time f(i)\nz = [\n    1\n    % 2,\n]",
    'text = """\n%matplotlib inline\n!ls\n"""\n%load_ext autoreload',
    "files = !ls -l 'a\nprint(files)",
    "best = %timeit -o f(x)\nbest.average",
    "torch.nn.Linear?\n?torch\ntorch.nn??",
    "x = {'a': 'why?'}  # really?\n%pwd",
    "# %not a magic\nx = 5 % 3\ny = not x != 3",
    "%timeit -n 10 -r 3 model(x)\n%time y = model(x); print(y)",
    "a, b = !echo 1 2\nself.x = %env HOME",
    "@decorate\ndef f(a,\n      b='?'):\n    %debug\n    return a",
    "!!ls\n%%notcell\nx = 1",
    "x = (\n    !ls\n)",
    "await f()\nasync with a as b:\n    !ls",
    "def f(:\n%matplotlib inline",
    "x = 0\r\n!ls\r\n\r\nx = 1\r\n",
]
LINES = ["x = 1", "%cd ..", "!ls", "if x:", "    y = '''", "    %time f()", "'''", "(1,", "%2)", "# b?", "x = !ls", ""]


def taken(cell: str) -> list[int]:
    """The lines of a cell that IPython does not leave as they are."""
    after = TransformerManager().transform_cell(cell).splitlines()
    before = cell.splitlines()
    return [
        number for number, (old, new) in enumerate(zip(before, after, strict=False), 1) if old.rstrip() != new.rstrip()
    ]


@pytest.mark.parametrize("cell", CELLS)
def test_what_is_covered_is_what_ipython_takes(cell: str) -> None:
    python = without_magics(cell).python
    assert len(python) == len(cell)
    covered = [n for n, (a, b) in enumerate(zip(cell.splitlines(), python.splitlines(), strict=True), 1) if a != b]
    if "\\\n" not in cell:  # IPython joins continued lines, so that they cannot be compared by number
        assert covered == taken(cell.replace("\r", ""))
    assert parses(python) is parses(TransformerManager().transform_cell(cell))


@settings(max_examples=300)
@given(st.lists(st.sampled_from(LINES), max_size=8).map("\n".join))
def test_any_cell_is_python_where_ipython_makes_it_python(cell: str) -> None:
    python = without_magics(cell).python
    assert len(python) == len(cell)
    assert [len(line) for line in python.split("\n")] == [len(line) for line in cell.split("\n")]
    if not cell.startswith((" ", "\n")):  # IPython also takes away blank lines and indentation before a cell
        assert parses(python) is parses(TransformerManager().transform_cell(cell))


def parses(code: str) -> bool:
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


def test_a_timed_statement_is_read() -> None:
    assert without_magics("%timeit -n 10 -r3 f(x)").python == "0                ;f(x)"
    assert without_magics("if x:\n    %time y = f(x)").python == "if x:\n    0    ;y = f(x)"
    assert without_magics("%time for x in y: f(x)").python.strip() == "0"
    assert without_magics("%time").python == "0    "


def test_a_cell_magic_that_runs_its_cell_covers_its_first_line_only() -> None:
    found = without_magics("\n%%time\nx = 1\n!ls")
    assert found.python == "\n      \nx = 1\n0  "
    assert [(cover.line, cover.magic) for cover in found.covers] == [(2, "%%time"), (4, "!")]


def test_a_cell_for_another_program_is_covered_whole() -> None:
    found = without_magics("%%bash\npython train.py $name {other}")
    assert not found.python.strip()
    assert found.covers[0].names == {"name", "other"}
    assert found.covers[0].python == ""
    assert "torch" in without_magics("%%writefile a.py\nimport torch").covers[0].python


def test_names_that_a_magic_uses() -> None:
    assert {"f", "x"} <= without_magics("best = %timeit -o f(x)").covers[0].names
    assert without_magics("!pip install torch").covers[0].names == frozenset()
    assert without_magics("!echo {torch.__version__}").covers[0].names == {"torch", "__version__"}


def test_a_long_cell_takes_time_by_its_lines() -> None:
    def seconds(lines: int) -> float:
        started = time.process_time()
        without_magics("import torch\n" * lines)
        return time.process_time() - started

    seconds(100)
    assert seconds(80_000) < 20 * seconds(10_000)  # eight times as many; 50 times the time when each copied the rest
