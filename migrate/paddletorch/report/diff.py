"""Unified diffs that ``patch -p0`` and ``git apply -p0`` take: bytes in, bytes out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal

from paddletorch.model import FileResult

Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]

_WINDOW = 64  # lines to look ahead for where two files agree again; doubled as long as they do not
_COLOURS = {b"---": b"\x1b[1m", b"+++": b"\x1b[1m", b"@@ ": b"\x1b[36m"}
_SIGNS = {b"-": b"\x1b[31m", b"+": b"\x1b[32m"}


def unified_diff(result: FileResult, *, colour: bool = False) -> bytes:
    """The diff between a result's source and output; empty if they are equal."""
    if result.source == result.output:
        return b""
    # A tab ends the name where it holds spaces, as in git and GNU diff.
    name = os.fsencode(result.path) + (b"\t" if " " in result.path else b"")
    lines = [b"--- " + name + b"\n", b"+++ " + name + b"\n"]
    lines += _hunks(_lines(result.source), _lines(result.output))
    return b"".join(_styled(line) for line in lines) if colour else b"".join(lines)


def _lines(data: bytes) -> list[bytes]:
    # Only \n ends a line of a diff: \r belongs to the line, so that CRLF files come through.
    lines = data.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _hunks(old: list[bytes], new: list[bytes]) -> Iterator[bytes]:
    for group in _Grouped(list(_opcodes(old, new))).get_grouped_opcodes(3):
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


def _opcodes(old: list[bytes], new: list[bytes]) -> Iterator[Opcode]:
    """What SequenceMatcher says, asked only about the lines around each change.

    Over whole files it takes minutes on 100,000 similar lines, or with ``autojunk`` finds nothing equal.
    """
    i = j = 0
    while i < len(old) or j < len(new):
        i1, j1 = i, j
        while i < len(old) and j < len(new) and old[i] == new[j]:
            i, j = i + 1, j + 1
        if i > i1:
            yield "equal", i1, i, j1, j
            continue
        window = _WINDOW
        while True:
            found = SequenceMatcher(None, old[i : i + window], new[j : j + window], autojunk=False).get_opcodes()
            if len(found) > 1 or (i + window >= len(old) and j + window >= len(new)):
                break
            window *= 2
        tag, _, i2, _, j2 = found[0]  # a change, since the first lines differ; the rest is looked at anew
        yield tag, i, i + i2, j, j + j2
        i, j = i + i2, j + j2


class _Grouped(SequenceMatcher[bytes]):
    """SequenceMatcher's grouping into hunks, for opcodes found otherwise."""

    def __init__(self, opcodes: list[Opcode]) -> None:
        super().__init__(a=(), b=())
        self._found = opcodes

    def get_opcodes(self) -> list[Opcode]:
        return self._found
