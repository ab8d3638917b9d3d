"""The quick starts are followed to the letter: their files are written, their commands run, their output compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("quickstart-to-paddle", "quickstart-to-torch", "add-a-row")
_FILE = re.compile(r"`([\w./-]+\.\w+)`:$")


def _steps(page: str) -> Iterator[tuple[str, str, str]]:
    """The page's blocks in order: a language, the name of a file that the text before it ends with, the content."""
    tokens: list[Token] = MarkdownIt().parse((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    before = ""
    for token in tokens:
        if token.type == "inline":
            before = token.content
        elif token.type == "fence":
            named = _FILE.search(before)
            yield token.info, named[1] if named else "", token.content


def _commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block with the output below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def _matches(output: str, expected: str) -> bool:
    """Whether the output is the expected one, where ``…`` is any text, and alone on a line any number of lines."""
    pattern = re.escape(expected.strip()).replace("…", ".*?")
    return re.fullmatch(pattern, output.strip(), flags=re.DOTALL) is not None


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """``python`` and ``paddletorch`` are the ones under test, and the frameworks keep their warnings to themselves."""
    folder = tmp_path_factory.mktemp("bin")
    for name, command in (("python", ""), ("paddletorch", "-m paddletorch")):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n')
        script.chmod(0o755)
    quiet = {"PYTHONWARNINGS": "ignore", "GLOG_minloglevel": "3", "COLUMNS": "200", "NO_COLOR": "1"}
    return {**os.environ, **quiet, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.parametrize("page", PAGES)
def test_follow(page: str, tmp_path: Path, environment: dict[str, str]) -> None:
    folder = tmp_path
    for language, name, content in _steps(page):
        if language in ("python", "toml"):
            file = tmp_path / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(content)
        elif language == "console":
            assert content.startswith("$ ")
            for command, expected in _commands(content):
                if command.startswith("cd "):
                    folder = (folder / command[3:]).resolve(strict=True)
                    continue
                done = subprocess.run(
                    ["bash", "-c", command],
                    cwd=folder,
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
                assert done.returncode in (0, 1) or expected.startswith("Error: "), done.stdout
                assert _matches(done.stdout, expected), f"$ {command}\n{done.stdout}"
        else:
            assert language == "sh"  # what changes the environment or the checkout: .ci/run installs


@pytest.mark.parametrize(
    ("output", "expected", "same"),
    [
        ("a\nb\nc\n", "a\n…\nc\n", True),
        ("a 1.5e-6 b\n", "a … b\n", True),
        ("a\nb\n", "a\n", False),
        ("x\na\n", "a\n", False),
    ],
)
def test_output_is_compared(output: str, expected: str, same: bool) -> None:
    assert _matches(output, expected) is same
