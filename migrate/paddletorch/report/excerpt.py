"""The line of source that a finding is about, with carets under the place."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cached_property

from paddletorch.model import Diagnostic, FileResult
from paddletorch.report.printable import printable, without_controls
from paddletorch.text.lines import text_lines


class Excerpts:
    """Lines of one file's source."""

    def __init__(self, result: FileResult) -> None:
        self._result = result

    @cached_property
    def _lines(self) -> Sequence[str]:
        return text_lines(self._result.source)

    @cached_property
    def _cells(self) -> dict[int, list[str]]:
        """The lines of a notebook's cells, by number."""
        import json  # slow to import, and only notebooks need it

        try:
            cells = json.loads(self._result.source)["cells"]
            sources = [cell["source"] for cell in cells]
        except (ValueError, LookupError, TypeError, RecursionError):
            return {}
        return {n: "".join(source).splitlines() for n, source in enumerate(sources, 1)}

    def of(self, found: Diagnostic, columns: int) -> tuple[str, str] | None:
        """The line without its indentation, and the carets below it, each at most ``columns`` wide; None without."""
        cell = found.cell
        lines = self._lines if cell is None else self._cells.get(cell.number, ())
        number, column = (found.line, found.column) if cell is None else (cell.line, cell.column)
        if not 0 < number <= len(lines) or not lines[number - 1].strip():
            return None
        line = lines[number - 1].rstrip()
        length = found.end_column - found.column if found.end_line == found.line else len(line) - column + 1
        start = min(max(column - 1, 0), len(line))
        end = min(start + max(length, 1), max(len(line), start + 1))
        return _fitted(line[:start].lstrip(), line[start:end], line[end:], columns)


def _fitted(before: str, marked: str, after: str, columns: int) -> tuple[str, str]:
    before, marked, after = (without_controls(text.expandtabs(4)) for text in (before, marked, after))
    marked = _cut(marked, columns - 2)
    room = columns - _width(marked)
    kept = before
    while kept and _width(kept) > max(room - 1, 0):
        kept = kept[max(1, _width(kept) - room) :]
    shown = f"…{kept}" if kept != before and room else kept
    after = _cut(after, columns - _width(shown) - _width(marked)) if columns > _width(shown) + _width(marked) else ""
    carets = " " * _width(shown) + "^" * max(_width(marked), 1)
    return printable(f"{shown}{marked}{after}".rstrip()), carets


def _cut(text: str, columns: int) -> str:
    if _width(text) <= columns:
        return text
    while text and _width(text) > columns - 1:
        text = text[: len(text) - max(1, (_width(text) - columns) // 2)]
    return f"{text}…"


def _width(text: str) -> int:
    """Columns of a terminal that ``text`` takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
