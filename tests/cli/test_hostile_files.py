"""Files of a repository that are no files, or too large: said at once, whoever reads them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from paddletorch_rules.bounded import SETTINGS_BYTES, TABLE_BYTES

from .conftest import PLAIN, Run, Tree

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes and devices are POSIX")

CONVERT = ("convert", "--to", "paddle")
READ = {
    "paddletorch.toml": CONVERT,
    "pyproject.toml": CONVERT,
    ".gitignore": CONVERT,
    "table.toml": (*CONVERT, "--tables", "table.toml"),
    "baseline.json": (*CONVERT, "--baseline", "baseline.json"),
}
"""Each file that a run reads besides the source, and a command that reads it."""


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("kind", ["pipe", "device", "too large", "sparse"])
def test_what_is_no_file_or_too_large_is_not_read(process: Run, tree: Tree, folder: Path, name: str, kind: str) -> None:
    tree({"a.py": PLAIN})
    limit = TABLE_BYTES if name in ("table.toml", "baseline.json") else SETTINGS_BYTES
    if kind == "pipe":
        os.mkfifo(folder / name)
    elif kind == "device":
        (folder / name).symlink_to("/dev/zero")
    elif kind == "too large":
        (folder / name).write_bytes(b"#" * (limit + 1))
    else:
        with (folder / name).open("wb") as file:
            file.truncate(1 << 40)
    result = process(*READ[name])  # which ends after 120 s
    assert result.returncode == 2
    said = "not a regular file" if kind in ("pipe", "device") else f"larger than {limit:,} bytes"
    assert name in (result.stdout + result.stderr).decode()
    assert said in (result.stdout + result.stderr).decode()
    assert (folder / "a.py").read_text() == PLAIN


def test_the_largest_file_that_is_read(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": PLAIN, "paddletorch.toml": "#" * SETTINGS_BYTES, ".gitignore": "#" * SETTINGS_BYTES})
    assert paddletorch(*CONVERT).returncode == 1


@pytest.mark.parametrize("name", [".gitignore", "paddletorch.toml"])
def test_patterns_that_are_too_many(process: Run, tree: Tree, folder: Path, name: str) -> None:
    pattern, count = "*a*a*b*c", 100_000
    files = {f"{'a' * 200}{number}.py": PLAIN for number in range(50)}
    settings = f"exclude = {[pattern] * (count // 2)}"
    tree({**files, ".git/HEAD": "", name: settings if name.endswith(".toml") else f"{pattern}\n" * count})
    result = process(*CONVERT, ".")  # which ends after 120 s
    assert result.returncode == 2
    assert b"more than 10,000 patterns hold in one folder" in result.stdout + result.stderr


def test_files_with_findings_to_ignore_that_are_too_many(paddletorch: Run, tree: Tree) -> None:
    ignores = "\n".join(f'"*a*b*{number}" = ["API"]' for number in range(10_001))
    tree({"a.py": PLAIN, "paddletorch.toml": f"[per-file-ignores]\n{ignores}"})
    result = paddletorch(*CONVERT)
    assert result.returncode == 2
    assert b"more than 10,000 patterns" in result.stderr


def test_nested_patterns_add_up(paddletorch: Run, tree: Tree, folder: Path) -> None:
    many = "x\n" * 6000
    tree({"a.py": PLAIN, ".gitignore": many, "inner/.gitignore": many, "inner/b.py": PLAIN, "other/.gitignore": "x"})
    result = paddletorch(*CONVERT)
    assert result.returncode == 2
    assert f"{Path('inner', '.gitignore')}" in result.stdout.decode()
    assert f"{Path('other', '.gitignore')}" not in result.stdout.decode()


@pytest.mark.parametrize("name", ["paddletorch.toml", "table.toml", "baseline.json"])
def test_what_is_nested_too_deeply(paddletorch: Run, tree: Tree, name: str) -> None:
    nested = "[" * 100_000
    tree({"a.py": PLAIN, name: nested if name.endswith(".json") else f"a = {nested}"})
    result = paddletorch(*READ[name])
    assert result.returncode == 2
    assert b"nested too deeply" in result.stderr


@pytest.mark.parametrize("name", ["paddletorch.toml", "pyproject.toml", "table.toml", "baseline.json"])
def test_a_number_of_too_many_digits(paddletorch: Run, tree: Tree, name: str) -> None:
    digits = "9" * 5000
    tree({"a.py": PLAIN, name: digits if name.endswith(".json") else f"a = {digits}"})
    result = paddletorch(*READ[name])
    assert result.returncode == 2
    assert b"internal error" not in result.stderr
    assert name.encode() in result.stderr


@pytest.mark.parametrize("line", ['tables = ["a\\u0000"]', 'baseline = "a\\u0000"'])
def test_a_path_that_no_system_has(paddletorch: Run, tree: Tree, line: str) -> None:
    tree({"a.py": PLAIN, "paddletorch.toml": line})
    result = paddletorch(*CONVERT)
    assert result.returncode == 2
    assert b"NUL" in result.stderr


@pytest.mark.parametrize("name", ["paddletorch.toml", "pyproject.toml", "table.toml"])
@pytest.mark.parametrize("text", [f"{'a.' * 400_000}b = 1\n", f"[{'a . ' * 5_000}b]\n" + "x = 1\n" * 20_000])
def test_a_key_of_too_many_parts(process: Run, tree: Tree, name: str, text: str) -> None:
    tree({"a.py": PLAIN, name: text})
    result = process(*READ[name])  # which ends after 120 s
    assert result.returncode == 2
    assert "a dotted key of more than 100 parts" in result.stderr.decode()


def test_patterns_that_take_too_long_for_many_paths(
    paddletorch: Run, tree: Tree, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddletorch.inputs.discover.MOST_SECONDS", 0.5)
    lines = f"/**/{'a*/' * 30}*b\n" * 500
    deep = "a/" * 200
    tree({".git/HEAD": "", ".gitignore": lines, **{f"{deep}{number}.py": PLAIN for number in range(20)}})
    result = paddletorch(*CONVERT, ".")
    assert result.returncode == 2
    assert b"matching the patterns of .gitignore and exclude took more than 0.5 s" in result.stderr
    assert paddletorch(*CONVERT, "--no-gitignore", ".").returncode == 1
