"""JSON whose strings know where they stand: the standard decoder with its string parser wrapped."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any

_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)
"""One character of a string as JSON writes it; two escapes make one character outside the basic plane."""


class LocatedStr(str):
    """A string value and where it stands in the JSON text, between its quotes."""

    start: int
    end: int


class _Decoder(json.JSONDecoder):
    def __init__(self) -> None:
        super().__init__()
        self.parse_string = _parse_string
        self.scan_once = py_make_scanner(self)  # the one in C does not ask parse_string


def _parse_string(text: str, start: int, strict: bool = True) -> tuple[LocatedStr, int]:
    value, end = scanstring(text, start, strict)
    located = LocatedStr(value)
    located.start, located.end = start, end - 1
    return located, end


def loads(text: str) -> Any:
    """Decode JSON; every string but the keys of objects is a :class:`LocatedStr`.

    Raises:
        ValueError: the text is not JSON, or has a number of more digits than Python reads.
    """
    return _Decoder().decode(text)


def offsets_of(text: str, value: LocatedStr) -> list[int]:
    """Where each character of ``value`` stands in the JSON ``text``."""
    return [match.start() for match in _CHARACTER.finditer(text, value.start, value.end)]
