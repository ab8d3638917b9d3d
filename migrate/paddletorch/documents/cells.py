"""The code of a document: each cell knows where every character of its code stands in the document's text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import accumulate

from paddletorch.text.long_literals import parse
from paddletorch.text.source import Source

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class DocumentError(ValueError):
    """A document that cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Change:
    """Replace ``code[start:end]`` of a cell by ``text``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell, or a fenced block."""

    number: int
    """Its place among all cells of a notebook, from 1."""
    code: str
    offsets: Sequence[int]
    """For each character of ``code``, and for its end, the index in the document's text."""
    line_break: str
    """What stands in the document between the end of a line of code and the next line, prompts aside."""
    write: Callable[[str], str]
    """How the document writes a piece of code: escaped in JSON, as it is in Markdown."""
    lines: Mapping[int, int] = field(default_factory=dict)
    """For a line of code that the document indents or quotes: where its indentation begins, by where the code does."""

    prompts: bool = False
    """Whether a prompt comes before each line: ``>>>`` where a statement begins, else ``...``."""
    problem: str | None = None
    """Why the code cannot be taken out of the document."""

    def span(self, change: Change) -> tuple[int, int]:
        """What a change replaces in the document; lines that go as a whole go with their indentation."""
        start, end = self.offsets[change.start], self.offsets[change.end]
        if not change.text and start in self.lines and end in self.lines:
            return self.lines[start], self.lines[end]
        return start, end

    def written(self, changes: Sequence[Change]) -> Iterator[str]:
        """The texts of changes as the document holds them."""
        begins = _statements(changed_code(self, changes)) if self.prompts else frozenset[int]()
        moved = 0
        for change in changes:
            pieces: list[str] = []
            position, end = change.start + moved, change.start + moved + len(change.text)
            for line in _LINE.findall(change.text):
                pieces.append(self.write(line))
                position += len(line)
                followed = position < end or change.end < len(self.code)
                if line.endswith("\n") and followed:
                    prompt = ">>> " if position in begins else "... "
                    pieces.append(self.line_break + (prompt if self.prompts else ""))
            yield "".join(pieces)
            moved += len(change.text) - (change.end - change.start)


def _statements(code: str) -> frozenset[int]:
    """Where the lines stand on which a statement of the top level begins."""
    try:
        module = parse(code)
    except (SyntaxError, ValueError):
        return frozenset()
    starts = list(accumulate(map(len, StringIO(code, newline="")), initial=0))
    source = Source(code.encode("utf-8"), encoding="utf-8")
    return frozenset(starts[source.first_line(statement) - 1] for statement in module.body)


def changed_text(text: str, changes: Sequence[tuple[Cell, Sequence[Change]]]) -> str:
    """The document's text with changes applied, which are in the order of the text; all else stays as it is."""
    pieces: list[str] = []
    position = 0
    for cell, some in changes:
        for change, written in zip(some, cell.written(some), strict=True):
            start, end = cell.span(change)
            pieces += [text[position:start], written]
            position = end
    return "".join([*pieces, text[position:]])


def changed_code(cell: Cell, changes: Sequence[Change]) -> str:
    """The code of a cell with changes applied."""
    pieces: list[str] = []
    position = 0
    for change in changes:
        pieces += [cell.code[position : change.start], change.text]
        position = change.end
    return "".join([*pieces, cell.code[position:]])
