"""--diff: what it prints is what ``patch`` and ``git apply`` take."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paddletorch.model import FileResult, Status
from paddletorch.report.diff import unified_diff

from .conftest import PLAIN, Run, Tree


def apply(folder: Path, diff: bytes) -> None:
    done = subprocess.run(["git", "apply", "-p0", "-"], cwd=folder, input=diff, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_diff_gives_what_write_gives(paddletorch: Run, tree: Tree, folder: Path, newline: str, end: str) -> None:
    source = (PLAIN.rstrip("\n") + end).replace("\n", newline)
    tree({"with space.py": source, "sub/b.py": source})
    diff = paddletorch("convert", "--to", "paddle", "--diff", "with space.py", "sub")
    assert diff.returncode == 1
    assert b"2 files scanned" in diff.stderr
    apply(folder, diff.stdout)
    by_patch = [(folder / name).read_bytes() for name in ("with space.py", "sub/b.py")]
    tree({"with space.py": source, "sub/b.py": source})
    assert paddletorch("convert", "--to", "paddle", "--write").returncode == 0
    assert [(folder / name).read_bytes() for name in ("with space.py", "sub/b.py")] == by_patch
    assert b"paddle" in by_patch[0]


LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"x\r", b"long line"]), max_size=12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(old=LINES, new=LINES, ends=st.tuples(st.booleans(), st.booleans()), padding=st.integers(0, 200))
def test_any_diff_applies(
    folder: Path, old: list[bytes], new: list[bytes], ends: tuple[bool, bool], padding: int
) -> None:
    same = [b"same"] * padding
    source, target = (
        b"\n".join([*lines, *same, *lines]) + (b"\n" if end else b"")
        for lines, end in zip((old, new), ends, strict=True)
    )
    diff = unified_diff(FileResult("a.py", Status.CONVERTED, source, target))
    if source == target:
        assert diff == b""
    elif source and target:  # git wants other headers for a file that comes or goes
        (folder / "a.py").write_bytes(source)
        apply(folder, diff)
        assert (folder / "a.py").read_bytes() == target


def test_repetitive_file_gets_a_small_diff() -> None:
    old = [b"x = 1"] * 100_000
    old[1000::5000] = [b"old"] * 20
    new = [b"new" if line == b"old" else line for line in old]
    diff = unified_diff(FileResult("a.py", Status.CONVERTED, b"\n".join(old), b"\n".join(new)))
    assert diff.count(b"\n") == 2 + 20 * (1 + 3 + 2 + 3)


def test_colours_on_request(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": PLAIN})
    arguments = ("convert", "--to", "paddle", "--diff")
    assert b"\x1b[32m+" in paddletorch(*arguments, FORCE_COLOR="1").stdout
    assert b"\x1b" not in paddletorch(*arguments, FORCE_COLOR="1", NO_COLOR="1").stdout
    plain = paddletorch(*arguments)
    assert b"\x1b" not in plain.stdout + plain.stderr
