"""Every command and option that the documentation names exists."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from paddletorch import convert
from paddletorch.cli.main import cli

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_PREFIX = re.compile(r"^(\.venv/bin/|- run: |python -m |[A-Z_]+=\S+ )+")
_OPTION = re.compile(r"--[a-z][a-z-]+")


def _tokens(page: Path) -> Iterator[Token]:
    for token in MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8")):
        yield token
        yield from token.children or ()


def _command_lines(page: Path) -> Iterator[list[str]]:
    """The words of each use of the command: in shell blocks and in inline code."""
    for token in _tokens(page):
        text = token.content.replace("\\\n", " ") if token.type in ("fence", "code_inline") else ""
        for line in text.splitlines():
            for part in re.split(r"[|;&]+ ", line.removeprefix("$ ").strip()):
                words = _PREFIX.sub("", part.strip())
                if words.startswith("paddletorch ") and token.info in ("", "sh", "console", "yaml", "bash"):
                    yield shlex.split(words.partition(" #")[0].partition(" <")[0], posix=True)[1:]


def _own_words(command: click.Command, words: list[str]) -> list[str]:
    """Without what follows the name of a program that the command runs."""
    context = click.Context(command, **command.context_settings)
    if context.allow_interspersed_args:
        return words
    program = command.make_parser(context).parse_args(list(words))[0].get("arguments")
    return words[: len(words) - len(program)] if isinstance(program, tuple) else words


def _options(command: click.Command) -> set[str]:
    own = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    return own | {"--help", "-h"}


def _subcommands(group: click.Group) -> dict[str, click.Command]:
    context = click.Context(group)
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def _every_option(command: click.Command) -> set[str]:
    subcommands = _subcommands(command).values() if isinstance(command, click.Group) else ()
    return _options(command).union(*map(_every_option, subcommands))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands(page: Path) -> None:
    for words in _command_lines(page):
        command: click.Command = cli
        rest = words
        while isinstance(command, click.Group) and rest and re.fullmatch("[a-z-]+", rest[0]) and rest[0][0] != "-":
            assert rest[0] in _subcommands(command), words
            command, rest = _subcommands(command)[rest[0]], rest[1:]
        named = {word.partition("=")[0] for word in _own_words(command, rest) if word.startswith("--") and word != "--"}
        assert named <= _options(command), words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_options(page: Path) -> None:
    inline = [token.content for token in _tokens(page) if token.type == "code_inline"]
    named = {option for text in inline if not _OTHER_PROGRAM.match(text) for option in _OPTION.findall(text)}
    assert named <= _every_option(cli)


_OTHER_PROGRAM = re.compile(r"(python|pip|pytest|pre-commit|sphinx-build|git|patch|torchrun)\b")


def test_the_links_of_the_readme_lead_somewhere() -> None:
    for token in _tokens(ROOT / "README.md"):
        link = str(token.attrs.get("href", ""))
        assert not link or "://" in link or (ROOT / link.partition("#")[0]).exists(), link


def test_codemods_are_named_as_libcst_finds_them() -> None:
    """Without ``-x`` its tool looks into the modules of a configuration file only."""
    named = [
        line
        for page in PAGES
        for line in page.read_text(encoding="utf-8").splitlines()
        if "libcst.tool codemod" in line and "paddletorch.codemod" in line
    ]
    assert named and all(" -x " in line for line in named), named


def test_the_model_of_the_readme_converts_as_it_says() -> None:
    blocks = (token.content for token in _tokens(ROOT / "README.md") if token.info == "diff")
    model = next(block for block in blocks if "class " in block).splitlines()
    before, after = ("".join(f"{line[1:]}\n" for line in model if line[:1] in {"", " ", sign}) for sign in ("-", "+"))
    assert convert(before, to="paddle").output == after
