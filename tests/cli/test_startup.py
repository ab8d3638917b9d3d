"""What is not asked for is not imported: editors, watchers and LibCST's codemods cost a run nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import PLAIN

LATER = ("pygls", "lsprotocol", "watchfiles", "libcst", "paddletorch.editor", "paddletorch.codemod")
ASKED = ("paddletorch.cli.interactive", "paddletorch.cli.watch", "paddletorch.cli.explain", "paddletorch.cli.lsp")


@pytest.mark.parametrize("arguments", [["--version"], ["convert", "--to", "paddle", "--no-cache", "a.py"]])
def test_a_run_imports_nothing_of_the_other_ways_in(folder: Path, arguments: list[str]) -> None:
    (folder / "a.py").write_text(PLAIN)
    command = [sys.executable, "-X", "importtime", "-m", "paddletorch", *arguments]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    imported = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines() if line.startswith("import time:")}
    assert "paddletorch.cli.main" in imported
    unwanted = [name for name in imported if name.startswith(LATER) or name in ASKED]
    assert unwanted == []


@pytest.mark.parametrize(
    ("arguments", "is_left"),
    [(["convert", "--to", "paddle", "--no-cache", "a.py"], True), (["run", "--on", "paddle", "a.py"], False)],
)
def test_the_end_leaves_objects_of_a_conversion_to_the_system(
    folder: Path, arguments: list[str], is_left: bool
) -> None:
    """Those of a program under ``run`` are the program's: Python ends them as ever."""
    (folder / "a.py").write_text("print('hello')\n")
    entry = (
        "import atexit, gc, sys; atexit.register(lambda: print('left:', gc.get_freeze_count() > 0, file=sys.stderr)); "
        "from paddletorch.__main__ import main; main()"
    )
    command = [sys.executable, "-c", entry, *arguments]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert f"left: {is_left}" in ran.stderr, ran.stderr
