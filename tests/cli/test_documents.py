"""Notebooks and Markdown at the command line."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run

FIXTURE = Path(__file__).parents[2] / "fixtures" / "documents" / "digits.in.ipynb"
MARKDOWN = "Use it:\n\n```python\nimport torch\n\nprint(torch.ones(2))\n```\n"


@pytest.fixture
def convert(paddletorch: Run) -> Run:
    return partial(paddletorch, "convert", "--to", "paddle")


@pytest.fixture
def folder(folder: Path) -> Path:
    (folder / "a.ipynb").write_bytes(FIXTURE.read_bytes())
    (folder / "b.ipynb").write_text('{"torch": 1')
    (folder / "c.md").write_text(MARKDOWN)
    (folder / "d.py").write_text("import torch\nprint(torch.ones(2))\n")
    return folder


def test_folder(convert: Run, folder: Path) -> None:
    result = convert("--write")
    assert result.returncode == 2  # b.ipynb failed, and the others were converted
    assert b"b.ipynb\n  SRC012" in result.stdout
    assert b"\n  cell 10:2:1 SRC010" in result.stdout
    assert (folder / "a.ipynb").read_bytes() == FIXTURE.with_name("digits.out.ipynb").read_bytes()
    assert (folder / "c.md").read_text() == MARKDOWN
    assert "paddle" in (folder / "d.py").read_text()


def test_markdown_by_name_by_option_and_by_setting(convert: Run, folder: Path) -> None:
    (folder / "b.ipynb").unlink()
    assert b"c.md\n  6:" in convert("c.md", "-v").stdout
    assert b"c.md" not in convert("-v").stdout
    assert b"c.md\n  6:" in convert("--markdown", "-v").stdout
    (folder / "pyproject.toml").write_text("[tool.paddletorch]\nmarkdown = true\n")
    assert b"c.md\n  6:" in convert("-v").stdout
    assert b"c.md" not in convert("--no-markdown").stdout


def test_diff_is_by_cell(convert: Run, folder: Path) -> None:
    text = convert("--diff", "a.ipynb").stdout.decode()
    assert "--- a.ipynb:cell 3\t\n+++ a.ipynb:cell 3\t\n@@ -1,5 +1,13 @@\n import os\n" in text
    assert "\\n" not in text
    assert "No newline" not in text


def test_json_names_the_cell(convert: Run, folder: Path) -> None:
    report = json.loads(convert("--format", "json", "a.ipynb", "d.py").stdout)
    assert found(report["diagnostics"], "code") >= {(11, 2, "SRC011"), (5, 6, "NNL207")}
    assert {c["cell"] for c in report["conversions"] if c["path"] == "d.py"} == {None}
    assert (3, 4, "torch.nn") in found(report["conversions"], "name")
    lines = FIXTURE.read_text("utf-8").splitlines()
    uses = [c for c in report["conversions"] if c["cell"]]
    assert all(use["name"].split(".")[-1] in lines[use["line"] - 1] for use in uses)


def found(items: list[dict[str, Any]], key: str) -> set[tuple[int, int, str]]:
    return {(item["cell"]["number"], item["cell"]["line"], item[key]) for item in items if item["cell"]}


@pytest.mark.parametrize("name", ["digits.in.ipynb", "digits.out.ipynb"])
def test_kept_results_are_the_same(name: str, convert: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDLETORCH_CACHE_DIR", str(folder / "kept"))
    (folder / "a.ipynb").write_bytes(FIXTURE.with_name(name).read_bytes())
    for arguments in (("--format", "json"), ("--diff",), ()):
        first, second = (convert("a.ipynb", *arguments) for _ in range(2))
        assert first.returncode == second.returncode == 1
        assert (first.stdout, first.stderr) == (second.stdout, second.stderr)
        assert b"SRC011" in first.stdout + first.stderr


def test_stdin(convert: Run, folder: Path) -> None:
    result = convert("-", "--stdin-filename", "x.ipynb", stdin=FIXTURE.read_bytes())
    assert result.returncode == 1
    assert result.stdout == FIXTURE.with_name("digits.out.ipynb").read_bytes()
    assert b"\n  cell 12:1:1 SRC011" in result.stderr
    assert (
        convert("-", "--stdin-filename", "x.md", stdin=MARKDOWN.encode()).stdout
        == MARKDOWN.replace("torch.ones(2)", "paddle.ones([2])").replace("import torch", "import paddle").encode()
    )


def test_output_folder(convert: Run, folder: Path) -> None:
    (folder / "b.ipynb").unlink()
    out = folder.parent / "out"
    assert convert(".", "--output", str(out)).returncode == 1
    assert (out / "a.ipynb").read_bytes() == FIXTURE.with_name("digits.out.ipynb").read_bytes()
    assert (out / "c.md").read_text() == MARKDOWN


def test_large_run_in_worker_processes(process: Run, folder: Path) -> None:
    padding = json.loads(FIXTURE.read_bytes())
    padding["cells"][3]["outputs"][0]["data"]["image/png"] = "A" * 300_000
    for number in range(8):
        (folder / f"n{number}.ipynb").write_text(json.dumps(padding, indent=1))
    result = process(
        "convert", "--to", "paddle", "--write", "-q", "--jobs", "2", *(f"n{number}.ipynb" for number in range(8))
    )
    assert result.returncode == 1
    assert all("paddle.concat" in (folder / f"n{number}.ipynb").read_text() for number in range(8))
