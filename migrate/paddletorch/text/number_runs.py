"""Long runs of numbers in a display: parsed with something short in their place, since their nodes take much memory.

Every position stays, and so do the bytes of the file. What stands for the numbers is the elements of an unknown call,
different for each run, so nothing can be said about them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from paddletorch.model import Span

MARK = "__numbers__"
"""The function of the call that stands for a run of numbers."""

_LEAST = 100_000
"""Shorter runs are parsed as they are; a byte of numbers takes about 260 bytes as nodes."""

_BLANK = bytes(byte if byte in b"\r\n" else ord(" ") for byte in range(256))

_RUN = re.compile(rb"[\[({]([-+0-9.,eE \t\r\n]+)")
_NUMBERS = re.compile(
    rb"(?:[ \t\r\n]*[-+]?(?:(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|(?:0|[1-9]\d*)(?![\d.eE])|\d+[eE][-+]?\d+)"
    rb"[ \t\r\n]*,){1,500}"
)


def parse(text: str, filename: str = "<unknown>") -> ast.Module:
    """As ``ast.parse``, with long runs of numbers masked.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as ``ast.parse``.
    """
    if len(text) > _LEAST:
        body = text.encode("utf-8")
        runs = list(_runs(body))
        try:
            module = ast.parse(_masked(body, runs).decode("utf-8"), filename=filename) if runs else None
        except SyntaxError:
            module = None  # a pattern may hold numbers, but no call
        if module is not None and _marks(module) == len(runs):  # else a run is in a string
            return module
    return ast.parse(text, filename=filename)


def without_numbers(text: bytes) -> bytes:
    """The text with long runs of numbers masked."""
    runs = list(_runs(text)) if len(text) > _LEAST else []
    return _masked(text, runs) if runs else text


def _runs(body: bytes) -> Iterator[Span]:
    """The numbers behind a bracket, from the first one to the last comma, where they are many."""
    for match in _RUN.finditer(body):
        if match.end() - match.start() > _LEAST:
            end = match.start(1)
            while numbers := _NUMBERS.match(body, end, match.end()):
                end = numbers.end()
            if end - match.start(1) > _LEAST:
                yield Span(match.start(1), end)


def _masked(body: bytes, runs: Sequence[Span]) -> bytes:
    found = bytearray(body)
    for run in runs:
        mark = f"*{MARK}({run.start}),".encode()
        blank = body[run.start : run.end].translate(_BLANK)
        first = blank.find(b" " * len(mark))
        if first >= 0:
            found[run.start : run.end] = blank[:first] + mark + blank[first + len(mark) :]
    return bytes(found)


def _marks(module: ast.Module) -> int:
    calls = (n.func for n in ast.walk(module) if isinstance(n, ast.Call))
    return sum(isinstance(function, ast.Name) and function.id == MARK for function in calls)
