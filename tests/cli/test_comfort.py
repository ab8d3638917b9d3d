"""What helps a user who mistypes, has a release that nobody knows, or lacks a framework."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import numpy
import pytest
from paddletorch.batch.progress import track
from paddletorch_rules.releases import doubt

from .conftest import PLAIN, Run, Tree


@pytest.mark.parametrize(("typed", "meant"), [("convrt", "convert"), ("explan", "explain"), ("sate", "state")])
def test_a_mistyped_command_is_answered_with_the_nearest(paddletorch: Run, typed: str, meant: str) -> None:
    result = paddletorch(typed)
    assert result.returncode == 2
    assert f"No such command {typed!r}; did you mean {meant!r}?" in result.stderr.decode()
    assert b"did you mean" not in paddletorch("nothing-like-it").stderr


@pytest.mark.parametrize(
    ("specifier", "said"),
    [
        (None, ""),
        ("3.3", ""),
        ("develop", ""),
        (">=2.6", ""),
        ("9.9", "release 9.9 of paddle is newer than any that the tables know: what holds for"),
        ("2.6.77", "release 2.6.77 of paddle is not one that the tables know: what holds for 2.6."),
    ],
)
def test_a_release_that_nobody_knows_is_doubted(specifier: str | None, said: str) -> None:
    assert doubt("paddle", specifier).startswith(said)
    assert bool(doubt("paddle", specifier)) is bool(said)


def test_the_doubt_is_in_the_report_and_changes_no_exit_code(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": PLAIN})
    result = paddletorch("convert", "--to", "paddle", "--target-version", "9.9", "--write")
    assert result.returncode == 0
    assert b"release 9.9 of paddle is newer than any that the tables know" in result.stdout


MODELS = ("compare", "--to", "paddle", "--source", "a:Net", "--converted", "b:Net")


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (("run", "--on", "paddle", "a.py"), "the program is to run on it"),
        (("record", "--to", "torch", "--", "python", "a.py"), "the program is to run on it"),
        (MODELS, "one of the two models runs on it"),
        (("rules", "coverage"), "its names are asked of it"),
        (("rules", "check", "--execute"), "examples of rows are run on it"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_what_needs_a_framework_says_what_to_install(
    paddletorch: Run, tree: Tree, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], why: str
) -> None:
    tree({"a.py": PLAIN})
    monkeypatch.setitem(sys.modules, "paddle", None)
    result = paddletorch(*command)
    assert result.returncode == 2
    assert f"paddle is not installed here, and {why}: pip install 'paddletorch[paddle]'" in result.stderr.decode()


def test_a_checkpoint_of_arrays_says_what_to_install(process: Run, folder: Path) -> None:
    (folder / "a.pdparams").write_bytes(pickle.dumps({"weight": numpy.zeros(2, "float32")}, protocol=4))
    (folder / "sitecustomize.py").write_text("import sys\nsys.modules['numpy'] = None\n")
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    result = process("state", "convert", "--to", "torch", "a.pdparams", "a.pt", PYTHONPATH=path)
    assert result.returncode == 2
    assert b"a.pdparams holds arrays, and numpy" in result.stderr
    assert b" is not installed: pip install numpy" in result.stderr


def test_no_command_shows_the_help_in_lines(paddletorch: Run) -> None:
    for words in ((), ("rules",), ("state",)):
        shown = paddletorch(*words)
        lines = (shown.stdout + shown.stderr).decode().splitlines()
        assert lines[0].startswith("Usage: paddletorch")
        assert "Commands:" in lines


@pytest.mark.parametrize("columns", ["40", "80", "100"])
def test_lines_end_with_words(paddletorch: Run, tree: Tree, columns: str) -> None:
    """No line is wider than the terminal unless one word, path or command is."""
    tree({"a.py": "import torch\n\nx = torch.no_such_name(1)\ntorch.jit.save(x, 'x')\nlayer = torch.nn.Linear(2, 3)\n"})
    lines = paddletorch("convert", "--to", "paddle", COLUMNS=columns).stdout.decode().splitlines()
    wide = [line for line in lines if len(line) > int(columns)]
    assert all(line.startswith("  paddletorch ") or " " not in line.strip() for line in wide), wide
    assert {word for line in lines for word in line.split()} >= {"torch.no_such_name", "distributions"}


@pytest.mark.parametrize(
    ("name", "near"),
    [("torch.gahter", "torch.gather"), ("torch.nn.Linaer", "torch.nn.Linear"), ("torch.no_such_function", "")],
)
def test_only_near_names_are_suggested(paddletorch: Run, name: str, near: str) -> None:
    """That both are torch's makes no name near."""
    said = paddletorch("lookup", name).stderr.decode()
    assert ("near are" in said) == bool(near) and near in said


def test_without_a_terminal_no_bar_is_made() -> None:
    assert list(track("abc", [1, 2, 3], "Converting", enabled=True)) == ["a", "b", "c"]
