"""The text and JSON reports."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from .conftest import BROKEN, FINDING, PLAIN, Run, Tree

TO = ("convert", "--to", "paddle")


def test_findings_stand_under_their_file_with_the_line_and_the_place(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": FINDING + "if 1:\n\tprint(  '\u4e2d', scaler._scale)\n", "b.py": "print(1)\n", "c.py": BROKEN})
    lines = paddletorch(*TO, "-v").stdout.decode().splitlines()
    shown = lines[: lines.index("")]
    assert shown[0] == "a.py"
    assert shown[1].startswith("  4:7 AMP226 '._scale' is private to torch")
    assert [line for line in shown if line.startswith("      |")] == [
        "      | print(scaler._scale)",
        "      |       ^^^^^^^^^^^^^",
    ]
    assert "      = also at 6:15" in shown
    assert shown[-1] == "  3:10 AMP101 torch.amp.GradScaler -> paddle.amp.GradScaler"
    assert all(len(line) <= 80 for line in lines)
    assert lines[lines.index("") + 1] == "c.py"  # errors first; what could not be read comes after what needs work
    end = lines[lines.index("3 files scanned: 1 with uses, 1 would change, 1 failed.") :]
    assert end[2:7] == [
        "        1  converted",
        "        0  the same on both sides",
        "        2  need you",
        "        1  not examined",
        "        4  uses of torch in all",
    ]
    assert end[8:11] == [
        "3 findings",
        "        2  AMP226  Private state of the scaler",
        "        1  SRC001  The file is not valid Python",
    ]
    assert len(end) <= 24
    assert end[-1] == "  paddletorch convert --diff --to paddle"


def test_carets_are_below_what_they_mean(paddletorch: Run, tree: Tree) -> None:
    """Wide characters, tabs, long lines and several lines."""
    long = "x" * 200
    inside = f"if 1:\n\ty = f('\u4e2d\u6587',\ttorch.foo(1)); {long} = 1\n"
    tree({"a.py": f"import torch\n{inside}{long} = 1; torch.bar(\n    1)\n"})
    lines = paddletorch(*TO).stdout.decode().splitlines()
    places = [lines.index(line) for line in lines if line.endswith("^")]
    assert len(places) == 2
    for place, name in zip(places, ("torch.foo", "torch.bar"), strict=True):
        source, carets = lines[place - 1], lines[place]
        wide = "".join(c if c.isascii() or c == "…" else c + " " for c in source)
        assert wide[carets.index("^") : len(carets)].startswith(name), (source, carets)
        assert len(wide) <= 80
    assert lines[places[1] - 1].startswith("      | …")


def test_notebook_findings_show_the_line_of_the_cell(paddletorch: Run, tree: Tree) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**cell, "source": "import torch"}, {**cell, "source": ["x = 1\n", "torch.foo(1)\n"]}]
    tree({"a.ipynb": json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})})
    lines = paddletorch(*TO).stdout.decode().splitlines()
    assert lines[1].startswith("  cell 2:2:1 API225 torch.foo")
    assert "      | torch.foo(1)" in lines and "      | ^^^^^^^^^" in lines


def test_conversions_show_the_text_that_was_written(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": "import torch\n\nx = torch.zeros(2)\ny = x.half()\nz = x.half()\n"})
    plain, verbose = paddletorch(*TO).stdout.decode(), paddletorch(*TO, "-v").stdout.decode()
    assert "tensor.half" not in plain
    assert "  4:5 TEN106 tensor.half -> x.astype('float16') (2 times)\n" in verbose
    full = paddletorch(*TO, "--format", "full").stdout.decode()
    assert "a.py:5:5: TEN106 tensor.half -> x.astype('float16')\n" in full


def test_notes_are_said_once_for_a_run(paddletorch: Run, tree: Tree) -> None:
    layer = "import torch\nlayer = torch.nn.Linear(2, 3)\n"
    tree({"a.py": layer, "b.py": layer, "c.py": layer})
    text = paddletorch(*TO).stdout.decode()
    assert text.startswith("Good to know\n  NNL207 torch.nn.Linear: ")
    assert text.count("NNL207") == 1 and "(3 places, first a.py:2:9)" in " ".join(text.split())


def test_the_long_form_has_a_line_for_each(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": FINDING, "b.py": "print(1)\n", "c.py": BROKEN})
    lines = paddletorch(*TO, "--format", "full").stdout.decode().splitlines()
    assert lines[0] == "a.py:3:10: AMP101 torch.amp.GradScaler -> paddle.amp.GradScaler"
    assert lines[1].startswith("a.py:4:7: AMP226 ")
    assert lines[2].startswith("    ")
    assert any(line.startswith("c.py:1:") and " SRC001 " in line for line in lines)
    assert "3 files scanned: 1 with uses, 1 would change, 1 failed." in lines
    assert "     1  torch.amp.GradScaler -> paddle.amp.GradScaler" in lines
    assert any(line.startswith("     1  AMP226  ") for line in lines)
    text = "\n".join(lines)
    for hint in ("--write", "--diff", "paddletorch explain AMP226"):
        assert hint in text


def test_quiet_prints_findings_only(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": FINDING, "b.py": PLAIN})
    lines = paddletorch(*TO, "-q").stdout.decode().splitlines()
    assert lines[:1] == ["a.py"] and lines[1].startswith("  4:7 AMP226")
    assert all(line.startswith("      ") for line in lines[2:])
    tree({"a.py": PLAIN})
    assert paddletorch(*TO, "-q").stdout == b""


def test_statistics_count_instead_of_listing(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": FINDING})
    text = paddletorch(*TO, "--statistics").stdout.decode()
    assert "4:7" not in text and "        1  AMP226  Private state of the scaler\n" in text
    assert b"give one of them" in paddletorch(*TO, "--statistics", "-q").stderr


@pytest.mark.parametrize(
    ("given", "source", "last"),
    [
        ((), PLAIN, "paddletorch convert --diff --to paddle"),
        (("--coverage", "-v", "--shim", "auto"), PLAIN, "paddletorch convert --diff --to paddle --shim auto"),
        (("--diff",), PLAIN, "paddletorch convert --write --to paddle"),
        (("--write",), FINDING, "paddletorch try --to paddle ."),
        (("--output", "../new copy"), FINDING, "paddletorch try --to paddle --source . '../new copy'"),
        (("--write", "c.md"), FINDING, "paddletorch explain AMP226"),
        (("--write", "--", "-b.py"), FINDING, "paddletorch try --to paddle -- -b.py"),
        ((), "import torch\ntorch.foo()\n", "paddletorch explain API225"),
        ((), BROKEN, "paddletorch explain SRC001"),
    ],
)
def test_the_last_line_is_the_next_command(
    paddletorch: Run, tree: Tree, given: tuple[str, ...], source: str, last: str
) -> None:
    tree({"a.py": source, "-b.py": source, "c.md": f"```python\n{source}```\n"})
    made = paddletorch(*TO, *given)
    assert (made.stderr if "--diff" in given else made.stdout).decode().splitlines()[-1] == f"  {last}"
    assert paddletorch(*last.split()[1:2], "--help").returncode == 0


def test_uses_without_a_finding_are_not_said_to_be_in_a_baseline_that_there_is_not(
    paddletorch: Run, tree: Tree
) -> None:
    tree({"a.py": "import timm\nnet = timm.create_model('resnet18')\ntimm.list_models()\n" + FINDING})
    assert b"more uses left because of what stays or is ignored\n" in paddletorch(*TO).stdout
    paddletorch(*TO, "--baseline", "known.json", "--write-baseline")
    (Path("b.py")).write_text("import timm\nprint(timm.list_models())\n")
    said = b" ".join(paddletorch(*TO, "--baseline", "known.json").stdout.split())
    assert b"left because of what stays, is ignored or is in the baseline" in said


def test_json_holds_everything_and_nothing_else_is_printed(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": FINDING, "b.py": "print(1)\n", "c.py": BROKEN})
    result = paddletorch(*TO, "--format", "json", "--target-version", "3.3")
    assert result.returncode == 2
    assert result.stderr == b""
    report = json.loads(result.stdout)
    assert list(report) == [
        "format_version",
        "version",
        "options",
        "files",
        "diagnostics",
        "conversions",
        "summary",
        "notes",
    ]
    assert report["options"]["target_version"] == "3.3"
    assert [(file["path"], file["status"]) for file in report["files"]] == [
        ("a.py", "converted"),
        ("c.py", "failed"),
    ]
    found = {(d["path"], d["code"], d["line"], d["column"], d["severity"]) for d in report["diagnostics"]}
    assert ("a.py", "AMP226", 4, 7, "error") in found
    assert report["conversions"][0] == {
        "path": "a.py",
        "code": "AMP101",
        "name": "torch.amp.GradScaler",
        "replacement": "paddle.amp.GradScaler",
        "written": "paddle.amp.GradScaler",
        "fate": "converted",
        "end_line": 3,
        "end_column": 30,
        "row": "GradScaler",
        "line": 3,
        "column": 10,
        "cell": None,
    }
    assert report["summary"]["files"] == {"scanned": 3, "with_hits": 1, "converted": 1, "failed": 1}
    assert report["summary"]["exit_code"] == 2
    assert [note["code"] for note in report["notes"]] == ["AMP240"]


def test_documented_keys_are_the_keys(paddletorch: Run, tree: Tree) -> None:
    """Every key of the JSON report is described in docs/json-format.md."""
    page = Path(__file__).parents[2] / "docs" / "json-format.md"
    tree({"a.py": FINDING})
    report = json.loads(paddletorch(*TO, "--format", "json").stdout)
    keys = set(report) | set(report["options"]) | set(report["summary"]) | set(report["summary"]["files"])
    for name in ("files", "diagnostics", "conversions", "notes"):
        keys |= set(report[name][0])
    text = page.read_text(encoding="utf-8")
    assert [key for key in sorted(keys) if f"`{key}`" not in text] == []


@pytest.mark.parametrize("name", ["new\nline.py", "esc\x1b[31m.py", b"latin-\xe9.py", "中文.py"])
def test_odd_file_names(paddletorch: Run, folder: Path, name: str | bytes) -> None:
    path = folder / os.fsdecode(name)
    path.write_text(PLAIN)
    result = paddletorch(*TO)
    assert result.returncode == 1
    assert b"\x1b" not in result.stdout
    shown = paddletorch(*TO, "-v").stdout
    assert b"\x1b" not in shown
    assert shown.splitlines()[1] == b"  3:10 AMP101 torch.amp.GradScaler -> paddle.amp.GradScaler"
    report = json.loads(paddletorch(*TO, "--format", "json").stdout)
    assert os.fsencode(report["files"][0]["path"]) == os.fsencode(name)
    assert paddletorch(*TO, "--write").returncode == 0
    assert "paddle" in path.read_text()


def test_terminal_encoding_that_cannot_say_it(process: Run, tree: Tree) -> None:
    tree({"中文.py": PLAIN})
    result = process(*TO, "-v", PYTHONIOENCODING="latin-1")
    assert result.returncode == 1
    assert b"\\u4e2d" in result.stdout
