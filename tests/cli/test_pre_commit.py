"""The hooks of .pre-commit-hooks.yaml, by the real pre-commit, in a repository that takes them from this checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from .conftest import BROKEN, FINDING, PLAIN, Result, Tree

CHECKOUT = Path(__file__).parents[2]
PACKAGED = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    ".pre-commit-hooks.yaml",
    "migrate",
    "rules",
    "shim",
    "docs/rules",
)
"""What a build of the distribution takes from the checkout."""

PADDLE = "import paddle\n\nscaler = paddle.amp.GradScaler()\n"
AS_PADDLE = "paddle.amp.GradScaler(init_loss_scaling"


def run(command: Sequence[str], folder: Path, **environment: str) -> Result:
    """Run in ``folder`` as from a shell of the user's: nothing of this process's git, Python path or colours."""
    dropped = ("GIT_", "PYTHON", "PRE_COMMIT", "NO_COLOR", "FORCE_COLOR")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    names = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    return subprocess.run(
        command, cwd=folder, env={**clean, **names, **environment}, capture_output=True, timeout=600, check=False
    )


def git(folder: Path, *arguments: str) -> str:
    done = run(["git", *arguments], folder)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@dataclass(frozen=True)
class Hooks:
    """A git repository with a copy of this checkout, and pre-commit's own folder with the environment built from it."""

    repository: Path
    home: Path

    def run(self, folder: Path, *arguments: str) -> Result:
        """``pre-commit ARGUMENTS`` in ``folder``."""
        return run([sys.executable, "-m", "pre_commit", *arguments], folder, PRE_COMMIT_HOME=str(self.home))

    def configure(self, folder: Path, hook: str, *lines: str) -> None:
        """Stage a .pre-commit-config.yaml with ``hook`` and further keys of it."""
        text = f"repos:\n- repo: {self.repository}\n  rev: HEAD_\n  hooks:\n  - id: {hook}\n"
        head = git(self.repository, "rev-parse", "HEAD").strip()
        keys = "".join(f"    {line}\n" for line in lines)
        (folder / ".pre-commit-config.yaml").write_text(text.replace("HEAD_", head) + keys)
        git(folder, "add", ".pre-commit-config.yaml")


@pytest.fixture(scope="session")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Hooks:
    """Built once: pre-commit installs the copy with its dependencies at the first run of a hook."""
    repository = tmp_path_factory.mktemp("paddletorch")
    for name in PACKAGED:
        source, target = CHECKOUT / name, repository / name
        target.parent.mkdir(exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    git(repository, "init", "-q")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "copy")
    return Hooks(repository, tmp_path_factory.mktemp("pre-commit"))


@pytest.fixture
def stage(folder: Path, tree: Tree) -> Callable[..., None]:
    """Writes files into a new git repository in the folder, and stages them."""
    git(folder, "init", "-q")

    def write(files: dict[str, str | bytes]) -> None:
        tree(files)
        git(folder, "add", "-A")

    return write


