"""Which settings files are used: none from above the repository, of another user, or with tables from elsewhere."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from .conftest import PLAIN, Run, Tree

SETTINGS = 'to = "paddle"\nexclude = ["skip.py"]\n'
TABLES = f'{SETTINGS}tables = ["mine.toml"]\n'
MINE = '[[area]]\ncode = "MIN100"\nname = "mine"\ntitle = "of mine"\n'


@pytest.fixture
def project(tree: Tree, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is not the current one, with a file in ``pkg``; what is in it is above nothing of the command's."""
    tree({"project/pkg/a.py": PLAIN, "project/pkg/skip.py": PLAIN, "project/mine.toml": MINE, "elsewhere/x": ""})
    monkeypatch.chdir(folder / "elsewhere")
    return folder / "project"


def file_in_force(paddletorch: Run, path: Path, *options: str) -> str | None:
    found: str | None = json.loads(paddletorch("config", str(path), "--format", "json", *options).stdout)["file"]
    return found


@pytest.mark.parametrize(
    ("repository", "named", "cwd", "holds"),
    [
        ("project", "project/pkg", "elsewhere", True),  # up to the top of the repository
        ("project/pkg", "project/pkg", "elsewhere", False),
        ("project/pkg", "project", "elsewhere", True),  # what the command names is looked into
        ("", "project/pkg/a.py", "elsewhere", False),  # no repository: only where the file lies
        ("", "project/pkg/a.py", "project", True),  # or up to the current folder
        ("", "project/pkg/a.py", "project/pkg", False),
        ("project/pkg", "project/pkg", "project", False),
    ],
)
def test_how_far_up_settings_are_looked_for(
    paddletorch: Run, project: Path, monkeypatch: pytest.MonkeyPatch, repository: str, named: str, cwd: str, holds: bool
) -> None:
    top = project.parent
    (project / "paddletorch.toml").write_text(SETTINGS)
    if repository:
        (top / repository / ".git").mkdir()
    monkeypatch.chdir(top / cwd)
    result = paddletorch("convert", "--to", "paddle", str(top / named), "--force-exclude", "--format", "json")
    scanned = json.loads(result.stdout)["summary"]["files"]["scanned"]
    assert scanned == (1 if holds or named.endswith(".py") else 2)
    without = paddletorch("convert", str(top / named))
    assert (without.returncode == 2) is not holds  # nothing says where to convert to


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_settings_of_another_user_are_left_out_with_a_note(paddletorch: Run, project: Path) -> None:
    settings = project / "paddletorch.toml"
    settings.write_text(SETTINGS)
    os.chown(settings, 12345, 12345)
    command = ("convert", "--to", "paddle", str(project))
    result = paddletorch(*command)
    assert b"2 files scanned" in result.stdout
    assert f"{settings} was left out: it belongs to another user (12345); --trust uses it" in " ".join(
        result.stdout.decode().split()
    )
    trusting = paddletorch(*command, "--trust")
    assert b"1 file scanned" in trusting.stdout
    assert b"left out" not in trusting.stdout
    assert result.returncode == trusting.returncode == 1
    assert b"was left out: it belongs to another user" in paddletorch("convert", str(project)).stderr  # no direction
    assert b"1 file scanned" in paddletorch(*command, SUDO_UID="12345").stdout
    assert file_in_force(paddletorch, project) is None
    assert file_in_force(paddletorch, project, "--trust") == str(settings)
    assert b"was left out" in paddletorch("config", str(project)).stdout
    assert b"was left out" in paddletorch("run", "--on", "paddle", str(project / "none.py")).stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_what_another_user_wrote_wrongly_ends_no_run(paddletorch: Run, project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.paddletorch]\nto = ")
    os.chown(project / "pyproject.toml", 12345, 12345)
    assert paddletorch("convert", "--to", "paddle", str(project)).returncode == 1
    (project / "pyproject.toml").write_text("[tool.other]\n")  # no settings: passed over without a word
    assert b"left out" not in paddletorch("convert", "--to", "paddle", str(project)).stdout


@pytest.mark.parametrize(
    ("named", "cwd", "used"),
    [
        ("project", "elsewhere", True),
        ("project/pkg", "elsewhere", False),
        ("project/pkg", "project", True),  # as pre-commit calls it: from the top of the repository
        ("project/pkg", "project/pkg", False),
        ("project/pkg/a.py", "elsewhere", False),
    ],
)
def test_settings_with_tables_must_lie_in_what_was_named(
    paddletorch: Run, project: Path, monkeypatch: pytest.MonkeyPatch, named: str, cwd: str, used: bool
) -> None:
    top = project.parent
    (project / "paddletorch.toml").write_text(TABLES)
    (project / ".git").mkdir()
    monkeypatch.chdir(top / cwd)
    command = ("convert", "--to", "paddle", str(top / named), "--format", "json")
    report = json.loads(paddletorch(*command).stdout)
    assert report["options"]["tables"] == ([str(project / "mine.toml")] if used else [])
    assert any("which say what is written into the code" in note["message"] for note in report["notes"]) is not used
    trusted = json.loads(paddletorch(*command, "--trust").stdout)
    assert trusted["options"]["tables"] == [str(project / "mine.toml")]
    assert not [note for note in trusted["notes"] if "left out" in note["message"]]


def test_stdin_uses_the_folder_of_its_name(paddletorch: Run, project: Path) -> None:
    (project / "pkg" / "paddletorch.toml").write_text(TABLES.replace("mine", "../mine"))
    name = str(project / "pkg" / "b.py")
    result = paddletorch("convert", "-", "--stdin-filename", name, stdin=PLAIN.encode())
    assert b"paddle.amp.GradScaler" in result.stdout
    assert b"left out" not in result.stderr
