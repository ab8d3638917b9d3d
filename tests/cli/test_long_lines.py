"""One line of a file cannot hold a run, whatever the file is: none of these would have ended in hours."""

from __future__ import annotations

import json

import pytest

from .conftest import PLAIN, Run, Tree

BLANKS = " " * 300_000
COMMAND = "pip install " + "torch " * 50_000
FILES = {
    "requirements.txt": f"torch{BLANKS}x\n",
    "setup.cfg": f"[options]\ninstall_requires =\n  torch{BLANKS}x\n",
    "environment.yml": f"dependencies:\n  - pytorch{BLANKS}x\n",
    "Dockerfile": f"RUN {COMMAND}\n",
}
CELLS = {
    "a command": f"!{COMMAND}",
    "blanks before a name": f"{BLANKS}x",
    "blanks in a statement": f"%time -a{BLANKS}-",
    "blanks behind a question": f"a?{BLANKS}x",
    "blanks before a sign": f"{BLANKS}-",
}


@pytest.mark.parametrize("name", FILES)
def test_a_line_of_a_project_file(process: Run, tree: Tree, name: str) -> None:
    tree({name: FILES[name], "a.py": PLAIN})
    result = process("convert", "--to", "paddle", "--project-files")  # which ends after 120 s
    assert result.returncode in (0, 1), result.stderr


@pytest.mark.parametrize("name", CELLS)
def test_a_line_of_a_notebook(process: Run, tree: Tree, name: str) -> None:
    cell = {"cell_type": "code", "source": f"{CELLS[name]}\n{PLAIN}", "metadata": {}, "outputs": []}
    tree({"a.ipynb": json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})})
    result = process("convert", "--to", "paddle")
    assert result.returncode in (0, 1), result.stderr


def test_many_comments_that_suppress(process: Run, tree: Tree) -> None:
    tree({"requirements.txt": "torch==1.0  # paddletorch: ignore[PRJ201]\n" * 50_000, "a.py": PLAIN})
    assert b"PRJ201" not in process("convert", "--to", "paddle").stdout


@pytest.mark.parametrize("codec", ["punycode", "idna", "PunyCode"])
def test_codecs_that_take_the_square_of_the_text(process: Run, tree: Tree, codec: str) -> None:
    tree({"a.py": f"# coding: {codec}\n{PLAIN}# -{'a' * 2_000_000}"})
    result = process("convert", "--to", "paddle")
    assert result.returncode == 2
    assert b"SRC002" in result.stdout
    assert b"names of hosts" in result.stdout
