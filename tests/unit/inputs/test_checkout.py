"""The project of a report: its folder, its name and its commit, held against git itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from paddletorch.inputs.checkout import head_commit, project_folder, project_name

COMMIT = "0123456789abcdef0123456789abcdef01234567"
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git makes the repository")


def git(folder: Path, *words: str) -> str:
    settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    ran = subprocess.run(["git", *settings, *words], cwd=folder, capture_output=True, text=True, check=True, env=clean)
    return ran.stdout.strip()


@needs_git
def test_the_commit_is_git_s_own_word(tmp_path: Path) -> None:
    main, worktree = tmp_path / "main", tmp_path / "tree"
    (main / "sub").mkdir(parents=True)
    git(main, "init", "-q", "-b", "feature/one")
    assert head_commit(main) == ""  # nothing is committed yet
    git(main, "commit", "-q", "--allow-empty", "-m", "one")
    assert head_commit(main / "sub") == git(main, "rev-parse", "HEAD")
    git(main, "pack-refs", "--all")
    assert head_commit(main) == git(main, "rev-parse", "HEAD")
    git(main, "worktree", "add", "-q", "-b", "other", str(worktree))
    git(worktree, "commit", "-q", "--allow-empty", "-m", "two")
    assert head_commit(worktree) == git(worktree, "rev-parse", "HEAD") != git(main, "rev-parse", "HEAD")
    git(main, "checkout", "-q", "--detach")
    assert head_commit(main) == git(main, "rev-parse", "HEAD")


@needs_git
def test_nothing_of_a_repository_is_run(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "one")
    git(tmp_path, "config", "core.fsmonitor", f"touch {tmp_path / 'ran'}")
    assert head_commit(tmp_path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "head", ["", "ref: refs/../../secret", "ref: secret", "<script>", COMMIT + "0", "ref: refs/heads/none", "\0"]
)
def test_what_is_no_commit_is_none(tmp_path: Path, head: str) -> None:
    (tmp_path / ".git" / "refs").mkdir(parents=True)
    (tmp_path / "secret").write_text(COMMIT)
    (tmp_path / ".git" / "secret").write_text(COMMIT)
    (tmp_path / ".git" / "HEAD").write_text(head)
    assert head_commit(tmp_path) == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe that nobody writes to")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / "HEAD")
    assert head_commit(tmp_path) == ""


def test_the_project_is_the_nearest_folder_around_all_paths(tmp_path: Path) -> None:
    for file in ("p/pyproject.toml", "p/src/a.py", "p/tests/b.py", "q/c.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    src, tests, other = (str(tmp_path / name) for name in ("p/src/a.py", "p/tests", "q/c.py"))
    assert project_folder([src]) == project_folder([src, tests]) == (tmp_path / "p").resolve()
    assert project_folder([src, other]) in (tmp_path.resolve(), *tmp_path.resolve().parents)


@pytest.mark.parametrize(
    ("text", "name"),
    [('[project]\nname = "net"', "net"), ("[project", "p"), ("project = 1", "p"), ("[project]\nname = 1", "p")],
)
def test_its_name_is_that_of_its_settings_or_its_folder(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "pyproject.toml").write_text(text)
    assert project_name(tmp_path / "p") == name
