"""Exit codes: 0 nothing left, 1 findings left or files would change, 2 bad usage or a file failed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import BROKEN, FINDING, PLAIN, Run, Tree

TO = ("convert", "--to", "paddle")


def test_nothing_to_convert(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": "print(1)\n"})
    result = paddletorch(*TO)
    assert result.returncode == 0
    assert b"1 file scanned: nothing to convert." in result.stdout


def test_empty_folder_and_empty_file(paddletorch: Run, tree: Tree) -> None:
    assert paddletorch(*TO).returncode == 0
    tree({"empty.py": ""})
    assert paddletorch(*TO, "--write", "empty.py").returncode == 0


@pytest.mark.parametrize("extra", [(), ("--diff",)])
def test_would_change(paddletorch: Run, tree: Tree, extra: tuple[str, ...]) -> None:
    tree({"a.py": PLAIN})
    assert paddletorch(*TO, *extra).returncode == 1


@pytest.mark.parametrize("extra", [("--write",), ("--output", "copy"), ("--write", "--diff")])
def test_changed_and_nothing_left(paddletorch: Run, tree: Tree, extra: tuple[str, ...]) -> None:
    tree({"src/a.py": PLAIN})
    assert paddletorch(*TO, "src", *extra).returncode == 0


def test_finding_is_left_after_write(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": FINDING})
    result = paddletorch(*TO, "--write")
    assert result.returncode == 1
    assert b"a.py\n  4:7 AMP226" in result.stdout


def test_numpy_note_does_not_count(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": PLAIN})
    result = paddletorch(*TO, "--write")
    assert result.returncode == 0
    assert result.stdout.count(b"AMP240") == 1
    assert b"numpy<2.4" in result.stdout


def test_no_numpy_note_towards_torch(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": "import paddle\n\nscaler = paddle.amp.GradScaler(init_loss_scaling=65536.0)\n"})
    assert b"AMP240" not in paddletorch("convert", "--to", "torch", "--write").stdout


def test_failed_file_wins_over_findings(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": FINDING, "b.py": BROKEN})
    result = paddletorch(*TO)
    assert result.returncode == 2
    assert b"b.py\n  1:" in result.stdout and b"SRC001" in result.stdout


def test_one_bad_file_does_not_stop_the_run(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": BROKEN, "b.py": b"# GradScaler \xff\n", "c.py": PLAIN})
    result = paddletorch(*TO, "--write", "a.py", "b.py", "missing.py", "c.py")
    assert result.returncode == 2
    assert b"paddle" in (folder / "c.py").read_bytes()
    assert (folder / "a.py").read_text() == BROKEN
    assert (folder / "b.py").read_bytes() == b"# GradScaler \xff\n"
    for name, code in ((b"a.py", b"SRC001"), (b"b.py", b"SRC002"), (b"missing.py", b"SRC003")):
        assert code in result.stdout.partition(name + b"\n")[2].splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("convert",), b"--to"),
        (("convert", "--to", "tensorflow"), b"tensorflow"),
        ((*TO, "--write", "--output", "x"), b"give one of them"),
        ((*TO, "--diff", "--format", "json"), b"give one of them"),
        ((*TO, "-", "a.py"), b"stdin"),
        ((*TO, "-", "--write"), b"stdout"),
        ((*TO, "--stdin-filename", "a.py"), b"'-'"),
        ((*TO, "--select", "AMPP"), b"did you mean 'AMP'"),
        ((*TO, "--ignore", "AMP999"), b"did you mean"),
        ((*TO, "--target-version", "three"), b"three"),
        ((*TO, "--tables", "missing.toml"), b"missing.toml"),
        ((*TO, "--exclude", "[z-a]"), b"--exclude"),
        ((*TO, "--jobs", "0"), b"--jobs"),
        (("explain", "AMP9999"), b"AMP9999"),
        (("nonsense",), b"nonsense"),
    ],
)
def test_bad_usage(paddletorch: Run, tree: Tree, folder: Path, arguments: tuple[str, ...], message: bytes) -> None:
    tree({"a.py": PLAIN})
    result = paddletorch(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert b"Traceback" not in result.stderr
    assert not result.stdout
    assert (folder / "a.py").read_text() == PLAIN


def test_table_mistake_names_file_row_and_key(process: Run, tree: Tree) -> None:
    tree({"my.toml": '[[row]]\nid = "mine"\ncode = "AMP101"\ntitle = "t"\ncolour = "red"\n'})
    result = process(*TO, "--tables", "my.toml")
    assert result.returncode == 2
    for part in (b"my.toml", b"mine", b"colour"):
        assert part in result.stderr


def test_full_disk_for_the_report_is_not_a_success(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": "print(1)\n"})
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [sys.executable, "-m", "paddletorch", *TO],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert result.returncode == 2
