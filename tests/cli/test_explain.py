"""``explain``: codes, names of rules, APIs, and lines of files."""

from __future__ import annotations

import pytest
from paddletorch_rules import load

from .conftest import Run, Tree

TEXT = """\
import torch
import torch.nn as nn

net = nn.Linear(3, 4)
y = torch.gather(
    net.weight, 1, net.bias.long()
)
z = torch.empty_quantized(y, y)
"""


@pytest.fixture(autouse=True)
def file(tree: Tree) -> None:
    tree({"a.py": TEXT, "paddletorch.toml": 'to = "paddle"\n'})


def said(paddletorch: Run, *what: str) -> str:
    result = paddletorch("explain", *what)
    assert result.returncode == 0, result.stderr
    return result.stdout.decode()


@pytest.mark.parametrize("code", sorted(load().diagnostics))
def test_the_name_of_a_rule_is_as_good_as_its_code(paddletorch: Run, code: str) -> None:
    assert said(paddletorch, load().diagnostics[code].name) == said(paddletorch, code)


def test_the_name_of_an_area_is_too(paddletorch: Run) -> None:
    area = load().areas["TEN105"]
    assert said(paddletorch, area.name.upper()) == said(paddletorch, "ten105")


def test_an_api_with_what_is_written_and_the_defaults_that_differ(paddletorch: Run) -> None:
    gather = said(paddletorch, "torch.gather")
    assert "torch.gather becomes, in paddle,   [TEN105 gather]" in gather
    assert "paddle.take_along_axis({arr}, {indices}" in gather and "default differs" not in gather
    assert "way out:" in said(paddletorch, "torch.empty_quantized")


def test_a_default_that_differs_is_named(paddletorch: Run) -> None:
    scaler = said(paddletorch, "torch.amp.GradScaler")
    assert "default differs: init_scale is 65536.0 here and 32768.0 from 2.0.0, 65536.0 from 2.5.1 there" in scaler
    assert "default differs" not in said(paddletorch, "torch.addmm"), "1 and 1.0 are alike"


def test_a_line_with_a_use(paddletorch: Run) -> None:
    for line in (5, 6, 7):  # of one statement
        text = said(paddletorch, f"a.py:{line}")
        assert "    y = torch.gather(\n" in text and "becomes\n    y = paddle.take_along_axis(" in text
        assert "torch.gather becomes, in paddle,   [TEN105 gather]" in text
        assert "torch.Tensor.long becomes, in paddle,   [TEN106 Tensor.long]" in text
        assert "'paddletorch explain TEN105' has the page of TEN105" in text


def test_a_line_with_a_finding_has_its_page(paddletorch: Run) -> None:
    text = said(paddletorch, "a.py:8:5:")  # as a report has it
    assert "\nTRN201 torch.empty_quantized has no counterpart in paddle" in text
    assert "\n# TRN201 " in text and "## What to do" in text and "## APIs" not in text


def test_an_import_names_the_uses_behind_it(paddletorch: Run) -> None:
    text = said(paddletorch, "a.py:2")
    assert "The import is for the uses on line 4 too, whose text stays." in text
    assert "torch.nn.Linear becomes, in paddle" in said(paddletorch, "a.py:4")


def test_a_line_on_which_nothing_happens(paddletorch: Run) -> None:
    assert "The line stays as it is: nothing of torch on it changes" in said(paddletorch, "a.py:3")


def test_the_direction_of_the_command_line_goes_first(paddletorch: Run) -> None:
    assert "to torch" in said(paddletorch, "a.py:5", "--to", "torch").splitlines()[0]


def test_a_file_that_fails_says_why(paddletorch: Run, tree: Tree) -> None:
    tree({"b.py": "import torch\nx = torch.rand(\n"})
    assert "SRC001 cannot be parsed" in said(paddletorch, "b.py:1")


def test_a_line_of_a_notebooks_cell(paddletorch: Run, tree: Tree) -> None:
    cell = '{"cell_type": "code", "source": ["import torch\\n", "x = torch.empty_quantized(a, b)"], "metadata": {}}'
    tree({"n.ipynb": f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}'})
    assert "\nTRN201 torch.empty_quantized" in said(paddletorch, "n.ipynb:cell 1:2:5")
    assert "stays as it is" in said(paddletorch, "n.ipynb:cell 1:1")


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("a.py:99", "a.py has 8 lines"),
        ("none.py:1", "none.py"),
        ("nothing-like-that", "did you mean 'nothing-like-it'?"),
        ("torch.gathr", "near are torch.gather"),
        ("TRN20", "did you mean 'TRN20"),
        ("../../README", "no such code, rule, API or line of a file"),
    ],
)
def test_what_there_is_not(paddletorch: Run, what: str, words: str) -> None:
    result = paddletorch("explain", what)
    assert result.returncode == 2 and words in result.stderr.decode()