def test_hooks_file_is_valid() -> None:
    assert (
        run([sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml"], CHECKOUT).returncode
        == 0
    )


@pytest.mark.parametrize(
    ("framework", "source", "expected"),
    [("paddle", PLAIN, AS_PADDLE), ("torch", PADDLE, "torch.amp.GradScaler(")],
)
def test_check_then_convert(
    hooks: Hooks, stage: Callable[..., None], folder: Path, framework: str, source: str, expected: str
) -> None:
    stage({"a.py": source, "b.py": "print(1)\n", "note.md": "import torch\n"})
    hooks.configure(folder, f"paddletorch-check-to-{framework}", "verbose: true")
    checked = hooks.run(folder, "run")
    assert checked.returncode == 1
    assert b"a.py\n  3:10 AMP101 " in checked.stdout
    assert b"2 files scanned: 1 with uses, 1 would change." in checked.stdout
    assert (folder / "a.py").read_text() == source

    hooks.configure(folder, f"paddletorch-convert-to-{framework}")
    converted = hooks.run(folder, "run")
    assert converted.returncode == 1
    assert b"files were modified by this hook" in converted.stdout
    assert expected in (folder / "a.py").read_text()
    git(folder, "add", "-A")
    assert hooks.run(folder, "run").returncode == 0

    hooks.configure(folder, f"paddletorch-check-to-{framework}")
    assert hooks.run(folder, "run").returncode == 0


def test_nothing_staged_for_it(hooks: Hooks, stage: Callable[..., None], folder: Path) -> None:
    stage({"note.md": "import torch\n"})
    hooks.configure(folder, "paddletorch-convert-to-paddle")
    skipped = hooks.run(folder, "run")
    assert skipped.returncode == 0
    assert b"Skipped" in skipped.stdout


def test_findings_fail_both_hooks_with_a_report(hooks: Hooks, stage: Callable[..., None], folder: Path) -> None:
    stage({"a.py": FINDING})
    for hook in ("paddletorch-check-to-paddle", "paddletorch-convert-to-paddle"):
        hooks.configure(folder, hook)
        result = hooks.run(folder, "run")
        assert result.returncode == 1
        assert b"a.py\n  4:7 AMP226 " in result.stdout


def test_a_file_that_cannot_be_parsed_fails_and_the_others_are_converted(
    hooks: Hooks, stage: Callable[..., None], folder: Path
) -> None:
    stage({"a.py": BROKEN, "b.py": PLAIN})
    hooks.configure(folder, "paddletorch-convert-to-paddle")
    result = hooks.run(folder, "run")
    assert result.returncode == 1
    assert b"a.py\n  1:" in result.stdout
    assert b"SRC001" in result.stdout
    assert AS_PADDLE in (folder / "b.py").read_text()


def test_settings_of_the_repository_hold(hooks: Hooks, stage: Callable[..., None], folder: Path) -> None:
    settings = '[tool.paddletorch]\ntarget-version = "3.3"\nexclude = ["vendored/"]\n'
    stage({"pyproject.toml": settings, "vendored/a.py": PLAIN, "b.py": PLAIN})
    hooks.configure(folder, "paddletorch-convert-to-paddle", "args: [--ignore, AMP226]")
    assert hooks.run(folder, "run").returncode == 1
    assert (folder / "vendored/a.py").read_text() == PLAIN
    assert "paddle.amp.GradScaler()" in (folder / "b.py").read_text()


SCRIPT = f"#!/usr/bin/env python3\n{PLAIN}"
AS_OPTIONS = ("--write", "--tables=evil.py", "-q.py", "--output=new.py")
"""Names of Python files, two of them of options that would change what the hook does."""


@pytest.mark.parametrize("args", ["", "args: [--target-version, '3.3', --]"])
def test_a_file_that_is_called_as_an_option_is_a_file(
    hooks: Hooks, stage: Callable[..., None], folder: Path, args: str
) -> None:
    stage(dict.fromkeys(AS_OPTIONS, SCRIPT))
    for name in AS_OPTIONS:
        (folder / name).chmod(0o755)
    git(folder, "add", "-A")
    hooks.configure(folder, "paddletorch-check-to-paddle", *filter(None, [args]))
    result = hooks.run(folder, "run")
    assert result.returncode == 1
    assert b"4 files scanned: 4 with uses, 4 would change." in result.stdout
    assert {(folder / name).read_text() for name in AS_OPTIONS} == {SCRIPT}


def test_args_without_an_end_let_no_file_be_an_option(hooks: Hooks, stage: Callable[..., None], folder: Path) -> None:
    stage({"--write": SCRIPT, "a.py": PLAIN})
    (folder / "--write").chmod(0o755)
    git(folder, "add", "-A")
    hooks.configure(folder, "paddletorch-check-to-paddle", "args: [--target-version, '3.3']")
    result = hooks.run(folder, "run")
    assert result.returncode == 1
    assert b"--write is an option, and a file is called so too" in result.stdout
    assert (folder / "a.py").read_text() == PLAIN


@pytest.mark.parametrize("serial", ["true", "false"])
def test_many_files(hooks: Hooks, stage: Callable[..., None], folder: Path, serial: str) -> None:
    """Also if a user lets pre-commit run batches side by side: every file is converted once, and whole."""
    names = [f"package_{n % 7}/a_rather_long_name_of_a_module_{n}.py" for n in range(210)]
    stage(dict.fromkeys(names, PLAIN) | {"broken.py": BROKEN})
    hooks.configure(folder, "paddletorch-convert-to-paddle", f"require_serial: {serial}")
    result = hooks.run(folder, "run", "--all-files")
    assert result.returncode == 1
    assert result.stdout.count(b"SRC001 cannot") == 1
    contents = {(folder / name).read_text() for name in names}
    assert len(contents) == 1
    assert AS_PADDLE in contents.pop()
    (folder / "broken.py").unlink()
    git(folder, "add", "-A")
    assert hooks.run(folder, "run", "--all-files").returncode == 0
