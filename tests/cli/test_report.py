"""The text and JSON reports."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from .conftest import BROKEN, FINDING, PLAIN, Run, Tree

TO = ("convert", "--to", "paddle")


def test_text_lists_conversions_findings_and_what_to_do(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": FINDING, "b.py": "print(1)\n", "c.py": BROKEN})
    lines = paddletorch(*TO).stdout.decode().splitlines()
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
    assert lines[0].startswith("a.py:4:7: AMP226")
    assert len(lines) == 2
    tree({"a.py": PLAIN})
    assert paddletorch(*TO, "-q").stdout == b""


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
    assert result.stdout.splitlines()[0].endswith(b":3:10: AMP101 torch.amp.GradScaler -> paddle.amp.GradScaler")
    report = json.loads(paddletorch(*TO, "--format", "json").stdout)
    assert os.fsencode(report["files"][0]["path"]) == os.fsencode(name)
    assert paddletorch(*TO, "--write").returncode == 0
    assert "paddle" in path.read_text()


def test_terminal_encoding_that_cannot_say_it(process: Run, tree: Tree) -> None:
    tree({"中文.py": PLAIN})
    result = process(*TO, PYTHONIOENCODING="latin-1")
    assert result.returncode == 1
    assert b"\\u4e2d" in result.stdout
