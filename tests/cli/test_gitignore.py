"""Ignore patterns: git's meaning, whatever the pattern, and a time that no pattern makes long."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from paddletorch.inputs.gitignore import Ignore, above, with_separator

from .conftest import PLAIN, Run, Tree

FRAGMENTS = st.sampled_from(
    "a b ab / * ** /**/ **/ /** *** ? [ab] [!a] [^b] [a-c] []a] [a-] [[:alpha:]] [[:punct:]-] [[:x:]] [[:] [a/] [\\]a] "
    "[c-a] [ ] \\ \\* \\/ - ! # é . {space} \\{space} {tab}".split()
)
PATTERN = st.lists(FRAGMENTS, min_size=1, max_size=6).map(lambda parts: "".join(parts).format(space=" ", tab="\t"))
NAME = st.sampled_from(["a", "b", "ab", "ba", "abc", "*", "-", "é", "\\", "!a", "#a", "a ", "]", "a.b", "aab", "[a"])
PATH = st.lists(NAME, min_size=1, max_size=4).map("/".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty git repository."""
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


@pytest.mark.skipif(os.name == "nt", reason="compares with git by POSIX paths")
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@example(lines=["a**/b"], paths=["ab/b", "a/b", "ab/c/b", "ab"])
@example(lines=["a/**\\/b"], paths=["a/b", "a/c/b"])
@example(lines=["**", "!*/", "!*a"], paths=["a", "b/a", "b"])
@given(lines=st.lists(PATTERN, min_size=1, max_size=3), paths=st.lists(PATH, min_size=1, max_size=12, unique=True))
def test_every_pattern_means_what_it_means_to_git(repository: Path, lines: list[str], paths: list[str]) -> None:
    (repository / ".gitignore").write_text("\n".join(lines), encoding="utf-8")
    asked = subprocess.run(
        ["git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "--stdin", "-z"],
        cwd=repository, input="\0".join(paths), capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert asked.returncode in (0, 1), asked.stderr
    root = str(repository)
    ignore = above(root, _fail).inside(root, _fail)
    found = {path for path in paths if ignore.leaves_out_within(with_separator(root) + path, is_dir=False)}
    assert found == set(asked.stdout.split("\0")) - {""}


def _fail(path: str, error: OSError) -> None:
    raise AssertionError(f"{path}: {error}")


HANGING = "*a" * 15 + "b"


@pytest.mark.parametrize("pattern", [HANGING, f"**/{HANGING}", "**/a" * 15 + "/b", "[!b]*" * 20 + "b", "*?" * 30 + "b"])
def test_no_pattern_takes_forever(process: Run, tree: Tree, pattern: str) -> None:
    name = "a" * 60
    tree({".gitignore": f"{pattern}\n", f"{name}.py": PLAIN, f"{'a/' * 60}{name}.py": PLAIN, ".git/HEAD": ""})
    result = process("convert", "--to", "paddle", "--exclude", pattern)  # which ends after 120 s
    assert b"2 files scanned" in result.stdout, result.stderr


def test_the_folder_of_a_worktree_or_a_submodule(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: ../elsewhere\n")
    (tmp_path / ".gitignore").write_text("a.py\n")
    ignore = above(str(tmp_path), _fail).inside(str(tmp_path), _fail)
    assert ignore.leaves_out(str(tmp_path / "a.py"), is_dir=False)


@pytest.mark.parametrize("pattern", ["[a", "a\\", "[[:x:]]", "[b-a]"])
def test_what_a_user_wrote_in_vain_is_an_error(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"bracket|backslash|class|range"):
        Ignore("/").with_lines([pattern])
