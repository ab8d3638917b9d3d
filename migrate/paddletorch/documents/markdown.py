"""Fenced Python in Markdown: markdown-it-py finds the fences, in lists and quotes too."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from paddletorch.documents.cells import Cell
from paddletorch.documents.magics import blank

_LANGUAGES = frozenset({"python", "python3", "py", "py3", "ipython", "ipython3", "pycon", "doctest"})
_DIRECTIVES = frozenset({"code-cell", "code-block", "code", "sourcecode", "ipython"})
"""MyST and Sphinx directives that hold code; the language follows them."""
_PROMPT = re.compile(r"[ \t]*(?:>>>|\.\.\.)(?: |(?=[\r\n]|$))")
_WORD = re.compile(r"[\w+#-]+")
_OPTIONS = re.compile(r"---[ \t]*\r?\n(?:.*\r?\n)*?---[ \t]*(?:\r?\n|$)|(?:[ \t]*:[\w-]+:.*\r?\n|[ \t]*\r?\n)*")


def read(text: str) -> list[Cell]:
    """The fenced blocks of Python in a Markdown document, with any indentation and quote marks around them left out."""
    from markdown_it import MarkdownIt

    lines = list(io.StringIO(text, newline=""))
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found: list[Cell] = []
    for token in MarkdownIt("commonmark").disable("inline").parse(text):
        if token.type == "fence" and token.map is not None and is_python(token.info):
            first = token.map[0] + 1
            content = token.content.split("\n")[:-1]
            inside = lines[first : first + len(content)]
            if content and len(inside) == len(content):
                found += _cells(inside, content, starts[first:], len(found) + 1)
    return found


def is_python(info: str) -> bool:
    """Whether the info string of a fence says Python: ``python``, ``{.py}``, ``{code-cell} ipython3``, ``{python}``."""
    words = [word.lower() for word in _WORD.findall(info)]
    if not words:
        return False
    if info.lstrip().startswith("{") and words[0] in _DIRECTIVES:
        return words[1] in _LANGUAGES if len(words) > 1 else words[0] == "code-cell"
    return words[0] in _LANGUAGES


def without_options(code: str) -> str:
    """The code with the options of a MyST directive covered: ``:tags: [hide]`` or a block between dashes."""
    match = _OPTIONS.match(code)
    return blank(code[: match.end()]) + code[match.end() :] if match else code


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a fence in the document: it begins at ``start``, and its code ``before`` characters later."""

    text: str
    start: int
    before: int

    @property
    def code(self) -> str:
        """The code with its line end."""
        return self.text[self.before :]


def _cells(lines: list[str], content: list[str], starts: list[int], first: int) -> Iterator[Cell]:
    """The code of a fence: one cell, or in a session with prompts one for each input, without what it printed."""
    pairs = zip(lines, content, starts, strict=False)
    placed = [_Line(line, start, len(line.rstrip("\r\n")) - len(code)) for line, code, start in pairs]
    if any(line.code.rstrip("\r\n") != code for line, code in zip(placed, content, strict=True)):
        placed = [_Line(line.text, line.start, 0) for line in placed]
        yield replace(_cell(first, placed), problem="Markdown widens a tab before it")
        return
    if not next((code for code in content if code.strip()), "").lstrip().startswith(">>>"):
        yield _cell(first, placed)
        return
    runs = groupby(placed, lambda line: _PROMPT.match(line.code) is not None)
    for number, run in enumerate((list(run) for prompted, run in runs if prompted), first):
        inner = [replace(line, before=line.before + _prompt(line)) for line in run]
        indentation = len(run[0].code) - len(run[0].code.lstrip())
        yield replace(_cell(number, inner), prompts=True, line_break=run[0].text[: run[0].before + indentation])


def _prompt(line: _Line) -> int:
    match = _PROMPT.match(line.code)
    return match.end() if match else 0


def _cell(number: int, lines: list[_Line]) -> Cell:
    last = lines[-1]
    end = last.start + len(last.text.rstrip("\r\n"))  # the last line end belongs to the fence
    offsets = [offset for line in lines for offset in range(line.start + line.before, line.start + len(line.text))]
    code = "".join(line.code for line in lines)
    code = code[: len(code) - (last.start + len(last.text) - end)]
    begins = {line.start + line.before: line.start for line in lines}
    prefix = next((line.text[: line.before] for line in lines if line.code.strip()), "")
    return Cell(number, code, [*offsets[: len(code)], end], prefix, str, begins)
