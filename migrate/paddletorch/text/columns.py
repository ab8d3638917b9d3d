"""Columns in characters, of lines that are bytes: a line may be as long as its file, with questions all along it."""

from __future__ import annotations

from bisect import bisect_right

_STEP = 1024
"""The bytes from one mark in a line to the next."""

_INNER = bytes(range(0x80, 0xC0))
"""The bytes of a character in UTF-8 behind its first one."""


class Columns:
    """How many characters stand before a byte of a line, and the other way round."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._marks: dict[int, list[int]] = {}
        """By the start of a line: how many characters begin before each of its marks."""

    def count(self, start: int, offset: int) -> int:
        """The characters from the start of a line to ``offset``."""
        if offset - start <= _STEP:
            return self._between(start, offset)
        mark = (offset - start) // _STEP
        return self._marks_to(start, offset)[mark] + self._between(start + mark * _STEP, offset)

    def offset(self, start: int, count: int) -> int:
        """The byte before which ``count`` characters stand, from the start of a line."""
        if 4 * count > _STEP:
            marks = self._marks_to(start, start + 4 * count)
            mark = bisect_right(marks, count) - 1
            start, count = start + mark * _STEP, count - marks[mark]
            rest = self._body[start : start + 4]
            start += len(rest) - len(rest.lstrip(_INNER))  # the end of a character that begins before the mark
        before = self._body[start : start + 4 * count].decode("utf-8", "ignore")[:count]
        return start + len(before.encode("utf-8"))

    def _between(self, start: int, end: int) -> int:
        return len(self._body[start:end].translate(None, _INNER))

    def _marks_to(self, start: int, end: int) -> list[int]:
        """The marks of a line, as far as they are needed."""
        marks = self._marks.setdefault(start, [0])
        last = min(end, len(self._body)) - _STEP
        while (at := start + (len(marks) - 1) * _STEP) <= last:
            marks.append(marks[-1] + self._between(at, at + _STEP))
        return marks
