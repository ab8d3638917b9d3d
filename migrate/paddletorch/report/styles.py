"""Colours and lines of text for a terminal."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator

from paddletorch.model import Severity

COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}
_NARROWEST, _WIDEST = 40, 120
_WITHOUT_TERMINAL = 80


def width() -> int:
    """Columns to write in: those of the terminal, or 80."""
    return max(_NARROWEST, min(_columns(), _WIDEST))


def _columns() -> int:
    """As ``shutil.get_terminal_size``, which is slow to import, and looks for the lines too."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or _WITHOUT_TERMINAL  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):  # closed, or no terminal
        return _WITHOUT_TERMINAL


def wrapped(text: str, columns: int, first: str = "", then: str | None = None) -> Iterator[str]:
    """``text`` in lines that end with a word: the first begins with ``first``, the others with ``then``."""
    indent = " " * len(first) if then is None else then
    yield from textwrap.wrap(
        text,
        columns,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first]
