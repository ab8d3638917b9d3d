"""Notebooks: only the strings of changed code change, and what is in them is what a module would become."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paddletorch import convert
from paddletorch.documents.located_json import LocatedStr, loads, offsets_of
from paddletorch.model import CellPosition, FileResult, Framework, Status

from ...fixture_files import line_of

FIXTURES = Path(__file__).parents[3] / "fixtures" / "documents"

CELLS = [
    "import torch",
    "import torch\n\nx = torch.zeros(2, 3)",
    "from torch.amp import GradScaler, autocast\nscaler = GradScaler(init_scale=2.0)",
    "# 数据 «é» 🙂\nprint('é', torch.ones(3))  # \\u00e9",
    "%%time\ny = torch.cat([x, x], dim=1)\ny",
    "!pip install torch\nx.view(-1).unsqueeze(0)",
    "%%bash\necho torch",
    "def f(:\n  torch",
    "import torch.nn as nn\nlayer = nn.Conv2d(1, 2, 3)\n",
    "if True:\n\tz = torch.max(x, dim=0)[0]\n",
    "import os\nimport torch as th\n",
    "print(1)",
    "",
    "torch.\x0cones(1)",
    "a = torch.ones(1); b = '''\n%time\n'''; c = torch.add(a, 2, alpha=3)",
]


def code(number: int, source: str) -> dict[str, Any]:
    outputs = [{"output_type": "stream", "name": "stdout", "text": ["import torch\n"]}]
    return {"source": f"<{number}>", "cell_type": "code", "metadata": {}, "execution_count": 3, "outputs": outputs}


def notebook(sources: list[str], write: Callable[[str], str], indent: int | None, *, ascii_only: bool = False) -> str:
    """A notebook's text with each source written by ``write``."""
    cells = [code(number, source) for number, source in enumerate(sources)]
    cells.append({"cell_type": "markdown", "metadata": {}, "source": ["```python\n", "import torch\n", "```"]})
    whole = {"metadata": {"title": "größe 🙂"}, "nbformat": 4, "cells": cells, "nbformat_minor": 4}
    text = json.dumps(whole, indent=indent, ensure_ascii=ascii_only)
    for number, source in enumerate(sources):
        text = text.replace(f'"<{number}>"', write(source))
    return text


def to_paddle(text: str | bytes, name: str = "<stdin>.ipynb", **options: Any) -> FileResult:
    data = text if isinstance(text, bytes) else text.encode()
    return convert(data, to="paddle", path=name, **options).file


def sources(data: bytes) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(data.decode("utf-8-sig"))["cells"]]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(CELLS), min_size=1, max_size=6),
    st.sampled_from([None, 0, 1, 4]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
    st.booleans(),
)
def test_all_but_changed_code_stays(
    cells: list[str], indent: int | None, as_list: bool, ascii_only: bool, end: str, bom: str, annotate: bool
) -> None:
    separator = ", " if indent is None else ",\n" + " " * 4

    def write(source: str) -> str:
        lines = source.split("\n")
        lines = [*(line + "\n" for line in lines[:-1]), *lines[-1:]]
        if not as_list:
            return json.dumps(source, ensure_ascii=ascii_only)
        return "[" + separator.join(json.dumps(line, ensure_ascii=ascii_only) for line in lines) + "]"

    text = bom + notebook(cells, write, indent, ascii_only=ascii_only) + end
    result = to_paddle(text, annotate=annotate)
    assert result.status is not Status.FAILED
    after = sources(result.output)[:-1]
    if ascii_only == text.isascii():  # new text is escaped as the file's is
        expected = bom + notebook(after, write, indent, ascii_only=ascii_only) + end
        assert result.output.decode() == expected
    assert {change.number: change.new for change in result.cells} == {
        number: new for number, (old, new) in enumerate(zip(cells, after, strict=True), 1) if old != new
    }
    again = to_paddle(result.output, annotate=annotate)
    assert again.output == result.output


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.in.ipynb")), ids=lambda path: path.name)
def test_fixture(path: Path, pytestconfig: pytest.Config) -> None:
    result = convert(path.read_bytes(), to="paddle", path="digits.ipynb").file
    name = path.name.removesuffix(".in.ipynb")
    output, findings = path.with_name(f"{name}.out.ipynb"), path.with_name(f"{name}.txt")
    found = [line_of(finding) for finding in result.diagnostics]
    if pytestconfig.getoption("update_fixtures"):
        output.write_bytes(result.output)
        findings.write_text("".join(f"{line}\n" for line in found), encoding="utf-8")
        return
    assert result.output == output.read_bytes()
    assert found == findings.read_text("utf-8").splitlines()


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.ipynb")), ids=lambda path: path.name)
def test_fixture_is_a_notebook_for_nbformat(path: Path) -> None:
    nbformat.validate(nbformat.read(path, as_version=nbformat.NO_CONVERT))


def test_outputs_and_metadata_are_equal() -> None:
    before = json.loads((FIXTURES / "digits.in.ipynb").read_bytes())
    after = json.loads((FIXTURES / "digits.out.ipynb").read_bytes())
    for one in (before, after):
        for cell in one["cells"]:
            assert cell["source"] == "".join(cell["source"]).splitlines(keepends=True)
            if cell["cell_type"] == "code":
                del cell["source"]
    assert before == after


