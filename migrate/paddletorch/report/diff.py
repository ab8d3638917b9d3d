"""Unified diffs that ``patch -p0`` and ``git apply -p0`` take: bytes in, bytes out."""

from __future__ import annotations

import difflib
import os

from paddletorch.model import FileResult

_COLOURS = {b"---": b"\x1b[1m", b"+++": b"\x1b[1m", b"@@ ": b"\x1b[36m"}
_SIGNS = {b"-": b"\x1b[31m", b"+": b"\x1b[32m"}


def unified_diff(result: FileResult, *, colour: bool = False) -> bytes:
    """The diff between a result's source and output; empty if they are equal."""
    lines = difflib.diff_bytes(
        difflib.unified_diff,
        _lines(result.source),
        _lines(result.output),
        *_names(result.path),
        lineterm=b"\n",
    )
    return b"".join(_line(line, colour) for line in lines)


def _names(path: str) -> tuple[bytes, bytes]:
    # A tab ends the name where it holds spaces, as in git and GNU diff.
    name = os.fsencode(path) + (b"\t" if " " in path else b"")
    return name, name


def _lines(data: bytes) -> list[bytes]:
    # Only \n ends a line of a diff: \r belongs to the line, so that CRLF files come through.
    lines = data.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _line(line: bytes, colour: bool) -> bytes:
    if not line.endswith(b"\n"):
        line += b"\n\\ No newline at end of file\n"
    start = (_COLOURS.get(line[:3]) or _SIGNS.get(line[:1])) if colour else None
    return start + line[:-1] + b"\x1b[0m\n" if start else line
