"""What helps a user who mistypes, has a release that nobody knows, or lacks a framework."""

from __future__ import annotations

import sys
from pathlib import Path

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


def test_run_says_what_to_install(paddletorch: Run, tree: Tree, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree({"a.py": PLAIN})
    monkeypatch.setitem(sys.modules, "paddle", None)
    result = paddletorch("run", "--on", "paddle", "a.py")
    assert result.returncode == 2
    assert b"paddle is not installed here, and the program is to run on it: pip install 'paddletorch[paddle]'" in (
        result.stderr
    )


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
