"""Positions in a text as the protocol counts them: lines from 0, columns in the client's units, UTF-16 as a rule."""

from __future__ import annotations

import re
from collections.abc import Callable

from lsprotocol.types import Position, Range, TextEdit

from paddletorch.report.changes import opcodes

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

Units = Callable[[str], int]
"""How many of the client's units a piece of text has."""


class Positions:
    """The lines of a text, ended by ``\\n``, ``\\r\\n`` or ``\\r``: as Python counts them, and the protocol."""

    def __init__(self, text: str, units: Units) -> None:
        self.lines: list[str] = _LINE.findall(text)
        self._units = units

    def of(self, line: int, column: int) -> Position:
        """The position of a line and a column in characters, both from 1."""
        if line < 1 or line > len(self.lines):
            return self.before(line - 1)
        return Position(line - 1, self._units(self.lines[line - 1][: max(column - 1, 0)]))

    def before(self, index: int) -> Position:
        """The position before the line at ``index``, or at the end of the text."""
        if index <= 0:
            return Position(0, 0)
        if index < len(self.lines) or not self.lines or self.lines[-1].endswith(("\n", "\r")):
            return Position(min(index, len(self.lines)), 0)
        return Position(len(self.lines) - 1, self._units(self.lines[-1]))

    def edits(self, new: str) -> list[TextEdit]:
        """The edits that make ``new`` of the text, in whole lines."""
        lines = _LINE.findall(new)
        return [
            TextEdit(Range(self.before(start), self.before(end)), "".join(lines[new_start:new_end]))
            for tag, start, end, new_start, new_end in opcodes(self.lines, lines)
            if tag != "equal"
        ]


def holds(span: Range, place: Position) -> bool:
    """Whether a position is in a range, its end included."""
    return _key(span.start) <= _key(place) <= _key(span.end)


def on_lines(first: int, last: int, span: Range) -> bool:
    """Whether lines, from 1, meet those of a range."""
    return first - 1 <= span.end.line and span.start.line <= last - 1


def _key(place: Position) -> tuple[int, int]:
    return place.line, place.character
