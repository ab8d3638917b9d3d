"""The cells of a document as one module: they share one namespace, and imports stand in the first of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from paddletorch.documents.cells import Cell, Change, DocumentError
from paddletorch.model import Edit, Span
from paddletorch.text.source import Cells, Piece, Source, pieces

_LINE_END = re.compile(r"\r\n|\r|\n")


class Joined:
    """Cells one after the other, each with its Python: as long as its code, and blank where IPython's own stands."""

    def __init__(self, cells: Sequence[tuple[Cell, str]], unread: frozenset[str]) -> None:
        """``unread``: names of the module that are used in what is blank."""
        texts = [python if python.endswith(("\n", "\r")) else python + "\n" for _, python in cells]
        self._cells = [cell for cell, _ in cells]
        self._starts = list(accumulate(map(len, texts), initial=0))
        self._begins_blank = [not python.partition("\n")[0].strip() for _, python in cells]
        text = "".join(texts)
        self._lines = [0, *(match.end() for match in _LINE_END.finditer(text))]
        first_lines = tuple(bisect_right(self._lines, start) for start in self._starts[:-1])
        self.source = Source(text.encode("utf-8"), encoding="utf-8", cells=Cells(first_lines, unread))

    def locate(self, line: int, column: int) -> tuple[Cell, int]:
        """The cell, and the index in its code, of a position in the module (both from 1)."""
        offset = self._lines[line - 1] + column - 1
        number = self._number(offset)
        cell = self._cells[number]
        return cell, min(offset - self._starts[number], len(cell.code))

    def changes(self, edits: Sequence[Edit]) -> Iterator[tuple[Cell, list[Change]]]:
        """Edits of the module as changes to the cells; cells without one are left out.

        Raises:
            DocumentError: one reaches over the end of a cell.
        """
        found: dict[int, list[Change]] = {}
        for span, text in _replacements(pieces(self.source.body, edits), len(self.source.body)):
            start, end = self._text_offset(span.start), self._text_offset(span.end)
            number = self._number(start)
            if start == end == self._starts[number] and self._begins_blank[number]:
                number -= 1  # nothing goes before a magic that begins a cell
            first = self._starts[number]
            if number < 0 or end > self._starts[number + 1]:
                raise DocumentError("an edit reaches over the end of a cell")
            found.setdefault(number, []).append(Change(start - first, end - first, text.decode("utf-8")))
        for number, changes in found.items():
            cell = self._cells[number]
            line_end = _LINE_END.search(cell.code)
            newline = line_end.group() if line_end else self.source.newline
            if newline != self.source.newline:  # what was written has the line ends of another cell
                changes = [replace(change, text=_LINE_END.sub(newline, change.text)) for change in changes]
            yield cell, _within(cell.code, changes, newline)

    def _number(self, offset: int) -> int:
        return min(bisect_right(self._starts, offset), len(self._cells)) - 1

    def _text_offset(self, offset: int) -> int:
        """The index in the module's text of a byte offset in its body."""
        line, column = self.source.position(offset)
        return self._lines[line - 1] + column - 1


def _replacements(new_text: Iterable[Piece], size: int) -> Iterator[tuple[Span, bytes]]:
    """What stands in place of what: parts that an edit moved are replaced, what stays in its order is not."""
    position, text = 0, b""
    for piece in new_text:
        if not piece.is_copy or piece.origin.start < position:
            text += piece.text
            continue
        if text or piece.origin.start > position:
            yield Span(position, piece.origin.start), text
        position, text = piece.origin.end, b""
    if text or position < size:
        yield Span(position, size), text


def _within(code: str, changes: list[Change], newline: str) -> list[Change]:
    """The changes without the line end that stands behind every cell in the module and not in the document."""
    *before, last = changes
    if last.end <= len(code):
        return changes
    start, text = last.start, last.text
    while before and before[-1].end == start:
        adjacent = before.pop()
        start, text = adjacent.start, adjacent.text + text
    if start > len(code):  # put behind the last line
        start, text = len(code), newline + text
    if text:
        text = text.removesuffix("\n").removesuffix("\r")
    else:  # the last lines go, and with them the line end before
        start = len(code[:start].removesuffix("\n").removesuffix("\r"))
    return [*before, Change(start, len(code), text)]
