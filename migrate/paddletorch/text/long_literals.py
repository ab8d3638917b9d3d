"""Long runs of constants in a display: parsed with something short in their place, since their nodes take much memory.

Every position stays, and so do the bytes of the file. What stands for the constants is the elements of an unknown call,
different for each run, so nothing can be said about them. Near a string that may name something of a framework there
is no run: it is looked at as any other.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from paddletorch.model import Span

MARK = "__literals__"
"""The function of the call that stands for a run of constants."""

_LEAST = 100_000
"""Shorter runs of numbers are parsed as they are; a byte of numbers takes about 260 bytes as nodes."""

_LEAST_OF_OTHERS = 300_000
"""The same for runs with strings or displays, which more often say something about the program."""

_BLANK = bytes(byte if byte in b"\r\n" else ord(" ") for byte in range(256))

_SPACE = rb"[ \t\r\n]*"
_NUMBER = rb"[-+]?(?:(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|(?:0|[1-9]\d*)(?![\d.eE])|\d+[eE][-+]?\d+)"
_TEXT = rb"'[^'\\\r\n\0]*'|\"[^\"\\\r\n\0]*\""
_ATOM = _SPACE + rb"(?:" + _NUMBER + rb"|" + _TEXT + rb"|None|True|False)" + _SPACE
# the regular expression keeps some 450 bytes for each repetition; a longer display is a run of its own
_INNER = rb"(?:" + _ATOM + rb"(?:," + _ATOM + rb"){0,50000}(?:," + _SPACE + rb")?|" + _SPACE + rb")"
_INNER_DICT = _INNER.replace(_ATOM, _ATOM + rb":" + _ATOM)
_DISPLAY = rb"\[" + _INNER + rb"\]|\(" + _INNER + rb"\)|\{" + _INNER_DICT + rb"\}"
_VALUE = rb"(?:" + _ATOM + rb"|" + _SPACE + rb"(?:" + _DISPLAY + rb")" + _SPACE + rb")"
_ENTRY = _ATOM + rb":" + _VALUE

_START = re.compile(rb"[\[({](?:(?:" + _VALUE + rb",){16}|(?<=\{)(?:" + _ENTRY + rb",){16})")
_VALUES, _ENTRIES = (re.compile(rb"(?:" + item + rb",){1,500}") for item in (_VALUE, _ENTRY))
_NUMBERS = re.compile(rb"[-+0-9.,eE \t\r\n]*")
_NAMES = re.compile(rb"(?i:torch|paddle)|apex\.|running_")
"""What a string holds that names an API or a key of a model's state."""


class _Run(NamedTuple):
    span: Span
    is_dict: bool

    @property
    def mark(self) -> bytes:
        return f"{'**' if self.is_dict else '*'}{MARK}({self.span.start}),".encode()


def parse(text: str, filename: str = "<unknown>") -> ast.Module:
    """As ``ast.parse``, with long runs of constants masked.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as ``ast.parse``.
    """
    if len(text) > _LEAST:
        body = text.encode("utf-8")
        runs = list(_runs(body))
        try:
            module = ast.parse(_masked(body, runs).decode("utf-8"), filename=filename) if runs else None
        except SyntaxError:
            module = None  # a pattern may hold constants, but no call
        if module is not None and _marks(module) == len(runs):  # else one is in a string
            return module
    return ast.parse(text, filename=filename)


def without_long_literals(text: bytes) -> bytes:
    """The text with long runs of constants masked."""
    runs = list(_runs(text)) if len(text) > _LEAST else []
    return _masked(text, runs) if runs else text


def _runs(body: bytes) -> Iterator[_Run]:
    """The constants behind a bracket, from the first one to the last comma, where they are many."""
    end = 0
    while match := _START.search(body, end):
        is_dict = (
            body[match.start() : match.start() + 1] == b"{" and _ENTRIES.match(body, match.start() + 1) is not None
        )
        items = _ENTRIES if is_dict else _VALUES
        start = end = match.start() + 1
        while some := items.match(body, end):
            if _NAMES.search(body, end, some.end()):
                yield from _long(body, Span(start, end), is_dict)
                start = some.end()
            end = some.end()
        yield from _long(body, Span(start, end), is_dict)


def _long(body: bytes, span: Span, is_dict: bool) -> Iterator[_Run]:
    size = span.end - span.start
    if size > _LEAST and (size > _LEAST_OF_OTHERS or _NUMBERS.fullmatch(body, span.start, span.end)):
        yield _Run(span, is_dict)


def _masked(body: bytes, runs: Sequence[_Run]) -> bytes:
    found = bytearray(body)
    for run in runs:
        start, end = run.span
        blank = body[start:end].translate(_BLANK)
        first = blank.find(b" " * len(run.mark))
        if first >= 0:
            found[start:end] = blank[:first] + run.mark + blank[first + len(run.mark) :]
    return bytes(found)


def _marks(module: ast.Module) -> int:
    """The marks that stand in code; in an f-string a constant may be wrong that is none elsewhere."""
    found = 0
    pending: list[ast.AST] = [module]
    while pending:
        node = pending.pop()
        if not isinstance(node, ast.JoinedStr):
            pending += ast.iter_child_nodes(node)
        found += isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == MARK
    return found
