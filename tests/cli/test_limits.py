"""What one file may take: a file that is too large or takes too long is left, and the run goes on with the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import PLAIN, Run, Tree

TO = ("convert", "--to", "paddle")


def codes(paddletorch: Run, *arguments: str) -> tuple[int, dict[str, list[str]]]:
    """The exit code, and the codes found in each file."""
    done = paddletorch(*TO, "--format", "json", *arguments)
    found: dict[str, list[str]] = {}
    for one in json.loads(done.stdout)["diagnostics"]:
        found.setdefault(one["path"], []).append(one["code"])
    return done.returncode, found


def sparse(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.write(PLAIN.encode())
        file.truncate(size)


@pytest.mark.parametrize("name", ["large.py", "large.ipynb", "large.md"])
def test_large_file_is_never_read(paddletorch: Run, tree: Tree, folder: Path, name: str) -> None:
    tree({"a.py": PLAIN})
    sparse(folder / name, 1 << 40)  # more than any memory
    assert codes(paddletorch, "--write", "a.py", name) == (2, {name: ["SRC017"]})
    assert "paddle" in (folder / "a.py").read_text()
    (folder / name).unlink()


def test_message_names_file_setting_and_way_out(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": PLAIN})
    size = paddletorch(*TO, "--max-file-size", "20").stdout
    assert b"a.py\n  SRC017 is larger than max-file-size (20 bytes)" in size and b"--max-file-size" in size
    time = paddletorch(*TO, "--max-file-seconds", "1e-9").stdout
    assert b"a.py\n  SRC018 took longer than max-file-seconds (1e-09 CPU seconds)" in time


def test_size_to_the_byte(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": PLAIN})
    assert codes(paddletorch, "--max-file-size", str(len(PLAIN)))[1] == {}
    assert codes(paddletorch, "--max-file-size", str(len(PLAIN) - 1)) == (2, {"a.py": ["SRC017"]})


def test_zero_lifts_the_limits(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"paddletorch.toml": "max-file-size = 1\nmax-file-seconds = 1e-9\n", "a.py": PLAIN})
    assert codes(paddletorch) == (2, {"a.py": ["SRC017"]})
    assert codes(paddletorch, "--max-file-size", "0") == (2, {"a.py": ["SRC018"]})
    paddletorch(*TO, "--write", "--max-file-size", "0", "--max-file-seconds", "0")
    assert "paddle" in (folder / "a.py").read_text()


def test_settings_of_each_file(paddletorch: Run, tree: Tree) -> None:
    tree({"one/paddletorch.toml": "max-file-seconds = 1e-9\n", "one/a.py": PLAIN, "b.py": PLAIN})
    assert codes(paddletorch) == (2, {"one/a.py": ["SRC018"]})


@pytest.mark.parametrize("line", ["max-file-size = -1", "max-file-size = 1.5", "max-file-seconds = true"])
def test_limits_that_are_no_numbers(paddletorch: Run, tree: Tree, line: str) -> None:
    tree({"paddletorch.toml": line + "\n", "a.py": PLAIN})
    done = paddletorch(*TO)
    assert done.returncode == 2 and line.split()[0].encode() in done.stderr


def test_result_of_a_file_out_of_time_is_not_kept(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": PLAIN})
    for _ in range(2):
        assert codes(paddletorch, "--max-file-seconds", "1e-9") == (2, {"a.py": ["SRC018"]})
    assert codes(paddletorch)[1] == {}
    assert (folder / "a.py").read_text() == PLAIN


def test_workers_have_the_limits_too(process: Run, tree: Tree) -> None:
    filler = "".join(f"value_{number} = {number}\n" for number in range(8000))
    tree({f"f{number}.py": PLAIN + filler for number in range(20)})
    done = process(*TO, "--format", "json", "--jobs", "2", "--max-file-seconds", "1e-9")
    found = json.loads(done.stdout)["diagnostics"]
    assert done.returncode == 2 and [one["code"] for one in found] == ["SRC018"] * 20


def test_stdin_comes_back_as_it_was(paddletorch: Run) -> None:
    source = PLAIN.encode() + b"# more\n" * 500_000
    done = paddletorch(*TO, "--max-file-size", "1000", "-", stdin=source)
    assert done.returncode == 2 and b"SRC017" in done.stderr
    assert done.stdout == source
