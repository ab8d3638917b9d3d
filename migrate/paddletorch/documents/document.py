"""A document that was read: its text, its cells, and positions in it."""

from __future__ import annotations

from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from itertools import accumulate

from paddletorch.documents import markdown, notebook
from paddletorch.documents.cells import Cell, Change, DocumentError, changed_code, changed_text
from paddletorch.model import CellPosition, CellText
from paddletorch.model.document_kinds import DocumentKind

_READ = {"notebook": notebook.read, "markdown": markdown.read}


@dataclass(frozen=True, slots=True)
class Position:
    """Line and column in a file, both from 1; in a notebook also where that is in a cell."""

    line: int
    column: int
    cell: CellPosition | None


class Document:
    """A notebook or a Markdown document.

    Raises:
        DocumentError: it cannot be read.
        UnicodeDecodeError: it is not UTF-8.
    """

    def __init__(self, data: bytes, kind: DocumentKind) -> None:
        self._kind = kind
        self._bom = BOM_UTF8 if data.startswith(BOM_UTF8) else b""
        self._text = data.removeprefix(BOM_UTF8).decode("utf-8")
        self.cells = _READ[kind](self._text)
        self._lines_of_cells: dict[int, list[int]] = {}

    def position(self, cell: Cell, index: int) -> Position:
        """Where a character of a cell stands."""
        line, column = _position(self._starts, cell.offsets[index])
        if self._kind == "markdown":
            return Position(line, column, None)
        return Position(line, column, CellPosition(cell.number, *_position(self._starts_of(cell), index)))

    def _starts_of(self, cell: Cell) -> list[int]:
        """Where the lines of a cell begin."""
        if cell.number not in self._lines_of_cells:
            self._lines_of_cells[cell.number] = line_starts(cell.code)
        return self._lines_of_cells[cell.number]

    @cached_property
    def _starts(self) -> list[int]:
        return line_starts(self._text)

    def changed(self, changes: Sequence[tuple[Cell, list[Change]]]) -> tuple[bytes, tuple[CellText, ...]]:
        """The bytes with changes made to the code, and the cells of a notebook that change.

        Raises:
            DocumentError: the new text, read again, holds other code than it should.
        """
        text = changed_text(self._text, changes)
        codes = {cell.number: changed_code(cell, some) for cell, some in changes}
        if [cell.code for cell in _READ[self._kind](text)] != [codes.get(c.number, c.code) for c in self.cells]:
            raise DocumentError("the document holds other code when it is read again")
        cells = tuple(CellText(cell.number, cell.code, codes[cell.number]) for cell, _ in changes)
        return self._bom + text.encode("utf-8"), cells if self._kind == "notebook" else ()


def line_starts(text: str) -> list[int]:
    r"""Where the lines of a text begin; ``\n``, ``\r\n`` and ``\r`` end one."""
    return list(accumulate(map(len, StringIO(text, newline="")), initial=0))


def _position(starts: Sequence[int], index: int) -> tuple[int, int]:
    line = bisect_right(starts, index)
    return line, index - starts[line - 1] + 1