@pytest.mark.parametrize(
    ("metadata", "converted"),
    [
        ({"kernelspec": {"name": "ir", "language": "R"}}, False),
        ({"language_info": {"name": "julia"}}, False),
        ({"language_info": {"name": "python"}, "kernelspec": {"language": "scala"}}, True),
        ({}, True),
    ],
)
def test_kernel_of_another_language_is_left(metadata: dict[str, Any], converted: bool) -> None:
    text = json.dumps({"cells": [code(0, "")], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})
    result = to_paddle(text.replace("<0>", "import torch\\ntorch.ones(2)"))
    assert (result.status is Status.CONVERTED) is converted


def test_cell_that_an_editor_marks_as_another_language_is_left() -> None:
    cell = code(0, "") | {"metadata": {"vscode": {"languageId": "r"}}}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert to_paddle(text.replace("<0>", "import torch\\ntorch.ones(2)")).status is Status.CLEAN


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("import torch", "not JSON"),
        ('["torch"]', "no nbformat"),
        ('{"nbformat": 3, "worksheets": ["torch"]}', "format 3"),
        ('{"nbformat": 4, "cells": "torch"}', "no list of cells"),
        ('{"nbformat": 4, "cells": ["torch"]}', "cell 1 has no type"),
        ('{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["torch", 1]}]}', "source of cell 1"),
        ("[" * 100_000 + '"torch"', "not"),
        (f'{{"torch": {"9" * 5000}}}', "digits"),
    ],
)
def test_what_is_no_notebook_fails(text: str, problem: str) -> None:
    result = to_paddle(text)
    assert result.status is Status.FAILED
    assert [d.code for d in result.diagnostics] == ["SRC012"]
    assert problem in result.diagnostics[0].message
    assert result.output == text.encode()


def test_each_cell_keeps_its_line_ends() -> None:
    text = notebook(
        ["import torch, os\r\nx = torch.ones(2)\r\n", "import torch as t\nt.ones(2)\n!echo {t}"], json.dumps, 1
    )
    result = to_paddle(text, annotate=True)
    assert sources(result.output)[:2] == [
        "import paddle, os\r\nx = paddle.ones([2])\r\n",
        "import paddle\nimport torch as t\npaddle.ones([2])\n!echo {t}",
    ]


def test_bytes_that_are_not_utf8_fail() -> None:
    assert [d.code for d in to_paddle(b'{"torch": "\xff"}').diagnostics] == ["SRC002"]


def test_half_a_surrogate_pair_is_left() -> None:
    text = notebook(["torch.ones(1)", "import torch\nx = torch.ones(2)"], json.dumps, 1)
    result = to_paddle(text.replace("torch.ones(1)", "a = '\\ud83d'; torch.zeros(1)"))
    assert [d.code for d in result.diagnostics] == ["SRC010"]
    assert [cell.number for cell in result.cells] == [2]
    assert b"\\ud83d" in result.output


@given(st.text())
def test_characters_are_found_in_json(value: str) -> None:
    for text in (json.dumps([value]), json.dumps([value], ensure_ascii=False)):
        (found,) = loads(text)
        assert isinstance(found, LocatedStr)
        where = [*offsets_of(text, found), found.end]
        pieces = [text[a:b] for a, b in pairwise(where)]
        assert "".join(json.loads(f'"{piece}"') for piece in pieces) == value


def test_positions_of_what_was_left() -> None:
    text = notebook(["import torch", "print(1)", "é = 1\nprint('é'); torch.jit.save(é)"], json.dumps, 1)
    (finding,) = to_paddle(text).diagnostics
    assert finding.cell == CellPosition(3, 2, 13)
    line = text.split("\n")[finding.line - 1]
    assert line[finding.column - 1 :].startswith("torch.jit.save")
    assert finding.end_line == finding.line
    assert line[: finding.end_column - 1].endswith("torch.jit.save" if "(" not in line[finding.end_column - 2] else ")")


@pytest.mark.parametrize("target", ["paddle", "torch"])
def test_a_name_in_a_cell_that_is_not_read_keeps_its_import(target: Framework) -> None:
    other = "torch" if target == "paddle" else "paddle"
    text = notebook([f"import {other}\nx = {other}.ones([2])", f"best = %timeit -o {other}.ones([2])"], json.dumps, 1)
    result = convert(text.encode(), to=target, path="a.ipynb").file
    assert f"import {other}\\n" in result.output.decode()
    assert f"import {target}\\n" in result.output.decode()
    assert "SRC011" in {d.code for d in result.diagnostics}


def test_commands_of_cells() -> None:
    cells = [
        '!pip install torch timm\nimport torch\n%pip install "torch>=2"\nx = torch.zeros([2])',
        "%%bash\npip install torch\ntorchrun --nproc_per_node=2 a.py",
        'text = """\n!pip install torch\n"""',
    ]
    notebook = {"cells": [code(number, "") for number in range(3)], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    text = json.dumps(notebook)
    for number, cell in enumerate(cells):
        text = text.replace(f"<{number}>", json.dumps(cell)[1:-1])
    only_said = convert(text, to="paddle", path="a.ipynb")
    assert [f.line for f in only_said.findings if f.code.startswith("PRJ")]
    assert sources(only_said.output.encode())[1] == cells[1]
    done = convert(text, to="paddle", path="a.ipynb", project_files=True, target_version="3.3")
    assert sources(done.output.encode()) == [
        '!pip install paddlepaddle timm\nimport paddle\n%pip install "paddlepaddle>=3.3.0"\nx = paddle.zeros([2])',
        "%%bash\npip install paddlepaddle\npython -m paddle.distributed.launch --nproc_per_node=2 a.py",
        cells[2],
    ]
    assert [f.cell.line for f in done.findings if f.code == "PRJ201" and f.cell] == [1]
    assert convert(done.output, to="paddle", path="a.ipynb", project_files=True).output == done.output
