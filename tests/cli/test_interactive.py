"""``--interactive``: each answer leaves a file that runs on, and what was answered is what is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Run, Tree

TEXT = """\
import torch
import torch.nn as nn

net = nn.Linear(3, 4)
x = torch.rand(2, 3)
y = torch.gather(x, 1, x.long())
z = x.view(-1)
"""
QUESTIONS = 4  # the import with the layer, and a line each


def answers(paddletorch: Run, text: str, *arguments: str) -> tuple[int, str, str]:
    result = paddletorch("convert", "--to", "paddle", "--no-cache", "-i", *arguments, "a.py", stdin=text.encode())
    return result.returncode, result.stdout.decode(), Path("a.py").read_text()


def converted(paddletorch: Run) -> str:
    return paddletorch("convert", "--to", "paddle", "-", stdin=TEXT.encode()).stdout.decode()


@pytest.fixture(autouse=True)
def file(tree: Tree) -> None:
    tree({"a.py": TEXT})


@pytest.mark.parametrize("given", ["y\n" * QUESTIONS, "a\n", "y\na\n", "?\nnonsense\n\na\n"])
def test_all_applied_is_what_convert_writes(paddletorch: Run, given: str) -> None:
    code, out, text = answers(paddletorch, given)
    assert text == converted(paddletorch) and code == 0
    assert f"(1/{QUESTIONS}) Make this change [y,n,i,a,d,q,?]?" in out
    assert ("leave this line as it is" in out) is ("?" in given)


def test_a_change_is_shown_as_a_diff_with_the_uses_behind_it(paddletorch: Run) -> None:
    _, out, _ = answers(paddletorch, "a\n")
    assert "a.py:2\n import torch\n-import torch.nn as nn\n+import paddle.nn as nn\n" in out
    assert "With it the uses of torch.nn.Linear on line 4, whose text stays." in out


def test_what_is_skipped_stays_and_its_import_with_it(paddletorch: Run) -> None:
    code, out, text = answers(paddletorch, "y\ny\nn\ny\n")
    assert code == 1 and "1 change skipped; the next run asks again" in out
    assert "y = torch.gather(x, 1, x.long())\n" in text and "import torch\n" in text
    assert "x = paddle.rand([2, 3])" in text and "z = x.reshape([-1])" in text
    compile(text, "a.py", "exec")


def test_ignore_here_writes_the_comment_that_later_runs_read(paddletorch: Run) -> None:
    code, out, text = answers(paddletorch, "y\ny\ni\ny\n")
    assert "y = torch.gather(x, 1, x.long())  # paddletorch: ignore[TEN105, TEN106]\n" in text
    assert code == 0 and "skipped" not in out
    again = paddletorch("convert", "--to", "paddle", "a.py")
    assert again.returncode == 0 and Path("a.py").read_text() == text, again.stdout


@pytest.mark.parametrize("given", ["q\n", "d\n", "", "n\n" * QUESTIONS])
def test_a_file_of_which_nothing_is_taken_stays_as_it_is(paddletorch: Run, given: str) -> None:
    code, _, text = answers(paddletorch, given)
    assert text == TEXT and code == 1


def test_quit_keeps_what_was_answered_and_leaves_the_other_files(paddletorch: Run, tree: Tree) -> None:
    tree({"b.py": TEXT})
    result = paddletorch("convert", "--to", "paddle", "-i", "a.py", "b.py", stdin=b"y\ny\nq\n")
    text = Path("a.py").read_text()
    assert "x = paddle.rand([2, 3])" in text and "z = x.view(-1)" in text
    assert Path("b.py").read_text() == TEXT and result.returncode == 1
    assert b"b.py:" not in result.stdout.partition(b"scanned")[0]


def test_an_ignored_use_comes_with_the_changes_that_were_taken(paddletorch: Run) -> None:
    _, _, text = answers(paddletorch, "n\nn\ny\ni\n")
    assert "z = x.view(-1)  # paddletorch: ignore[TEN104]\n" in text
    assert "paddle.take_along_axis(" in text and "net = nn.Linear(3, 4)" in text and "x = torch.rand(2, 3)" in text
    compile(text, "a.py", "exec")


def test_a_notebook_is_asked_about_as_a_whole(paddletorch: Run, tree: Tree) -> None:
    cell = '{"cell_type": "code", "source": ["import torch\\n", "x = torch.rand(2, 3)"], "metadata": {}, "outputs": []}'
    notebook = f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}'
    tree({"n.ipynb": notebook})
    run = ("convert", "--to", "paddle", "-i", "n.ipynb")
    assert paddletorch(*run, stdin=b"n\n").returncode == 1 and Path("n.ipynb").read_text() == notebook
    assert paddletorch(*run, stdin=b"y\n").returncode == 0 and "paddle.rand([2, 3])" in Path("n.ipynb").read_text()


def test_a_latin_1_file_keeps_its_bytes(paddletorch: Run, tree: Tree) -> None:
    text = "# coding: latin-1\r\nimport torch\r\nx = torch.rand(2, 3)  # é\r\ny = x.view(-1)\r\n".encode("latin-1")
    tree({"a.py": text})
    paddletorch("convert", "--to", "paddle", "-i", "a.py", stdin=b"y\ni\n")
    expected = (
        "# coding: latin-1\r\nimport paddle\r\nx = paddle.rand([2, 3])  # é\r\n"
        "y = x.view(-1)  # paddletorch: ignore[TEN104]\r\n"
    )
    assert Path("a.py").read_bytes() == expected.encode("latin-1")


@pytest.mark.parametrize(
    "others", [["--output", "o"], ["--diff"], ["--format", "json"], ["--watch"], ["--write-baseline"]]
)
def test_what_does_not_go_with_questions(paddletorch: Run, others: list[str]) -> None:
    result = paddletorch("convert", "--to", "paddle", "-i", *others, "a.py")
    assert result.returncode == 2 and b"--interactive asks at the terminal" in result.stderr
    assert Path("a.py").read_text() == TEXT


def test_what_belongs_to_a_change_that_is_made_is_not_left_alone(paddletorch: Run, tree: Tree) -> None:
    fixture = Path(__file__).parents[2] / "fixtures" / "to_paddle" / "reentered_autocast"
    text = fixture.with_name("reentered_autocast.in.py").read_text()
    tree({"a.py": text})
    changed = next(n for n, line in enumerate(text.splitlines(), 1) if "with ctx:" in line)
    code, out, new = answers(paddletorch, "y\nn\nd\n")
    assert f"It cannot be left alone: line {changed} would change all the same" in out, out
    assert new.count("with ctx():") == 2 and "paddle.amp.auto_cast" in new and code == 0
