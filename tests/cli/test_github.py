"""Annotations for GitHub Actions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .conftest import BROKEN, FINDING, PLAIN, Run, Tree

TO = ("convert", "--to", "paddle", "--format", "github")


def test_findings_failures_and_files_that_would_change(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": FINDING, "broken.py": BROKEN, "plain.py": "print(1)\n"})
    result = paddletorch(*TO)
    assert result.returncode == 2
    finding, change, failure, files, uses = result.stdout.decode().splitlines()
    assert finding.startswith("::error file=a.py,line=4,endLine=4,col=7,title=paddletorch AMP226::'._scale' is private")
    assert "left as it is%0AUse the public" in finding
    assert change == (
        "::notice file=a.py,line=3,title=paddletorch would convert::"
        "paddletorch convert --write would convert 1 use in this file."
    )
    assert failure.startswith("::error file=broken.py,line=1,")
    assert files == "3 files scanned: 1 with uses, 1 would change, 1 failed."
    assert uses == "3 uses: 1 converted, 1 needs you, 1 not examined."


def test_what_was_written_is_not_announced(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": PLAIN})
    assert paddletorch(*TO, "--write").stdout.decode().splitlines() == [
        "1 file scanned: 1 with uses, 1 converted.",
        "1 use: 1 converted.",
    ]


def test_paths_are_seen_from_the_top_of_the_repository(
    paddletorch: Run, tree: Tree, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree({"sub/a.py": PLAIN})
    (folder / ".git").mkdir()
    assert b"file=sub/a.py," in paddletorch(*TO, "sub").stdout
    (folder.parent / ".git").mkdir()
    (folder / ".git").rmdir()
    assert b"file=work/sub/a.py," in paddletorch(*TO, "sub").stdout


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a,b:c%d.py", b"file=a%2Cb%3Ac%25d.py,"),
        ("::error::x.py", b"file=%3A%3Aerror%3A%3Ax.py,"),
        ("new\nline\r.py", b"file=new\\nline\\r.py,"),
        (b"latin-\xe9.py", b"file=latin-\\udce9.py,"),
    ],
)
def test_names_cannot_end_the_command(paddletorch: Run, folder: Path, name: str | bytes, shown: bytes) -> None:
    (folder / os.fsdecode(name)).write_text(PLAIN)
    lines = paddletorch(*TO).stdout.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(b"::notice " + shown)
