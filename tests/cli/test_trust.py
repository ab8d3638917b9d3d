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
    (project / ".git").mkdir()
    (project / "pkg" / "paddletorch.toml").write_text(TABLES.replace("mine", "../mine"))
    name = str(project / "pkg" / "b.py")
    result = paddletorch("convert", "-", "--stdin-filename", name, stdin=PLAIN.encode())
    assert b"paddle.amp.GradScaler" in result.stdout
    assert b"left out" not in result.stderr


@pytest.mark.parametrize(
    ("lines", "options", "note", "key"),
    [
        ('baseline = "../known.json"', ("--baseline", "../known.json"), "not in", "baseline"),
        ('baseline = "link/known.json"', ("--baseline", "../known.json"), "not in", "baseline"),
        ('baseline = "known link.json"', ("--baseline", "../known.json"), "not in", "baseline"),
        ('tables = ["../mine.toml"]', ("--tables", "../mine.toml"), "not in", "tables"),
        ('tables = ["link/mine.toml"]', ("--tables", "../mine.toml"), "not in", "tables"),
        ("max-file-size = 0", ("--max-file-size", "0"), "not lift it", "max-file-size"),
        ("max-file-size = 20_000_000", ("--max-file-size", "20000000"), "not lift it", "max-file-size"),
        ("max-file-seconds = 0.0", ("--max-file-seconds", "0"), "not lift it", "max-file-seconds"),
        ("max-file-seconds = inf", ("--max-file-seconds", "inf"), "not lift it", "max-file-seconds"),
    ],
)
@pytest.mark.parametrize("command", ["convert", "config"])
def test_what_settings_may_not_say_for_whoever_runs_them(
    command: str,
    paddletorch: Run,
    tree: Tree,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    lines: str,
    options: tuple[str, ...],
    note: str,
    key: str,
) -> None:
    """They are left out, with a note that names the key; --trust or the option of that name uses them."""
    known = '{"version": 1, "to": "paddle", "findings": {}}'
    outside = {f"{place}known.json": known for place in ("", "outside/")}
    outside |= {f"{place}mine.toml": MINE for place in ("", "outside/")}
    tree({"project/a.py": PLAIN, **outside})
    project = folder / "project"
    (project / ".git").mkdir()
    (project / "link").symlink_to(folder / "outside")
    (project / "known link.json").symlink_to(folder / "known.json")
    (project / "paddletorch.toml").write_text(f'to = "paddle"\nexclude = ["b.py"]\n{lines}\n')
    monkeypatch.chdir(project)
    said = f"{project / 'paddletorch.toml'}: {key}: left out"

    def run(*more: str) -> str:
        done = paddletorch(command, ".", *more)
        assert done.returncode == (0 if command == "config" else 1), done.stderr
        return " ".join(done.stdout.decode().split())

    assert said in run() and note in run()
    assert said not in run("--trust")
    if command == "convert":
        assert said not in run(*options)
    else:
        in_force = json.loads(paddletorch("config", ".", "--format", "json").stdout)
        trusted = json.loads(paddletorch("config", ".", "--format", "json", "--trust").stdout)
        assert in_force["settings"]["exclude"]["value"] == ["b.py"]  # the rest of the file holds
        assert trusted["settings"][key]["file"] == str(project / "paddletorch.toml")
        assert in_force["settings"][key]["file"] is None


def test_no_baseline_is_written_where_settings_name_a_place_elsewhere(
    paddletorch: Run, tree: Tree, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree({"project/a.py": PLAIN, "project/paddletorch.toml": 'to = "paddle"\nbaseline = "../outside.json"\n'})
    (folder / "project" / ".git").mkdir()
    monkeypatch.chdir(folder / "project")
    refused = paddletorch("convert", ".", "--write-baseline")
    assert refused.returncode == 2 and not (folder / "outside.json").exists()
    assert b"not in" in refused.stderr and b"--trust" in refused.stderr
    assert paddletorch("convert", ".", "--write-baseline", "--trust").returncode == 1
    assert (folder / "outside.json").exists()


def test_lower_limits_of_settings_hold(paddletorch: Run, tree: Tree) -> None:
    tree({"paddletorch.toml": 'to = "paddle"\nmax-file-size = 5\nmax-file-seconds = 60\n', "a.py": PLAIN})
    done = paddletorch("convert", ".")
    assert b"SRC017" in done.stdout and b"left out" not in done.stdout


def test_settings_name_few_tables(paddletorch: Run, tree: Tree) -> None:
    """A table of comments alone takes a second to be read."""
    names = ["mine.toml"] * 21
    tree({"paddletorch.toml": f'to = "paddle"\ntables = {json.dumps(names)}\n', "a.py": PLAIN, "mine.toml": ""})
    done = paddletorch("convert", ".")
    assert done.returncode == 2
    assert b"paddletorch.toml: tables: more than 20 tables" in done.stderr
