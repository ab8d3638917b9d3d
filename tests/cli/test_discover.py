"""Which files a run takes, and what it says about those that it cannot take."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paddletorch.inputs.discover import Discovery, FileFilter, discover
from paddletorch.inputs.gitignore import Exclusion

from .conftest import PLAIN, Run, Tree


def names(found: Discovery) -> list[str]:
    return found.files


def codes(found: Discovery) -> dict[str, str]:
    return {result.path: result.diagnostics[0].code for result in found.failures}


def excluding(*patterns: str, base: str = ".") -> FileFilter:
    return FileFilter(lambda _: Exclusion(patterns, base))


def test_folder_is_walked_in_a_fixed_order(tree: Tree) -> None:
    tree(dict.fromkeys(("z.py", "a.py", "b/y.py", "b/c/x.py", "a.pyi", "readme.md", "c.pyc"), ""))
    assert names(discover(["."], FileFilter())) == ["a.py", "a.pyi", "z.py", "b/y.py", "b/c/x.py"]


def test_explicit_file_is_always_taken(tree: Tree) -> None:
    tree({".gitignore": "*\n", "script": "", "a.py": ""})
    found = discover(["script", "a.py"], excluding("a.py"))
    assert names(found) == ["script", "a.py"]


@pytest.mark.parametrize("folder_name", [".git", ".venv", "__pycache__", "node_modules", ".mypy_cache"])
def test_skipped_folders(tree: Tree, folder_name: str) -> None:
    tree({f"{folder_name}/a.py": "", "b.py": ""})
    assert names(discover(["."], FileFilter(gitignore=False))) == ["b.py"]


def test_virtual_environment_of_any_name(tree: Tree) -> None:
    tree({"env3/pyvenv.cfg": "", "env3/lib/a.py": "", "venv/b.py": ""})
    assert names(discover(["."], FileFilter())) == ["venv/b.py"]


def test_no_file_twice(tree: Tree, folder: Path) -> None:
    tree({"z/real.py": "", "b.py": ""})
    (folder / "a_link.py").symlink_to("z/real.py")
    (folder / "z2").symlink_to("z")
    assert names(discover([".", "z", "b.py", "./b.py", "a_link.py"], FileFilter())) == ["b.py", "z/real.py"]


def test_link_to_a_file_elsewhere_is_taken_once(tree: Tree, folder: Path) -> None:
    outside = folder.parent / "outside.py"
    outside.write_text(PLAIN)
    (folder / "one.py").symlink_to(outside)
    (folder / "two.py").symlink_to(outside)
    assert names(discover(["."], FileFilter())) == ["one.py"]


def test_link_to_a_folder_elsewhere_is_mentioned(paddletorch: Run, tree: Tree, folder: Path) -> None:
    outside = folder.parent / "elsewhere"
    outside.mkdir()
    (outside / "a.py").write_text(PLAIN)
    (folder / "linked").symlink_to(outside)
    result = paddletorch("convert", "--to", "paddle", "--write")
    assert result.returncode == 0
    assert b"linked" in result.stdout
    assert (outside / "a.py").read_text() == PLAIN


def test_links_that_loop(tree: Tree, folder: Path) -> None:
    tree({"a.py": "", "sub/b.py": ""})
    (folder / "self.py").symlink_to("self.py")
    (folder / "sub/up").symlink_to("..")
    found = discover(["."], FileFilter())
    assert names(found) == ["a.py", "sub/b.py"]
    assert codes(found) == {"self.py": "SRC004", "sub/up": "SRC004"}


def test_bad_entries_are_one_diagnostic_each(tree: Tree, folder: Path) -> None:
    tree({"x.py/inner.py": ""})
    (folder / "dead.py").symlink_to("nowhere.py")
    os.mkfifo(folder / "pipe.py")
    found = discover([".", "missing.py", "pipe.py"], FileFilter())
    assert names(found) == ["x.py/inner.py"]
    assert codes(found) == {
        "x.py": "SRC004",
        "dead.py": "SRC003",
        "pipe.py": "SRC004",
        "missing.py": "SRC003",
    }


def test_bad_entries_end_with_2_and_the_run_goes_on(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"x.py/inner.py": PLAIN, "ok.py": PLAIN})
    (folder / "loop.py").symlink_to("loop.py")
    result = paddletorch("convert", "--to", "paddle", "--write")
    assert result.returncode == 2
    for name in ("x.py/inner.py", "ok.py"):
        assert "paddle.amp.GradScaler" in (folder / name).read_text()
    assert result.stdout.count(b"SRC004 a ") == 2


def test_exclude_is_gitignore_syntax_relative_to_its_base(tree: Tree, folder: Path) -> None:
    tree(dict.fromkeys(("a.py", "lib/a.py", "lib/b.py", "x/lib/b.py", "keep/gen_1.py", "keep/gen_2.py"), ""))
    scope = excluding("/lib/", "gen_*.py", "!gen_2.py")
    assert names(discover(["."], scope)) == ["a.py", "keep/gen_2.py", "x/lib/b.py"]
    assert names(discover(["lib"], scope)) == []


def test_exclude_for_a_folder_outside_of_its_base(tree: Tree, folder: Path) -> None:
    tree({"base/a.py": "", "other/gen.py": "", "other/b.py": ""})
    # a name on the way to the folder is not what the pattern means
    scope = excluding("gen.py", "work", base="base")
    assert names(discover(["other"], scope)) == ["other/b.py"]


@pytest.mark.parametrize("cwd", [".", "lib", "lib/x"])
def test_forced_exclusion_of_named_files(tree: Tree, folder: Path, monkeypatch: pytest.MonkeyPatch, cwd: str) -> None:
    """What is named one by one is left out as a walk from above would leave it out."""
    tree(dict.fromkeys(("a.py", "lib/a.py", "lib/x/b.py", "libs/c.py", "work/d.py"), ""))
    monkeypatch.chdir(folder / cwd)
    scope = FileFilter(lambda _: Exclusion(("/lib/", "a.py", "/work/work"), str(folder)), forced=True)
    paths = [str(folder / name) for name in ("a.py", "lib/a.py", "lib/x/b.py", "lib/x", "libs/c.py", "work")]
    assert names(discover(paths, scope)) == [str(folder / "libs/c.py"), str(folder / "work/d.py")]


def test_forced_exclusion_by_settings_above(tree: Tree, folder: Path) -> None:
    """Settings of a folder cannot take back that the settings above leave it out: a walk never comes there."""
    tree(dict.fromkeys(("in/a.py", "out/deep/a.py"), ""))

    def exclusion(place: str) -> Exclusion:
        inner = Path(place).is_relative_to(folder / "out")
        return Exclusion((), str(folder / "out")) if inner else Exclusion(("out/",), str(folder))

    assert names(discover(["in/a.py", "out/deep/a.py"], FileFilter(exclusion, forced=True))) == ["in/a.py"]


def test_ignored_folder_given_by_name_is_searched(tree: Tree, folder: Path) -> None:
    tree(
        {
            ".git/HEAD": "",
            ".gitignore": "build/\nskip.py\n",
            "build/a.py": "",
            "src/skip.py": "",
            "src/b.py": "",
        }
    )
    assert names(discover(["."], FileFilter())) == ["src/b.py"]
    assert names(discover(["src"], FileFilter())) == ["src/b.py"]
    assert names(discover(["build"], FileFilter())) == ["build/a.py"]
    assert names(discover(["src"], FileFilter(gitignore=False))) == ["src/b.py", "src/skip.py"]


def test_unreadable_lines_of_gitignore_are_passed_over(tree: Tree) -> None:
    tree({".gitignore": b"\xef\xbb\xbf[z-a]\n!\n\xff\nout.py\n", "out.py": "", "in.py": ""})
    assert names(discover(["."], FileFilter())) == ["in.py"]


PATTERNS = st.sampled_from(
    ["*.py", "!a.py", "/a.py", "d/", "/d", "d/*.py", "**/a.py", "e/**", "!e/", "d/e", "!/d/e/b.py", "e", "b*"]
)
ODD_PATTERNS = st.sampled_from(
    ["*", "!*", "!*/", "!*.py", "d/**", "!d/**/", "[ab].py", "#x", "", "a.py ", "\\!x", "/", "!"]
)
LINES = st.lists(PATTERNS | ODD_PATTERNS, max_size=4)


@pytest.mark.skipif(os.name == "nt", reason="compares with git by POSIX paths")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(top=LINES, inner=LINES, local=LINES)
def test_same_files_as_git(
    tmp_path_factory: pytest.TempPathFactory, top: list[str], inner: list[str], local: list[str]
) -> None:
    root = tmp_path_factory.mktemp("repository")
    for name in ("a.py", "b.py", "d/a.py", "d/b.py", "d/e/a.py", "d/e/b.py", "e/a.py", "d/d/b.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    (root / ".gitignore").write_text("\n".join(top))
    (root / "d/.gitignore").write_text("\n".join(inner))
    (root / ".git/info/exclude").write_text("\n".join(local))
    listed = subprocess.run(
        ["git", "-c", "core.excludesFile=", "ls-files", "-co", "--exclude-standard", "*.py"],
        cwd=root, check=True, capture_output=True, text=True,
    )  # fmt: skip
    found = {os.path.relpath(path, root) for path in discover([str(root)], FileFilter()).files}
    assert found == set(listed.stdout.split())
