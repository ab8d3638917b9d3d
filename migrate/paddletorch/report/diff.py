"""Unified diffs that ``patch -p0`` and ``git apply -p0`` take: bytes in, bytes out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from difflib import SequenceMatcher

from paddletorch.model import CellText, FileResult
from paddletorch.report.changes import Opcode, opcodes
from paddletorch.report.printable import printable_line

_COLOURS = {b"---": b"\x1b[1m", b"+++": b"\x1b[1m", b"@@ ": b"\x1b[36m"}
_SIGNS = {b"-": b"\x1b[31m", b"+": b"\x1b[32m"}


def unified_diff(result: FileResult, *, colour: bool = False, terminal: bool = False) -> bytes:
    """The diff between a result's source and output; empty if they are equal. Of a notebook, one for each cell.

    ``terminal``: it is to be read there, and need not be a patch: control characters are escaped.
    """
    if result.cells:
        lines = [line for cell in result.cells for line in _cell_lines(result.path, cell)]
    elif result.source == result.output:
        return b""
    else:
        lines = _file_lines(result.path, result.source, result.output)
    if terminal:
        lines = [printable_line(line) for line in lines]
    return b"".join(_styled(line) for line in lines) if colour else b"".join(lines)


def _file_lines(path: str, old: bytes, new: bytes) -> list[bytes]:
    name = _quoted(path) if not path.isprintable() or path.startswith('"') else os.fsencode(path)
    name += b"\t" if " " in path else b""  # a tab ends the name where it holds spaces, as in git and GNU diff
    return [b"--- " + name + b"\n", b"+++ " + name + b"\n", *_hunks(_lines(old), _lines(new))]


def _quoted(path: str) -> bytes:
    """A name in quotes with escapes, as git and GNU diff write and read it."""
    plain = os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return b'"' + b"".join(bytes([byte]) if 32 <= byte < 127 else b"\\%03o" % byte for byte in plain) + b'"'


def _cell_lines(path: str, cell: CellText) -> list[bytes]:
    # The last line of a cell has no line end as a rule: no word about that here.
    old, new = (text.encode("utf-8") + b"\n" for text in (cell.old, cell.new))
    return _file_lines(f"{path}:cell {cell.number}", old, new)


def _lines(data: bytes) -> list[bytes]:
    # Only \n ends a line of a diff: \r belongs to the line, so that CRLF files come through.
    lines = data.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _hunks(old: list[bytes], new: list[bytes]) -> Iterator[bytes]:
    for group in _Grouped(list(opcodes(old, new))).get_grouped_opcodes(3):
        _, old_start, _, new_start, _ = group[0]
        _, _, old_end, _, new_end = group[-1]
        yield b"@@ -%b +%b @@\n" % (_range(old_start, old_end), _range(new_start, new_end))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (_body(b" ", line) for line in old[i1:i2])
            else:
                yield from (_body(b"-", line) for line in old[i1:i2])
                yield from (_body(b"+", line) for line in new[j1:j2])


def _range(start: int, end: int) -> bytes:
    length = end - start
    if length == 1:
        return b"%d" % (start + 1)
    return b"%d,%d" % (start + 1 if length else start, length)  # an empty range names the line before it


def _body(sign: bytes, line: bytes) -> bytes:
    return sign + line if line.endswith(b"\n") else sign + line + b"\n\\ No newline at end of file\n"


def _styled(line: bytes) -> bytes:
    start = _COLOURS.get(line[:3]) or _SIGNS.get(line[:1])
    return start + line[:-1] + b"\x1b[0m\n" if start else line


class _Grouped(SequenceMatcher[bytes]):
    """SequenceMatcher's grouping into hunks, for opcodes found otherwise."""

    def __init__(self, opcodes: list[Opcode]) -> None:
        super().__init__(a=(), b=())
        self._found = opcodes

    def get_opcodes(self) -> list[Opcode]:
        return self._found
