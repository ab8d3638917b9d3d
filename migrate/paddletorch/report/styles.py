"""Colours and lines of text for a terminal."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator

from paddletorch.model import Severity

COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}
_NARROWEST, _WIDEST = 40, 120


def width() -> int:
    """Columns to write in: those of the terminal, or 80."""
    return max(_NARROWEST, min(shutil.get_terminal_size().columns, _WIDEST))


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
